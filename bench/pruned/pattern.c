/* pattern.c - zeros of layers that were pruned by training, out of the Deep
 * Learning Matrix Collection where it lies; else by chance. */
#include "pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../contest/folder.h"
#include "base/base.h"
#include "dense/dense.h"
#include "matrix/matrix.h"

static int unpack(const char *archive, const char *folder)
{
    pid_t pid;
    int status;

    if (access(archive, R_OK) != 0)
        return 0;
    pid = fork();
    if (pid == 0) {
        execlp("tar", "tar", "-xzf", archive, "-C", folder, (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

char *pattern_open(char *folder)
{
    static const char *const archives[] = {
        "rn50-magnitude_pruning-0.8", "rn50-magnitude_pruning-0.95",
        "transformer-magnitude_pruning-0.8",
        "transformer-magnitude_pruning-0.95"};
    char path[4096];
    int found = 0;

    if (!bench_folder(folder))
        return NULL;
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        snprintf(path, sizeof path, "%s/networks/dlmc/%s.tar.gz", BENCH_DATA,
                 archives[i]);
        found += unpack(path, folder);
    }
    if (found)
        return folder;
    printf("no networks/dlmc among the data: all patterns are random\n");
    bench_folder_remove(folder);
    return NULL;
}

void pattern_close(char *folder)
{
    if (folder)
        bench_folder_remove(folder);
}

/* Nonzeros where the matrix has entries: [k][c r s], or a turned B. */
static int take(float *out, const spry_operator *op, const char *path,
                sp_rng *r)
{
    int64_t k = op->kind == SPRY_CONV2D ? op->k : op->n;
    int64_t terms = op->kind == SPRY_CONV2D ? op->c * op->r * op->s : op->k;
    spry_matrix *m = NULL;
    int fits = access(path, R_OK) == 0 &&
               spry_matrix_read(&m, path) == SPRY_OK && m->rows == k &&
               m->cols == terms;

    for (int64_t i = 0; fits && i < k; i++)
        for (int64_t j = m->start[i]; j < m->start[i + 1]; j++)
            out[i * terms + sp_col(m, j)] = (float)(sp_rng_unit(r) + 0.1);
    spry_matrix_free(m);
    return fits;
}

float *pattern_weights(const spry_operator *op, const char *folder,
                       const char *name, double zeros, int *real)
{
    int64_t count = sp_dense_weights(op);
    float *out = sp_alloc(count, sizeof *out);
    sp_rng r = sp_rng_seed(17);
    char path[4096];

    *real = 0;
    if (out && folder) {
        snprintf(path, sizeof path, "%s/dlmc/%s/magnitude_pruning/%g/%s.smtx",
                 folder, op->kind == SPRY_CONV2D ? "rn50" : "transformer",
                 zeros, name);
        *real = take(out, op, path, &r);
    }
    for (int64_t i = 0; out && !*real && i < count; i++)
        out[i] = sp_rng_unit(&r) < zeros ? 0 : (float)(sp_rng_unit(&r) + 0.1);
    return out;
}
