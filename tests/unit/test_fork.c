/* test_fork.c - children of a process that has run on several threads. */
#define _DEFAULT_SOURCE /* usleep */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "graph_operands.h"
#include "nn/nn.h"
#include "spry.h"

enum { ROWS = 600, WIDTH = 8 };

typedef struct {
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;
    float B[ROWS * WIDTH], C[ROWS * WIDTH], right[ROWS * WIDTH];
} fixture;

/* A tuned plan would have any number of threads: tune, then take two. */
static int set_up(void **state)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_schedule x = spry_schedule_baseline(2);
    fixture *f = calloc(1, sizeof *f);
    spry_plan *tuned;
    spry_machine m;

    check_ok(
        spry_matrix_generate(&f->A, "uniform rows=600 cols=600 nnz=9000", 1));
    check_ok(spry_problem_spmm(&f->p, f->A, WIDTH, SPRY_F32));
    o.seconds = 0;
    o.store = ":memory:";
    check_ok(spry_tune(&tuned, f->p, &o));
    spry_plan_free(tuned);
    check_ok(spry_machine_detect(&m));
    m.threads = 2;
    check_ok(spry_plan_make(&f->plan, f->p, &x, &m));
    for (int i = 0; i < ROWS * WIDTH; i++)
        f->B[i] = (float)(i % 13) - 6;
    check_ok(spry_plan_check(f->plan, 1));
    check_ok(spry_run(f->plan, f->B, f->right)); /* the same, bit for bit */
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    spry_plan_free(f->plan);
    spry_problem_free(f->p);
    spry_matrix_free(f->A);
    free(f);
    return 0;
}

static int threads_alive(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

/* Run in a child; what it returned, or -1 when it did not end: one that takes
 * that long waits for threads that are not there. */
static int in_child(int (*work)(fixture *f), fixture *f)
{
    double late = sp_seconds() + unless_emulated(60, 900);
    pid_t pid = fork(), ended;
    int status = 0;

    if (pid == 0)
        _exit(work(f));
    assert_true(pid > 0);
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && sp_seconds() < late)
        usleep(200);
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(fixture *f)
{
    memset(f->C, 0xff, sizeof f->C);
    return spry_run(f->plan, f->B, f->C) != SPRY_OK ||
           memcmp(f->C, f->right, sizeof f->C) != 0;
}

/* The parent's threads are up again before each fork. */
static void children_run(void **state)
{
    fixture *f = *state;
    int forks = unless_emulated(1000, 100);

    for (int i = 0; i < forks; i++) {
        assert_int_equal(run(f), 0);
        assert_int_equal(in_child(run, f), 0);
    }
    assert_int_equal(run(f), 0);
}

static int run_on_threads(fixture *f)
{
    return run(f) || threads_alive() < 2;
}

static void children_have_threads_of_their_own(void **state)
{
    fixture *f = *state;

    assert_int_equal(run_on_threads(f), 0);
    assert_int_equal(in_child(run_on_threads, f), 0);
}

static int have_a_child_run(fixture *f)
{
    return run(f) || in_child(run, f);
}

static void children_fork_too(void **state)
{
    fixture *f = *state;

    assert_int_equal(run(f), 0);
    assert_int_equal(in_child(have_a_child_run, f), 0);
}

static int tune(fixture *f)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan;

    o.seconds = 0;
    o.store = ":memory:";
    if (spry_tune(&plan, f->p, &o) != SPRY_OK)
        return 1;
    spry_plan_free(plan);
    return 0;
}

static void children_tune(void **state)
{
    assert_int_equal(run(*state), 0);
    assert_int_equal(in_child(tune, *state), 0);
}

/* Every other room that has parallel loops. */
static int read_and_look(fixture *f)
{
    spry_stats *t = calloc(1, sizeof *t);
    spry_matrix *A;
    int bad = spry_matrix_generate(
                  &A, "uniform rows=50000 cols=50000 nnz=400000", 3) != SPRY_OK;

    (void)f;
    if (t)
        t->size = sizeof *t;
    bad = bad || !t || spry_matrix_stats(t, A) != SPRY_OK;
    bad = bad || t->nnz != 400000;
    spry_matrix_free(A);
    free(t);
    return bad;
}

static int run_network(fixture *f)
{
    enum { BATCH = 64 };
    static float x[BATCH * 128], y[BATCH * 128];
    spry_layers *s = NULL;
    int64_t outputs = 0;
    int bad;

    (void)f;
    for (int i = 0; i < BATCH * 128; i++)
        x[i] = (float)(i % 3);
    bad = spry_layers_open(&s, "gen:random,width=128,depth=4,density=0.3",
                           NULL) != SPRY_OK ||
          spry_layers_outputs(&outputs, s) != SPRY_OK || outputs != 128 ||
          spry_layers_rewind(s) != SPRY_OK ||
          spry_layers_run(y, s, x, BATCH) != SPRY_OK;
    spry_layers_close(s);
    return bad;
}

static int multiply(fixture *f)
{
    enum { SIDE = 300 };
    float *a = sp_alloc(3 * SIDE * SIDE, sizeof *a);
    sp_gemm g = {.m = SIDE,
                 .n = SIDE,
                 .k = SIDE,
                 .a = a,
                 .b = a ? a + SIDE * SIDE : NULL,
                 .c = a ? a + 2 * SIDE * SIDE : NULL,
                 .lda = SIDE,
                 .ldb = SIDE,
                 .ldc = SIDE};
    int bad = !a;

    (void)f;
    for (int i = 0; a && i < 2 * SIDE * SIDE; i++)
        a[i] = 1;
    if (a)
        sp_nn_gemm(&g, 2);
    for (int i = 0; a && i < SIDE * SIDE; i++)
        bad |= a[2 * SIDE * SIDE + i] != SIDE;
    sp_free(a);
    return bad;
}

static void other_rooms_survive_too(void **state)
{
    static int (*const work[])(fixture *) = {read_and_look, run_network,
                                             multiply};

    for (int i = 0; i < 3; i++) {
        assert_int_equal(work[i](*state), 0);
        assert_int_equal(in_child(work[i], *state), 0);
    }
}

/* Executors have threads of their own. */
static spry_graph *graph;
static spry_executor *executor;
static graph_operands operands;
static void *right;

static int execute(fixture *f)
{
    size_t bytes = (size_t)operands.to[0].count * sizeof(float);

    (void)f;
    memset(operands.out[0], 0xff, bytes);
    return spry_executor_run(executor, (const void *const *)operands.in,
                             operands.out) != SPRY_OK ||
           (right && memcmp(operands.out[0], right, bytes) != 0);
}

static int execute_and_free(fixture *f)
{
    int bad = execute(f);

    spry_executor_free(executor);
    return bad;
}

static int free_only(fixture *f)
{
    (void)f;
    spry_executor_free(executor);
    return 0;
}

static void executors_survive_too(void **state)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;

    graph = open_graph("net:mobilenetv3,size=75");
    operands = make_operands(graph, 3);
    o.threads = 3;
    o.store = ":memory:";
    check_ok(spry_executor_make(&executor, graph, &o));
    assert_int_equal(execute(*state), 0);
    right = operands.out[0];
    operands.out[0] = calloc((size_t)operands.to[0].count, sizeof(float));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(in_child(execute_and_free, *state), 0);
        assert_int_equal(execute(*state), 0);
    }
    assert_int_equal(in_child(free_only, *state), 0);
    spry_executor_free(executor);
    spry_graph_free(graph);
    free_operands(&operands);
    free(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_run),
        cmocka_unit_test(children_have_threads_of_their_own),
        cmocka_unit_test(children_fork_too),
        cmocka_unit_test(children_tune),
        cmocka_unit_test(other_rooms_survive_too),
        cmocka_unit_test(executors_survive_too),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
