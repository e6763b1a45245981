/* test_text.c - numbers as text, exact and the same in every locale. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/recipe.h"

static int scan(const char *text, double *v)
{
    const char *p = text, *end = text + strlen(text);

    return sp_scan_real(&p, end, v) && p == end;
}

static void assert_reads_like_strtod(const char *text)
{
    double want = strtod(text, NULL), got = 0;

    if (!scan(text, &got) || memcmp(&want, &got, sizeof got))
        fail_msg("%s: %a is not %a", text, got, want);
}

/* Half-way cases, subnormals, overflow, more digits than fit. */
static void hard_reals_are_rounded_correctly(void **state)
{
    static const char *const hard[] = {
        "0",
        "-0",
        "-0.0e5",
        "9007199254740993",
        "9007199254740993.0000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e400",
        "1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000123456789012345678901234567890",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "7205759403792793199999e-5",
        "8.5e22",
        "1e23",
        "+5.",
        ".5",
        "6.02214076E+23",
        "1e99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        assert_reads_like_strtod(hard[i]);
}

static void random_reals_are_read_and_printed_exactly(void **state)
{
    sp_rng rng = sp_rng_seed(3);

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = sp_rng_next(&rng);
        double v, back;

        if (i % 2) /* usual magnitudes */
            v = ldexp((double)(int64_t)bits,
                      (int)sp_rng_below(&rng, 120) - 120);
        else
            memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        snprintf(text, sizeof text, "%.*g", 1 + i % 19, v);
        assert_reads_like_strtod(text);
        assert_true(sp_print_real(text, v, SPRY_F64) < SP_REAL);
        assert_true(scan(text, &back) && back == v);
        sp_print_real(text, (double)(float)v, SPRY_F32);
        assert_true(scan(text, &back) && (float)back == (float)v);
    }
}

static void words_and_fortran_are_reals(void **state)
{
    double v;

    (void)state;
    assert_true(scan("-Infinity", &v) && v < 0 && isinf(v));
    assert_true(scan("INF", &v) && v > 0 && isinf(v));
    assert_true(scan("NaN", &v) && isnan(v));
    assert_true(scan("1.5D+02", &v) && v == 150);
    assert_true(scan("1d-300", &v) && v == 1e-300);
}

static void what_is_no_number_is_left_alone(void **state)
{
    static const char *const wrong[] = {"", "-", ".", "e5", "in", "x1", "+.e1"};
    const char *p, *text = "12e+";
    int64_t n;
    double v;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        p = wrong[i];
        assert_false(sp_scan_real(&p, p + strlen(p), &v));
        assert_ptr_equal(p, wrong[i]);
    }
    p = text;
    assert_true(sp_scan_real(&p, text + 4, &v) && v == 12);
    assert_ptr_equal(p, text + 2);
    p = text; /* the end is the end, digits behind it or not */
    assert_true(sp_scan_int(&p, text + 1, &n) && n == 1);
}

static void whole_numbers_fit_or_fail(void **state)
{
    static const char most[] = "9223372036854775807";
    static const char more[] = "9223372036854775808";
    const char *p = most;
    int64_t n;

    (void)state;
    assert_true(sp_scan_int(&p, most + 19, &n) && n == INT64_MAX);
    p = more;
    assert_false(sp_scan_int(&p, more + 19, &n));
}

static void counts_are_read_as_people_write_them(void **state)
{
    double v;

    (void)state;
    assert_true(sp_parse_count("1.5k", &v) && v == 1500);
    assert_true(sp_parse_count("2M", &v) && v == 2e6);
    assert_true(sp_parse_count("1e6", &v) && v == 1e6);
    assert_true(sp_parse_count("10", &v) && v == 10);
    assert_false(sp_parse_count("10x", &v));
    assert_false(sp_parse_count("", &v));
    assert_false(sp_parse_count("-1", &v));
    assert_false(sp_parse_count("inf", &v));
}

static void recipes_override_defaults_once(void **state)
{
    static const char *const kind[] = {"ring", "star"};
    static const char params[] = "size=8 parts=2x3 share=0.5";
    const char *rest;
    sp_recipe r;
    int64_t n, part[4];
    double x;
    int at, parts;

    (void)state;
    assert_int_equal(
        sp_recipe_kind(&at, &rest, " star,size=1k", "shape", kind, 2), SPRY_OK);
    assert_int_equal(at, 1);
    assert_int_equal(sp_recipe_parse(&r, "star", params, rest), SPRY_OK);
    assert_int_equal(sp_recipe_count(&n, &r, "size", 1, 2000), SPRY_OK);
    assert_int_equal(n, 1000);
    assert_int_equal(sp_recipe_count(&n, &r, "size", 1, 999), SPRY_USAGE);
    assert_int_equal(sp_recipe_count(&n, &r, "share", 0, 1), SPRY_USAGE);
    assert_int_equal(sp_recipe_real(&x, &r, "share", 0, 1), SPRY_OK);
    assert_true(x == 0.5);
    assert_int_equal(sp_recipe_list(part, &parts, 4, &r, "parts"), SPRY_OK);
    assert_true(parts == 2 && part[0] == 2 && part[1] == 3);
    assert_int_equal(sp_recipe_list(part, &parts, 1, &r, "parts"), SPRY_USAGE);
}

static void recipes_refuse_what_they_do_not_know(void **state)
{
    static const char *const kind[] = {"ring", "star"};
    static const char *const bad[] = {"size", "size=", "=3", "depth=3",
                                      "size=1,size=2"};
    const char *rest;
    sp_recipe r;
    int at;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sp_recipe_parse(&r, "ring", "size=8", bad[i]),
                         SPRY_USAGE);
    assert_int_equal(sp_recipe_kind(&at, &rest, "cone", "shape", kind, 2),
                     SPRY_USAGE);
    assert_string_equal(spry_message(),
                        "no shape 'cone'; there are ring, star");
}

static void names_are_what_c_takes(void **state)
{
    static const char *const good[] = {"a", "_x9", "interval", "Int"};
    static const char *const bad[] = {"",    "9a",    "a b",      "int",
                                      "xor", "class", "restrict", "_Bool"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(sp_is_identifier(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sp_is_identifier(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_reals_are_rounded_correctly),
        cmocka_unit_test(random_reals_are_read_and_printed_exactly),
        cmocka_unit_test(words_and_fortran_are_reals),
        cmocka_unit_test(what_is_no_number_is_left_alone),
        cmocka_unit_test(whole_numbers_fit_or_fail),
        cmocka_unit_test(counts_are_read_as_people_write_them),
        cmocka_unit_test(names_are_what_c_takes),
        cmocka_unit_test(recipes_override_defaults_once),
        cmocka_unit_test(recipes_refuse_what_they_do_not_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
