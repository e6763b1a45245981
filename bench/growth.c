/* growth.c - SpMM with 32 columns from ten thousand entries to fifty million,
 * each with the share of the limit that binds there.
 *
 * The tuned plan and the loops of growth/limits.h run in turns in one race on
 * the same operands, and the fastest sample of each tells which loop is the
 * limit, since neighbours only ever add time. What a kernel must do all of, the slowest binds; what it
 * may do this way or that - gathers in the order of rows or of panels, on all
 * threads or on one - the fastest does. With that loop the
 * plan then races alone, and the median of their pairs is its share: the fastest
 * of many loops had more chances of a quiet moment than one plan. Where B is larger than a huge page the
 * plan then meets itself with B on usual pages, in a race of the two. QUICK=1
 * ends at a million entries, THREADS=1 takes so many threads, and
 * ONLY=uniform_1e+05,rmat_1e+07 these sizes. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "contest/match.h"
#include "contest/sizes.h"
#include "growth/limits.h"
#include "measure/measure.h"

static const double GOAL = 0.8;
static const double TUNING = 10, QUICK_TUNING = 2; /* seconds, at most */
static const double LEAST_TUNING = 5; /* unless it is to be quick */
static const double RACING = 12, QUICK_RACING = 2;
enum { ROUNDS = 25, FEWEST = 5, RACES = 3 };
enum { HUGE_PAGE = 2 << 20 };

typedef struct {
    const spry_machine *m;
    int quick, failed;
    double least;              /* share so far */
    double share[BENCH_SIZES]; /* 0: not measured */
    double pages[BENCH_SIZES]; /* time with B on usual pages / on huge ones */
    int paged;                 /* so many of them */
} growth;

/* ---- the limit ---- */

/* The level that holds so many bytes. */
static const char *level_of(const spry_machine *m, double bytes)
{
    static const char *const name[] = {"L1", "L2", "L3"};

    for (int i = 0; i < SPRY_CACHES; i++)
        if (bytes < (double)spry_machine_cache(m, i))
            return name[i];
    return "memory";
}

/* The least of the loops that do the same work in other ways. */
static int fastest_gather(const limit *l, const double *ratio, int n)
{
    int best = -1;

    for (int i = 0; i < n; i++)
        if (l[i].kind >= LIMIT_GATHERS && (best < 0 || ratio[i] < ratio[best]))
            best = i;
    return best;
}

static int binding(const limit *l, const double *ratio, int n)
{
    int gathers = fastest_gather(l, ratio, n), most = 0;

    for (int i = LIMIT_FLOPS; i <= LIMIT_STREAM; i++)
        if (ratio[i] > ratio[most])
            most = i;
    return gathers >= 0 && ratio[gathers] > ratio[most] ? gathers : most;
}

/* ---- one size ---- */

static void run_plan(void *match)
{
    const bench_match *m = match;

    (void)spry_run_scaled(m->plan, 1, m->o.B, m->o.D, 0, m->o.C);
}

/* The plan, and a copy of its dense operand that no huge page holds. */
typedef struct {
    const bench_match *m;
    void *B, *owned;
    int64_t bytes;
} usual;

static void run_usual(void *ctx)
{
    const usual *u = ctx;

    (void)spry_run_scaled(u->m->plan, 1, u->B, u->m->o.D, 0, u->m->o.C);
}

/* 0 where pages do not matter or there is no memory. */
static int open_usual(usual *u, const bench_match *m)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    uintptr_t at;

    *u = (usual){.m = m, .bytes = m->o.cols * m->o.c.n * 4};
    if (u->bytes < HUGE_PAGE)
        return 0;
    u->owned = sp_alloc_raw(u->bytes + page, 1);
    if (!u->owned)
        return 0;
    at = (uintptr_t)u->owned;
    u->B = (char *)u->owned + page - at % (uintptr_t)page;
    if (madvise(u->B, (size_t)u->bytes, MADV_NOHUGEPAGE) != 0)
        return 0;
    memcpy(u->B, m->o.B, (size_t)u->bytes);
    return 1;
}

static void print_row(const growth *g, const bench_size *z,
                      const bench_match *m, const limit *l, const double *ratio,
                      int at, double seconds, double pages)
{
    double bytes = (double)m->o.cols * (double)m->o.c.n * 4;

    printf("%-8s %9lld %9.3f  %5.1f %%  %s from %s", z->kind,
           (long long)m->o.nnz, 1e9 * seconds / (double)m->o.nnz,
           100 * ratio[at], limit_name(&l[at]),
           at == LIMIT_FLOPS ? "registers" : level_of(g->m, bytes));
    if (l[at].panels > 1)
        printf(", %d", l[at].panels);
    if (l[at].threads != m->o.c.threads)
        printf(", %d thread", l[at].threads);
    if (pages > 0)
        printf(", usual pages %.2f", pages);
    printf("; %s\n", spry_plan_text(m->plan));
    fflush(stdout);
}

/* All n in turns; the fastest sample of each goes into least[n] where it is
 * less than what is there. */
static spry_status race(const growth *g, double *least, const sp_contestant *c,
                        int n)
{
    static sp_racer racer[LIMITS + 1];
    sp_race_options o = SP_RACE_DEFAULTS;
    double round = 0;
    spry_status s;

    for (int k = 0; k < n; k++) {
        double start = sp_seconds();

        c[k].run(c[k].ctx);
        round += sp_seconds() - start;
    }
    o.pairs = ROUNDS;
    o.least = FEWEST;
    o.seconds = fmax(g->quick ? QUICK_RACING : RACING, FEWEST * round);
    o.precision = 0.001; /* more rounds, more chances of a quiet one */
    s = sp_race(racer, c, n, &o);
    for (int k = 0; k < n && s == SPRY_OK; k++)
        for (int i = 0; i < racer[k].pairs; i++)
            if (racer[k].samples[i] > 0)
                least[k] = fmin(least[k], racer[k].samples[i]);
    return s;
}

/* The time of the second over that of the first, by pairs; 0: not measured. */
static double ratio_of(const growth *g, const sp_contestant c[2])
{
    static sp_racer racer[2];
    sp_race_options o = SP_RACE_DEFAULTS;

    o.seconds = g->quick ? QUICK_RACING : RACING;
    return sp_race(racer, c, 2, &o) == SPRY_OK ? 1 / racer[1].speedup : 0;
}

/* Time with B on usual pages / on huge ones; 0: not measured. */
static double pages_ratio(const growth *g, bench_match *m)
{
    usual u;
    sp_contestant c[] = {{run_plan, m}, {run_usual, &u}};
    double ratio = open_usual(&u, m) ? ratio_of(g, c) : 0;

    sp_free(u.owned);
    return ratio;
}

/* The plan and all loops, and which of them is the limit that binds. More than
 * all of it: its loop was disturbed, so all race again. */
static spry_status race_all(const growth *g, double *ratio, double *seconds,
                            int *at, const sp_contestant *c, const limit *l,
                            int n)
{
    double least[LIMITS + 1];
    spry_status s = SPRY_OK;

    for (int k = 0; k <= n; k++)
        least[k] = HUGE_VAL;
    for (int again = 0; again < RACES && s == SPRY_OK; again++) {
        s = race(g, least, c, n + 1);
        for (int k = 0; k < n; k++)
            ratio[k] = least[k + 1] / l[k].part / least[0];
        *at = binding(l, ratio, n);
        *seconds = least[0];
        if (ratio[*at] <= 1)
            break;
    }
    return s;
}

static spry_status measure(growth *g, int i, bench_match *m, limit *l, int n)
{
    sp_contestant c[LIMITS + 1] = {{run_plan, m}}, pair[2] = {{run_plan, m}};
    double ratio[LIMITS] = {0}, seconds = 0, pages;
    spry_status s;
    int at = 0;

    for (int k = 0; k < n; k++)
        c[k + 1] = (sp_contestant){limit_run, &l[k]};
    s = race_all(g, ratio, &seconds, &at, c, l, n);
    if (s != SPRY_OK)
        return s;
    pair[1] = c[at + 1];
    g->share[i] = ratio[at] = ratio_of(g, pair) / l[at].part;
    pages = pages_ratio(g, m);
    if (pages > 0)
        g->pages[g->paged++] = pages;
    print_row(g, &bench_sizes[i], m, l, ratio, at, seconds, pages);
    return s;
}

static double tuning_seconds(const growth *g, const spry_matrix *A,
                             const bench_case *c)
{
    if (g->quick)
        return bench_budget(A, c, QUICK_TUNING);
    return fmax(LEAST_TUNING, bench_budget(A, c, TUNING));
}

static spry_status one_size(growth *g, int i)
{
    bench_case c = {SPRY_SPMM, 32, SPRY_F32, g->m->threads};
    limit l[LIMITS];
    bench_match m;
    spry_matrix *A;
    spry_status s = spry_matrix_generate(&A, bench_sizes[i].spec, 1);
    int n;

    if (s != SPRY_OK)
        return s;
    s = bench_match_open(&m, A, &c, g->m, tuning_seconds(g, A, &c));
    if (s == SPRY_OK) {
        n = limits_open(l, &m.o, g->m);
        s = n > 0 ? measure(g, i, &m, l, n) : sp_fail_memory(0);
        limits_close(l, n);
        bench_match_close(&m);
    }
    spry_matrix_free(A);
    return s;
}

/* ---- all ---- */

static void print_caches(const spry_machine *m)
{
    for (int i = 0; i < SPRY_CACHES; i++)
        if (m->cache[i].bytes > 0)
            printf("L%d: %.0f KB reported, %.0f KB measured\n", i + 1,
                   (double)m->cache[i].bytes / 1024,
                   (double)spry_machine_cache(m, i) / 1024);
    if (m->points > 0)
        printf("random lines of memory: %.0f M/s, on usual pages %.0f M/s\n",
               m->lines[m->points - 1] / 1e6,
               m->lines_small[m->points - 1] / 1e6);
}

/* "uniform_1e+05" */
static const char *name_of(char out[64], const bench_size *z)
{
    snprintf(out, 64, "%s_%.0e", z->kind, z->nnz);
    return out;
}

static void print_aims(const growth *g)
{
    sp_interval pages = sp_geomean(g->pages, g->paged);
    char name[80], size[64];

    printf("\n");
    if (g->paged > 1)
        printf("B on usual pages / on huge ones: %.3f (%.3f..%.3f), %d "
               "problems\n",
               pages.mid, pages.low, pages.high, g->paged);
    for (int i = 0; i < BENCH_SIZES; i++) {
        if (g->share[i] == 0)
            continue;
        snprintf(name, sizeof name, "growth_%s",
                 name_of(size, &bench_sizes[i]));
        bench_aim_least(name, g->share[i], GOAL);
    }
    bench_aim_least("growth_least", g->least, GOAL);
}

static int threads_asked(void)
{
    const char *text = getenv("THREADS");

    return text ? atoi(text) : 0;
}

int main(void)
{
    static growth g = {.least = HUGE_VAL};
    spry_machine m;
    double begun = sp_seconds();

    g.m = &m;
    g.quick = bench_quick();
    if (spry_machine_detect(&m) != SPRY_OK ||
        spry_machine_limit(&m, threads_asked(), m.isa) != SPRY_OK ||
        spry_machine_probe(&m) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    bench_print_machine(&m);
    print_caches(&m);
    printf("\nspmm-32 f32, %d threads\n%-8s %9s %9s  %7s  limit that binds; "
           "schedule\n",
           m.threads, "kind", "nonzeros", "ns/nz", "share");
    for (int i = 0; i < BENCH_SIZES; i++) {
        char name[64];

        if ((g.quick && bench_sizes[i].nnz > 1e6) ||
            !bench_listed("ONLY", name_of(name, &bench_sizes[i])))
            continue;
        if (one_size(&g, i) != SPRY_OK) {
            printf("%s: %s\n", bench_sizes[i].spec, spry_message());
            g.failed++;
        } else {
            g.least = fmin(g.least, g.share[i]);
        }
    }
    print_aims(&g);
    printf("%.0f s, %d failed\n", sp_seconds() - begun, g.failed);
    return g.failed > 0;
}
