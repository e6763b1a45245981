/* test_nn_file.c - models as files: what goes in comes out, and nothing else
 * comes in. */
#include "nn_gradient.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static const char path[] = "test_nn_file.model";
static const char card[] = "{\"op\": \"spmm\", \"score\": 0.91}";

static sp_nn *small(uint64_t seed)
{
    sp_nn *n;

    check_ok(sp_nn_new(&n, seed));
    sp_dense_make(n, "first", 3, 5, 1);
    sp_embedding_make(n, "table", 4, 3);
    sp_conv_make(n, "conv", 3, 2, 2, 2);
    check_ok(sp_nn_status(n));
    return n;
}

/* The file's bytes; free with sp_file_free. */
static sp_file bytes_of(sp_nn *n)
{
    sp_file f;

    check_ok(sp_nn_save(n, card, path));
    sp_nn_free(n);
    check_ok(sp_file_read(&f, path, 1 << 20));
    unlink(path);
    return f;
}

/* ---- round trip ---- */

static void test_round_trip(void **state)
{
    sp_nn *a = small(3), *b;
    const char *name, *other;
    sp_tensor *x, *y;

    (void)state;
    check_ok(sp_nn_save(a, card, path));
    check_ok(sp_nn_load(&b, path));
    assert_string_equal(sp_nn_card(b), card);
    assert_string_equal(sp_nn_card(a), "{}");
    for (int i = 0; (x = sp_nn_at(a, i, &name)); i++) {
        y = sp_nn_at(b, i, &other);
        assert_string_equal(name, other);
        assert_true(sp_shape_equal(x->shape, y->shape));
        assert_memory_equal(x->value, y->value,
                            (size_t)x->size * sizeof(float));
    }
    assert_int_equal(sp_nn_count(a), sp_nn_count(b));
    unlink(path);
    sp_nn_free(a);
    sp_nn_free(b);
}

/* A builder run over a loaded network finds its weights, with their values,
 * or says which are not as expected. */
static void test_builder(void **state)
{
    sp_nn *a = small(3), *b;
    sp_dense d;

    (void)state;
    check_ok(sp_nn_save(a, card, path));
    check_ok(sp_nn_load(&b, path));
    d = sp_dense_make(b, "first", 3, 5, 1);
    assert_true(d.weight->value[7] == sp_nn_at(a, 0, NULL)->value[7]);
    assert_int_equal(sp_nn_status(b), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "table is unknown"));
    sp_embedding_make(b, "table", 4, 3);
    sp_conv_make(b, "conv", 3, 2, 2, 2);
    check_ok(sp_nn_status(b));
    sp_nn_free(b);

    check_ok(sp_nn_load(&b, path));
    d = sp_dense_make(b, "first", 4, 5, 1);
    assert_null(d.weight);
    assert_int_equal(sp_nn_status(b), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "is 5x3, not 5x4"));
    sp_nn_free(b);

    check_ok(sp_nn_load(&b, path));
    sp_dense_make(b, "second", 3, 5, 1);
    assert_int_equal(sp_nn_status(b), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "no tensor second.weight"));
    sp_nn_free(b);
    unlink(path);
    sp_nn_free(a);
}

static void test_refuses_to_save(void **state)
{
    sp_nn *n = small(1);
    char *large = sp_alloc(SP_NN_CARD + 3, 1);

    (void)state;
    assert_int_equal(sp_nn_save(n, "not json", path), SPRY_INPUT);
    assert_int_equal(sp_nn_save(n, "[1]", path), SPRY_INPUT);
    memset(large, ' ', SP_NN_CARD);
    memcpy(large + SP_NN_CARD - 1, "{}", 2);
    assert_int_equal(sp_nn_save(n, large, path), SPRY_INPUT);
    sp_nn_at(n, 1, NULL)->value[2] = INFINITY;
    assert_int_equal(sp_nn_save(n, card, path), SPRY_INPUT);
    assert_int_not_equal(access(path, F_OK), 0);
    sp_nn_at(n, 1, NULL)->value[2] = 0;
    assert_int_equal(sp_nn_save(n, card, "/nowhere/x"), SPRY_SYSTEM);
    sp_free(large);
    sp_nn_free(n);
}

/* ---- bad bytes ---- */

static void expect_bad(const char *data, size_t len, const char *why)
{
    sp_nn *n;
    spry_status s = sp_nn_parse(&n, data, len, "bad.model");

    if (s != SPRY_INPUT || !strstr(spry_message(), why))
        fail_msg("status %d, '%s', expected '%s'", (int)s, spry_message(), why);
    assert_null(n);
    assert_int_equal(strncmp(spry_message(), "bad.model: ", 11), 0);
}

static void test_truncated(void **state)
{
    sp_file f = bytes_of(small(1));

    (void)state;
    for (size_t n = 0; n < f.len; n++)
        expect_bad(f.data, n, "");
    sp_file_free(&f);
}

static void test_flipped_bits(void **state)
{
    sp_file f = bytes_of(small(1));

    (void)state;
    for (size_t i = 0; i < f.len; i++) {
        f.data[i] = (char)(f.data[i] ^ 1 << i % 8);
        expect_bad(f.data, f.len, "");
        f.data[i] = (char)(f.data[i] ^ 1 << i % 8);
    }
    sp_file_free(&f);
}

/* Change bytes as someone would who also mends the checksum. */
static void expect_bad_with(const void *bytes, size_t n, size_t at,
                            const char *why)
{
    sp_file f = bytes_of(small(1));

    memcpy(f.data + at, bytes, n);
    sp_sha256((uint8_t *)f.data + f.len - SP_SHA256, f.data, f.len - SP_SHA256);
    expect_bad(f.data, f.len, why);
    sp_file_free(&f);
}

/* Where things are: a head of 32 bytes, the card padded to 8, 104 bytes per
 * tensor. */
enum {
    BYTE_ORDER_AT = 8,
    VERSION_AT = 12,
    CARD_LENGTH_AT = 24,
    TENSORS_AT = 28,
    CARD_AT = 32,
    TABLE_AT = 32 + (sizeof card - 1 + 7) / 8 * 8,
    ENTRY = 104,
    RANK_AT = 64,
    ZERO_AT = 68,
    DIM_AT = 72
};

static void test_clever_damage(void **state)
{
    const uint32_t other_order = 0x04030201, no_order = 7, future = 9;
    const uint32_t huge = 0xffffffff, none = 0, five = 5, one = 1;
    const uint64_t enormous = (uint64_t)1 << 62, many = 1 << 30;
    const uint64_t size = 200; /* rows of 3: more bytes than there are */
    const float nan = NAN, infinite = INFINITY;
    const size_t values = (TABLE_AT + 4 * ENTRY + 63) / 64 * 64;

    (void)state;
    expect_bad_with("SPRY", 4, 0, "not a model");
    expect_bad_with(&other_order, 4, BYTE_ORDER_AT, "other byte order");
    expect_bad_with(&no_order, 4, BYTE_ORDER_AT, "no byte order");
    expect_bad_with(&future, 4, VERSION_AT, "version 9; this spry reads 1");
    expect_bad_with(&enormous, 8, 16, "bytes where it says");
    expect_bad_with(&huge, 4, CARD_LENGTH_AT, "too long");
    expect_bad_with(&none, 4, CARD_LENGTH_AT, "");
    expect_bad_with(&huge, 4, TENSORS_AT, "no room");
    expect_bad_with(&five, 4, TENSORS_AT, "");
    expect_bad_with(&one, 4, TENSORS_AT, "");
    expect_bad_with("[", 1, CARD_AT, "");
    expect_bad_with("\1", 1, TABLE_AT - 1, "");
    expect_bad_with("", 1, TABLE_AT, "no proper name");
    expect_bad_with("a/b", 3, TABLE_AT, "no proper name");
    expect_bad_with("first.weight", 13, TABLE_AT + ENTRY, "two tensors");
    expect_bad_with(&none, 4, TABLE_AT + RANK_AT, "no proper shape");
    expect_bad_with(&five, 4, TABLE_AT + RANK_AT, "no proper shape");
    expect_bad_with(&huge, 4, TABLE_AT + ZERO_AT, "no proper shape");
    expect_bad_with(&enormous, 8, TABLE_AT + DIM_AT, "no proper shape");
    expect_bad_with(&many, 8, TABLE_AT + DIM_AT, "larger than the file");
    expect_bad_with(&size, 8, TABLE_AT + DIM_AT, "first.weight is larger");
    expect_bad_with(&many, 8, TABLE_AT + DIM_AT + 24, "no proper shape");
    expect_bad_with(&nan, 4, values, "not finite");
    expect_bad_with(&infinite, 4, values + 4, "not finite");
    expect_bad_with("\1", 1, values + 15 * 4, "not whole");
}

static void test_trailing_bytes(void **state)
{
    sp_file f = bytes_of(small(1));
    uint64_t length = f.len + 64;
    char *more = sp_alloc((int64_t)length, 1);

    (void)state;
    memcpy(more, f.data, f.len - SP_SHA256);
    memcpy(more + 16, &length, sizeof length);
    sp_sha256((uint8_t *)more + length - SP_SHA256, more, length - SP_SHA256);
    expect_bad(more, length, "goes on");
    sp_free(more);
    sp_file_free(&f);
}

static void test_not_files(void **state)
{
    sp_nn *n;

    (void)state;
    assert_int_equal(sp_nn_load(&n, "/nowhere"), SPRY_INPUT);
    assert_null(n);
    assert_int_equal(sp_nn_load(&n, "/"), SPRY_INPUT);
    expect_bad("", 0, "not a model");
}

static void test_short_memory(void **state)
{
    sp_file f = bytes_of(small(1));
    spry_status s;
    int64_t n = 0;

    (void)state;
    do {
        sp_nn *net;

        sp_alloc_refuse(++n, 1);
        s = sp_nn_parse(&net, f.data, f.len, "x");
        sp_alloc_refuse(0, 0);
        assert_true(s == SPRY_OK || (s == SPRY_SYSTEM && !net));
        sp_nn_free(net);
        assert_int_equal(sp_alloc_live(), 1); /* f */
    } while (s != SPRY_OK);
    assert_true(n > 8);
    sp_file_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_builder),
        cmocka_unit_test(test_refuses_to_save),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_clever_damage),
        cmocka_unit_test(test_trailing_bytes),
        cmocka_unit_test(test_not_files),
        cmocka_unit_test(test_short_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
