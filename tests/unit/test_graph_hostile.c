/* test_graph_hostile.c - models that lie: each gets a sentence, SPRY_INPUT,
 * and nothing outside of the model's folder is read. */
#include "graph_hostile.h"

#include <sys/stat.h>

static void good_one_is_read(void **state)
{
    sp_buf m = {0}, g = {0};
    spry_graph *graph;
    float x[4] = {-1, 2, -3, 4}, y[4];
    const void *in[] = {x};
    void *out[] = {y};

    (void)state;
    whole(&m, &g);
    save("good.onnx", m.data, m.len);
    sp_buf_free(&m);
    check_ok(spry_graph_read(&graph, "good.onnx", NULL));
    check_ok(spry_graph_reference(graph, in, out));
    assert_true(y[0] == 0 && y[1] == 2 && y[2] == 0 && y[3] == 4);
    spry_graph_free(graph);
}

static void cut_short(void **state)
{
    sp_buf m = {0}, g = {0}, part = {0};
    int read = 0;

    (void)state;
    pb_tensor(&g, 5, "w", 1, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    for (size_t n = 0; n < m.len; n++) {
        spry_graph *graph = NULL;

        save("m.onnx", m.data, n);
        if (spry_graph_read(&graph, "m.onnx", NULL) == SPRY_OK)
            read++;
        spry_graph_free(graph);
    }
    assert_int_equal(read, 0);
    sp_buf_bytes(&part, m.data, m.len / 2);
    refuse(&part, "cut short");
    sp_buf_bytes(&part, m.data, m.len - 1);
    refuse(&part, "cut short");
    refuse(&part, "empty");
    sp_buf_add(&part, "this is not an ONNX model at all");
    refuse(&part, "not an ONNX model");
    sp_buf_bytes(&part, "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11);
    refuse(&part, "cut short");
    sp_buf_bytes(&part, "\x0b\x0c", 2); /* a group */
    refuse(&part, "cut short");
    sp_buf_bytes(&part, "\0\0\0\0", 4);
    refuse(&part, "cut short");
    sp_buf_bytes(&part, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
    refuse(&part, "cut short");
    sp_buf_free(&m);
}

static void versions(void **state)
{
    sp_buf m = {0}, g = {0}, o = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    pb_model(&m, &g, 6);
    refuse(&m, "operator set 6");
    pb_model(&m, &g, (uint64_t)1 << 62);
    refuse(&m, "operator set");
    pb_int(&m, 1, 7);
    refuse(&m, "no graph");
    pb_info(&g, 11, "x", 1, 2, four);
    pb_message(&m, 7, &g);
    refuse(&m, "does not say its operator set");
    pb_model(&m, &g, 13);
    refuse(&m, "no outputs");
    whole(&m, &g);
    pb_text(&m, 7, "");
    refuse(&m, "two graphs");
    whole(&m, &g);
    pb_message(&m, 25, &o);
    refuse(&m, "functions");
}

static void names(void **state)
{
    char longest[2000];
    sp_buf m = {0}, g = {0};

    (void)state;
    pb_info(&g, 11, "x", 1, 2, four);
    whole(&m, &g);
    refuse(&m, "'x' is given twice");
    pb_node(&g, "Relu", "x", "y", NULL);
    whole(&m, &g);
    refuse(&m, "'y' is given twice");
    pb_node(&g, "Relu", "x", "x", NULL);
    whole(&m, &g);
    refuse(&m, "'x' is given twice");
    pb_tensor(&g, 5, "w", 1, 2, four, numbers, sizeof numbers);
    pb_tensor(&g, 5, "w", 1, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "'w' is given twice");
    pb_tensor(&g, 5, "y", 1, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "'y' is given twice");
    pb_tensor(&g, 5, "", 1, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "without a name");
    pb_info(&g, 12, "z", 1, 2, four);
    whole(&m, &g);
    refuse(&m, "nothing computes the output 'z'");
    pb_info(&g, 11, "\xff\xfe", 1, 2, four);
    whole(&m, &g);
    refuse(&m, "not text");
    pb_info(&g, 11, "a\nb", 1, 2, four);
    whole(&m, &g);
    refuse(&m, "not text");
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = 0;
    pb_info(&g, 11, longest, 1, 2, four);
    whole(&m, &g);
    refuse(&m, "too long");
}

static void shapes(void **state)
{
    static const int64_t huge[] = {1 << 20, 1 << 20}, minus[] = {1, -4};
    static const int64_t nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t wraps[] = {(int64_t)1 << 62, 4};
    static const int64_t five[] = {1, 5};
    sp_buf m = {0}, g = {0};

    (void)state;
    pb_info(&g, 11, "z", 1, 2, huge);
    whole(&m, &g);
    refuse(&m, "2^31");
    pb_info(&g, 11, "z", 1, 2, wraps);
    whole(&m, &g);
    refuse(&m, "2^31");
    pb_info(&g, 11, "z", 1, 2, minus);
    whole(&m, &g);
    refuse(&m, "negative");
    pb_info(&g, 11, "z", 1, 9, nine);
    whole(&m, &g);
    refuse(&m, "dimensions");
    pb_info(&g, 11, "z", 8, 2, four);
    whole(&m, &g);
    refuse(&m, "type 8");
    pb_tensor(&g, 5, "w", 1, 2, huge, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "2^31");
    pb_tensor(&g, 5, "w", 1, 9, nine, numbers, 4);
    whole(&m, &g);
    refuse(&m, "dimensions");
    pb_tensor(&g, 5, "w", 1, 2, minus, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "negative");
    pb_tensor(&g, 5, "w", 1, 2, five, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "16 bytes where its shape asks for 20");
    pb_tensor(&g, 5, "w", 16, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "type 16");
    pb_tensor(&g, 5, "w", 0, 2, four, numbers, sizeof numbers);
    whole(&m, &g);
    refuse(&m, "type 0");
}

static void lists(void **state)
{
    static const uint8_t seven[] = {1, 2, 3, 4, 5, 6, 7};
    sp_buf m = {0}, g = {0}, t = {0};

    (void)state;
    pb_int(&t, 1, 4); /* four floats, and seven bytes of them */
    pb_int(&t, 2, 1);
    pb_text(&t, 8, "w");
    pb_bytes(&t, 4, seven, sizeof seven);
    pb_message(&g, 5, &t);
    whole(&m, &g);
    refuse(&m, "damaged");
    pb_int(&t, 1, (uint64_t)1 << 30); /* many, and none of them there */
    pb_int(&t, 2, 7);
    pb_text(&t, 8, "w");
    pb_int(&t, 7, 1);
    pb_message(&g, 5, &t);
    whole(&m, &g);
    refuse(&m, "1 elements");
    pb_int(&t, 3, 1);
    pb_message(&g, 5, &t);
    whole(&m, &g);
    refuse(&m, "segments");
    pb_int(&t, 2, 1);
    pb_int(&t, 8, 5); /* a name that is a number */
    pb_message(&g, 5, &t);
    whole(&m, &g);
    refuse(&m, "not text");
    pb_int(&g, 5, 3); /* an initializer that is a number */
    whole(&m, &g);
    refuse(&m, "damaged");
    pb_int(&g, 1, 3);
    whole(&m, &g);
    refuse(&m, "damaged");
    pb_text(&g, 15, "");
    whole(&m, &g);
    refuse(&m, "sparse");
}

/* ---- data outside of the model ---- */

static void outside(sp_buf *m, const char *key, const char *value,
                    const char *key2, const char *value2)
{
    sp_buf t = {0}, g = {0}, e = {0};

    pb_int(&t, 1, 1);
    pb_int(&t, 1, 4);
    pb_int(&t, 2, 1);
    pb_text(&t, 8, "w");
    pb_text(&e, 1, key);
    pb_text(&e, 2, value);
    pb_message(&t, 13, &e);
    if (key2) {
        pb_text(&e, 1, key2);
        pb_text(&e, 2, value2);
        pb_message(&t, 13, &e);
    }
    pb_int(&t, 14, 1);
    pb_message(&g, 5, &t);
    pb_info(&g, 11, "x", 1, 2, four);
    pb_node(&g, "Add", "x w", "y", NULL);
    pb_info(&g, 12, "y", 1, 2, four);
    pb_model(m, &g, 13);
}

static void prepare_outside(void)
{
    assert_int_equal(mkdir("below", 0755), 0);
    assert_int_equal(mkdir("apart", 0755), 0);
    save("secret", numbers, sizeof numbers);
    save("below/weights", numbers, sizeof numbers);
    save("apart/data", numbers, sizeof numbers);
    assert_int_equal(symlink("below/weights", "link"), 0);
    assert_int_equal(symlink("/etc/passwd", "passwd"), 0);
    assert_int_equal(symlink("apart", "folder"), 0);
    assert_int_equal(link("secret", "twin"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
}

static void external(void **state)
{
    static const struct {
        const char *key, *value, *key2, *value2, *words;
    } cases[] = {
        {"location", "/etc/passwd", NULL, NULL, "beside the model"},
        {"location", "../secret", NULL, NULL, "beside the model"},
        {"location", "below/../../secret", NULL, NULL, "beside the model"},
        {"location", "..", NULL, NULL, "beside the model"},
        {"location", "link", NULL, NULL, "external data 'link'"},
        {"location", "passwd", NULL, NULL, "external data 'passwd'"},
        {"location", "folder/data", NULL, NULL, "external data"},
        {"location", "twin", NULL, NULL, "several names"},
        {"location", "pipe", NULL, NULL, "regular file"},
        {"location", "below", NULL, NULL, "regular file"},
        {"location", "nowhere", NULL, NULL, "external data 'nowhere'"},
        {"location", "", NULL, NULL, "without a location"},
        {"offset", "0", NULL, NULL, "without a location"},
        {"location", "below/weights", "offset", "4", "too short"},
        {"location", "below/weights", "offset", "-4", "count of bytes"},
        {"location", "below/weights", "offset", "9223372036854775807",
         "too short"},
        {"location", "below/weights", "offset", "99999999999999999999",
         "count of bytes"},
        {"location", "below/weights", "length", "4096", "length"},
        {"location", "below/weights", "length", "16 ", "count of bytes"},
        {"location", "below/weights", "location", "secret", "twice"},
        {"location", "below/weights", "basepath", "/", "not known"},
        {"location", "/proc/self/fd/0", NULL, NULL, "beside the model"}};
    sp_buf m = {0};
    spry_graph *g;

    (void)state;
    prepare_outside();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outside(&m, cases[i].key, cases[i].value, cases[i].key2,
                cases[i].value2);
        refuse(&m, cases[i].words);
    }
    outside(&m, "location", "below/weights", "length", "16");
    save("good.onnx", m.data, m.len);
    sp_buf_free(&m);
    check_ok(spry_graph_read(&g, "good.onnx", NULL));
    spry_graph_free(g);
}

static void memory_runs_out(void **state)
{
    int64_t live = sp_alloc_live();
    int n = 0;
    spry_status s;

    (void)state;
    do {
        spry_graph *g;

        sp_alloc_refuse(++n, 1);
        s = spry_graph_read(&g, "good.onnx", NULL);
        sp_alloc_refuse(0, 0);
        spry_graph_free(g);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), live);
    } while (s != SPRY_OK && n < 1000);
    assert_int_equal(s, SPRY_OK);
    assert_true(n > 5);
}

static void enough(void **state)
{
    (void)state;
    print_message("%d hostile models were refused\n", refused);
    assert_true(refused >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_one_is_read), cmocka_unit_test(cut_short),
        cmocka_unit_test(versions),         cmocka_unit_test(names),
        cmocka_unit_test(shapes),           cmocka_unit_test(lists),
        cmocka_unit_test(external),         cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(enough),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
