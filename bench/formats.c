/* formats.c - do palettes, columns of 8 bits, blocks with a rest and triangles
 * of symmetric matrices pay?
 *
 * Each has matrices made for it, in and out of the last cache. Everybody of a
 * row is raced interleaved; then the fastest that has what the row is about
 * meets the fastest that has not, in a race of their own. Ratios are the
 * other's time over its own. One thread is timed in processor time, so that
 * other work on the machine counts for less. QUICK=1 leaves out the large
 * matrices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contest/figures.h"
#include "contest/operands.h"
#include "measure/measure.h"
#include "spry.h"

enum { MOST = 12, KINDS = 4 };

static const char *const kinds[KINDS] = {"palette", "index=8", "rest",
                                         "symmetric"};

#define TRIANGLE                                             \
    "sell slice=2 index=16 T;sell slice=4 index=16 T;dia T;" \
    "dia slice=4 T;dia symmetric=1 T;dia slice=4 symmetric=1 T"

static const struct row {
    int kind; /* the word that tells the two camps apart */
    int large;
    const char *matrix;
    spry_op op;
    int64_t n;
    spry_type type;
    const char *schedules; /* of both camps, T: threads */
} rows[] = {
    {0, 0, "banded rows=60k band=20 values=7", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;csr unroll=8 index=16 T;"
     "sell slice=2 index=16 palette=16 T;sell slice=4 index=16 palette=16 T;"
     "sell slice=2 index=16 palette=256 T"},
    {0, 0, "banded rows=60k band=20 values=7", SPRY_SPMV, 1, SPRY_F64,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;csr unroll=8 index=16 T;"
     "sell slice=2 index=16 palette=8 T;sell slice=4 index=16 palette=8 T;"
     "sell slice=2 index=16 palette=256 T"},
    {0, 1, "banded rows=600k band=20 values=7", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;csr unroll=8 index=16 T;"
     "sell slice=2 index=16 palette=16 T;sell slice=4 index=16 palette=16 T"},
    {0, 1, "banded rows=600k band=20 values=7", SPRY_SPMV, 1, SPRY_F64,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;csr unroll=8 index=16 T;"
     "sell slice=2 index=16 palette=8 T;sell slice=4 index=16 palette=8 T"},
    {0, 1, "banded rows=600k band=20 values=200", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;"
     "sell slice=2 index=16 palette=256 T;sell slice=4 index=16 palette=256 T"},
    {0, 1, "banded rows=600k band=20 values=200", SPRY_SPMV, 1, SPRY_F64,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;"
     "sell slice=2 index=16 palette=256 T;sell slice=4 index=16 palette=256 T"},
    {1, 0, "banded rows=60k band=20", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;"
     "sell slice=2 index=8 T;sell slice=4 index=8 T"},
    {1, 1, "banded rows=600k band=20", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;"
     "sell slice=2 index=8 T;sell slice=4 index=8 T"},
    {1, 1, "banded rows=600k band=20", SPRY_SPMV, 1, SPRY_F64,
     "sell slice=2 index=16 T;sell slice=4 index=16 T;"
     "sell slice=2 index=8 T;sell slice=4 index=8 T"},
    {1, 1, "banded rows=600k band=20 values=7", SPRY_SPMV, 1, SPRY_F32,
     "sell slice=2 index=16 palette=16 T;sell slice=4 index=16 palette=16 T;"
     "sell slice=2 index=8 palette=16 T;sell slice=4 index=8 palette=16 T"},
    {2, 0, "blocks rows=20k r=4 c=4 nnz=400k fill=0.95 scatter=0.25", SPRY_SPMM,
     32, SPRY_F32,
     "csr tile=4 T;csr tile=4 prefetch=8 T;sell slice=2 tile=4 T;"
     "bcsr r=4 c=4 tile=2 T;bcsr r=2 c=2 tile=4 T;"
     "bcsr r=4 c=4 tile=2 rest=50 T;bcsr r=4 c=4 tile=2 rest=50 prefetch=4 T;"
     "bcsr r=2 c=2 tile=4 rest=50 prefetch=4 T"},
    {2, 0, "blocks rows=20k r=8 c=8 nnz=600k fill=0.95 scatter=0.25", SPRY_SPMM,
     128, SPRY_F32,
     "csr tile=8 T;csr tile=8 prefetch=4 T;csr tile=8 panel=4096 T;"
     "csr tile=4 pass=32 copy=1 T;bcsr r=8 c=8 tile=1 T;bcsr r=4 c=4 tile=2 T;"
     "bcsr r=8 c=8 tile=1 rest=50 prefetch=4 T;"
     "bcsr r=4 c=4 tile=2 rest=50 prefetch=4 T"},
    {2, 0, "blocks rows=2k r=4 c=4 nnz=120k fill=0.95 scatter=0.2", SPRY_SPMM,
     128, SPRY_F32,
     "csr tile=8 T;csr tile=8 prefetch=4 T;csr tile=8 panel=512 index=16 T;"
     "csr tile=4 pass=32 copy=1 T;bcsr r=4 c=4 tile=2 T;"
     "bcsr r=4 c=4 tile=2 rest=50 T;bcsr r=4 c=4 tile=2 rest=50 prefetch=4 T"},
    {2, 0, "blocks rows=20k r=4 c=4 nnz=400k fill=0.95 scatter=0.1", SPRY_SPMV,
     1, SPRY_F64,
     "csr unroll=4 index=16 T;sell slice=2 index=16 T;bcsr r=4 c=4 index=16 T;"
     "bcsr r=4 c=4 rest=50 index=16 T"},
    {2, 1, "blocks rows=400k r=4 c=4 nnz=8M fill=0.95 scatter=0.1", SPRY_SPMV,
     1, SPRY_F64,
     "csr unroll=4 T;sell slice=2 T;bcsr r=4 c=4 T;bcsr r=4 c=4 rest=50 T"},
    {3, 0, "stencil5 nx=300 values=symmetric", SPRY_SPMV, 1, SPRY_F64,
     TRIANGLE},
    {3, 0, "stencil27 nx=32 values=symmetric", SPRY_SPMV, 1, SPRY_F64,
     TRIANGLE},
    {3, 0, "stencil27 nx=32 values=symmetric", SPRY_SPMV, 1, SPRY_F32,
     TRIANGLE},
    {3, 1, "stencil5 nx=1500 values=symmetric", SPRY_SPMV, 1, SPRY_F64,
     TRIANGLE},
    {3, 1, "stencil5 nx=1500 values=symmetric", SPRY_SPMV, 1, SPRY_F32,
     TRIANGLE},
    {3, 1, "stencil27 nx=80 values=symmetric", SPRY_SPMV, 1, SPRY_F64,
     TRIANGLE},
    {3, 1, "stencil27 nx=80 values=symmetric", SPRY_SPMV, 1, SPRY_F32,
     TRIANGLE},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Everybody of one row. */
typedef struct {
    spry_plan *plan[MOST];
    int mine[MOST]; /* has what the row is about */
    int count;
    bench_operands o;
} field;

typedef struct {
    const spry_plan *plan;
    const bench_operands *o;
} runner;

static void run(void *ctx)
{
    const runner *r = ctx;

    (void)spry_run_scaled(r->plan, 1, r->o->B, r->o->D, 0, r->o->C);
}

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Race plans which[0..n), the first being the baseline. */
static spry_status race(sp_racer *out, const field *f, const int *which, int n,
                        double seconds)
{
    sp_contestant c[MOST];
    runner r[MOST];
    sp_race_options opt = SP_RACE_DEFAULTS;

    for (int i = 0; i < n; i++) {
        r[i] = (runner){f->plan[which[i]], &f->o};
        c[i] = (sp_contestant){run, &r[i]};
    }
    opt.seconds = seconds;
    if (f->o.c.threads == 1)
        opt.clock = processor_time;
    return sp_race(out, c, n, &opt);
}

static void close_field(field *f)
{
    for (int i = 0; i < f->count; i++)
        spry_plan_free(f->plan[i]);
    bench_operands_free(&f->o);
}

/* Make and check one; what cannot be had is left out. */
static spry_status enter(field *f, const spry_problem *p, char *text,
                         const struct row *w, const spry_machine *m)
{
    char *threads = strrchr(text, 'T');
    spry_schedule x;
    spry_plan *plan;
    spry_status s;

    if (threads)
        *threads = 0;
    s = spry_schedule_parse(&x, text);
    if (s != SPRY_OK)
        return s;
    x.threads = m->threads;
    s = spry_plan_make(&plan, p, &x, m);
    if (s == SPRY_OK)
        s = spry_plan_check(plan, 1);
    if (s != SPRY_OK || f->count == MOST) {
        printf("  %s: %s\n", text, spry_message());
        spry_plan_free(plan);
        return s == SPRY_USAGE ? SPRY_OK : s;
    }
    f->mine[f->count] = strstr(text, kinds[w->kind]) != NULL;
    f->plan[f->count++] = plan;
    return SPRY_OK;
}

/* The fastest of one camp, -1 when there is none. */
static int fastest(const field *f, const sp_racer *r, int mine)
{
    int best = -1;

    for (int i = 0; i < f->count; i++)
        if (f->mine[i] == mine && (best < 0 || r[i].speedup > r[best].speedup))
            best = i;
    return best;
}

static spry_status meet(double *ratio, const field *f, const struct row *w)
{
    static sp_racer r[MOST];
    int all[MOST], best[2];
    spry_status s;

    for (int i = 0; i < f->count; i++)
        all[i] = i;
    s = race(r, f, all, f->count, bench_quick() ? 2 : 5);
    if (s != SPRY_OK)
        return s;
    best[0] = fastest(f, r, 0);
    best[1] = fastest(f, r, 1);
    if (best[0] < 0 || best[1] < 0)
        return SPRY_OK;
    s = race(r, f, best, 2, bench_quick() ? 2 : 5);
    if (s != SPRY_OK)
        return s;
    *ratio = r[1].speedup;
    printf("%-8s %d  %-55s %s %lld %s\n", kinds[w->kind], f->o.c.threads,
           w->matrix, spry_op_name(w->op), (long long)w->n,
           spry_type_name(w->type));
    printf("         %.2f (%.2f..%.2f)  %s over %s\n", r[1].speedup, r[1].low,
           r[1].high, spry_plan_text(f->plan[best[1]]),
           spry_plan_text(f->plan[best[0]]));
    return SPRY_OK;
}

static spry_status one_row(double *ratio, const struct row *w,
                           const spry_machine *m)
{
    bench_case c = {w->op, w->n, w->type, m->threads};
    field f = {.count = 0};
    char text[512], *rest = text;
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_status s = spry_matrix_generate(&A, w->matrix, 1);

    snprintf(text, sizeof text, "%s", w->schedules);
    if (s == SPRY_OK)
        s = bench_problem(&p, A, &c);
    if (s == SPRY_OK)
        s = bench_operands_make(&f.o, p, m->threads);
    for (char *t; s == SPRY_OK && (t = strtok_r(rest, ";", &rest));)
        s = enter(&f, p, t, w, m);
    if (s == SPRY_OK)
        s = meet(ratio, &f, w);
    close_field(&f);
    spry_problem_free(p);
    spry_matrix_free(A);
    return s;
}

int main(void)
{
    double sum[KINDS] = {0}, worst[KINDS];
    int count[KINDS] = {0}, failed = 0;
    spry_machine m[2];

    for (int k = 0; k < KINDS; k++)
        worst[k] = HUGE_VAL;
    if (bench_machines(m) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    for (int i = 0; i < 2 * ROWS; i++) {
        const struct row *w = &rows[i / 2];
        double ratio = 0;

        if ((w->large && bench_quick()) ||
            !bench_listed("ONLY", kinds[w->kind]))
            continue;
        if (one_row(&ratio, w, &m[i % 2]) != SPRY_OK) {
            printf("failed: %s: %s\n", w->matrix, spry_message());
            failed++;
        }
        fflush(stdout);
        if (ratio <= 0)
            continue;
        sum[w->kind] += log(ratio);
        worst[w->kind] = fmin(worst[w->kind], ratio);
        count[w->kind]++;
    }
    for (int k = 0; k < KINDS; k++)
        if (count[k])
            printf("%-8s geometric mean %.2f, worst %.2f, of %d\n", kinds[k],
                   exp(sum[k] / count[k]), worst[k], count[k]);
    return failed > 0;
}
