/* test_graph_run.c - executors against the reference. */
#include "check.h"
#include "graph_operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/executor.h"

/* The largest difference, over the largest number. */
static double difference(const graph_operands *a, const graph_operands *b,
                         int i)
{
    double most = 0, off = 0;

    for (int64_t k = 0; k < a->to[i].count; k++) {
        double x = (double)((float *)a->out[i])[k];
        double y = (double)((float *)b->out[i])[k];

        if (!isfinite(x) || !isfinite(y))
            return HUGE_VAL;
        most = fmax(most, fabs(x));
        off = fmax(off, fabs(x - y));
    }
    return off / most;
}

static void check_network(const char *source, int threads, int plain)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_graph *g = open_graph(source);
    graph_operands a = make_operands(g, 3), b = make_operands(g, 3);
    spry_executor_stage stage = {.size = sizeof stage};
    spry_executor *e;
    int64_t live;
    int plains = 0;

    o.threads = threads;
    o.store = ":memory:";
    check_ok(spry_executor_make(&e, g, &o));
    run_reference(g, &a);
    live = sp_alloc_live();
    for (int run = 0; run < 2; run++) {
        check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
        for (int i = 0; i < spry_graph_outputs(g); i++) {
            double off = difference(&a, &b, i);

            if (!(off < 1e-4))
                fail_msg("%s: output %d is off by %g", source, i, off);
            memset(b.out[i], 0xff, (size_t)b.to[i].count * 4);
        }
    }
    assert_int_equal(sp_alloc_live(), live);
    for (int i = 0; i < spry_executor_stages(e); i++) {
        check_ok(spry_executor_stage_of(e, i, &stage));
        plains += strncmp(stage.task, "plain", 5) == 0;
    }
    assert_int_equal(plains, plain);
    assert_true((double)spry_executor_arena(e) <=
                1.15 * (double)spry_executor_live(e));
    spry_executor_free(e);
    spry_graph_free(g);
    free_operands(&a);
    free_operands(&b);
}

static void networks(void **state)
{
    (void)state;
    check_network("net:mobilenetv3,size=75", 1, 0);
    check_network("net:mobilenetv3,size=77,batch=2", 2, 0);
    if (unless_slow(1, 0)) { /* the reference takes a GMAC for each */
        check_network("net:resnet50,size=75", 2, 0);
        check_network("net:inceptionv3,size=79", 2, 0);
    }
    check_network("net:bert,layers=2,tokens=19", 2, 0);
    check_network("net:bert,layers=1,tokens=7,batch=3", 1, 1);
}

/* From a name to results, without a graph in between. */
static void in_one_call(void **state)
{
    static const char *const net = "net:mobilenetv3,size=75";
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor *e;
    graph_operands a, b;

    (void)state;
    o.store = ":memory:";
    assert_int_equal(spry_network_onnx(&e, "none.onnx", &o), SPRY_INPUT);
    assert_null(e);
    check_ok(spry_network_onnx(&e, net, &o));
    a = make_operands(spry_executor_graph(e), 1);
    b = make_operands(spry_executor_graph(e), 1);
    run_reference(spry_executor_graph(e), &a);
    check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
    assert_true(difference(&a, &b, 0) < 1e-4);
    spry_executor_free(e);
    free_operands(&a);
    free_operands(&b);
}

static void usage(void **state)
{
    spry_executor *e = NULL;
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor_stage stage = {.size = sizeof stage};
    spry_graph *g = open_graph("net:mobilenetv3,size=75");

    (void)state;
    assert_int_equal(spry_executor_make(NULL, g, NULL), SPRY_USAGE);
    assert_int_equal(spry_executor_make(&e, NULL, NULL), SPRY_USAGE);
    o.size = 3;
    assert_int_equal(spry_executor_make(&e, g, &o), SPRY_USAGE);
    assert_null(e);
    assert_int_equal(spry_executor_run(NULL, NULL, NULL), SPRY_USAGE);
    assert_int_equal(spry_executor_profile(NULL, NULL, NULL, 1), SPRY_USAGE);
    assert_int_equal(spry_executor_stage_of(NULL, 0, &stage), SPRY_USAGE);
    assert_int_equal(spry_executor_stages(NULL), 0);
    spry_executor_free(NULL);
    spry_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks),
                                       cmocka_unit_test(in_one_call),
                                       cmocka_unit_test(usage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
