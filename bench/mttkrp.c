/* mttkrp.c - what tuning wins over the best fixed schedule of mttkrp.
 *
 * Generated tensors of four kinds, in cache and out of it (and the .tns files
 * of a folder when it is there), meet four widths; types and threads rotate.
 * Each ratio comes from one interleaved race against the plain loops over
 * entries and over fibers, serial and parallel, whichever is fastest.
 * QUICK=1 takes the small ones. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/unconst.h"
#include "contest/figures.h"
#include "contest/tensor_baseline.h"
#include "matrix/matrix.h"
#include "measure/measure.h"
#include "problem/sparse.h"
#include "spry.h"

static const double TIME_LIMIT = 13 * 60; /* no new problem after that */
static const double NOT_BELOW = 0.98, GOAL = 1.5;
static const double MEMORY = 6e9; /* bytes; larger problems are left out */

/* Seconds to tune: LEAST, and more where packing and checking take longer
 * (per entry) or a run does (so many of them, at so many operations per
 * second); but no more than the limit. */
static const double LEAST = 1, PER_ENTRY = 4e-7, RUNS = 20, RATE = 3e9;
static const double LIMIT = 10, QUICK_LIMIT = 2, RACE_SHARE = 0.4;

enum { PAIRS = 31, LONG = 4, MOST = 1024, LOOPS = 4, SEED = 1 };

static const struct {
    const char *name, *spec;
    int quick;
} classes[] = {
    {"uniform-l2", "uniform i=2k k=500 l=500 nnz=50k", 1},
    {"uniform-l3", "uniform i=20k k=10k l=10k nnz=1M", 1},
    {"uniform-memory", "uniform i=100k k=100k l=100k nnz=4M", 0},
    {"zipf-l2", "zipf i=2k k=1k l=1k nnz=50k", 1},
    {"zipf-l3", "zipf i=20k k=20k l=20k nnz=1M", 0},
    {"zipf-memory", "zipf i=100k k=100k l=200k nnz=4M", 0},
    {"clusters-l2", "clusters i=2k k=1k l=1k side=8 nnz=50k", 1},
    {"clusters-memory", "clusters i=100k k=100k l=100k side=8 nnz=4M", 0},
    {"fibers-l2", "fibers i=1k k=500 l=1k length=24 nnz=50k", 1},
    {"fibers-l3", "fibers i=10k k=5k l=20k length=24 nnz=1M", 0},
    {"fibers-memory", "fibers i=20k k=20k l=200k length=32 nnz=4M", 0},
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

static const int64_t widths[] = {16, 32, 64, 128};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

static const struct {
    spry_type type;
    int threads;
} combinations[] = {{SPRY_F32, 1}, {SPRY_F64, 2}, {SPRY_F64, 1}, {SPRY_F32, 2}};
enum { COMBINATIONS = sizeof combinations / sizeof combinations[0] };

typedef struct {
    double ratio[MOST];
    int width[MOST], combination[MOST];
    char name[MOST][80];
    int count, failed, skipped;
    spry_machine machine[2]; /* limited to 1 and to 2 threads */
    double begun;
    int quick;
} bench;

/* ---- the baseline's own copy of the tensor ---- */

static void free_baseline(bench_tensor *b)
{
    void *array[] = {b->start,   b->k,           b->l,   b->val, b->fiber,
                     b->fiber_k, b->fiber_start, b->sum, b->cut};

    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++)
        sp_free(array[i]);
}

static void fill_baseline(bench_tensor *b, const sp_sparse *p)
{
    const spry_matrix *A = p->A;
    int32_t f = 0;

    for (int64_t i = 0; i < A->rows; i++) {
        b->start[i] = (int32_t)A->start[i];
        b->fiber[i] = f;
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            b->k[e] = (int32_t)(sp_col(A, e) / p->inner);
            b->l[e] = (int32_t)(sp_col(A, e) % p->inner);
            sp_dense_put(p, b->val, e, sp_val(A, e));
            if (e == A->start[i] || b->k[e] != b->k[e - 1]) {
                b->fiber_k[f] = b->k[e];
                b->fiber_start[f++] = (int32_t)e;
            }
        }
    }
    b->start[A->rows] = (int32_t)A->nnz;
    b->fiber[A->rows] = f;
    b->fiber_start[f] = (int32_t)A->nnz;
}

/* Slices where each thread's share of the entries begins. */
static void cut_slices(bench_tensor *b, const spry_matrix *A)
{
    int64_t row = 0;

    for (int t = 0; t < b->threads; t++) {
        while (row < A->rows && A->start[row] < A->nnz / b->threads * t)
            row++;
        b->cut[t] = row;
    }
    b->cut[b->threads] = A->rows;
}

static spry_status make_baseline(bench_tensor *b, const sp_sparse *p,
                                 int threads)
{
    int64_t rows = p->A->rows, nnz = p->A->nnz;

    *b = (bench_tensor){.type = p->type, .rows = rows, .n = p->n};
    b->threads = threads;
    b->start = sp_alloc(rows + 1, sizeof *b->start);
    b->k = sp_alloc(nnz, sizeof *b->k);
    b->l = sp_alloc(nnz, sizeof *b->l);
    b->val = sp_alloc(nnz, p->type);
    b->fiber = sp_alloc(rows + 1, sizeof *b->fiber);
    b->fiber_k = sp_alloc(nnz, sizeof *b->fiber_k);
    b->fiber_start = sp_alloc(nnz + 1, sizeof *b->fiber_start);
    b->sum = sp_alloc(threads * p->n + 64, p->type);
    b->cut = sp_alloc(threads + 1, sizeof *b->cut);
    if (!b->start || !b->k || !b->l || !b->val || !b->fiber || !b->fiber_k ||
        !b->fiber_start || !b->sum || !b->cut)
        return sp_fail_memory((size_t)nnz * 20);
    fill_baseline(b, p);
    cut_slices(b, p->A);
    return SPRY_OK;
}

/* ---- the race ---- */

typedef struct {
    const spry_plan *plan;
    const void *B, *D;
    void *C;
} runner;

static void run_plan(void *ctx)
{
    const runner *r = ctx;

    (void)spry_run_scaled(r->plan, 1, r->B, r->D, 0, r->C);
}

static void *random_operand(const sp_sparse *p, int which)
{
    int64_t count = sp_sparse_input_size(p, which);
    void *X = sp_alloc_raw(count, p->type);
    sp_rng r = sp_rng_seed((uint64_t)which);

    for (int64_t k = 0; X && k < count; k++)
        sp_dense_put(p, X, k, 2 * sp_rng_unit(&r) - 1);
    return X;
}

/* base's time / ours, pair by pair. */
static sp_interval compare(const sp_racer *base, const sp_racer *ours)
{
    double ratio[SP_RACE_PAIRS];
    int n = base->pairs < ours->pairs ? base->pairs : ours->pairs;
    sp_interval v;

    for (int k = 0; k < n; k++)
        ratio[k] = log(base->samples[k] / ours->samples[k]);
    v = sp_median_interval(ratio, n);
    return (sp_interval){exp(v.mid), exp(v.low), exp(v.high)};
}

/* Our plan first, then the plain loops; *loop: which of them was fastest. */
static spry_status race(sp_interval *out, int *loop, bench_tensor *b, runner *r,
                        double seconds)
{
    static sp_racer racer[1 + LOOPS];
    sp_contestant c[1 + LOOPS] = {{run_plan, r},
                                  {bench_entries_serial, b},
                                  {bench_fibers_serial, b},
                                  {bench_entries_parallel, b},
                                  {bench_fibers_parallel, b}};
    sp_race_options o = SP_RACE_DEFAULTS;
    int n = b->threads > 1 ? 1 + LOOPS : 3, base = 1;
    spry_status s;

    o.pairs = PAIRS;
    o.seconds = seconds;
    o.precision = 0.01;
    s = sp_race(racer, c, n, &o);
    for (int i = 2; i < n; i++)
        if (racer[i].seconds < racer[base].seconds)
            base = i;
    *loop = base - 1;
    if (s == SPRY_OK)
        *out = compare(&racer[base], &racer[0]);
    return s;
}

static spry_status race_plan(sp_interval *out, int *loop, const spry_plan *plan,
                             int threads, double seconds)
{
    const sp_sparse *p = sp_sparse_of(spry_plan_problem(plan));
    runner r = {plan, random_operand(p, 0), random_operand(p, 1),
                sp_alloc(sp_sparse_output_size(p), p->type)};
    bench_tensor b;
    spry_status s = make_baseline(&b, p, threads);

    b.B = r.B;
    b.D = r.D;
    b.C = r.C;
    if (s == SPRY_OK && (!r.B || !r.D || !r.C))
        s = sp_fail_memory(0);
    if (s == SPRY_OK)
        s = race(out, loop, &b, &r, seconds);
    if (s == SPRY_OK && out->mid < NOT_BELOW)
        s = race(out, loop, &b, &r, LONG * seconds);
    free_baseline(&b);
    sp_free(sp_unconst(r.B));
    sp_free(sp_unconst(r.D));
    sp_free(r.C);
    return s;
}

/* ---- one problem ---- */

static double budget_of(const bench *b, const spry_problem *p)
{
    double seconds = LEAST + PER_ENTRY * (double)spry_problem_matrix(p)->nnz +
                     RUNS * spry_problem_flops(p) / RATE;

    return fmin(seconds, b->quick ? QUICK_LIMIT : LIMIT);
}

static spry_status contest(bench *b, const spry_problem *p, int combination,
                           sp_interval *ratio)
{
    static const char *const loops[LOOPS] = {"entries", "fibers", "entries-2",
                                             "fibers-2"};
    int threads = combinations[combination].threads, loop = 0;
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    opt.seconds = budget_of(b, p);
    opt.threads = threads;
    opt.store = ":memory:";
    opt.machine = &b->machine[threads - 1];
    s = spry_tune(&plan, p, &opt);
    if (s == SPRY_BUDGET) { /* too large for it: as long as it takes */
        opt.seconds = 0;
        s = spry_tune(&plan, p, &opt);
    }
    if (s == SPRY_OK)
        s = race_plan(ratio, &loop, plan, threads,
                      RACE_SHARE * budget_of(b, p));
    if (s == SPRY_OK)
        printf("%5.2f [%5.2f, %5.2f]  %s  (over %s)\n", ratio->mid, ratio->low,
               ratio->high, spry_plan_text(plan), loops[loop]);
    spry_plan_free(plan);
    return s;
}

static void one_problem(bench *b, const char *name, const spry_tensor *T, int w,
                        int k)
{
    spry_type type = combinations[k].type;
    double rows = (double)T->dim[0] + (double)T->dim[1] + (double)T->dim[2];
    double dense = rows * (double)widths[w] * (double)type;
    sp_interval ratio;
    spry_problem *p = NULL;
    spry_status s;

    if (combinations[k].threads > b->machine[1].threads || 3 * dense > MEMORY ||
        b->count == MOST || sp_seconds() - b->begun > TIME_LIMIT) {
        b->skipped++;
        return;
    }
    snprintf(b->name[b->count], sizeof b->name[0], "%.40s mttkrp-%lld %s %d",
             name, (long long)widths[w], spry_type_name(type),
             combinations[k].threads);
    printf("%-40s ", b->name[b->count]);
    s = spry_problem_mttkrp(&p, T, widths[w], type);
    if (s == SPRY_OK)
        s = contest(b, p, k, &ratio);
    if (s == SPRY_OK) {
        b->width[b->count] = w;
        b->combination[b->count] = k;
        b->ratio[b->count++] = ratio.mid;
    } else {
        printf("failed: %s\n", spry_message());
        b->failed++;
    }
    fflush(stdout);
    spry_problem_free(p);
}

/* Every width once; the next tensor begins with the next combination. */
static void one_tensor(bench *b, const char *name, const spry_tensor *T,
                       int turn)
{
    for (int w = 0; w < WIDTHS; w++)
        one_problem(b, name, T, w, (turn + w) % COMBINATIONS);
}

/* ---- all of them ---- */

static void generated(bench *b)
{
    for (int i = 0; i < CLASSES; i++) {
        spry_tensor *T;

        if (b->quick && !classes[i].quick)
            continue;
        if (spry_tensor_generate(&T, classes[i].spec, SEED) != SPRY_OK) {
            printf("%s: %s\n", classes[i].name, spry_message());
            b->failed++;
            continue;
        }
        one_tensor(b, classes[i].name, T, i);
        spry_tensor_free(T);
    }
}

static int is_tensor(const struct dirent *entry)
{
    return strstr(entry->d_name, ".tns") != NULL;
}

static void files(bench *b)
{
    const char *data = getenv("SPRY_DATA");
    char dir[2048], path[4096];
    struct dirent **entry;
    int n;

    snprintf(dir, sizeof dir, "%s/tensors", data ? data : BENCH_DATA);
    n = scandir(dir, &entry, is_tensor, alphasort);
    if (n < 0) {
        printf("no folder %s: generated tensors only\n", dir);
        return;
    }
    for (int i = 0; i < n; i++) {
        spry_tensor *T;

        snprintf(path, sizeof path, "%s/%s", dir, entry[i]->d_name);
        if (spry_tensor_read(&T, path) == SPRY_OK)
            one_tensor(b, entry[i]->d_name, T, i);
        else
            printf("%s\n", spry_message());
        spry_tensor_free(T);
        free(entry[i]);
    }
    free(entry);
}

/* ---- what came out ---- */

/* Over the problems of one width and combination; -1: all. */
static sp_interval mean(const bench *b, int width, int combination, int *count)
{
    double ratio[MOST];
    int n = 0;

    for (int i = 0; i < b->count; i++)
        if ((width < 0 || width == b->width[i]) &&
            (combination < 0 || combination == b->combination[i]))
            ratio[n++] = b->ratio[i];
    *count = n;
    return n ? sp_geomean(ratio, n) : (sp_interval){0, 0, 0};
}

static void print_mean(const bench *b, const char *name, int width,
                       int combination)
{
    int n;
    sp_interval v = mean(b, width, combination, &n);

    if (n)
        printf("%-14s %5.2f [%5.2f, %5.2f] of %d\n", name, v.mid, v.low, v.high,
               n);
}

static void print_result(const bench *b)
{
    char name[32];
    int n;
    sp_interval all = mean(b, -1, -1, &n);

    printf("\ngeometric means over the best plain loop\n");
    for (int w = 0; w < WIDTHS; w++) {
        snprintf(name, sizeof name, "mttkrp-%lld", (long long)widths[w]);
        print_mean(b, name, w, -1);
    }
    for (int k = 0; k < COMBINATIONS; k++) {
        snprintf(name, sizeof name, "%s threads %d",
                 spry_type_name(combinations[k].type), combinations[k].threads);
        print_mean(b, name, -1, k);
    }
    print_mean(b, "all", -1, -1);
    for (int i = 0; i < b->count; i++)
        if (b->ratio[i] < NOT_BELOW)
            printf("below %.2f: %s %.2f\n", NOT_BELOW, b->name[i], b->ratio[i]);
    printf("%d problems, %d failed, %d left out, in %.0f s\n", b->count,
           b->failed, b->skipped, sp_seconds() - b->begun);
    bench_aim_least("mttkrp", all.mid, GOAL);
}

int main(void)
{
    static bench b;

    b.quick = bench_quick();
    b.begun = sp_seconds();
    if (bench_machines(b.machine) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    bench_print_machine(&b.machine[1]);
    generated(&b);
    files(&b);
    print_result(&b);
    return 0;
}
