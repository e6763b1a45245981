/* test_network_files.c - networks from files and back; bad files named. */
#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "network/spnet.h"

static const char *const specs[] = {
    "gen:radix,depth=2",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4",
    "gen:random,width=60,depth=5,density=0.2,bias=-0.25",
    "gen:pruned,widths=40x30x20x10,sparsity=0.8,activation=sigmoid",
    "gen:smallworld,width=50,degree=6,activation=clamp,limit=3",
    "gen:skip,width=20,depth=6,degree=5",
};
enum { SPECS = sizeof specs / sizeof *specs };

/* A folder of this test's own, emptied by the system. */
static char folder[TEST_FOLDER];

static int enter_folder(void **state)
{
    (void)state;
    return make_folder(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    char command[TEST_FOLDER + 16];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Without the care for the disk that sp_file_write takes. */
static void write_bytes(const char *path, const char *data, size_t len)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static void check_same(const spry_network *a, const spry_network *b)
{
    char ka[33], kb[33];

    spry_network_key(ka, a);
    spry_network_key(kb, b);
    assert_string_equal(ka, kb);
}

static void check_same_bytes(const char *a, const char *b)
{
    sp_file fa, fb;

    check_ok(sp_file_read(&fa, a, SIZE_MAX));
    check_ok(sp_file_read(&fb, b, SIZE_MAX));
    assert_int_equal(fa.len, fb.len);
    assert_memory_equal(fa.data, fb.data, fa.len);
    sp_file_free(&fa);
    sp_file_free(&fb);
}

/* Reading fails with SPRY_INPUT and a sentence that holds `words`. */
static void check_bad(const char *path, const char *words)
{
    spry_network *n;

    assert_int_equal(spry_network_read(&n, path, NULL), SPRY_INPUT);
    assert_null(n);
    if (!strstr(spry_message(), words))
        fail_msg("'%s' does not hold '%s'", spry_message(), words);
}

/* ---- .spnet ---- */

static void spnet_keeps_everything(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n, *back, *streamed;
        spry_layers *s;

        check_ok(spry_network_read(&n, specs[i], NULL));
        check_ok(spry_network_write(n, "a.spnet"));
        check_ok(spry_network_read(&back, "a.spnet", NULL));
        check_same(n, back);
        assert_int_equal((uintptr_t)back->source % 64, 0);
        if (n->chained) {
            check_ok(spry_layers_open(&s, "a.spnet", NULL));
            check_ok(spry_layers_gather(&streamed, s));
            check_same(n, streamed);
            check_ok(spry_layers_write(s, "b.spnet"));
            check_same_bytes("a.spnet", "b.spnet");
            spry_network_free(streamed);
            spry_layers_close(s);
        }
        spry_network_free(n);
        spry_network_free(back);
    }
}

static sp_file small_file(void)
{
    spry_network *n;
    sp_file f;

    check_ok(spry_network_read(&n, "gen:mixed,radices=2x2,copies=1", NULL));
    check_ok(spry_network_write(n, "small.spnet"));
    check_ok(sp_file_read(&f, "small.spnet", SIZE_MAX));
    spry_network_free(n);
    return f;
}

static void refuse_both_ways(const char *path)
{
    spry_network *n;
    spry_layers *s;

    assert_int_equal(spry_network_read(&n, path, NULL), SPRY_INPUT);
    assert_null(n);
    assert_int_equal(spry_layers_open(&s, path, NULL), SPRY_INPUT);
    assert_null(s);
}

/* The magic is not tried: without it, it is another kind of file. */
static void every_flipped_byte_is_seen(void **state)
{
    sp_file f = small_file();

    (void)state;
    for (size_t i = 8; i < f.len; i++) {
        f.data[i] = (char)(f.data[i] ^ 0x20);
        write_bytes("flipped.spnet", f.data, f.len);
        refuse_both_ways("flipped.spnet");
        f.data[i] = (char)(f.data[i] ^ 0x20);
    }
    sp_file_free(&f);
}

static void every_cut_is_seen(void **state)
{
    sp_file f = small_file();

    (void)state;
    for (size_t n = 8; n < f.len; n += 3) {
        write_bytes("cut.spnet", f.data, n);
        refuse_both_ways("cut.spnet");
    }
    sp_file_free(&f);
}

/* Set one number of a file and its checksum right again. */
static void tamper(const void *value, size_t size, size_t at)
{
    sp_file f = small_file();
    uint32_t sum;

    memcpy(f.data + at, value, size);
    sum = (uint32_t)crc32_z(0, (const unsigned char *)f.data, f.len - 4);
    memcpy(f.data + f.len - 4, &sum, 4);
    write_bytes("lie.spnet", f.data, f.len);
    sp_file_free(&f);
}

static void lies_with_right_checksums(void **state)
{
    sp_file f = small_file();
    const uint32_t future = 2;
    const int32_t far = 99, negative = -1;
    const int64_t huge = INT64_MAX / 2, few = 3;
    const float nan = NAN;
    sp_spnet_header h;
    sp_spnet_layout l;

    (void)state;
    memcpy(&h, f.data, sizeof h);
    check_ok(sp_spnet_check(&l, &h, (int64_t)f.len, "small"));
    tamper(&future, 4, offsetof(sp_spnet_header, version));
    check_bad("lie.spnet", "version 2");
    tamper(&huge, 8, offsetof(sp_spnet_header, edges));
    check_bad("lie.spnet", "header");
    tamper(&few, 8, offsetof(sp_spnet_header, layers));
    check_bad("lie.spnet", "layers");
    tamper(&far, 4, (size_t)l.at[SP_SOURCE]);
    check_bad("lie.spnet", "neuron");
    tamper(&negative, 4, (size_t)l.at[SP_SOURCE]);
    check_bad("lie.spnet", "neuron");
    tamper(&nan, 4, (size_t)l.at[SP_WEIGHT]);
    check_bad("lie.spnet", "weight");
    tamper(&far, 4, (size_t)l.at[SP_OUTPUT_OF]);
    check_bad("lie.spnet", "output");
    tamper(&far, 4, (size_t)l.at[SP_ACTIVATION]);
    check_bad("lie.spnet", "activation");
    tamper(&huge, 8, (size_t)l.at[SP_START] + 8 * 6);
    check_bad("lie.spnet", "neuron");
    tamper(&huge, 8, (size_t)l.at[SP_FIRST] + 8);
    check_bad("lie.spnet", "layer");
    sp_file_free(&f);
}

/* The same lies while walking layer by layer. */
static void lies_are_seen_in_layers_too(void **state)
{
    static const struct {
        sp_spnet_section section;
        int64_t value;
    } lies[] = {{SP_SOURCE, 99},
                {SP_WEIGHT, 0x7fc00000},
                {SP_BIAS_OF, 0x7fc00000},
                {SP_START, -1}};
    sp_file f = small_file();
    sp_spnet_header h;
    sp_spnet_layout l;

    (void)state;
    memcpy(&h, f.data, sizeof h);
    check_ok(sp_spnet_check(&l, &h, (int64_t)f.len, "small"));
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        size_t at = (size_t)l.at[lies[i].section];
        spry_network *n;
        spry_layers *s;

        at += lies[i].section == SP_BIAS_OF ? 4 * 4 : 0;
        at += lies[i].section == SP_START ? 8 * 5 : 0;
        tamper(&lies[i].value, lies[i].section == SP_START ? 8 : 4, at);
        check_ok(spry_layers_open(&s, "lie.spnet", NULL));
        assert_int_equal(spry_layers_gather(&n, s), SPRY_INPUT);
        assert_null(n);
        spry_layers_close(s);
    }
    sp_file_free(&f);
}

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
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n, *back;

    (void)state;
    check_ok(
        spry_network_read(&n, "gen:random,width=30,depth=2,density=0.5", NULL));
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

    (void)state;
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
        cmocka_unit_test(spnet_keeps_everything),
        cmocka_unit_test(every_flipped_byte_is_seen),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(lies_with_right_checksums),
        cmocka_unit_test(lies_are_seen_in_layers_too),
        cmocka_unit_test(official_bytes),
        cmocka_unit_test(challenge_folder_and_back),
        cmocka_unit_test(odd_weights_survive),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(matrices_are_layers),
        cmocka_unit_test(rows_may_be_outputs_and_patterns_get_weights),
        cmocka_unit_test(a_graph_is_sorted),
        cmocka_unit_test(bad_graphs_are_named),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
