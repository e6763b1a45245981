/* mutants.c - kernels with a fault put in: does verification notice?
 *
 * Kernels of every format, operation and type, with tails, unrolling,
 * prefetching, panels, passes, streams and threads, are bound to small odd
 * matrices and to some that are too large to compare row by row. Each case
 * gets a random sample of the faults its text has room for. What verification
 * costs is told beside. */
#define _DEFAULT_SOURCE /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest/folder.h"
#include "faults/breed.h"
#include "faults/net_breed.h"

static const struct test_case {
    const char *matrix; /* for spry_matrix_generate */
    spry_op op;
    int64_t n;
    const char *schedules; /* one per line; types take turns */
} cases[] = {
    {"uniform rows=303 cols=199 nnz=2500", SPRY_SPMV, 1,
     "csr\ncsr threads=3\ncsr unroll=2\ncsr unroll=4 index=16 threads=2\n"
     "csr unroll=8 prefetch=4\ncsr unroll=4 order=length threads=3\n"
     "csr unroll=4 panel=64 threads=2\nsell slice=2\n"
     "sell slice=1 sigma=64 threads=3\nsell slice=4 gather=1 index=16\n"
     "bcsr r=2 c=2\nbcsr r=1 c=4 threads=2\ncsr index=64 threads=3"},
    {"banded rows=259 band=5", SPRY_SPMV, 1,
     "dia slice=1\ndia slice=4 threads=2\nbcsr r=4 c=4 threads=3\n"
     "bcsr r=8 c=2\nbcsr r=2 c=8 index=16\nsell slice=2 threads=2\n"
     "sell slice=2 index=8 threads=2"},
    {"uniform rows=211 cols=199 nnz=2500 values=7", SPRY_SPMV, 1,
     "sell slice=2 palette=256 threads=2\ncsr unroll=4 palette=256"},
    {"hypersparse rows=5000 nnz=700", SPRY_SPMV, 1,
     "dcsr unroll=2\ndcsr unroll=4 threads=3\ncsr unroll=4 chunk=64 threads=2"},
    {"uniform rows=301 cols=203 nnz=2500", SPRY_SPMM, 37,
     "csr\ncsr threads=2\ncsr tile=1\ncsr tile=2 unroll=2 threads=3\n"
     "csr tile=4 prefetch=8\ncsr tile=2 pass=16 threads=2\n"
     "csr tile=2 panel=64 threads=3\ncsr tile=3 fixed=1\n"
     "csr tile=2 order=cluster index=16\nbcsr r=2 c=2 tile=2 threads=2\n"
     "dcsr tile=2 unroll=2\nsell tile=2 slice=2 sigma=64 threads=2"},
    {"blocks rows=136 r=4 c=4 nnz=2000", SPRY_SPMM, 64,
     "bcsr r=4 c=4 tile=2\nbcsr r=4 c=1 tile=2 fixed=1 threads=3\n"
     "csr tile=4 stream=1\ncsr tile=8 stream=1 threads=2\n"
     "bcsr r=2 c=4 tile=1 pass=32 stream=1"},
    {"blocks rows=138 r=4 c=4 nnz=2000 scatter=0.3", SPRY_SPMM, 37,
     "bcsr r=4 c=4 tile=2 rest=50 threads=2\nbcsr r=2 c=2 tile=4 rest=75"},
    {"blocks rows=138 r=4 c=4 nnz=2000 scatter=0.3", SPRY_SPMV, 1,
     "bcsr r=4 c=4 rest=50 threads=2\nbcsr r=8 c=2 rest=25 index=16"},
    {"hypersparse rows=3000 nnz=600", SPRY_SPMM, 9,
     "dcsr tile=1\ndcsr tile=2 threads=3\ncsr tile=1 chunk=64 threads=3"},
    {"uniform rows=211 cols=307 nnz=1900", SPRY_SDDMM, 29,
     "csr\ncsr threads=3\ncsr tile=1\ncsr tile=2 unroll=4 threads=2\n"
     "csr tile=1 unroll=8 prefetch=4\ncsr tile=2 unroll=2 panel=64\n"
     "csr tile=4 unroll=4 fixed=1\ndcsr tile=1 unroll=4 threads=3"},
    /* too many rows to compare them all */
    {"uniform rows=20k cols=60k nnz=150k", SPRY_SPMM, 32,
     "csr threads=2\ncsr tile=4 index=16 threads=2\n"
     "csr tile=2 panel=16384 threads=2\ncsr tile=4 chunk=512 threads=2"},
    {"banded rows=30k band=3", SPRY_SPMM, 32, "bcsr r=2 c=2 tile=2 threads=2"},
    {"uniform rows=20k nnz=100k", SPRY_SDDMM, 32,
     "csr tile=4 unroll=4 threads=2\ncsr threads=2"},
    {"uniform rows=300k nnz=1M", SPRY_SPMV, 1,
     "csr unroll=4 threads=2\nsell slice=2 threads=2"},
};
enum {
    CASES = sizeof cases / sizeof cases[0],
    MOST = 12, /* mutants of one kernel */
    EACH = 2   /* of one fault in it */
};

typedef struct {
    int fate[BENCH_FATES];
    int kernels, failed;
    int by_fault[128][BENCH_FATES];
} tally;

static const char *const fate_name[] = {"wrong",     "crash",    "hang",
                                        "no effect", "survived", "stillborn"};

static void count(tally *t, const bench_mutant *m, const spry_plan *plan)
{
    t->fate[m->fate]++;
    t->by_fault[m->fault - bench_faults][m->fate]++;
    if (m->fate == BENCH_SURVIVED || m->fate == BENCH_STILLBORN)
        printf("%-9s %s, place %d: %s: %s\n", fate_name[m->fate],
               m->fault->name, m->place, spry_plan_kernel(plan),
               spry_plan_text(plan));
}

static void one_plan(tally *t, const spry_problem *p, const sp_oracle *o,
                     const char *schedule, sp_rng *r)
{
    bench_mutant m[MOST];
    spry_schedule x;
    spry_plan *plan = NULL;
    spry_status s = spry_schedule_parse(&x, schedule);
    int n = 0;

    if (s == SPRY_OK)
        s = spry_plan_make(&plan, p, &x, NULL);
    if (s == SPRY_OK) {
        n = bench_choose(m, MOST, EACH, x.threads > 1, sp_sparse_plan_of(plan),
                         r);
        s = bench_judge(m, n, sp_sparse_plan_of(plan), o);
    }
    for (int i = 0; s == SPRY_OK && i < n; i++)
        count(t, &m[i], plan);
    if (s != SPRY_OK)
        printf("left out  %s: %s\n", schedule, spry_message());
    t->failed += s != SPRY_OK;
    t->kernels += s == SPRY_OK;
    spry_plan_free(plan);
}

static void one_problem(tally *t, const struct test_case *c,
                        const spry_matrix *A, spry_type type, sp_rng *r)
{
    spry_problem *p = NULL;
    sp_oracle *o = NULL;
    int turn = 0;
    spry_status s = spry_problem_make(&p, c->op, A, c->n, type);

    if (s == SPRY_OK)
        s = sp_oracle_make(&o, sp_sparse_of(p), 1);
    for (const char *at = c->schedules; s == SPRY_OK && *at; turn++) {
        char schedule[SPRY_SCHEDULE_TEXT];
        int len = (int)strcspn(at, "\n");

        snprintf(schedule, sizeof schedule, "%.*s", len, at);
        if (turn % 2 == (type == SPRY_F64))
            one_plan(t, p, o, schedule, r);
        at += len + (at[len] == '\n');
    }
    if (s != SPRY_OK)
        printf("left out  %s: %s\n", c->matrix, spry_message());
    sp_oracle_free(o);
    spry_problem_free(p);
}

static void one_case(tally *t, const struct test_case *c, sp_rng *r)
{
    spry_matrix *A;

    if (spry_matrix_generate(&A, c->matrix, 1) != SPRY_OK) {
        printf("left out  %s: %s\n", c->matrix, spry_message());
        t->failed++;
        return;
    }
    one_problem(t, c, A, SPRY_F32, r);
    if (strchr(c->schedules, '\n'))
        one_problem(t, c, A, SPRY_F64, r);
    spry_matrix_free(A);
}

/* ---- the loops that run networks ---- */

/* Faults in their text, each through all ways of several small networks. */
static void network_mutants(sp_rng *r)
{
    enum { ALL = 240, OF_ONE = 5 };
    static bench_mutant m[ALL];
    int fate[BENCH_FATES] = {0};
    int n = bench_net_choose(m, ALL, OF_ONE, r), killed, all;

    for (int i = 0; i < n; i++) {
        if (bench_net_judge(&m[i]) != SPRY_OK) {
            printf("left out  %s: %s\n", m[i].fault->name, spry_message());
            continue;
        }
        fate[m[i].fate]++;
        if (m[i].fate == BENCH_SURVIVED || m[i].fate == BENCH_STILLBORN)
            printf("%-9s %s, place %d\n", fate_name[m[i].fate],
                   m[i].fault->name, m[i].place);
        fflush(stdout);
    }
    killed = fate[BENCH_WRONG] + fate[BENCH_CRASH] + fate[BENCH_HANG];
    all = killed + fate[BENCH_SURVIVED];
    printf("networks: %d wrong, %d crash, %d hang, %d without effect, %d "
           "survived, %d stillborn\n",
           fate[BENCH_WRONG], fate[BENCH_CRASH], fate[BENCH_HANG],
           fate[BENCH_NO_EFFECT], fate[BENCH_SURVIVED], fate[BENCH_STILLBORN]);
    printf("aim network_mutants %d 100 %s\n", all,
           all >= 100 ? "met" : "short");
    printf("aim network_mutants_killed %.4f 0.99 %s\n",
           all ? (double)killed / all : 0,
           killed >= 0.99 * all && all > 0 ? "met" : "short");
}

/* ---- what a check costs ---- */

/* Seconds for the oracle of 1e6 entries times 32 columns, and for one check. */
static void print_cost(const char *schedule)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    sp_oracle *o = NULL;
    spry_plan *plan = NULL;
    spry_schedule x;
    double begun, made, checked, run;

    if (spry_matrix_generate(&A, "uniform rows=60k nnz=1M", 1) != SPRY_OK ||
        spry_problem_spmm(&p, A, 32, SPRY_F32) != SPRY_OK ||
        spry_schedule_parse(&x, schedule) != SPRY_OK ||
        spry_plan_make(&plan, p, &x, NULL) != SPRY_OK)
        return;
    begun = sp_seconds();
    (void)sp_oracle_make(&o, sp_sparse_of(p), 1);
    made = sp_seconds() - begun;
    (void)sp_oracle_check(o, sp_sparse_plan_of(plan));
    begun = sp_seconds();
    (void)sp_oracle_check(o, sp_sparse_plan_of(plan));
    checked = sp_seconds() - begun;
    begun = sp_seconds();
    sp_oracle_run(o, plan);
    run = sp_seconds() - begun;
    printf(
        "spmm 32 f32, 1M entries, %s: oracle %.0f ms, check %.0f ms, one run "
        "%.1f ms\n",
        schedule, 1e3 * made, 1e3 * checked, 1e3 * run);
    sp_oracle_free(o);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* ---- the whole ---- */

static void print_faults(const tally *t)
{
    printf("\n%-26s", "fault");
    for (int k = 0; k < BENCH_FATES; k++)
        printf(" %9s", fate_name[k]);
    printf("\n");
    for (int i = 0; i < bench_fault_count; i++) {
        printf("%-26s", bench_faults[i].name);
        for (int k = 0; k < BENCH_FATES; k++)
            printf(" %9d", t->by_fault[i][k]);
        printf("\n");
    }
    printf("%-26s", "all");
    for (int k = 0; k < BENCH_FATES; k++)
        printf(" %9d", t->fate[k]);
    printf("\n%d kernels, %d left out\n\n", t->kernels, t->failed);
}

static void print_aims(const tally *t)
{
    int killed =
        t->fate[BENCH_WRONG] + t->fate[BENCH_CRASH] + t->fate[BENCH_HANG];
    int alive = t->fate[BENCH_SURVIVED], all = killed + alive;
    double share = all ? (double)killed / all : 0;

    printf("aim mutants %d 200 %s\n", all, all >= 200 ? "met" : "short");
    printf("aim mutants_killed %.4f 0.99 %s\n", share,
           share >= 0.99 ? "met" : "short");
}

int main(void)
{
    static tally t;
    sp_rng r = sp_rng_seed(1);
    char home[BENCH_FOLDER];

    if (!bench_folder(home) || setenv("SPRY_HOME", home, 1) != 0)
        return 1;
    if (spry_jit_available() != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    if (!getenv("MATRICES")) /* those alone */
        network_mutants(&r);
    if (getenv("NETWORKS")) { /* those alone */
        bench_folder_remove(home);
        return 0;
    }
    for (int i = 0; i < CASES; i++)
        one_case(&t, &cases[i], &r);
    print_faults(&t);
    print_cost("csr tile=4");
    print_cost("csr tile=4 threads=2");
    print_cost("bcsr r=2 c=2 tile=4");
    print_aims(&t);
    bench_folder_remove(home);
    return 0;
}
