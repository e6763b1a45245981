/* fixed.c - what is a dense width that the compiler knows worth?
 *
 * SpMM with columns that nothing is built in for. The best kernel for any
 * width meets the best one compiled for this width (fixed=1), and that one
 * meets itself compiled with -O1 alone, as it once was: GCC then fuses no
 * multiply-adds. One thread, in processor time, so that other work on the
 * machine counts for less. QUICK=1: fewer matrices. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "contest/figures.h"
#include "contest/operands.h"
#include "jit/jit.h"
#include "measure/measure.h"
#include "plan/sparse.h"

enum { TILES = 3, MOST = 64 };

static const int64_t widths[] = {48, 96, 160};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* In the second cache, and in the last one. */
static const struct {
    const char *spec;
    int large;
} matrices[] = {
    {"uniform rows=600 nnz=10k", 0}, {"banded rows=2k band=9", 0},
    {"rmat scale=9 degree=20", 0},   {"blocks rows=1k r=4 c=4 nnz=20k", 0},
    {"uniform rows=8k nnz=120k", 1}, {"stencil27 nx=20", 1},
};
enum { MATRICES = sizeof matrices / sizeof matrices[0] };

typedef struct {
    const sp_sparse_plan *plan;
    const bench_operands *o;
} runner;

/* Ratios of times so far. */
typedef struct {
    double over_old[MOST], over_any[MOST];
    int count;
} ratios;

static void run(void *ctx)
{
    const runner *r = ctx;

    (void)sp_sparse_run(r->plan,
                        (sp_operands){1, 0, r->o->B, r->o->D, r->o->C});
}

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first is who the others are compared with. */
static spry_status race(sp_racer *out, const sp_sparse_plan *const *plan, int n,
                        const bench_operands *o)
{
    sp_contestant c[2 * TILES];
    runner r[2 * TILES];
    sp_race_options opt = SP_RACE_DEFAULTS;

    for (int i = 0; i < n; i++) {
        r[i] = (runner){plan[i], o};
        c[i] = (sp_contestant){run, &r[i]};
    }
    opt.seconds = bench_quick() ? 1 : 3;
    opt.precision = 0.01;
    opt.clock = processor_time;
    return sp_race(out, c, n, &opt);
}

/* The fastest of some plans. */
static spry_status fastest(const spry_plan **out, spry_plan *const *plan, int n,
                           const bench_operands *o)
{
    static sp_racer r[TILES];
    const sp_sparse_plan *p[TILES];
    spry_status s;

    for (int i = 0; i < n; i++)
        p[i] = sp_sparse_plan_of(plan[i]);
    *out = plan[0];
    s = race(r, p, n, o);
    for (int i = 1, best = 0; s == SPRY_OK && i < n; i++)
        if (r[i].speedup > r[best].speedup) {
            best = i;
            *out = plan[i];
        }
    return s;
}

/* The kernel of a plan compiled with -O1 and no more, in a plan like it. */
static spry_status with_old_flags(sp_sparse_plan *out, sp_jit_code **code,
                                  const sp_sparse_plan *plan)
{
    const char *flags[SP_FLAGS];
    sp_buf text = {0};
    spry_status s;
    int n = 0;

    (void)sp_codegen_flags(flags, &plan->spec);
    for (int i = 0; flags[i]; i++)
        if (strcmp(flags[i], "-fexpensive-optimizations") != 0)
            flags[n++] = flags[i];
    flags[n] = NULL;
    sp_codegen_file(&text, &plan->spec);
    s = text.failed ? sp_fail_memory(text.cap)
                    : sp_jit_load(code, text.data, flags, "old");
    sp_buf_free(&text);
    *out = *plan;
    if (s == SPRY_OK)
        *(void **)&out->kernel = sp_jit_symbol(*code, plan->name);
    return s;
}

static spry_status meet(ratios *all, const spry_plan *any,
                        const spry_plan *fixed, const bench_operands *o)
{
    static sp_racer r[2];
    const sp_sparse_plan *now = sp_sparse_plan_of(fixed), *pair[2];
    sp_sparse_plan old;
    sp_jit_code *code = NULL;
    sp_racer over_old;
    spry_status s = with_old_flags(&old, &code, now);

    if (s != SPRY_OK)
        return s;
    pair[0] = &old;
    pair[1] = now;
    s = race(r, pair, 2, o);
    over_old = r[1];
    pair[0] = sp_sparse_plan_of(any);
    if (s == SPRY_OK)
        s = race(r, pair, 2, o);
    sp_jit_free(code);
    if (s != SPRY_OK)
        return s;
    printf("  %.2f (%.2f..%.2f)  %.2f (%.2f..%.2f)  %s over %s\n",
           over_old.speedup, over_old.low, over_old.high, r[1].speedup,
           r[1].low, r[1].high, spry_plan_text(fixed), spry_plan_text(any));
    fflush(stdout);
    all->over_old[all->count] = over_old.speedup;
    all->over_any[all->count++] = r[1].speedup;
    return s;
}

static spry_status make_plans(spry_plan **plan, const spry_problem *p,
                              const spry_machine *m, int fixed)
{
    static const int32_t tile[TILES] = {2, 4, 8};
    spry_status s = SPRY_OK;

    for (int i = 0; i < TILES && s == SPRY_OK; i++) {
        spry_schedule x = spry_schedule_baseline(1);

        x.tile = tile[i];
        x.fixed = fixed;
        s = spry_plan_make(&plan[i], p, &x, m);
        if (s == SPRY_OK)
            s = spry_plan_check(plan[i], 1);
    }
    return s;
}

static spry_status one_problem(ratios *all, const spry_matrix *A, int64_t n,
                               const spry_machine *m)
{
    bench_case c = {SPRY_SPMM, n, SPRY_F32, 1};
    spry_plan *any[TILES] = {NULL}, *fixed[TILES] = {NULL};
    const spry_plan *best[2];
    bench_operands o = {.p = NULL};
    spry_problem *p = NULL;
    spry_status s = bench_problem(&p, A, &c);

    if (s == SPRY_OK)
        s = bench_operands_make(&o, p, 1);
    if (s == SPRY_OK)
        s = make_plans(any, p, m, 0);
    if (s == SPRY_OK)
        s = make_plans(fixed, p, m, 1);
    if (s == SPRY_OK)
        s = fastest(&best[0], any, TILES, &o);
    if (s == SPRY_OK)
        s = fastest(&best[1], fixed, TILES, &o);
    if (s == SPRY_OK)
        s = meet(all, best[0], best[1], &o);
    for (int i = 0; i < TILES; i++) {
        spry_plan_free(any[i]);
        spry_plan_free(fixed[i]);
    }
    bench_operands_free(&o);
    spry_problem_free(p);
    return s;
}

static void summary(const ratios *all)
{
    sp_interval old = sp_geomean(all->over_old, all->count);
    sp_interval any = sp_geomean(all->over_any, all->count);

    printf("\nfixed=1 over itself with -O1: %.3f (%.3f..%.3f), %d problems\n",
           old.mid, old.low, old.high, all->count);
    printf("fixed=1 over any width: %.3f (%.3f..%.3f), %d problems\n", any.mid,
           any.low, any.high, all->count);
    bench_aim_least("fixed_over_old_flags", old.mid, 1);
    bench_aim_least("fixed_over_any_width", any.mid, 1);
}

int main(void)
{
    static ratios all;
    spry_machine m[2];
    int failed = 0;

    if (bench_machines(m) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    for (int i = 0; i < MATRICES; i++) {
        spry_matrix *A;

        if (matrices[i].large && bench_quick())
            continue;
        if (spry_matrix_generate(&A, matrices[i].spec, 1) != SPRY_OK) {
            failed++;
            continue;
        }
        for (int w = 0; w < WIDTHS; w++) {
            printf("%s, %lld columns:\n", matrices[i].spec,
                   (long long)widths[w]);
            if (one_problem(&all, A, widths[w], &m[0]) != SPRY_OK) {
                printf("  failed: %s\n", spry_message());
                failed++;
            }
        }
        spry_matrix_free(A);
    }
    if (all.count > 1)
        summary(&all);
    return failed > 0;
}
