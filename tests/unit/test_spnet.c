/* test_spnet.c - .spnet files keep everything, and every lie is seen. */
#include "network_folder.h"

#include <sys/stat.h>
#include <zlib.h>

static const char *const specs[] = {
    "gen:radix,depth=2",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4",
    "gen:random,width=60,depth=5,density=0.2,bias=-0.25",
    "gen:pruned,widths=40x30x20x10,sparsity=0.8,activation=sigmoid",
    "gen:smallworld,width=50,degree=6,activation=clamp,limit=3",
    "gen:skip,width=20,depth=6,degree=5",
};
enum { SPECS = sizeof specs / sizeof *specs };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spnet_keeps_everything),
        cmocka_unit_test(every_flipped_byte_is_seen),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(lies_with_right_checksums),
        cmocka_unit_test(lies_are_seen_in_layers_too),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
