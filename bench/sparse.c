/* sparse.c - what tuning wins over the plain CSR loop.
 *
 * Every matrix (the twelve generated classes, and the files of a folder when
 * it is there) meets SpMV, SpMM and SDDMM; types and threads rotate, so that
 * every combination is covered many times within twenty minutes. Each ratio
 * comes from one interleaved race. QUICK=1 takes a few matrices. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "contest/folder.h"
#include "contest/match.h"
#include "contest/matrices.h"

static const double TIME_LIMIT = 18 * 60; /* no new matrix after that */
static const double NOT_BELOW = 0.98;
#define UNKNOWN ((double)NAN)
static const double MEMORY = 8e9; /* bytes; larger problems are left out */

static const double LIMIT = 12, QUICK_LIMIT = 2.5; /* seconds to tune */
static const double SHORT = 2; /* a class takes a second turn below this */
static const double RACE_SHARE = 0.3; /* of the tuning, for each race */

enum { OPERATIONS = 5, COMBINATIONS = 4, MOST = 4096 };

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
    return bench_budget(A, c, b->quick ? QUICK_LIMIT : LIMIT);
}

static bench_case case_of(int o, int k)
{
    return (bench_case){operations[o].op, operations[o].n, combinations[k].type,
                        combinations[k].threads};
}

static spry_status contest(bench *b, const spry_matrix *A, const bench_case *c,
                           sp_interval *out)
{
    double budget = budget_of(b, A, c);
    bench_match m;
    spry_status s =
        bench_match_open(&m, A, c, &b->machine[c->threads - 1], budget);

    if (s != SPRY_OK)
        return s;
    s = bench_match_race(&m, RACE_SHARE * budget, NOT_BELOW);
    if (s == SPRY_OK) {
        *out = m.entrant[m.base].ratio;
        printf("%5.2f [%5.2f, %5.2f]  %s\n", out->mid, out->low, out->high,
               spry_plan_text(m.plan));
    }
    bench_match_close(&m);
    return s;
}

static void one_problem(bench *b, const bench_matrix *m, int o, int k)
{
    bench_case c = case_of(o, k);
    sp_interval ratio;

    if (c.threads > b->machine[1].threads ||
        3 * bench_dense_bytes(m->A, &c) > MEMORY) {
        b->skipped++;
        return;
    }
    printf("%-22s %-9s %s %d  ", m->name, operations[o].name,
           spry_type_name(c.type), c.threads);
    if (contest(b, m->A, &c, &ratio) == SPRY_OK) {
        note(b, m->name, o, k, ratio.mid);
    } else {
        printf("failed: %s\n", spry_message());
        b->failed++;
    }
    fflush(stdout);
}

/* Every operation once, generated ones twice if that is quick; the next
 * operation and the next matrix meet the next type and threads. */
static int one_matrix(void *ctx, const bench_matrix *m)
{
    bench *b = ctx;

    if (sp_seconds() - b->begun > TIME_LIMIT) {
        b->skipped += OPERATIONS;
        return 0;
    }
    for (int o = 0; o < OPERATIONS; o++) {
        bench_case c = case_of(o, (m->turn + o) % COMBINATIONS);
        int again = m->generated && !b->quick && budget_of(b, m->A, &c) < SHORT;

        for (int i = 0; i <= again; i++)
            one_problem(b, m, o, (m->turn + o + i) % COMBINATIONS);
    }
    return 0;
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

static void aim_mean(const bench *b, const char *name, spry_op op, double goal)
{
    int n;
    sp_interval v = mean(b, op, -1, -1, &n);

    bench_aim_least(name, v.mid, goal);
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
    char dir[BENCH_FOLDER], store[BENCH_FOLDER + 8];
    double seconds = UNKNOWN;
    spry_matrix *A;

    if (!bench_folder(dir))
        return UNKNOWN;
    snprintf(store, sizeof store, "%s/store", dir);
    if (spry_matrix_generate(&A, "rmat scale=16 degree=16", 1) == SPRY_OK) {
        (void)tune_seconds(A, store);
        seconds = tune_seconds(A, store);
        spry_matrix_free(A);
    }
    bench_folder_remove(dir);
    return seconds;
}

int main(void)
{
    static bench b;
    double lookup;

    b.quick = bench_quick();
    b.begun = sp_seconds();
    if (bench_machines(b.machine) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    b.failed += bench_walk_classes(
        one_matrix, &b, b.quick ? BENCH_SMALL_CLASSES : BENCH_ALL_CLASSES);
    b.failed += bench_walk_files(one_matrix, &b, b.quick ? 24 : 1);
    lookup = 1e3 * lookup_seconds();
    print_means(&b);
    print_counts(&b);
    aim_mean(&b, "spmm_geomean", SPRY_SPMM, 1.8);
    aim_mean(&b, "sddmm_geomean", SPRY_SDDMM, 1.4);
    aim_mean(&b, "spmv_geomean", SPRY_SPMV, 1.3);
    bench_aim_least("worst", b.worst, NOT_BELOW);
    bench_aim_most("lookup_ms", lookup, 50);
    return 0;
}
