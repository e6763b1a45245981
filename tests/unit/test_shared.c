/* test_shared.c - one thing, many threads: what the headers say may be shared
 * is used side by side. The thread sanitizer has the last word. */
#include "check.h"
#include "folder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "graph_operands.h"
#include "spry.h"

enum { THREADS = 4, ROUNDS = 6 };

typedef struct {
    void (*work)(void *shared, int me);
    void *shared;
    int me;
} share;

static void *begin(void *arg)
{
    share *s = arg;

    s->work(s->shared, s->me);
    return NULL;
}

static void on_threads(void (*work)(void *shared, int me), void *shared)
{
    pthread_t thread[THREADS];
    share s[THREADS];

    for (int i = 0; i < THREADS; i++) {
        s[i] = (share){work, shared, i};
        assert_int_equal(pthread_create(&thread[i], NULL, begin, &s[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- a plan of each family ---- */

typedef struct {
    const spry_plan *plan;
    const float *B;
    float *C; /* [THREADS][size] */
    int64_t size;
    int failed[THREADS];
} shared_plan;

static void run_often(void *shared, int me)
{
    shared_plan *x = shared;

    for (int i = 0; i < ROUNDS; i++)
        x->failed[me] |=
            spry_run(x->plan, x->B, x->C + me * x->size) != SPRY_OK;
}

/* Whoever runs it beside whom, the results are the same bits. */
static void share_plan(const spry_problem *p, const char *text)
{
    int64_t in = spry_problem_input_size(p, 0);
    shared_plan x = {.size = spry_problem_output_size(p)};
    float *B = sp_alloc(in, sizeof *B);
    float *right = sp_alloc(x.size, sizeof *right);
    spry_machine m;
    spry_plan *plan;

    x.C = sp_alloc(THREADS * x.size, sizeof *x.C);
    assert_true(B && right && x.C);
    for (int64_t i = 0; i < in; i++)
        B[i] = (float)(i % 7) - 3;
    check_ok(spry_machine_detect(&m));
    m.threads = 3;
    check_ok(spry_plan_from(&plan, p, text, &m));
    x.plan = plan;
    x.B = B;
    check_ok(spry_run(plan, B, right));
    on_threads(run_often, &x);
    for (int i = 0; i < THREADS; i++) {
        assert_false(x.failed[i]);
        assert_memory_equal(x.C + i * x.size, right,
                            (size_t)x.size * sizeof *right);
    }
    spry_plan_free(plan);
    sp_free(B);
    sp_free(right);
    sp_free(x.C);
}

static void sparse_plans(void **state)
{
    static const char *const texts[] = {
        "csr tile=2 threads=3", "csr tile=2 pass=16 copy=1 threads=2",
        "sell slice=4 sigma=64 threads=2", "csr order=rcm threads=2"};
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=300 cols=300 nnz=4000", 1));
    check_ok(spry_problem_spmm(&p, A, 24, SPRY_F32));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        share_plan(p, texts[i]);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void dense_plans(void **state)
{
    static const char *const texts[] = {
        "conv2d,h=14,w=14,c=24,k=32,r=3,pad=1,act=relu",
        "conv2d,h=14,w=14,c=24,k=24,r=3,pad=1,groups=24",
        "matmul,m=40,n=48,k=32", "pool,h=14,w=14,c=24,r=3,stride=2"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        spry_operator op;
        spry_problem *p;
        spry_candidate way;
        int count;

        check_ok(spry_operator_parse(&op, texts[i]));
        check_ok(spry_problem_dense(&p, &op));
        check_ok(spry_propose(&way, &count, 1, p, NULL));
        share_plan(p, way.schedule);
        spry_problem_free(p);
    }
}

static void network_plans(void **state)
{
    static const char *const texts[] = {"rows tile=8 threads=2",
                                        "gather threads=2",
                                        "passes=all rows tile=8 threads=2"};
    spry_network *n;
    spry_problem *p;

    (void)state;
    check_ok(
        spry_network_read(&n, "gen:random,width=64,depth=6,density=0.2", NULL));
    check_ok(spry_problem_network(&p, n, 40));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        share_plan(p, texts[i]);
    spry_problem_free(p);
    spry_network_free(n);
}

/* ---- a problem, asked by all at once what nobody has asked before ---- */

typedef struct {
    const spry_problem *p;
    spry_machine m;
    spry_candidate best[THREADS];
    double nnz[THREADS];
    char why[THREADS][200]; /* "" when nothing failed */
} shared_problem;

static void ask(void *shared, int me)
{
    shared_problem *x = shared;
    const spry_stats *stats = spry_problem_stats(x->p);
    spry_prediction how = {.size = sizeof how};
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan;
    int count = 0;

    o.machine = &x->m; /* each would probe it anew, and find it different */
    x->nnz[me] = stats ? (double)stats->nnz : -1;
    if (spry_propose(&x->best[me], &count, 1, x->p, &o) != SPRY_OK ||
        spry_explain(&how, x->p, x->best[me].schedule, &x->m) != SPRY_OK ||
        spry_plan_from(&plan, x->p, x->best[me].schedule, &x->m) != SPRY_OK)
        snprintf(x->why[me], sizeof x->why[me], "%s", spry_message());
    else
        spry_plan_free(plan);
}

static void problems(void **state)
{
    shared_problem x = {0};
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_generate(&A, "rmat scale=9 degree=12", 1));
    check_ok(spry_problem_spmm(&p, A, 32, SPRY_F32));
    check_ok(spry_machine_detect(&x.m));
    x.p = p;
    on_threads(ask, &x);
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(x.why[i], "");
        assert_true(x.nnz[i] == x.nnz[0] && x.nnz[i] > 0);
        assert_string_equal(x.best[i].schedule, x.best[0].schedule);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* ---- a store, and a graph with an executor each ---- */

typedef struct {
    const spry_problem *p;
    char store[TEST_FOLDER + 16];
    int failed[THREADS];
} shared_store;

static void tune_there(void *shared, int me)
{
    shared_store *x = shared;
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;

    o.store = x->store;
    o.effort = me % 2 ? SPRY_LOOKUP : SPRY_MEASURE;
    o.seconds = me % 2 ? 0 : 2;
    x->failed[me] = spry_tune(&plan, x->p, &o);
    spry_plan_free(plan);
}

static void stores(void **state)
{
    char dir[TEST_FOLDER];
    shared_store x = {0};
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    assert_non_null(make_folder(dir));
    snprintf(x.store, sizeof x.store, "%s/records.db", dir);
    check_ok(spry_matrix_generate(&A, "uniform rows=300 cols=300 nnz=4000", 2));
    check_ok(spry_problem_spmm(&p, A, 16, SPRY_F32));
    x.p = p;
    on_threads(tune_there, &x);
    for (int i = 0; i < THREADS; i++) /* 2 s may be refused as too few */
        assert_true(!x.failed[i] || x.failed[i] == SPRY_BUDGET);
    spry_problem_free(p);
    spry_matrix_free(A);
    assert_true(remove_folder(dir));
}

typedef struct {
    spry_graph *g;
    graph_operands operands[THREADS];
    int failed[THREADS];
} shared_graph;

static void execute(void *shared, int me)
{
    shared_graph *x = shared;
    graph_operands *o = &x->operands[me];
    spry_executor_options options = SPRY_EXECUTOR_DEFAULTS;
    spry_executor *e;

    options.threads = 2;
    options.store = ":memory:";
    x->failed[me] = spry_executor_make(&e, x->g, &options) != SPRY_OK;
    for (int i = 0; i < 2 && !x->failed[me]; i++)
        x->failed[me] =
            spry_executor_run(e, (const void *const *)o->in, o->out) != SPRY_OK;
    spry_executor_free(e);
}

static void graphs(void **state)
{
    shared_graph x = {.g = open_graph("net:bert,layers=1,tokens=7")};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        x.operands[i] = make_operands(x.g, 3);
    on_threads(execute, &x);
    for (int i = 0; i < THREADS; i++) {
        assert_false(x.failed[i]);
        assert_memory_equal(x.operands[i].out[0], x.operands[0].out[0],
                            (size_t)x.operands[0].to[0].count * sizeof(float));
    }
    for (int i = 0; i < THREADS; i++)
        free_operands(&x.operands[i]);
    spry_graph_free(x.g);
}

/* ---- sentences ---- */

static void fail_here(void *shared, int me)
{
    int *wrong = shared;
    char text[32];
    spry_matrix *A;

    snprintf(text, sizeof text, "nothing%d rows=3", me);
    for (int i = 0; i < 50; i++)
        wrong[me] |=
            spry_matrix_generate(&A, text, 1) == SPRY_OK ||
            !strstr(spry_message(), "nothing") ||
            spry_message()[strcspn(spry_message(), "0123")] != '0' + me;
}

static void sentences_are_the_threads_own(void **state)
{
    int wrong[THREADS] = {0};

    (void)state;
    on_threads(fail_here, wrong);
    for (int i = 0; i < THREADS; i++)
        assert_false(wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_plans),
        cmocka_unit_test(dense_plans),
        cmocka_unit_test(network_plans),
        cmocka_unit_test(problems),
        cmocka_unit_test(stores),
        cmocka_unit_test(graphs),
        cmocka_unit_test(sentences_are_the_threads_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
