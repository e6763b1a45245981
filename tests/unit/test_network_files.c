/* test_network_files.c - networks from text and folders and back; bad files
 * named. */
#include "network_folder.h"

#include <sys/stat.h>
#include <zlib.h>

/* ---- challenge folders ---- */

/* The SHA-256 of each of the 120 official files, and of their list; the
 * value was computed from the files themselves. */
static void official_bytes(void **state)
{
    static const char *const right =
        "ec6c807851d4ac8162a344ecdf70bf02149263b058f04c64213f8b3bf8648191";
    uint8_t sum[SP_SHA256];
    char hex[2 * SP_SHA256 + 1];
    sp_buf list = {0}, text = {0};
    const spry_layer *layer;
    spry_layers *s;

    (void)state;
    check_ok(spry_layers_open(&s, "gen:radix,width=1024,depth=120", NULL));
    check_ok(spry_layers_next(s, &layer));
    while (layer) {
        text.len = 0;
        sp_challenge_text(&text, layer);
        sp_sha256(sum, text.data, text.len);
        sp_hex(hex, sum, SP_SHA256);
        sp_buf_printf(&list, "%s\n", hex);
        check_ok(spry_layers_next(s, &layer));
    }
    sp_sha256(sum, list.data, list.len);
    sp_hex(hex, sum, SP_SHA256);
    assert_string_equal(hex, right);
    sp_buf_free(&list);
    sp_buf_free(&text);
    spry_layers_close(s);
}

static void challenge_folder_and_back(void **state)
{
    spry_network *n, *back;

    (void)state;
    check_ok(spry_network_read(&n, "gen:radix,depth=3", NULL));
    check_ok(spry_network_write(n, "neuron1024"));
    check_ok(spry_network_read(&back, "neuron1024", NULL));
    check_same(n, back);
    spry_network_free(back);
    assert_int_equal(unlink("neuron1024/n1024-l2.tsv"), 0);
    check_bad("neuron1024", "n1024-l2.tsv: is missing");
    write_text("neuron1024/n1024-l2.tsv", "1\t1\t0.5\n");
    write_text("neuron1024/n64-l1.tsv", "1\t1\t0.5\n");
    check_bad("neuron1024", "several widths");
    spry_network_free(n);
    check_ok(spry_network_read(&n, "gen:pruned,widths=4x3", NULL));
    assert_int_equal(spry_network_write(n, "unequal"), SPRY_USAGE);
    spry_network_free(n);
    check_ok(spry_network_read(&n, "gen:skip,width=8,degree=2", NULL));
    assert_int_equal(spry_network_write(n, "skipping"), SPRY_USAGE);
    spry_network_free(n);
}

/* Any float survives the text. */
static void odd_weights_survive(void **state)
{
    const spry_activation clamped[2] = {{SPRY_CLAMP, 32}, {SPRY_CLAMP, 32}};
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n, *back, parts;

    (void)state;
    check_ok(spry_network_read(&back, "gen:random,width=30,depth=2,density=0.5",
                               NULL));
    assert_int_equal(spry_network_write(back, "odd"), SPRY_USAGE);
    parts = *back; /* as the challenge has it */
    parts.activation = clamped;
    parts.bias_on_nonzero = 1;
    check_ok(spry_network_make(&n, &parts));
    spry_network_free(back);
    check_ok(spry_network_write(n, "odd"));
    check_ok(spry_network_read(&back, "odd", &o));
    assert_int_equal(back->edges, n->edges);
    assert_memory_equal(back->weight, n->weight,
                        (size_t)n->edges * sizeof *n->weight);
    assert_memory_equal(back->source, n->source,
                        (size_t)n->edges * sizeof *n->source);
    spry_network_free(n);
    spry_network_free(back);
}

static void bad_lines_are_named(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"1\t1\t0.5\n2\t9\t1\n", "l1.tsv:2: "},
               {"1\t1\t0.5\n\n0\t2\t1\n", "l1.tsv:3: "},
               {"1\t1\n", "l1.tsv:1: "},
               {"1\t2\tnan\n", "l1.tsv:1: "},
               {"8\t8\t1\n1\t2\tinf\n", "l1.tsv:2: "},
               {"1\t2\t1e300\n", "finite"},
               {"1\t2\t3\t4\n", "l1.tsv:1: "},
               {"one\t2\t3\n", "l1.tsv:1: "}};

    (void)state;
    assert_int_equal(mkdir("lines", 0777), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("lines/n8-l1.tsv", bad[i].text);
        check_bad("lines", bad[i].words);
    }
    write_text("lines/n8-l1.tsv", "");
    {
        spry_network *n;

        check_ok(spry_network_read(&n, "lines", NULL));
        assert_int_equal(n->edges, 0);
        spry_network_free(n);
    }
}

/* ---- folders of matrices ---- */

static void matrices_are_layers(void **state)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n;
    float x[] = {1, 2};
    double y[2];

    (void)state;
    assert_int_equal(mkdir("m", 0777), 0);
    write_text("m/layer10.tsv", "1\t1\t2\n3\t2\t-1\n");
    write_text("m/layer2.mtx", "%%MatrixMarket matrix coordinate real general\n"
                               "2 3 3\n1 1 1\n2 2 1\n2 3 10\n");
    write_text("m/notes.md", "not a layer\n");
    o.bias = 0.5f;
    o.activation = (spry_activation){SPRY_LINEAR, 0};
    check_ok(spry_network_read(&n, "m", &o));
    assert_int_equal(n->inputs, 2);
    assert_int_equal(n->layers, 2);
    assert_int_equal(n->outputs, 2);
    check_ok(spry_network_reference(y, n, x, 1));
    assert_float_equal(y[0], 3.5, 1e-9);
    assert_float_equal(y[1], -20, 1e-9);
    spry_network_free(n);
    write_text("m/layer10.tsv", "4\t1\t2\n");
    check_bad("m", "m/layer10.tsv:1: ");
    write_text("m/layer11.mtx",
               "%%MatrixMarket matrix coordinate real general\n"
               "7 3 1\n1 1 1\n");
    write_text("m/layer10.tsv", "1\t1\t2\n");
    check_bad("m", "m/layer11.mtx: takes 7 inputs, but there are 1");
    o.depth = 2;
    check_ok(spry_network_read(&n, "m", &o));
    spry_network_free(n);
}

static void a_layer_has_inputs(void **state)
{
    (void)state;
    assert_int_equal(mkdir("none", 0777), 0);
    write_text("none/l1.mtx", "%%MatrixMarket matrix coordinate real general\n"
                              "0 2 0\n");
    check_bad("none", "l1.mtx: 0 x 2 makes no layer");
}

/* A few bytes ask for no more memory than is theirs. */
static void too_many_neurons_are_refused(void **state)
{
    static const char *const wide =
        "%%MatrixMarket matrix coordinate real general\n"
        "3 2000000000 1\n1 1 1\n";
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n;

    (void)state;
    assert_int_equal(mkdir("wide", 0777), 0);
    write_text("wide/l1.mtx", wide);
    check_bad("wide", "l1.mtx: 2000000000 columns are too many");
    o.rows_are_outputs = 1;
    assert_int_equal(spry_network_read(&n, "wide", &o), SPRY_INPUT);
    assert_int_equal(mkdir("named", 0777), 0);
    write_text("named/n2000000000-l1.tsv", "1\t1\t1\n");
    check_bad("named", "l1.tsv: 2000000000 neurons are too many");
}

static void rows_may_be_outputs_and_patterns_get_weights(void **state)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n, *drawn, *again;

    (void)state;
    assert_int_equal(mkdir("p", 0777), 0);
    write_text("p/a.smtx", "2, 4, 3\n0 2 3\n0 3 1\n");
    o.rows_are_outputs = 1;
    check_ok(spry_network_read(&n, "p", &o));
    assert_int_equal(n->inputs, 4);
    assert_int_equal(n->outputs, 2);
    assert_float_equal(n->weight[0] + n->weight[2], 2, 0);
    o.seeded_weights = 1;
    check_ok(spry_network_read(&drawn, "p", &o));
    check_ok(spry_network_read(&again, "p", &o));
    assert_true(drawn->weight[0] != 1 && drawn->weight[2] != 1);
    check_same(drawn, again);
    spry_network_free(n);
    spry_network_free(drawn);
    spry_network_free(again);
    assert_int_equal(mkdir("empty", 0777), 0);
    check_bad("empty", "neither");
    check_bad("nowhere", "nowhere");
}

/* ---- any acyclic graph ---- */

static void a_graph_is_sorted(void **state)
{
    spry_network *n;
    float x[] = {1, 2};
    double y[2];

    (void)state;
    write_text("g.txt", "# numbers are the file's own\n"
                        "activation linear\n"
                        "input 50 7   # in this order\n"
                        "output 3 9\n"
                        "bias 9 100\n"
                        "4 9 1\n"
                        "50 4 2\n"
                        "7 9 10\n"
                        "9 3 1\n"
                        "8 3 1000\n"
                        "bias 8 1\n");
    check_ok(spry_network_read(&n, "g.txt", NULL));
    assert_int_equal(n->inputs, 2);
    assert_int_equal(n->neurons, 6);
    assert_int_equal(n->layers, 3);
    assert_int_equal(n->chained, 0);
    check_ok(spry_network_reference(y, n, x, 1));
    assert_float_equal(y[1], 2 * 1 + 10 * 2 + 100, 1e-9);
    assert_float_equal(y[0], y[1] + 1000, 1e-9);
    spry_network_free(n);
    write_text("g.txt", "0 2 1\n1 2 1\n2 3 1\n");
    check_ok(spry_network_read(&n, "g.txt", NULL));
    assert_int_equal(n->chained, 1);
    assert_int_equal(n->outputs, 1);
    spry_network_free(n);
}

static void bad_graphs_are_named(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"0 1 1\n1 2 1\n2 1 1\n", "cycle"},
               {"0 1 1\n5 5 1\n", "g.txt:2: the edge from 5 to 5 closes"},
               {"0 1 1\n0 1 2\n", "g.txt:2: the edge from 0 to 1 is repeated"},
               {"0 1 nan\n", "g.txt:1: "},
               {"0 1 1e99\n", "g.txt:1: "},
               {"0 1\n", "g.txt:1: "},
               {"0 -1 2\n", "g.txt:1: "},
               {"0 1 2 3\n", "g.txt:1: "},
               {"0 99999999999 1\n", "g.txt:1: "},
               {"input 1\n0 1 1\n", "g.txt:1: "},
               {"input 0 0\n0 1 1\n", "g.txt:1: "},
               {"0 1 1\nbias 0 1\n", "g.txt:2: "},
               {"0 1 1\nactivation step\n", "g.txt:2: "},
               {"activation clamp\n0 1 1\n", "g.txt:1: "},
               {"output 0 1 x\n", "g.txt:1: "},
               {"hello\n", "g.txt:1: "},
               {"# nothing\n", "no edges"},
               {"input 1 2\n", "layers"},
               {"", "no edges"}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("g.txt", bad[i].text);
        check_bad("g.txt", bad[i].words);
    }
}

/* ---- memory ---- */

static void short_memory_is_survived(void **state)
{
    static const char *const paths[] = {"m", "g.txt", "small.spnet", "p"};
    int64_t before = sp_alloc_live();
    sp_file f = small_file();

    (void)state;
    sp_file_free(&f);
    write_text("m/layer11.mtx",
               "%%MatrixMarket matrix coordinate real general\n"
               "1 3 1\n1 1 1\n");
    write_text("g.txt", "0 2 1\n1 2 1\n0 3 1\n2 3 1\n");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int64_t n = 1;; n++) {
            spry_network *net;
            spry_status s;

            sp_alloc_refuse(n, 0);
            s = spry_network_read(&net, paths[i], NULL);
            sp_alloc_refuse(0, 0);
            spry_network_free(net);
            assert_int_equal(sp_alloc_live(), before);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(official_bytes),
        cmocka_unit_test(challenge_folder_and_back),
        cmocka_unit_test(odd_weights_survive),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(matrices_are_layers),
        cmocka_unit_test(too_many_neurons_are_refused),
        cmocka_unit_test(a_layer_has_inputs),
        cmocka_unit_test(rows_may_be_outputs_and_patterns_get_weights),
        cmocka_unit_test(a_graph_is_sorted),
        cmocka_unit_test(bad_graphs_are_named),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
