/* test_json.c - JSON out and in: what we write, we read; nothing else. */
#include "check.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static spry_status parse(sp_json_doc *doc, const char *text)
{
    return sp_json_parse(doc, text, strlen(text));
}

static void writes_commas_keys_and_escapes(void **state)
{
    sp_buf b = {0};
    sp_json j = {.out = &b};

    (void)state;
    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "a", "q\"\\\n\x01/é");
    sp_json_open(&j, "b", '[');
    sp_json_number(&j, NULL, 0.1);
    sp_json_number(&j, NULL, (double)NAN);
    sp_json_open(&j, NULL, '{');
    sp_json_close(&j, '}');
    sp_json_integer(&j, NULL, INT64_MIN);
    sp_json_close(&j, ']');
    sp_json_bool(&j, "c", 1);
    sp_json_text(&j, "d", NULL);
    sp_json_text(&j, "e", "\xff");
    sp_json_close(&j, '}');
    assert_string_equal(b.data,
                        "{\"a\":\"q\\\"\\\\\\n\\u0001/é\",\"b\":[0.1,null,{},"
                        "-9223372036854775808],\"c\":true,\"d\":null,"
                        "\"e\":\"\xef\xbf\xbd\"}");
    sp_buf_free(&b);
}

static void numbers_come_back_to_the_bit(void **state)
{
    const double known[] = {
        0,      -0.0,   1,    0.1,     1.0 / 3, DBL_MIN,          DBL_MAX,
        5e-324, -1e300, 1e22, 123456., 1e15,    9007199254740993.};
    sp_rng r = sp_rng_seed(1);

    (void)state;
    for (int i = 0; i < 2000; i++) {
        int given = (int)(sizeof known / sizeof known[0]);
        double x = i < given ? known[i] : ldexp(sp_rng_normal(&r), i % 600);
        sp_buf b = {0};
        sp_json j = {.out = &b};
        sp_json_doc doc;

        sp_json_number(&j, NULL, x);
        check_ok(sp_json_parse(&doc, b.data, b.len));
        assert_memory_equal(&doc.value[0].number, &x, sizeof x);
        sp_json_free(&doc);
        sp_buf_free(&b);
    }
}

/* Only where a locale with a decimal comma is installed. */
static void a_decimal_comma_changes_nothing(void **state)
{
    sp_buf b = {0};
    sp_json j = {.out = &b};
    sp_json_doc doc;

    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de"))
        skip_because("there is no German locale");
    sp_json_number(&j, NULL, 1.5);
    assert_string_equal(b.data, "1.5");
    check_ok(parse(&doc, b.data));
    assert_true(doc.value[0].number == 1.5);
    setlocale(LC_NUMERIC, "C");
    sp_json_free(&doc);
    sp_buf_free(&b);
}

static void reads_a_tree(void **state)
{
    sp_json_doc doc;
    const sp_json_value *list, *inner;

    (void)state;
    check_ok(parse(&doc, " {\"n\" : -1.5e2, \"list\":[ [1,[2]] ,\"x\", null],"
                         "\"t\":true,\"s\":\"\",\"o\":{\"s\":\"deep\"}} \n"));
    assert_int_equal(doc.value[0].kind, SP_JSON_OBJECT);
    assert_int_equal(doc.value[0].count, 5);
    assert_int_equal(doc.value[0].next, doc.count);
    assert_true(sp_json_get_number(&doc, doc.value, "n", 0) == -150);
    list = sp_json_get(&doc, doc.value, "list");
    assert_int_equal(list->count, 3);
    inner = &doc.value[list[1].next];
    assert_string_equal(inner->text, "x");
    assert_int_equal(sp_json_get(&doc, doc.value, "t")->kind, SP_JSON_TRUE);
    assert_string_equal(sp_json_get_text(&doc, doc.value, "s", "?"), "");
    assert_string_equal(sp_json_get_text(&doc, doc.value, "n", "?"), "?");
    assert_string_equal(
        sp_json_get_text(&doc, sp_json_get(&doc, doc.value, "o"), "s", "?"),
        "deep");
    assert_null(sp_json_get(&doc, list, "n"));
    assert_null(sp_json_get(&doc, NULL, "n"));
    sp_json_free(&doc);
}

static void escapes_become_utf8(void **state)
{
    sp_json_doc doc;

    (void)state;
    check_ok(parse(&doc, "\"\\u0041\\u00e9\\u20AC\\ud83D\\uDE00 \\/\\b\\f\\n\\r"
                         "\\t\\\"\\\\ é\""));
    assert_string_equal(doc.value[0].text, "Aé€\xf0\x9f\x98\x80 /\b\f\n\r\t\"\\"
                                           " é");
    sp_json_free(&doc);
}

static void refuses_what_is_no_json(void **state)
{
    static const char *const bad[] = {
        "",
        "  ",
        "nul",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "[",
        "\"a",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "1e999",
        "NaN",
        "1 2",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\u0000\"",
        "\"\n\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xe2\x82",
        "]",
        "[1}",
        "{\"a\":1]",
        "\"\\",
        "\xf4\x90",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sp_json_doc doc;
        int64_t live = sp_alloc_live();

        if (parse(&doc, bad[i]) != SPRY_INPUT)
            fail_msg("accepted: %s", bad[i]);
        assert_non_null(strstr(spry_message(), "offset"));
        assert_null(doc.value);
        assert_int_equal(sp_alloc_live(), live);
    }
}

static void names_the_offset(void **state)
{
    sp_json_doc doc;

    (void)state;
    assert_int_equal(parse(&doc, "[true, fals]"), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "offset 7:"));
}

static void depth_is_limited(void **state)
{
    char text[200];
    sp_json_doc doc;

    (void)state;
    memset(text, '[', 32);
    memset(text + 32, ']', 32);
    check_ok(sp_json_parse(&doc, text, 64));
    sp_json_free(&doc);
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    assert_int_equal(sp_json_parse(&doc, text, 66), SPRY_INPUT);
    memset(text, '[', sizeof text);
    assert_int_equal(sp_json_parse(&doc, text, sizeof text), SPRY_INPUT);
}

/* Every prefix of a document, exactly as long as its block. */
static void never_reads_past_the_end(void **state)
{
    const char *text = "{\"k\\u00e9\":[1.5e+3,true,\"\\ud83d\\ude00\",null]}";

    (void)state;
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n + !n);
        sp_json_doc doc;

        memcpy(copy, text, n);
        assert_int_equal(sp_json_parse(&doc, copy, n), SPRY_INPUT);
        free(copy);
    }
}

static void refused_memory_is_an_error(void **state)
{
    const char *text = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,\"x\"]";
    int64_t live = sp_alloc_live();
    spry_status s = SPRY_SYSTEM;
    sp_json_doc doc;
    int n = 0;

    (void)state;
    while (s != SPRY_OK) {
        sp_alloc_refuse(++n, 0);
        s = parse(&doc, text);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
    }
    sp_alloc_refuse(0, 0);
    assert_true(n > 2);
    sp_json_free(&doc);
    assert_int_equal(sp_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_commas_keys_and_escapes),
        cmocka_unit_test(numbers_come_back_to_the_bit),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
        cmocka_unit_test(reads_a_tree),
        cmocka_unit_test(escapes_become_utf8),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(names_the_offset),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(never_reads_past_the_end),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
