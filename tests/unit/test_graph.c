/* test_graph.c - built-in networks: their sums, their way through a file. */
#include "check.h"
#include "graph_operands.h"
#include "in_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "spry/graph.h"

/* Parameters and multiply-adds, as published for torchvision's networks and
 * for BERT-base; BERT's first token has 768 x 768 more in its pooler. */
static void sums(void **state)
{
    static const struct {
        const char *source;
        int64_t params, macs;
    } known[] = {{"net:resnet50", 25557032, 4089184256},
                 {"net:mobilenetv3", 5483032, 216589760},
                 {"net:inceptionv3", 23834568, 5713216096},
                 {"net:bert", 109482240, 11173625856 + 768 * 768}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        spry_graph *g = open_graph(known[i].source);

        assert_int_equal(spry_graph_params(g), known[i].params);
        assert_int_equal(spry_graph_macs(g), known[i].macs);
        spry_graph_free(g);
    }
}

/* What is written and read again computes the same. */
static void files(void **state)
{
    static const char *const source[] = {
        "net:resnet50,size=75,sparsity=0.9", "net:mobilenetv3,size=75",
        "net:inceptionv3,size=75", "net:bert,layers=1,tokens=8,batch=2"};

    (void)state;
    for (size_t i = 0; i < sizeof source / sizeof *source; i++) {
        spry_graph *a = open_graph(source[i]), *b;
        graph_operands x, y;
        double most = 0;

        check_ok(spry_graph_write(a, "a.onnx"));
        b = open_graph("a.onnx");
        assert_int_equal(spry_graph_nodes(a), spry_graph_nodes(b));
        assert_int_equal(spry_graph_macs(a), spry_graph_macs(b));
        x = make_operands(a, 1);
        y = make_operands(b, 1);
        run_reference(a, &x);
        run_reference(b, &y);
        for (int64_t k = 0; k < x.to[0].count; k++) {
            float v = ((float *)x.out[0])[k];

            assert_true(isfinite(v));
            most = fabs((double)v) > most ? fabs((double)v) : most;
        }
        assert_true(most > 1e-3 && most < 1e6);
        assert_memory_equal(x.out[0], y.out[0], (size_t)x.to[0].count * 4);
        free_operands(&x);
        free_operands(&y);
        spry_graph_free(a);
        spry_graph_free(b);
    }
}

static void usage(void **state)
{
    spry_graph *g = NULL;
    spry_graph_value v = {.size = sizeof v};
    spry_graph_options bad = {.size = sizeof bad, .unknown = -1};

    (void)state;
    assert_int_equal(spry_graph_read(NULL, "net:bert", NULL), SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, NULL, NULL), SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, "net:nothing", NULL), SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, "net:bert,layers=0", NULL),
                     SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, "net:bert", &bad), SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, "nowhere.onnx", NULL), SPRY_INPUT);
    assert_int_equal(spry_graph_read(&g, ".", NULL), SPRY_INPUT);
    assert_null(g);
    assert_int_equal(spry_graph_input(NULL, 0, &v), SPRY_USAGE);
    assert_int_equal(spry_graph_write(NULL, "x"), SPRY_USAGE);
    assert_int_equal(spry_graph_reference(NULL, NULL, NULL), SPRY_USAGE);
    assert_int_equal(spry_graph_inputs(NULL), 0);
    g = open_graph("net:bert,layers=1,tokens=4");
    assert_int_equal(spry_graph_input(g, 2, &v), SPRY_USAGE);
    assert_int_equal(spry_graph_output(g, -1, &v), SPRY_USAGE);
    assert_int_equal(spry_graph_write(g, "no/such/folder.onnx"), SPRY_SYSTEM);
    spry_graph_free(g);
    spry_graph_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(usage)};

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
