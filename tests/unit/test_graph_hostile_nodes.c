/* test_graph_hostile_nodes.c - the same of nodes, their attributes, cycles and
 * operators. */
#include "graph_hostile.h"

static void attribute(sp_buf *node, const char *name, unsigned field,
                      uint64_t value, uint64_t kind)
{
    sp_buf a = {0};

    pb_text(&a, 1, name);
    pb_int(&a, field, value);
    if (kind)
        pb_int(&a, 20, kind);
    pb_message(node, 5, &a);
}

static void nodes(void **state)
{
    sp_buf m = {0}, g = {0}, n = {0}, a = {0}, inner = {0};

    (void)state;
    pb_node(&g, "Frobnicate", "x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "the operator Frobnicate is not known");
    pb_text(&n, 7, "com.example");
    pb_node(&g, "Relu", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "Relu of 'com.example'");
    pb_node(&g, "If", "x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "operator If");
    pb_node(&g, "Relu", "x x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "2 inputs");
    pb_node(&g, "Add", "x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "1 inputs");
    pb_node(&g, "Relu", "x", "", NULL);
    whole(&m, &g);
    refuse(&m, "no name");
    pb_text(&n, 2, "z2");
    pb_node(&g, "Relu", "x", "z", &n);
    pb_node(&g, "Neg", "z2", "z3", NULL);
    whole(&m, &g);
    refuse(&m, "its output 'z2' is not known");
    for (int i = 0; i < 5; i++)
        pb_text(&n, 2, "");
    pb_node(&g, "Relu", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "6 outputs");
    attribute(&n, "colour", 3, 5, 2);
    pb_node(&g, "Relu", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "colour is not known");
    attribute(&n, "axis", 3, 0, 2);
    attribute(&n, "axis", 3, 0, 2);
    pb_node(&g, "Softmax", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "axis is given twice");
    attribute(&n, "axis", 3, 0, 7);
    pb_node(&g, "Softmax", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "wrong type");
    attribute(&n, "axis", 3, 0, 99);
    pb_node(&g, "Softmax", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "type 99");
    attribute(&n, "axis", 3, 9, 2);
    pb_node(&g, "Softmax", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "no axis 9");
    pb_text(&a, 1, "body"); /* a graph in an attribute, and in it ... */
    for (int i = 0; i < 2000; i++)
        pb_message(&a, 6, &inner), inner = a, a = (sp_buf){0};
    pb_message(&n, 5, &inner);
    pb_node(&g, "Relu", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "graphs within graphs");
    pb_node(&g, "Relu", "nobody", "z", NULL);
    whole(&m, &g);
    refuse(&m, "nothing computes the value 'nobody'");
}

static void cycles(void **state)
{
    char name[16];
    sp_buf m = {0}, g = {0};

    (void)state;
    pb_node(&g, "Add", "x b", "a", NULL);
    pb_node(&g, "Relu", "a", "b", NULL);
    whole(&m, &g);
    refuse(&m, "cycle");
    pb_node(&g, "Relu", "z", "z", NULL);
    whole(&m, &g);
    refuse(&m, "cycle");
    for (int i = 0; i < 100001; i++) {
        snprintf(name, sizeof name, "n%d", i);
        pb_node(&g, "Relu", "x", name, NULL);
    }
    whole(&m, &g);
    refuse(&m, "more than 100000 nodes");
}

static void constant_list(sp_buf *g, const char *name, int count,
                          const int64_t *list)
{
    int64_t n = count;

    pb_tensor(g, 5, name, 7, 1, &n, list, (size_t)count * 8);
}

static void operators(void **state)
{
    static const int64_t image[] = {1, 4, 8, 8}, weight[] = {4, 4, 3, 3};
    static const int64_t zero[] = {0, 0}, huge[] = {1 << 29, 1 << 29};
    static const int64_t grow[] = {1 << 16, 1 << 16, 4};
    static const int64_t odd[] = {3, -1}, none[] = {-1, -1};
    static const float w[4 * 4 * 9] = {0};
    sp_buf m = {0}, g = {0}, n = {0};

    (void)state;
    for (int i = 0; i < 5; i++) {
        pb_info(&g, 11, "i", 1, 4, image);
        pb_tensor(&g, 5, "w", 1, 4, weight, w, sizeof w);
        if (i == 0)
            pb_list(&n, "strides", 2, zero);
        if (i == 1)
            attribute(&n, "group", 3, 3, 2);
        if (i == 2)
            pb_list(&n, "kernel_shape", 2, huge);
        if (i == 3)
            pb_list(&n, "dilations", 2, huge);
        if (i == 4)
            pb_list(&n, "pads", 2, huge);
        pb_node(&g, "Conv", "i w", "z", &n);
        whole(&m, &g);
        refuse(&m, "Conv");
    }
    pb_info(&g, 11, "i", 1, 4, image);
    pb_list(&n, "kernel_shape", 2, huge);
    pb_list(&n, "pads", 4, (int64_t[]){1 << 30, 1 << 30, 0, 0});
    pb_node(&g, "MaxPool", "i", "z", &n);
    whole(&m, &g);
    refuse(&m, "MaxPool");
    constant_list(&g, "s", 3, grow);
    pb_node(&g, "Expand", "x s", "z", NULL);
    whole(&m, &g);
    refuse(&m, "2^31");
    constant_list(&g, "s", 2, odd);
    pb_node(&g, "Reshape", "x s", "z", NULL);
    whole(&m, &g);
    refuse(&m, "other elements");
    constant_list(&g, "s", 2, none);
    pb_node(&g, "Reshape", "x s", "z", NULL);
    whole(&m, &g);
    refuse(&m, "no sense");
    pb_node(&g, "Reshape", "x x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "only constants");
    constant_list(&g, "s", 3, grow);
    pb_node(&g, "ConstantOfShape", "s", "z", NULL);
    whole(&m, &g);
    refuse(&m, "2^31");
    constant_list(&g, "s", 2, odd);
    constant_list(&g, "t", 2, odd);
    pb_node(&g, "Gather", "s t", "z", NULL);
    whole(&m, &g);
    refuse(&m, "index 3 of 2");
    pb_list(&n, "perm", 2, (int64_t[]){0, 0});
    pb_node(&g, "Transpose", "x", "z", &n);
    whole(&m, &g);
    refuse(&m, "no permutation");
    pb_node(&g, "MatMul", "x x", "z", NULL);
    whole(&m, &g);
    refuse(&m, "4 columns times 1 rows");
}

static void enough(void **state)
{
    (void)state;
    print_message("%d hostile models were refused\n", refused);
    assert_true(refused >= 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),
        cmocka_unit_test(cycles),
        cmocka_unit_test(operators),
        cmocka_unit_test(enough),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
