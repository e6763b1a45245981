/* matrices.c - the generated classes and a folder of files, one by one. */
#define _DEFAULT_SOURCE /* scandir */
#include "matrices.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../classes.h"
#include "figures.h"

int bench_walk_classes(bench_visit *visit, void *ctx, unsigned which)
{
    int failed = 0, end = 0;

    for (int i = 0; i < BENCH_CLASSES && !end; i++) {
        bench_matrix m = {bench_classes[i].name, NULL, i, 1, NULL};
        spry_matrix *A;

        if (!(which >> i & 1) || !bench_listed("ONLY", m.name))
            continue;
        if (spry_matrix_generate(&A, bench_classes[i].spec, BENCH_SEED) !=
            SPRY_OK) {
            printf("%s: %s\n", m.name, spry_message());
            failed++;
            continue;
        }
        m.A = A;
        end = visit(ctx, &m);
        spry_matrix_free(A);
    }
    return failed;
}

static int is_matrix(const struct dirent *entry)
{
    const char *end = strstr(entry->d_name, ".mtx");

    return end && (strcmp(end, ".mtx") == 0 || strcmp(end, ".mtx.gz") == 0);
}

/* -1: not readable; else what the visitor said. */
static int visit_file(bench_visit *visit, void *ctx, const char *dir,
                      const char *file, int turn)
{
    char path[4096], name[64];
    bench_matrix m = {name, NULL, turn, 0, path};
    spry_matrix *A;
    int end;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    snprintf(name, sizeof name, "%.*s", (int)(strstr(file, ".mtx") - file),
             file);
    if (!bench_listed("ONLY", name))
        return 0;
    if (spry_matrix_read(&A, path) != SPRY_OK) {
        printf("%s: %s\n", name, spry_message());
        return -1;
    }
    m.A = A;
    end = visit(ctx, &m) != 0;
    spry_matrix_free(A);
    return end;
}

int bench_walk_files(bench_visit *visit, void *ctx, int step)
{
    const char *data = getenv("SPRY_DATA");
    char dir[2048];
    struct dirent **entry;
    int n, failed = 0, end = 0;

    snprintf(dir, sizeof dir, "%s/matrices", data ? data : BENCH_DATA);
    n = scandir(dir, &entry, is_matrix, alphasort);
    if (n < 0) {
        printf("no folder %s: generated matrices only\n", dir);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (i % step == 0 && end <= 0) {
            end = visit_file(visit, ctx, dir, entry[i]->d_name, i / step);
            failed += end < 0;
        }
        free(entry[i]);
    }
    free(entry);
    return failed;
}
