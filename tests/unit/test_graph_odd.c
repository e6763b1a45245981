/* test_graph_odd.c - graphs that are legal but seldom: empty tensors, results
 * without a name, numbers that are none. What runs must equal the reference. */
#include "graph_hostile.h"
#include "graph_operands.h"

#include <math.h>

#include "dense/dense.h"
#include "graph/program.h"

static const float one[] = {1};
static const int64_t shape1[] = {1};

static int alike(float x, float y)
{
    return isnan(y) ? isnan(x)
                    : x == y || fabsf(x - y) <= 1e-5F * (1 + fabsf(y));
}

/* The graph, with its inputs and nodes but without "y", which comes out. Its
 * first input begins with these numbers. */
static void check_same(sp_buf *graph, const float *first, int count)
{
    spry_executor_options how = SPRY_EXECUTOR_DEFAULTS;
    graph_operands a, b;
    spry_executor *e;
    spry_graph *g;
    sp_buf m = {0};

    pb_info(graph, 12, "y", 1, 0, NULL);
    pb_model(&m, graph, 13);
    save("m.onnx", m.data, m.len);
    sp_buf_free(&m);
    g = open_graph("m.onnx");
    a = make_operands(g, 1);
    b = make_operands(g, 1);
    if (count > 0) {
        memcpy(a.in[0], first, (size_t)count * sizeof *first);
        memcpy(b.in[0], first, (size_t)count * sizeof *first);
    }
    run_reference(g, &a);
    how.store = ":memory:";
    check_ok(spry_executor_make(&e, g, &how));
    check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
    for (int64_t i = 0; i < a.to[0].count; i++)
        if (!alike(((float *)b.out[0])[i], ((float *)a.out[0])[i]))
            fail_msg("number %d is %g, should be %g", (int)i,
                     (double)((float *)b.out[0])[i],
                     (double)((float *)a.out[0])[i]);
    spry_executor_free(e);
    spry_graph_free(g);
    free_operands(&a);
    free_operands(&b);
}

static void floats(sp_buf *g, const char *name, int dims, const int64_t *dim,
                   const float *data)
{
    int64_t count = 1;

    for (int i = 0; i < dims; i++)
        count *= dim[i];
    pb_tensor(g, 5, name, 1, dims, dim, data, (size_t)count * sizeof *data);
}

static void wholes(sp_buf *g, const char *name, int64_t count,
                   const int64_t *data)
{
    pb_tensor(g, 5, name, 7, 1, &count, data, (size_t)count * sizeof *data);
}

/* z = 1 x 1 convolution of x, 2 x 3 x 4 x 4, to 4 channels */
static void convolve(sp_buf *g)
{
    static const int64_t in[] = {2, 3, 4, 4}, filter[] = {4, 3, 1, 1};
    static const float w[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};

    pb_info(g, 11, "x", 1, 4, in);
    floats(g, "w", 4, filter, w);
    pb_node(g, "Conv", "x w", "z", NULL);
}

/* ---- what follows a sum, but is not done to it ---- */

static void dropout_by_a_sum(void **state)
{
    static const int64_t image[] = {1, 3, 1, 1}, filter[] = {1, 3, 1, 1};
    static const int64_t other[] = {5, 7};
    static const float w[] = {1, 2, 3};
    sp_buf g = {0}, m = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 4, image);
    pb_info(&g, 11, "a", 1, 2, other);
    floats(&g, "w", 4, filter, w);
    pb_node(&g, "Conv", "x w", "z", NULL);
    pb_node(&g, "Dropout", "a z", "y", NULL);
    check_same(&g, NULL, 0);
    convolve(&g);
    pb_info(&g, 11, "a", 1, 2, other);
    pb_node(&g, "Dropout", "a z", "y", NULL);
    pb_info(&g, 12, "y", 1, 2, other);
    pb_model(&m, &g, 13);
    refuse(&m, "the ratio is not one number");
}

static void a_bias_of_more_dimensions(void **state)
{
    static const int64_t dim[] = {1, 1, 4, 1, 1};
    sp_buf g = {0};

    (void)state;
    convolve(&g);
    floats(&g, "b", 5, dim, numbers);
    pb_node(&g, "Add", "z b", "y", NULL);
    check_same(&g, NULL, 0);
}

/* ---- chains that look like a layer norm or a softmax ---- */

static void a_norm_by_one_scale(void **state)
{
    static const int64_t dim[] = {3, 8}, two = 1;
    static const int64_t last[] = {-1};
    static const float scale[] = {2}, bias[] = {3}, eps[] = {1e-5F};
    static const float power[] = {2};
    sp_buf g = {0}, n = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, dim);
    floats(&g, "scale", 1, &two, scale);
    floats(&g, "bias", 1, &two, bias);
    floats(&g, "eps", 0, NULL, eps);
    floats(&g, "two", 0, NULL, power);
    pb_list(&n, "axes", 1, last);
    pb_node(&g, "ReduceMean", "x", "mean", &n);
    pb_node(&g, "Sub", "x mean", "off", NULL);
    pb_node(&g, "Pow", "off two", "square", NULL);
    pb_list(&n, "axes", 1, last);
    pb_node(&g, "ReduceMean", "square", "spread", &n);
    pb_node(&g, "Add", "spread eps", "more", NULL);
    pb_node(&g, "Sqrt", "more", "root", NULL);
    pb_node(&g, "Div", "off root", "unit", NULL);
    pb_node(&g, "Mul", "unit scale", "scaled", NULL);
    pb_node(&g, "Add", "scaled bias", "y", NULL);
    check_same(&g, NULL, 0);
}

static void a_softmax_of_nothing(void **state)
{
    static const int64_t dim[] = {2, 0}, last[] = {-1};
    sp_buf g = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, dim);
    wholes(&g, "axes", 1, last);
    pb_node(&g, "Exp", "x", "e", NULL);
    pb_node(&g, "ReduceSum", "e axes", "sum", NULL);
    pb_node(&g, "Div", "e sum", "y", NULL);
    check_same(&g, NULL, 0);
}

/* A gate that has become one with its input is no gate any more. */
static void a_gate_of_a_gate(void **state)
{
    sp_buf g = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    pb_node(&g, "Sigmoid", "x", "gate", NULL);
    pb_node(&g, "Mul", "x gate", "silu", NULL);
    pb_node(&g, "Mul", "x silu", "y", NULL);
    check_same(&g, NULL, 0);
}

static void beside_itself(void **state)
{
    sp_buf g = {0};

    (void)state;
    convolve(&g);
    pb_node(&g, "Concat", "z z", "y", NULL);
    check_same(&g, NULL, 0);
    convolve(&g);
    pb_node(&g, "Concat", "z x z", "y", NULL);
    check_same(&g, NULL, 0);
}

/* ---- parts without a name, nothing at all, very many ---- */

static void a_part_without_a_name(void **state)
{
    static const int64_t dim[] = {1, 8}, parts[] = {3, 5};
    sp_buf g = {0}, n = {0}, a = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, dim);
    wholes(&g, "parts", 2, parts);
    pb_text(&n, 1, "x");
    pb_text(&n, 1, "parts");
    pb_text(&n, 2, "");
    pb_text(&n, 2, "z");
    pb_text(&n, 4, "Split");
    pb_text(&a, 1, "axis");
    pb_int(&a, 3, 1);
    pb_int(&a, 20, 2);
    pb_message(&n, 5, &a);
    pb_message(&g, 1, &n);
    pb_node(&g, "Relu", "z", "y", NULL);
    check_same(&g, NULL, 0);
}

static void nothing_at_all(void **state)
{
    static const int64_t flat[] = {0, 3}, images[] = {0, 3, 4, 4};
    static const int64_t filter[] = {1, 3, 1, 1};
    static const int64_t huge[] = {0, 1 << 30, 1 << 30};
    static const float w[] = {1, 2, 3};
    sp_buf g = {0}, m = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, flat);
    pb_node(&g, "Relu", "x", "y", NULL);
    check_same(&g, NULL, 0);
    pb_info(&g, 11, "x", 1, 4, images);
    floats(&g, "w", 4, filter, w);
    pb_node(&g, "Conv", "x w", "y", NULL);
    check_same(&g, NULL, 0);
    pb_info(&g, 11, "x", 1, 3, huge);
    pb_node(&g, "Relu", "x", "y", NULL);
    pb_info(&g, 12, "y", 1, 0, NULL);
    pb_model(&m, &g, 13);
    refuse(&m, "more than 2^31 elements");
}

/* What else can be asked of the graph m.onnx, which has no operators. */
static void check_idle(void)
{
    spry_executor_options how = SPRY_EXECUTOR_DEFAULTS;
    spry_executor_gain gain = {.size = sizeof gain};
    spry_graph_layer layer = {.size = sizeof layer};
    spry_graph *g = open_graph("m.onnx"), *again;
    graph_operands a = make_operands(g, 1);
    spry_executor *e;
    sp_file text;

    assert_int_equal(spry_graph_nodes(g), 0);
    assert_int_equal(spry_graph_macs(g), 0);
    assert_int_equal(spry_graph_layers(g), 0);
    assert_int_equal(spry_graph_layer_of(g, 0, &layer), SPRY_USAGE);
    how.store = ":memory:";
    how.effort = SPRY_MEASURE;
    check_ok(spry_executor_make(&e, g, &how));
    check_ok(spry_executor_gain_of(e, &gain));
    assert_int_equal(gain.pairs, 0);
    check_ok(spry_executor_profile(e, (const void *const *)a.in, a.out, 2));
    check_ok(spry_executor_export(e, ".", "idle"));
    check_ok(sp_file_read(&text, "idle.c", SIZE_MAX));
    assert_null(strstr(text.data, "{}")); /* which is no C */
    sp_file_free(&text);
    check_ok(spry_graph_write(g, "again.onnx"));
    again = open_graph("again.onnx");
    assert_int_equal(spry_graph_outputs(again), 1);
    assert_int_equal(spry_graph_inputs(again), spry_graph_inputs(g));
    spry_graph_free(again);
    spry_executor_free(e);
    spry_graph_free(g);
    free_operands(&a);
}

/* An input, a constant, and what is computed when it is read come out; the
 * last beside an input that nobody reads. */
static void no_operators(void **state)
{
    static const int64_t dim[] = {2, 3};
    static const float w[] = {1, -2, 3, -4, 5, -6};
    sp_buf g = {0};

    (void)state;
    pb_info(&g, 11, "y", 1, 2, dim);
    check_same(&g, w, 6);
    check_idle();
    floats(&g, "y", 2, dim, w);
    check_same(&g, NULL, 0);
    check_idle();
    floats(&g, "w", 2, dim, w);
    pb_node(&g, "Relu", "w", "y", NULL);
    check_same(&g, NULL, 0);
    check_idle();
    pb_info(&g, 11, "x", 1, 2, dim);
    floats(&g, "w", 2, dim, w);
    pb_node(&g, "Relu", "w", "y", NULL);
    check_same(&g, NULL, 0);
    check_idle();
}

/* All of them are needed until the end. */
static void many_at_once(void **state)
{
    enum { MANY = 1500 };
    sp_buf g = {0};
    char name[16], pair[32];

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "a%d", i);
        pb_node(&g, "Tanh", "x", name, NULL);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(pair, sizeof pair, "s%d a%d", i - 1, i);
        snprintf(name, sizeof name, "s%d", i);
        pb_node(&g, i % 2 ? "Sub" : "Add", i ? pair : "x a0",
                i < MANY - 1 ? name : "y", NULL);
    }
    check_same(&g, NULL, 0);
}

/* ---- numbers that are none, infinite, or of another kind ---- */

static void odd_numbers(void **state)
{
    static const float odd[] = {NAN,   INFINITY, -INFINITY, 89,  -104,
                                200,   -200,     3.3e38F,   -88, 0,
                                -0.0F, 1e-40F,   88.72F,    3,   -3};
    enum { COUNT = sizeof odd / sizeof *odd };
    static const char *const each[] = {"Exp", "Sigmoid",   "Tanh",   "Relu",
                                       "Erf", "HardSwish", "Softmax"};
    static const int64_t dim[] = {1, COUNT}, rows[] = {COUNT, 1};
    sp_buf g = {0};

    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        pb_info(&g, 11, "x", 1, 2, i < 6 ? dim : rows);
        pb_node(&g, each[i], "x", "y", NULL);
        check_same(&g, odd, COUNT);
    }
    pb_info(&g, 11, "x", 1, 2, dim);
    floats(&g, "low", 0, NULL, one);
    pb_node(&g, "Clip", "x low", "y", NULL);
    check_same(&g, odd, COUNT);
    for (int i = 0; i < 2; i++) {
        pb_info(&g, 11, "x", 1, 2, dim);
        floats(&g, "one", 1, shape1, one);
        pb_node(&g, i ? "Max" : "Min", "x one", "y", NULL);
        check_same(&g, odd, COUNT);
    }
}

/* As a network adds a mask to its scores: f32 has no number for it. */
static void constants_that_are_none(void **state)
{
    static const int64_t three[] = {3}, weights[] = {4, 3}, bias[] = {4, 1, 1};
    static const float mask[] = {0, -INFINITY, NAN, INFINITY};
    static const float limits[] = {-INFINITY, INFINITY, 0};
    static const float w[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
    static const char *const each[] = {"Add", "Max", "Mul", "Div"};
    sp_buf g = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    floats(&g, "w", 2, weights, w);
    floats(&g, "b", 1, three, mask);
    pb_node(&g, "MatMul", "x w", "z", NULL);
    pb_node(&g, "Add", "z b", "y", NULL);
    check_same(&g, NULL, 0);
    convolve(&g);
    floats(&g, "b", 3, bias, mask);
    pb_node(&g, "Add", "z b", "y", NULL);
    check_same(&g, NULL, 0);
    for (int i = 0; i < 12; i++) {
        pb_info(&g, 11, "x", 1, 2, four);
        floats(&g, "c", 0, NULL, &limits[i % 3]);
        pb_node(&g, each[i / 3], "x c", "y", NULL);
        check_same(&g, NULL, 0);
    }
}

static void a_mask_leaves_nothing(void **state)
{
    static const float masked[] = {1, -INFINITY, 2, -INFINITY};
    sp_buf g = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    pb_node(&g, "Softmax", "x", "y", NULL);
    check_same(&g, masked, 4);
}

static void the_largest_may_be_none(void **state)
{
    static const int64_t dim[] = {1, 2, 3, 3}, window[] = {2, 2};
    float in[18] = {0};
    sp_buf g = {0}, n = {0};

    (void)state;
    in[4] = in[9] = NAN;
    in[12] = INFINITY;
    pb_info(&g, 11, "x", 1, 4, dim);
    pb_list(&n, "kernel_shape", 2, window);
    pb_node(&g, "MaxPool", "x", "y", &n);
    check_same(&g, in, 18);
    pb_info(&g, 11, "x", 1, 4, dim);
    pb_node(&g, "GlobalMaxPool", "x", "y", NULL);
    check_same(&g, in, 18);
    pb_info(&g, 11, "x", 1, 4, dim);
    pb_node(&g, "ReduceMax", "x", "y", NULL);
    check_same(&g, in, 18);
}

static void whole_numbers_are_no_images(void **state)
{
    static const int64_t dim[] = {1, 2, 3, 3}, window[] = {2, 2};
    static const int64_t bias[] = {1, 2, 3, 4};
    sp_buf g = {0}, n = {0}, m = {0};

    (void)state;
    pb_info(&g, 11, "x", 7, 4, dim);
    pb_list(&n, "kernel_shape", 2, window);
    pb_node(&g, "MaxPool", "x", "y", &n);
    pb_info(&g, 12, "y", 7, 0, NULL);
    pb_model(&m, &g, 13);
    refuse(&m, "whole numbers");
    convolve(&g);
    wholes(&g, "b", 4, bias);
    pb_node(&g, "Conv", "x w b", "y", NULL);
    pb_info(&g, 12, "y", 1, 0, NULL);
    pb_model(&m, &g, 13);
    refuse(&m, "whole numbers");
}

static void axes_are_no_attribute(void **state)
{
    static const int64_t last[] = {-1};
    static const char *const each[] = {"ReduceSum", "ReduceMean", "ReduceMax"};
    sp_buf g = {0}, n = {0}, m = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        pb_info(&g, 11, "x", 1, 2, four);
        pb_list(&n, "axes", 1, last);
        pb_node(&g, each[i], "x", "y", &n);
        pb_info(&g, 12, "y", 1, 0, NULL);
        pb_model(&m, &g, i ? 18 : 13);
        refuse(&m, "axes are no attribute");
    }
}

/* ---- more rows than an operator can have ---- */

/* All stages of y are operators that make sense, or none. */
static void check_stages(sp_buf *graph)
{
    sp_program *p;
    sp_buf m = {0};
    spry_graph *g;

    pb_info(graph, 12, "y", 1, 0, NULL);
    pb_model(&m, graph, 17);
    save("m.onnx", m.data, m.len);
    sp_buf_free(&m);
    g = open_graph("m.onnx");
    check_ok(sp_program_make(&p, g));
    for (int i = 0; i < p->stages; i++)
        if (p->stage[i].kind == SP_STAGE_DENSE)
            check_ok(sp_operator_settle(&p->stage[i].op));
    sp_program_free(p);
    spry_graph_free(g);
}

static void too_many_rows(void **state)
{
    static const int64_t image[] = {1, 2, 4097, 4096}, filter[] = {2, 2, 1, 1};
    static const int64_t rows[] = {4097, 4096, 2}, two[] = {2, 2},
                         last[] = {-1};
    static const char *const each[] = {
        "Softmax x", "MatMul x w", "LayerNormalization x b b", "ReduceMax x"};
    sp_buf g = {0}, n = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 4, image);
    floats(&g, "w", 4, filter, numbers);
    pb_node(&g, "Conv", "x w", "z", NULL);
    pb_node(&g, "Exp", "z", "y", NULL);
    check_stages(&g);
    for (int i = 0; i < 4; i++) {
        char op[24];

        snprintf(op, sizeof op, "%.*s", (int)strcspn(each[i], " "), each[i]);
        pb_info(&g, 11, "x", 1, 3, rows);
        floats(&g, "w", 2, two, numbers);
        floats(&g, "b", 1, two, numbers);
        if (i == 3)
            pb_list(&n, "axes", 1, last);
        pb_node(&g, op, each[i] + strlen(op) + 1, "y", i == 3 ? &n : NULL);
        check_stages(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropout_by_a_sum),
        cmocka_unit_test(a_bias_of_more_dimensions),
        cmocka_unit_test(a_norm_by_one_scale),
        cmocka_unit_test(a_softmax_of_nothing),
        cmocka_unit_test(a_gate_of_a_gate),
        cmocka_unit_test(beside_itself),
        cmocka_unit_test(a_part_without_a_name),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(no_operators),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(odd_numbers),
        cmocka_unit_test(constants_that_are_none),
        cmocka_unit_test(a_mask_leaves_nothing),
        cmocka_unit_test(the_largest_may_be_none),
        cmocka_unit_test(whole_numbers_are_no_images),
        cmocka_unit_test(axes_are_no_attribute),
        cmocka_unit_test(too_many_rows),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
