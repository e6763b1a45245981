/* sparse.c - what tuning wins over the plain CSR loop.
 *
 * Every matrix (the twelve generated classes, and the files of a folder when
 * it is there) meets SpMV, SpMM and SDDMM; types and threads rotate, so that
 * every combination is covered many times within twenty minutes. Each ratio
 * comes from one interleaved race. QUICK=1 takes a few matrices. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "classes.h"
#include "contest.h"

static const double TIME_LIMIT = 18 * 60; /* no new matrix after that */
static const double NOT_BELOW = 0.98;
#define UNKNOWN ((double)NAN)
static const double MEMORY = 8e9; /* bytes; larger problems are left out */

/* Seconds to tune: LEAST, and more where packing and checking take longer
 * (per entry, per dense element) or a run does (so many of them, at so many
 * operations per second); but no more than the limit. */
static const double LEAST = 0.8, PER_ENTRY = 4e-7, PER_DENSE = 6e-8;
static const double RUNS = 24, RATE = 4e9, LIMIT = 12, QUICK_LIMIT = 2.5;
static const double SHORT = 2; /* a class takes a second turn below this */

enum { OPERATIONS = 5, COMBINATIONS = 4, MOST = 4096 };

/* Small ones of each kind: in cache, pruned, graph, blocks, diagonals,
 * nearly empty. */
enum { QUICK_CLASSES = 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 11 };

static const struct {
    spry_op op;
    int64_t n;
    const char *name;
} operations[OPERATIONS] = {{SPRY_SPMV, 1, "spmv"},
                            {SPRY_SPMM, 32, "spmm-32"},
                            {SPRY_SPMM, 128, "spmm-128"},
                            {SPRY_SDDMM, 32, "sddmm-32"},
                            {SPRY_SDDMM, 128, "sddmm-128"}};

static const struct {
    spry_type type;
    int threads;
} combinations[COMBINATIONS] = {
    {SPRY_F32, 1}, {SPRY_F64, 2}, {SPRY_F64, 1}, {SPRY_F32, 2}};

typedef struct {
    double ratio[MOST];
    int operation[MOST], combination[MOST];
    int count, failed, skipped;
    double worst;
    char worst_name[128];
    spry_machine machine[2]; /* limited to 1 and to 2 threads */
    double begun;
    int quick;
} bench;

/* ---- one problem ---- */

static void note(bench *b, const char *name, int o, int k, double ratio)
{
    if (b->count == MOST)
        return;
    b->ratio[b->count] = ratio;
    b->operation[b->count] = o;
    b->combination[b->count++] = k;
    if (b->count > 1 && ratio >= b->worst)
        return;
    b->worst = ratio;
    snprintf(b->worst_name, sizeof b->worst_name, "%s %s %s %d", name,
             operations[o].name, spry_type_name(combinations[k].type),
             combinations[k].threads);
}

static double budget_of(const bench *b, const spry_matrix *A,
                        const bench_case *c)
{
    double entries = (double)A->nnz, n = (double)c->n;
    double dense = (double)(A->rows + A->cols) * n;
    double seconds = LEAST + PER_ENTRY * entries + PER_DENSE * dense +
                     RUNS * 2 * entries * n / RATE;

    return fmin(seconds, b->quick ? QUICK_LIMIT : LIMIT);
}

static bench_case case_of(int o, int k)
{
    return (bench_case){operations[o].op, operations[o].n, combinations[k].type,
                        combinations[k].threads};
}

static void one_problem(bench *b, const char *name, const spry_matrix *A, int o,
                        int k)
{
    bench_case c = case_of(o, k);
    double dense = (double)(A->rows + A->cols) * (double)c.n * (double)c.type;
    bench_result r;

    if (c.threads > b->machine[1].threads || 3 * dense > MEMORY) {
        b->skipped++;
        return;
    }
    printf("%-22s %-9s %s %d  ", name, operations[o].name,
           spry_type_name(c.type), c.threads);
    if (bench_contest(&r, A, &c, &b->machine[c.threads - 1],
                      budget_of(b, A, &c), NOT_BELOW) != SPRY_OK) {
        printf("failed: %s\n", spry_message());
        b->failed++;
        return;
    }
    printf("%5.2f [%5.2f, %5.2f]  %s\n", r.ratio.mid, r.ratio.low, r.ratio.high,
           r.schedule);
    fflush(stdout);
    note(b, name, o, k, r.ratio.mid);
}

/* Every operation once, generated ones twice if that is quick; the next
 * operation and the next matrix meet the next type and threads. */
static void one_matrix(bench *b, const char *name, const spry_matrix *A,
                       int turn, int generated)
{
    if (sp_seconds() - b->begun > TIME_LIMIT) {
        b->skipped += OPERATIONS;
        return;
    }
    for (int o = 0; o < OPERATIONS; o++) {
        bench_case c = case_of(o, (turn + o) % COMBINATIONS);
        int again = generated && !b->quick && budget_of(b, A, &c) < SHORT;

        for (int i = 0; i <= again; i++)
            one_problem(b, name, A, o, (turn + o + i) % COMBINATIONS);
    }
}

/* ---- which matrices ---- */

static void classes(bench *b)
{
    for (int i = 0; i < BENCH_CLASSES; i++) {
        spry_matrix *A;

        if (b->quick && !(QUICK_CLASSES >> i & 1))
            continue;
        if (spry_matrix_generate(&A, bench_classes[i].spec, BENCH_SEED) !=
            SPRY_OK) {
            printf("%s: %s\n", bench_classes[i].name, spry_message());
            b->failed++;
            continue;
        }
        one_matrix(b, bench_classes[i].name, A, i, 1);
        spry_matrix_free(A);
    }
}

static void one_file(bench *b, const char *dir, const char *file, int turn)
{
    char path[4096], name[64];
    spry_matrix *A;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    snprintf(name, sizeof name, "%.*s", (int)(strstr(file, ".mtx") - file),
             file);
    if (spry_matrix_read(&A, path) != SPRY_OK) {
        printf("%s: %s\n", name, spry_message());
        b->failed++;
        return;
    }
    one_matrix(b, name, A, turn, 0);
    spry_matrix_free(A);
}

static int is_matrix(const struct dirent *entry)
{
    const char *end = strstr(entry->d_name, ".mtx");

    return end && (strcmp(end, ".mtx") == 0 || strcmp(end, ".mtx.gz") == 0);
}

static void files(bench *b)
{
    const char *data = getenv("SPRY_DATA");
    char dir[2048];
    struct dirent **entry;
    int n, step = b->quick ? 24 : 1;

    snprintf(dir, sizeof dir, "%s/matrices", data ? data : BENCH_DATA);
    n = scandir(dir, &entry, is_matrix, alphasort);
    if (n < 0) {
        printf("no folder %s: generated matrices only\n", dir);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (i % step == 0)
            one_file(b, dir, entry[i]->d_name, i / step);
        free(entry[i]);
    }
    free(entry);
}

/* ---- what came out ---- */

/* The geometric mean over one operation and combination; -1: all. */
static sp_interval mean(const bench *b, spry_op op, int combination,
                        int operation, int *count)
{
    double ratio[MOST];
    int n = 0;

    for (int i = 0; i < b->count; i++)
        if (operations[b->operation[i]].op == op &&
            (operation < 0 || operation == b->operation[i]) &&
            (combination < 0 || combination == b->combination[i]))
            ratio[n++] = b->ratio[i];
    *count = n;
    return n ? sp_geomean(ratio, n) : (sp_interval){UNKNOWN, UNKNOWN, UNKNOWN};
}

static void print_means(const bench *b)
{
    printf("\n%-10s type threads  geometric mean\n", "operation");
    for (int o = 0; o < OPERATIONS; o++)
        for (int k = 0; k < COMBINATIONS; k++) {
            int n;
            sp_interval v = mean(b, operations[o].op, k, o, &n);

            if (n)
                printf("%-10s %s  %d        %5.2f [%5.2f, %5.2f] of %d\n",
                       operations[o].name, spry_type_name(combinations[k].type),
                       combinations[k].threads, v.mid, v.low, v.high, n);
        }
}

static void print_counts(const bench *b)
{
    int below = 0;

    for (int i = 0; i < b->count; i++)
        below += b->ratio[i] < NOT_BELOW;
    printf("\n%d problems, %d failed, %d left out, in %.0f s\n", b->count,
           b->failed, b->skipped, sp_seconds() - b->begun);
    printf("worst %.2f: %s\n", b->worst, b->worst_name);
    printf("below %.2f: %d\n", NOT_BELOW, below);
}

static void print_machine(const spry_machine *m)
{
    printf("%s, %d threads, noise %c\n", m->name, m->threads,
           spry_machine_grade(m));
    for (int i = 0; i < m->points; i++)
        printf("triad, threads %d: %.1f GB/s\n", m->at[i], m->triad[i] / 1e9);
    printf("fma, threads 1: %.0f GFLOP/s f32, %.0f f64\n\n", m->fma_f32 / 1e9,
           m->fma_f64 / 1e9);
}

static void aim(const char *name, double value, double goal, int met)
{
    printf("aim %s %.2f %g %s\n", name, value, goal, met ? "met" : "short");
}

static void aim_mean(const bench *b, const char *name, spry_op op, double goal)
{
    int n;
    sp_interval v = mean(b, op, -1, -1, &n);

    aim(name, v.mid, goal, v.mid >= goal);
}

/* ---- the second tune of the same matrix ---- */

static double tune_seconds(const spry_matrix *A, const char *store)
{
    bench_case c = {SPRY_SPMM, 32, SPRY_F32, 1};
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    double begun = sp_seconds();
    spry_problem *p;
    spry_plan *plan = NULL;

    opt.seconds = 1;
    opt.store = store;
    if (bench_problem(&p, A, &c) != SPRY_OK)
        return UNKNOWN;
    if (spry_tune(&plan, p, &opt) != SPRY_OK)
        begun = UNKNOWN;
    spry_plan_free(plan);
    spry_problem_free(p);
    return sp_seconds() - begun;
}

/* In a store of its own, in a temporary directory. */
static double lookup_seconds(void)
{
    const char *tmp = getenv("TMPDIR");
    static const char *const suffix[] = {"", "-wal", "-shm"};
    char dir[512], store[600];
    double seconds = UNKNOWN;
    spry_matrix *A;

    snprintf(dir, sizeof dir, "%.400s/spry-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return UNKNOWN;
    snprintf(store, sizeof store, "%s/store", dir);
    if (spry_matrix_generate(&A, "rmat scale=16 degree=16", 1) == SPRY_OK) {
        (void)tune_seconds(A, store);
        seconds = tune_seconds(A, store);
        spry_matrix_free(A);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(store, sizeof store, "%s/store%s", dir, suffix[i]);
        (void)unlink(store);
    }
    (void)rmdir(dir);
    return seconds;
}

static spry_status begin(bench *b)
{
    const char *quick = getenv("QUICK");
    spry_status s = spry_machine_detect(&b->machine[1]);

    b->quick = quick && strcmp(quick, "0") != 0;
    b->begun = sp_seconds();
    if (s == SPRY_OK)
        s = spry_machine_probe(&b->machine[1]);
    if (s != SPRY_OK)
        return s;
    print_machine(&b->machine[1]);
    b->machine[0] = b->machine[1];
    if (b->machine[1].threads > 2)
        s = spry_machine_limit(&b->machine[1], 2, b->machine[1].isa);
    return s == SPRY_OK
               ? spry_machine_limit(&b->machine[0], 1, b->machine[0].isa)
               : s;
}

int main(void)
{
    static bench b;
    double lookup;

    if (begin(&b) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    classes(&b);
    files(&b);
    lookup = 1e3 * lookup_seconds();
    print_means(&b);
    print_counts(&b);
    aim_mean(&b, "spmm_geomean", SPRY_SPMM, 1.8);
    aim_mean(&b, "sddmm_geomean", SPRY_SDDMM, 1.4);
    aim_mean(&b, "spmv_geomean", SPRY_SPMV, 1.3);
    aim("worst", b.worst, NOT_BELOW, b.worst >= NOT_BELOW);
    aim("lookup_ms", lookup, 50, lookup < 50);
    return 0;
}
