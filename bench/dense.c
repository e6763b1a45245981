/* dense.c - 25 operators of networks beside oneDNN and OpenBLAS, on one and
 * two threads: shares of the machine's multiply-adds in the same race, ratios
 * of interleaved pairs.
 *
 * spry's way is the fastest of the 14 that the analytic model likes best,
 * raced beforehand and then raced again: once among the direct ones, once among
 * all. oneDNN runs with channels as neighbours and in the layout that it
 * prefers, whichever is faster. Whether kernels are right on many shapes is
 * test_dense's to say: SPRY_DENSE_SHAPES=2000 asks for more of them.
 *
 * QUICK=1 races for a shorter time; ONLY=TEXT takes the operators that contain
 * the text, THREADS=1 one thread only, which other work disturbs least;
 * AVX2=1 takes from everyone what a CPU without AVX-512 does not have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/bound.h"
#include "contest/figures.h"
#include "dense/check.h"
#include "dense/peer.h"
#include "measure/measure.h"
#include "nn/blas.h"

static const char *const operators[] = {
    "conv2d,h=224,w=224,c=3,k=64,r=7,stride=2,pad=3",
    "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1",
    "conv2d,h=56,w=56,c=64,k=256",
    "conv2d,h=56,w=56,c=256,k=64",
    "conv2d,h=56,w=56,c=128,k=128,r=3,stride=2,pad=1",
    "conv2d,h=28,w=28,c=128,k=128,r=3,pad=1",
    "conv2d,h=14,w=14,c=1024,k=256",
    "conv2d,h=14,w=14,c=256,k=256,r=3,pad=1",
    "conv2d,h=14,w=14,c=1024,k=2048,stride=2",
    "conv2d,h=7,w=7,c=512,k=512,r=3,pad=1",
    "conv2d,h=14,w=14,c=112,k=672",
    "conv2d,h=7,w=7,c=960,k=160",
    "conv2d,h=112,w=112,c=16,k=64",
    "conv2d,h=112,w=112,c=64,k=64,r=3,stride=2,pad=1,groups=64",
    "conv2d,h=56,w=56,c=72,k=72,r=3,pad=1,groups=72",
    "conv2d,h=28,w=28,c=120,k=120,r=5,pad=2,groups=120",
    "conv2d,h=7,w=7,c=960,k=960,r=5,pad=2,groups=960",
    "conv2d,h=73,w=73,c=80,k=192,r=3",
    "conv2d,h=35,w=35,c=48,k=64,r=5,pad=2",
    "conv2d,h=17,w=17,c=192,k=192,r=1,s=7,pad=0x3",
    "matmul,m=128,n=768,k=768",
    "matmul,m=128,n=3072,k=768",
    "matmul,m=128,n=768,k=3072",
    "matmul,batch=12,m=128,n=128,k=64,b=given,transposed=1",
    "matmul,m=1024,n=1024,k=1024"};
enum { OPERATORS = sizeof operators / sizeof operators[0], ENTRANTS = 8 };

/* Who runs: the peak, spry's direct and best way, oneDNN in two layouts and
 * with Winograd, OpenBLAS. */
enum { PEAK, DIRECT, BEST, DNN_ROWS, DNN_BLOCKED, DNN_WINO, BLAS };

typedef struct {
    const sp_dense_plan *plan;
    spry_tensors t;
} own_run;

typedef struct {
    const spry_operator *op;
    const spry_tensors *t;
} blas_run;

typedef struct {
    double ratio[2][2][OPERATORS]; /* [threads][direct, best] */
    double least[2][2][OPERATORS]; /* the same of least times */
    double blas[OPERATORS];
    int count[2], blases;
} tally;

static void run_own(void *x)
{
    const own_run *r = x;

    (void)sp_dense_run(r->plan, &r->t);
}

static void run_blas(void *x)
{
    const blas_run *r = x;
    const spry_operator *op = r->op;
    const float *b = op->given ? r->t->b : op->weights;

    for (int64_t i = 0; i < op->batch; i++)
        sp_blas_open()->sgemm(SP_ROW_MAJOR, SP_AS_IT_IS,
                              op->transposed ? SP_TRANSPOSED : SP_AS_IT_IS,
                              (int)op->m, (int)op->n, (int)op->k, 1,
                              r->t->in + i * op->skip_in, (int)op->pitch_in,
                              b + i * op->skip_b, (int)op->pitch_b, 0,
                              r->t->out + i * op->skip_out, (int)op->pitch_out);
}

/* ---- spry's own choice ---- */

enum { FEW = 14, LONG = 31 };

typedef struct {
    double seconds;
    sp_dense_way x;
} guess;

static int by_guess(const void *a, const void *b)
{
    double x = ((const guess *)a)->seconds, y = ((const guess *)b)->seconds;

    return (x > y) - (x < y);
}

/* The ways on exactly so many threads that the model likes best; the plain
 * loop is not asked. */
static int shortlist(guess *out, const sp_dense_problem *p,
                     const spry_machine *m, int direct)
{
    sp_dense_way *list = NULL;
    int count = 0, kept = 0;
    guess *all;

    if (sp_dense_ways(&list, &count, p, m) != SPRY_OK)
        return 0;
    all = sp_alloc(count + 1, sizeof *all);
    for (int i = 0; all && i < count; i++)
        if (list[i].threads == m->threads && list[i].algorithm != SP_PLAIN &&
            (!direct || list[i].algorithm != SP_WINO2))
            all[kept++] = (guess){sp_dense_predict(p, &list[i], m), list[i]};
    if (all)
        qsort(all, (size_t)kept, sizeof *all, by_guess);
    kept = kept < FEW ? kept : FEW;
    for (int i = 0; i < kept; i++)
        out[i] = all[i];
    sp_free(all);
    sp_free(list);
    return kept;
}

/* The fastest of the shortlist, checked. */
static sp_dense_plan *choose(const sp_dense_problem *p, const spry_machine *m,
                             const spry_tensors *t, int direct, double seconds)
{
    guess list[FEW];
    int count = shortlist(list, p, m, direct), best = 0;
    sp_dense_plan *plan[FEW] = {NULL};
    own_run run[FEW];
    sp_contestant go[FEW];
    sp_racer racer[FEW];
    sp_race_options o = SP_RACE_DEFAULTS;

    for (int i = 0; i < count; i++) {
        if (sp_dense_plan_make(&plan[i], p, &list[i].x, m) != SPRY_OK)
            return NULL;
        run[i] = (own_run){plan[i], *t};
        go[i] = (sp_contestant){run_own, &run[i]};
    }
    o.seconds = seconds;
    o.pairs = 15;
    if (count == 0 || sp_race(racer, go, count, &o) != SPRY_OK)
        return NULL;
    for (int i = 1; i < count; i++)
        if (racer[i].seconds < racer[best].seconds)
            best = i;
    for (int i = 0; i < count; i++)
        if (i != best)
            spry_plan_free(&plan[i]->head);
    if (spry_plan_check(&plan[best]->head, 3) != SPRY_OK) {
        printf("wrong: %s\n", spry_message());
        exit(1);
    }
    return plan[best];
}

/* ---- one operator ---- */

typedef struct {
    spry_problem *problem;
    const sp_dense_problem *p;
    float *memory[3];
    spry_tensors t;
    sp_dense_plan *plan[2];
    own_run own[2];
    dense_peer *peer[3];
    blas_run blas;
    bench_bound peak;
    sp_contestant go[ENTRANTS];
    int who[ENTRANTS], count;
    double seconds[ENTRANTS];
} entry;

static float *chance(int64_t count)
{
    float *x = sp_alloc(count + 16, sizeof *x);
    sp_rng r = sp_rng_seed(3);

    for (int64_t i = 0; x && i < count; i++)
        x[i] = (float)(sp_rng_unit(&r) - 0.5);
    return x;
}

static void enter(entry *e, int who, void (*run)(void *), void *ctx)
{
    e->who[e->count] = who;
    e->go[e->count++] = (sp_contestant){run, ctx};
}

static int open_entry(entry *e, const char *text, const spry_machine *m,
                      double seconds)
{
    spry_operator op;

    memset(e, 0, sizeof *e);
    if (spry_operator_parse(&op, text) != SPRY_OK ||
        spry_problem_dense(&e->problem, &op) != SPRY_OK)
        return 0;
    e->p = sp_dense_of(e->problem);
    e->memory[0] = chance(sp_dense_in(&e->p->op));
    e->memory[1] = chance(sp_dense_b(&e->p->op));
    e->memory[2] = chance(sp_dense_out(&e->p->op));
    if (!e->memory[0] || !e->memory[1] || !e->memory[2])
        return 0;
    e->t = (spry_tensors){.in = e->memory[0],
                          .b = e->p->op.given ? e->memory[1] : NULL,
                          .out = e->memory[2]};
    bench_peak_open(&e->peak, m, SPRY_F32, m->threads);
    enter(e, PEAK, bench_bound_run, &e->peak);
    for (int i = 0; i < 2; i++) {
        e->plan[i] = choose(e->p, m, &e->t, i == 0, seconds);
        if (!e->plan[i])
            return 0;
        e->own[i] = (own_run){e->plan[i], e->t};
        enter(e, DIRECT + i, run_own, &e->own[i]);
    }
    for (int i = 0; i < (op.kind == SPRY_MATMUL ? 1 : 3); i++) {
        e->peer[i] =
            dense_peer_open(&e->p->op, &e->t, (dense_layout)i, m->threads);
        if (e->peer[i])
            enter(e, DNN_ROWS + i, dense_peer_run, e->peer[i]);
    }
    e->blas = (blas_run){&e->p->op, &e->t};
    if (e->p->op.kind == SPRY_MATMUL && m->threads == 1 &&
        sp_blas_open()->sgemm)
        enter(e, BLAS, run_blas, &e->blas);
    return 1;
}

static void close_entry(entry *e)
{
    for (int i = 0; i < 2; i++)
        if (e->plan[i])
            spry_plan_free(&e->plan[i]->head);
    for (int i = 0; i < 3; i++)
        dense_peer_close(e->peer[i]);
    for (int i = 0; i < 3; i++)
        sp_free(e->memory[i]);
    bench_bound_close(&e->peak);
    spry_problem_free(e->problem);
}

/* Does the peer compute the same? */
static void compare(entry *e)
{
    double off;

    if (!e->peer[0])
        return;
    run_own(&e->own[0]);
    dense_peer_run(e->peer[0]);
    off = dense_peer_difference(e->peer[0], e->t.out, sp_dense_out(&e->p->op));
    if (off > 1e-4)
        printf("  the peer's result differs by %.2g\n", off);
}

static double time_of(const entry *e, const double *seconds, int who)
{
    for (int i = 0; i < e->count; i++)
        if (e->who[i] == who)
            return seconds[i];
    return HUGE_VAL;
}

static void print_share(double flops, double seconds, double peak)
{
    if (seconds < HUGE_VAL)
        printf(" %6.2f", flops / seconds / peak);
    else
        printf(" %6s", "-");
}

/* Medians of ratios within rounds. */
static double paired(const entry *e, const sp_racer *r, int a, int b)
{
    double ratio[SP_RACE_PAIRS];
    int n = 0, x = -1, y = -1;

    for (int i = 0; i < e->count; i++) {
        x = e->who[i] == a ? i : x;
        y = e->who[i] == b ? i : y;
    }
    if (x < 0 || y < 0)
        return 0;
    for (int i = 0; i < r[x].pairs && i < r[y].pairs; i++)
        if (r[x].samples[i] > 0 && r[y].samples[i] > 0)
            ratio[n++] = r[x].samples[i] / r[y].samples[i];
    return n ? sp_median(ratio, n) : 0;
}

/* The same of least times, which other work on the machine hardly changes. */
static double of_least(const entry *e, const sp_racer *r, int a, int b)
{
    double least[2] = {HUGE_VAL, HUGE_VAL};

    for (int i = 0; i < e->count; i++)
        for (int k = 0; k < r[i].pairs; k++) {
            double x = r[i].samples[k] > 0 ? r[i].samples[k] : HUGE_VAL;

            least[0] = e->who[i] == a ? fmin(least[0], x) : least[0];
            least[1] = e->who[i] == b ? fmin(least[1], x) : least[1];
        }
    return least[0] < HUGE_VAL && least[1] < HUGE_VAL ? least[0] / least[1] : 0;
}

/* oneDNN's in either layout over ours. */
static double least_of_both(const entry *e, const sp_racer *r, int who)
{
    double rows = of_least(e, r, DNN_ROWS, who);
    double blocked = of_least(e, r, DNN_BLOCKED, who);

    return blocked > 0 && blocked < rows ? blocked : rows;
}

static void note(tally *t, entry *e, const sp_racer *r, int threads)
{
    int direct = DNN_ROWS, at = t->count[threads - 1];
    double flops = spry_problem_flops(e->problem), peak, both[2], least[2];

    for (int i = 0; i < e->count; i++)
        e->seconds[i] = r[i].seconds;
    if (time_of(e, e->seconds, DNN_BLOCKED) < time_of(e, e->seconds, DNN_ROWS))
        direct = DNN_BLOCKED;
    peak = e->peak.work / time_of(e, e->seconds, PEAK);
    both[0] = paired(e, r, direct, DIRECT);
    both[1] = paired(e, r, direct, BEST);
    for (int k = 0; k < 2; k++)
        least[k] = least_of_both(e, r, DIRECT + k);
    printf("%d  %-52s", threads, spry_problem_key(e->problem));
    for (int i = DIRECT; i <= BLAS; i++)
        print_share(flops, time_of(e, e->seconds, i), peak);
    printf("  %5.2f %5.2f  %5.2f %5.2f  %s\n", both[0], both[1], least[0],
           least[1], spry_plan_text(&e->plan[1]->head));
    if (both[0] > 0) {
        t->least[threads - 1][0][at] = least[0];
        t->least[threads - 1][1][at] = least[1];
        t->ratio[threads - 1][0][at] = both[0];
        t->ratio[threads - 1][1][at] = both[1];
        t->count[threads - 1]++;
    }
    if (time_of(e, e->seconds, BLAS) < HUGE_VAL)
        t->blas[t->blases++] = paired(e, r, BLAS, BEST);
    fflush(stdout);
}

static int race(tally *t, const char *text, const spry_machine *m,
                double seconds)
{
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_racer r[ENTRANTS];
    entry e;
    int good = open_entry(&e, text, m, seconds);

    if (good) {
        compare(&e);
        o.seconds = 2 * seconds;
        o.least = 7;
        o.pairs = LONG;
        good = sp_race(r, e.go, e.count, &o) == SPRY_OK;
    }
    if (good)
        note(t, &e, r, m->threads);
    else
        printf("%s: %s\n", text, spry_message());
    close_entry(&e);
    return good;
}

/* ---- all ---- */

static void print_least(const tally *t)
{
    for (int i = 0; i < 2; i++) {
        double worst = HUGE_VAL;

        for (int j = 0; j < t->count[i]; j++)
            worst = fmin(worst, t->least[i][0][j]);
        if (t->count[i])
            printf("least times, threads %d, %d operators: direct %.3f, worst "
                   "%.3f; all %.3f\n",
                   i + 1, t->count[i],
                   sp_geomean(t->least[i][0], t->count[i]).mid, worst,
                   sp_geomean(t->least[i][1], t->count[i]).mid);
    }
}

static void print_aims(tally *t)
{
    static const char *const name[2][2] = {{"direct-1", "all-1"},
                                           {"direct-2", "all-2"}};

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            char text[64];
            double worst = HUGE_VAL;

            if (!t->count[i]) {
                bench_aim_unknown(name[i][k], k ? 1.05 : 1.0,
                                  "oneDNN or the threads are not there");
                continue;
            }
            for (int j = 0; j < t->count[i]; j++)
                worst = fmin(worst, t->ratio[i][k][j]);
            bench_aim_least(name[i][k],
                            sp_geomean(t->ratio[i][k], t->count[i]).mid,
                            k ? 1.05 : 1.0);
            snprintf(text, sizeof text, "%s-worst", name[i][k]);
            if (k == 0)
                bench_aim_least(text, worst, 0.85);
        }
    if (t->blases)
        bench_aim_least("openblas-1", sp_geomean(t->blas, t->blases).mid, 1.0);
}

/* Before a library of another has looked at the CPU. */
static spry_status leave_avx512(spry_machine m[2])
{
    spry_status s = spry_machine_limit(&m[0], 0, SPRY_AVX2);

    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    return s == SPRY_OK ? spry_machine_limit(&m[1], 0, SPRY_AVX2) : s;
}

int main(void)
{
    static tally t;
    spry_machine m[2];
    double seconds = bench_quick() ? 0.25 : 1;
    const char *only = getenv("ONLY"), *threads = getenv("THREADS");

    unsetenv("OPENBLAS_CORETYPE"); /* perhaps meant for another CPU */
    if (bench_machines(m) != SPRY_OK ||
        (getenv("AVX2") && leave_avx512(m) != SPRY_OK)) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    bench_print_machine(&m[1]);
    printf("%s; OpenBLAS: %s\n", dense_peer_name(), sp_blas_open()->about);
    printf("shares of the multiply-add peak: spry direct, best; oneDNN nhwc, "
           "own layout, Winograd; OpenBLAS; then oneDNN's best direct time / "
           "spry direct, / best: medians of pairs, then of least times\n");
    for (int i = 0; i < OPERATORS; i++)
        for (int k = 0; k < 2; k++)
            if (m[k].threads == k + 1 && (!threads || *threads == '1' + k) &&
                (!only || strstr(operators[i], only)))
                (void)race(&t, operators[i], &m[k], seconds);
    print_least(&t);
    print_aims(&t);
    return 0;
}
