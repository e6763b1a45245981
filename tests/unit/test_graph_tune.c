/* Which operator of a network is tuned next, and with what it begins. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "folder.h"
#include "graph/tuning.h"

static void payoff_counts_what_a_trial_costs(void **state)
{
    /* As much to be won in both; a trial of the first costs more. */
    sp_task_state t[2] = {{.now = 2, .hoped = 1, .flops = 9, .weight = 1},
                          {.now = 2, .hoped = 1, .flops = 5, .weight = 20}};

    (void)state;
    assert_int_equal(sp_task_next(t, 2, SPRY_BY_PAYOFF), 1);
    assert_int_equal(sp_task_next(t, 2, SPRY_BY_FLOPS), 0);
    sp_task_turn(&t[1], SPRY_BY_PAYOFF);
    assert_int_equal(sp_task_next(t, 2, SPRY_BY_PAYOFF), 0);
    t[0].hoped = 0; /* nothing left to be won */
    assert_int_equal(sp_task_next(t, 2, SPRY_BY_PAYOFF), -1);
}

static void the_gradient_visits_all_then_the_promising(void **state)
{
    sp_task_state t[3];
    int seen[3] = {0};

    (void)state;
    memset(t, 0, sizeof t);
    for (int i = 0; i < 3; i++) {
        t[i].now = t[i].best[0] = 1 + i;
        t[i].flops = 10;
        t[i].weight = 1;
    }
    for (int k = 0; k < 3; k++) {
        int next = sp_task_next(t, 3, SPRY_BY_GRADIENT);

        assert_in_range(next, 0, 2);
        seen[next]++;
        if (next == 1)
            t[1].now /= 4; /* the one that gets faster */
        sp_task_turn(&t[next], SPRY_BY_GRADIENT);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen[i], 1);
    assert_in_range(sp_task_next(t, 3, SPRY_BY_GRADIENT), 0, 2);
    assert_false(t[0].closed);
}

static void orders_have_names(void **state)
{
    spry_tuning_order order;

    (void)state;
    for (int i = 0; *spry_tuning_order_name((spry_tuning_order)i); i++) {
        check_ok(spry_tuning_order_parse(
            &order, spry_tuning_order_name((spry_tuning_order)i)));
        assert_int_equal((int)order, i);
    }
    assert_int_equal(spry_tuning_order_parse(&order, "chance"), SPRY_USAGE);
    assert_int_equal(spry_tuning_order_parse(NULL, "flops"), SPRY_USAGE);
}

static spry_problem *problem(const char *text)
{
    spry_problem *p = NULL;
    spry_operator op;

    check_ok(spry_operator_parse(&op, text));
    check_ok(spry_problem_dense(&p, &op));
    return p;
}

/* The answer to op: its machine, baselines and schedule are a's. */
static void put_answer(const char *store, const char *op, spry_answer a)
{
    spry_records *db = NULL;
    spry_problem *p = problem(op);

    a.problem = spry_problem_key(p);
    a.speedup = a.low = a.high = a.baseline_seconds / a.seconds;
    a.when = 1;
    check_ok(spry_records_open(&db, store));
    check_ok(spry_records_answer(db, &a));
    spry_records_close(db);
    spry_problem_free(p);
}

static void answer(const char *store, const char *machine, const char *op,
                   const char *way)
{
    put_answer(store, op,
               (spry_answer){.machine = machine,
                             .baseline = "plain",
                             .schedule = way,
                             .baseline_seconds = 2,
                             .seconds = 1,
                             .effort = SPRY_MEASURE});
}

/* Tuning took op, in a network, from so many seconds to so many. */
static void won(const char *store, const char *machine, const char *op,
                double before, double after)
{
    put_answer(store, op,
               (spry_answer){.machine = machine,
                             .baseline = "direct tile=1x1",
                             .schedule = "direct tile=2x2",
                             .baseline_seconds = before,
                             .seconds = after,
                             .tuning_seconds = 1,
                             .effort = SPRY_MEASURE});
}

/* A store of its own, and an executor that knows no more than its machine. */
static void open_executor(spry_executor *e, char *dir, char *store, size_t size)
{
    memset(e, 0, sizeof *e);
    e->threads = 1;
    e->o.transfer = 1;
    assert_non_null(make_folder(dir));
    snprintf(store, size, "%s/records.db", dir);
    check_ok(spry_machine_detect(&e->m));
    check_ok(spry_machine_limit(&e->m, 1, e->m.isa));
    e->o.store = store;
}

/* Texts near p; how many. */
static int near(char (*text)[SPRY_SCHEDULE_TEXT], int most, spry_executor *e,
                const spry_problem *p, int *known)
{
    sp_transfer *t = NULL;
    int count;

    check_ok(sp_transfer_open(&t, e));
    count = sp_transfer_near(text, most, t, p);
    *known = sp_transfer_known(t, p);
    sp_transfer_close(t);
    return count;
}

static void near_answers_are_found(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    char text[3][SPRY_SCHEDULE_TEXT];
    spry_executor e;
    spry_problem *p = problem("conv2d,h=28,w=28,c=64,k=64,r=3,pad=1");
    spry_problem *other = problem("conv2d,h=28,w=28,c=64,k=64,r=5,pad=2");
    int known;

    (void)state;
    open_executor(&e, dir, store, sizeof store);
    answer(store, e.m.fingerprint, "conv2d,h=28,w=28,c=128,k=64,r=3,pad=1",
           "direct tile=4x2");
    answer(store, "another", "conv2d,h=28,w=28,c=64,k=64,r=3,pad=1",
           "direct tile=2x2");
    answer(store, e.m.fingerprint, "conv2d,h=28,w=28,c=2048,k=64,r=3,pad=1",
           "direct tile=1x1");
    answer(store, e.m.fingerprint, "matmul,m=28,n=64,k=64", "direct tile=4x1");
    /* not one so far away, not another kind */
    assert_int_equal(near(text, 3, &e, p, &known), 2);
    assert_string_not_equal(text[0], text[1]);
    assert_false(known); /* that is another machine's */
    assert_int_equal(near(text, 3, &e, other, &known), 0);
    answer(store, e.m.fingerprint, "conv2d,h=28,w=28,c=64,k=64,r=3,pad=1",
           "direct tile=3x1");
    assert_int_equal(near(text, 1, &e, p, &known), 1);
    assert_true(known);
    assert_string_equal(text[0], "direct tile=3x1");
    e.o.transfer = 0;
    assert_int_equal(near(text, 1, &e, p, &known), 0);
    assert_false(known);
    spry_problem_free(p);
    spry_problem_free(other);
    assert_true(remove_folder(dir));
}

/* A convolution of one tap and a product run by the same loops. Tiles that
 * cut a line alike are one. */
static void products_learn_from_convolutions(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    char text[3][SPRY_SCHEDULE_TEXT];
    spry_executor e;
    spry_problem *p = problem("matmul,m=128,n=256,k=512");
    spry_problem *given = problem("matmul,m=128,n=256,k=512,b=given");
    spry_problem *row = problem("matmul,m=1,n=256,k=512");
    int known;

    (void)state;
    open_executor(&e, dir, store, sizeof store);
    answer(store, e.m.fingerprint, "conv2d,h=14,w=14,c=512,k=256",
           "direct tile=4x2");
    answer(store, e.m.fingerprint, "conv2d,h=14,w=14,c=512,k=256,r=3,pad=1",
           "direct tile=2x2");
    assert_int_equal(near(text, 3, &e, p, &known), 1);
    assert_string_equal(text[0], "direct tile=4x2");
    assert_int_equal(near(text, 3, &e, given, &known), 0);
    assert_int_equal(near(text, 3, &e, row, &known), 0);
    spry_problem_free(p);
    spry_problem_free(given);
    spry_problem_free(row);
    assert_true(remove_folder(dir));
}

static double gain(spry_executor *e, const spry_problem *p)
{
    sp_transfer *t = NULL;
    double x;

    check_ok(sp_transfer_open(&t, e));
    x = sp_transfer_gain(t, p);
    sp_transfer_close(t);
    return x;
}

static void near_gains_count_most(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    spry_executor e;
    spry_problem *near = problem("conv2d,h=28,w=28,c=96,k=64,r=3,pad=1");
    spry_problem *far = problem("conv2d,h=56,w=56,c=64,k=16");
    spry_problem *strange = problem("softmax,m=100,n=100");

    (void)state;
    open_executor(&e, dir, store, sizeof store);
    assert_true(gain(&e, near) < 0);
    /* over a plain loop: that says nothing of the model's choice */
    answer(store, e.m.fingerprint, "conv2d,h=28,w=28,c=64,k=64,r=3,pad=1",
           "direct tile=3x1");
    assert_true(gain(&e, near) < 0);
    won(store, e.m.fingerprint, "conv2d,h=28,w=28,c=64,k=64,r=3,pad=1", 2, 1);
    won(store, e.m.fingerprint, "conv2d,h=28,w=28,c=128,k=64,r=3,pad=1", 2, 1);
    won(store, e.m.fingerprint, "conv2d,h=56,w=56,c=64,k=24", 2, 2);
    won(store, e.m.fingerprint, "conv2d,h=56,w=56,c=64,k=8", 2, 2);
    assert_true(gain(&e, near) < 0); /* four are too few */
    won(store, e.m.fingerprint, "conv2d,h=56,w=56,c=64,k=12", 2, 2);
    assert_true(gain(&e, near) > gain(&e, far));
    assert_true(gain(&e, near) <= 0.5 + 1e-9);
    /* the mean of all and of two usual ones, and their spread */
    assert_true(fabs(gain(&e, strange) - (1.2 / 7 + sqrt(0.06))) < 1e-9);
    spry_problem_free(near);
    spry_problem_free(far);
    spry_problem_free(strange);
    assert_true(remove_folder(dir));
}

/* Who won nothing, be it by chance, does not end all hope. */
static void some_hope_is_left(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16], op[64];
    spry_executor e;
    spry_problem *p = problem("matmul,m=512,n=512,k=512");

    (void)state;
    open_executor(&e, dir, store, sizeof store);
    for (int i = 1; i <= 5; i++) {
        snprintf(op, sizeof op, "matmul,m=2,n=16,k=%d", 16 * i);
        assert_true(gain(&e, p) < 0);
        won(store, "another", op, 2, 2);
    }
    assert_true(gain(&e, p) > 0.01);
    spry_problem_free(p);
    assert_true(remove_folder(dir));
}

/* The newest answer counts: who is computed by the model alone again has not
 * been tuned. */
static void what_was_covered_up_is_not_known(void **state)
{
    static const char op[] = "matmul,m=64,n=64,k=64";
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    char text[1][SPRY_SCHEDULE_TEXT];
    spry_executor e;
    spry_problem *p = problem(op);
    spry_records *db = NULL;
    int known;

    (void)state;
    open_executor(&e, dir, store, sizeof store);
    answer(store, e.m.fingerprint, op, "direct tile=4x2");
    (void)near(text, 1, &e, p, &known);
    assert_true(known);
    check_ok(spry_records_open(&db, store));
    check_ok(
        spry_records_answer(db, &(spry_answer){.problem = spry_problem_key(p),
                                               .machine = e.m.fingerprint,
                                               .baseline = "direct tile=2x2",
                                               .schedule = "direct tile=2x2",
                                               .kernel = "",
                                               .baseline_seconds = 1,
                                               .seconds = 1,
                                               .speedup = 1,
                                               .low = 1,
                                               .high = 1,
                                               .effort = SPRY_PREDICT,
                                               .when = 2}));
    spry_records_close(db);
    (void)near(text, 1, &e, p, &known);
    assert_false(known);
    spry_problem_free(p);
    assert_true(remove_folder(dir));
}

/* As Ctrl-C would, behind the first task. */
static int stop_soon(double elapsed, double budget, int task, int tasks,
                     double saved, void *unused)
{
    (void)elapsed;
    (void)budget;
    (void)tasks;
    (void)saved;
    (void)unused;
    return task > 0;
}

static void what_was_found_is_remembered(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor *e = NULL, *again = NULL;
    spry_graph *g = NULL;
    spry_executor_gain x = {.size = sizeof x};

    (void)state;
    assert_non_null(make_folder(dir));
    snprintf(store, sizeof store, "%s/records.db", dir);
    o.threads = 1;
    o.progress = stop_soon;
    o.store = store;
    o.effort = SPRY_MEASURE;
    check_ok(spry_graph_read(&g, "net:mobilenetv3,size=75", NULL));
    check_ok(spry_executor_make(&e, g, &o));
    check_ok(spry_executor_gain_of(e, &x));
    assert_int_equal(x.pairs, 0); /* it did not come to that */
    o.effort = SPRY_PREDICT;
    check_ok(spry_executor_make(&again, g, &o));
    assert_int_equal(again->tasks, e->tasks);
    for (int i = 0; i < e->tasks; i++)
        assert_string_equal(again->task[i].text, e->task[i].text);
    spry_executor_free(e);
    spry_executor_free(again);
    spry_graph_free(g);
    snprintf(store, sizeof store, "rm -r '%s'", dir);
    assert_int_equal(system(store), 0);
}

/* The answer for a problem as it is, found by another build's kernel. */
static void answer_of_another_build(const char *store, const spry_executor *e,
                                    const sp_graph_task *t)
{
    spry_records *db = NULL;
    char mark[SP_KERNEL_MARK], *build;
    spry_answer a;
    int found;

    check_ok(spry_records_open(&db, store));
    check_ok(spry_records_find(db, &a, &found, t->key, e->m.fingerprint, 0,
                               SPRY_PREDICT));
    assert_true(found);
    snprintf(mark, sizeof mark, "%s", a.kernel);
    build = strstr(mark, sp_build_identity());
    assert_non_null(build);
    memset(build, '0', strlen(sp_build_identity()));
    a.kernel = mark;
    a.when++;
    check_ok(spry_records_answer(db, &a));
    spry_records_close(db);
}

static int stale_tasks(const spry_graph *g, const spry_executor_options *o)
{
    spry_executor *e = NULL;
    int stale = 0;

    check_ok(spry_executor_make(&e, g, o));
    for (int i = 0; i < e->tasks; i++)
        stale += e->task[i].stale;
    spry_executor_free(e);
    return stale;
}

static void another_builds_answers_are_checked_once(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 16];
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor *e = NULL;
    spry_graph *g = NULL;

    (void)state;
    assert_non_null(make_folder(dir));
    snprintf(store, sizeof store, "%s/records.db", dir);
    o.threads = 1;
    o.store = store;
    check_ok(spry_graph_read(&g, "net:mobilenetv3,size=75", NULL));
    check_ok(spry_executor_make(&e, g, &o));
    assert_true(e->tasks > 10);
    answer(store, e->m.fingerprint, e->task[0].key, e->task[0].text);
    answer(store, e->m.fingerprint, e->task[1].key, e->task[1].text);
    assert_int_equal(stale_tasks(g, &o), 2); /* nobody says who found them */
    assert_int_equal(stale_tasks(g, &o), 0);
    answer_of_another_build(store, e, &e->task[0]);
    assert_int_equal(stale_tasks(g, &o), 1);
    assert_int_equal(stale_tasks(g, &o), 0);
    spry_executor_free(e);
    spry_graph_free(g);
    snprintf(store, sizeof store, "rm -r '%s'", dir);
    assert_int_equal(system(store), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payoff_counts_what_a_trial_costs),
        cmocka_unit_test(the_gradient_visits_all_then_the_promising),
        cmocka_unit_test(orders_have_names),
        cmocka_unit_test(near_answers_are_found),
        cmocka_unit_test(products_learn_from_convolutions),
        cmocka_unit_test(near_gains_count_most),
        cmocka_unit_test(some_hope_is_left),
        cmocka_unit_test(what_was_covered_up_is_not_known),
        cmocka_unit_test(what_was_found_is_remembered),
        cmocka_unit_test(another_builds_answers_are_checked_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
