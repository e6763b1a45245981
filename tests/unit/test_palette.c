/* test_palette.c - matrices with few values: kernels that look them up, and
 * with one: kernels that never load it. */
#include "odd_matrices.h"

#include <string.h>

#include "codegen/codegen.h"
#include "plan/sparse.h"

static const char *const texts[] = {
    "csr unroll=2 palette=1",
    "csr unroll=4 index=16 palette=1",
    "csr unroll=8 palette=1 order=length threads=3",
    "csr unroll=8 index=16 palette=1 threads=3 chunk=3",
    "dcsr unroll=4 palette=1",
    "dcsr unroll=2 index=16 palette=1 threads=2",
    "sell palette=1",
    "sell index=16 palette=1 sigma=64",
    "sell slice=2 palette=1 sigma=1048576",
    "sell slice=2 index=16 palette=1 threads=3",
    "sell slice=4 palette=1 sigma=64 threads=2 chunk=1",
    "sell slice=4 index=16 palette=1",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* N stands for what 64 bytes hold. */
static const char *const several[] = {
    "csr unroll=2 palette=N",
    "csr unroll=4 index=16 palette=N threads=2",
    "csr unroll=8 palette=N order=length threads=2",
    "csr unroll=8 index=16 palette=256 threads=3 chunk=3",
    "dcsr unroll=4 palette=256",
    "dcsr unroll=2 index=16 palette=N threads=2",
    "sell palette=N",
    "sell index=16 palette=N sigma=64",
    "sell slice=2 palette=256 sigma=1048576",
    "sell slice=2 index=16 palette=N",
    "sell slice=4 palette=256 sigma=64 threads=2 chunk=1",
    "sell slice=4 index=16 palette=256",
    "sell slice=2 palette=256 prefetch=4",
};
enum { SEVERAL = sizeof several / sizeof several[0] };

static char *text_for(char out[80], const char *text, spry_type type)
{
    const char *at = strchr(text, 'N');

    if (at)
        snprintf(out, 80, "%.*s%d%s", (int)(at - text), text, 64 / (int)type,
                 at + 1);
    else
        snprintf(out, 80, "%s", text);
    return out;
}

/* An odd matrix with every value the same. */
static spry_matrix *make_even(int which, double value)
{
    spry_matrix *A = make_matrix(which);

    for (int64_t k = 0; k < A->nnz; k++)
        ((double *)(uintptr_t)A->val)[k] = value;
    return A;
}

/* An odd matrix with values from a short list, 0 and infinity among them. */
static spry_matrix *make_few(int which, int count)
{
    static const double first[] = {2, -0.25, 0, HUGE_VAL, -3, 0.5, 7};
    spry_matrix *A = make_matrix(which);
    double *val = (double *)(uintptr_t)A->val;

    for (int64_t k = 0; k < A->nnz; k++) {
        int64_t i = k * k % count;

        val[k] = i < 7 ? first[i] : (double)(i * i) / 4;
    }
    return A;
}

static void check_matrix(const spry_matrix *A, spry_type type, spry_isa isa)
{
    spry_problem *p;

    check_ok(spry_problem_spmv(&p, A, type));
    for (int t = 0; t < TEXTS; t++) {
        spry_plan *plan;
        spry_status s = make_plan(&plan, p, texts[t], isa);

        if (A->nnz == 0 || s == SPRY_USAGE) { /* far too much padding */
            assert_int_equal(s, SPRY_USAGE);
            continue;
        }
        check_ok(s);
        assert_true(spry_plan_builtin(plan));
        check_ok(spry_plan_check(plan, 7));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
}

static void kernels_without_values_agree(void **state)
{
    static const double value[] = {1, -3};

    (void)state;
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_even(a, value[a % 2]);

        for (int isa = 0; isa < sp_isa_count; isa++)
            for (int t = 4; has_kernels((spry_isa)isa) && t <= 8; t += 4)
                check_matrix(A, (spry_type)t, (spry_isa)isa);
        spry_matrix_free(A);
    }
}

static void check_several(const spry_matrix *A, spry_type type, spry_isa isa,
                          int small)
{
    spry_problem *p;

    check_ok(spry_problem_spmv(&p, A, type));
    for (int t = 0; t < SEVERAL; t++) {
        char text[80];
        spry_plan *plan;
        spry_status s =
            make_plan(&plan, p, text_for(text, several[t], type), isa);

        if (s == SPRY_USAGE && small) /* far too much padding */
            continue;
        if (s == SPRY_USAGE)
            assert_non_null(strchr(several[t], 'N'));
        else {
            check_ok(s);
            assert_true(spry_plan_builtin(plan) || strstr(text, "prefetch"));
            check_ok(spry_plan_check(plan, 7));
        }
        spry_plan_free(plan);
    }
    spry_problem_free(p);
}

static void kernels_with_codes_agree(void **state)
{
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *few = make_few(a, 7), *many = make_few(a, 200);

        for (int isa = 0; isa < sp_isa_count; isa++) /* in turn */
            if (has_kernels((spry_isa)isa))
                check_several(few, (a + isa) % 2 ? SPRY_F32 : SPRY_F64,
                              (spry_isa)isa, 1);
        check_several(many, a % 2 ? SPRY_F32 : SPRY_F64, m.isa, 0);
        spry_matrix_free(few);
        spry_matrix_free(many);
    }
}

/* 255 values and 0 fit a byte; one more does not. */
static void values_are_counted(void **state)
{
    static const int count[] = {1, 7, 8, 16, 255, 256, 300};

    (void)state;
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        char spec[80];
        spry_matrix *A;
        spry_problem *p;
        spry_plan *plan;
        int fits = count[i] < 256;

        snprintf(spec, sizeof spec, "uniform rows=500 nnz=9000 values=%d",
                 count[i]);
        check_ok(spry_matrix_generate(&A, spec, 1));
        check_ok(spry_problem_spmv(&p, A, SPRY_F32));
        assert_int_equal(spry_problem_stats(p)->different,
                         fits ? count[i] + 1 : 257);
        assert_int_equal(make_plan(&plan, p, "sell palette=256", SPRY_SSE2),
                         fits ? SPRY_OK : SPRY_USAGE);
        spry_plan_free(plan);
        assert_int_equal(make_plan(&plan, p, "sell palette=16", SPRY_SSE2),
                         count[i] < 16 ? SPRY_OK : SPRY_USAGE);
        spry_plan_free(plan);
        assert_int_equal(make_plan(&plan, p, "sell palette=8", SPRY_SSE2),
                         SPRY_USAGE);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

/* Padding has the code of 0, and infinities then spoil it: the plan sees. */
static void padding_meets_no_infinity(void **state)
{
    spry_matrix *A = make_few(11, 3);
    spry_problem *p;
    spry_machine m;
    double x[64], y[60], want[60];

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 64; i++)
        x[i] = i;
    x[0] = HUGE_VAL;
    x[33] = (double)NAN;
    check_ok(spry_problem_reference(p, 2, x, NULL, 0, want));
    for (int t = 0; t < SEVERAL; t++) {
        char text[80];
        spry_plan *plan;

        check_ok(
            make_plan(&plan, p, text_for(text, several[t], SPRY_F64), m.isa));
        memset(y, 0, sizeof y);
        check_ok(spry_run_scaled(plan, 2, x, NULL, 0, y));
        for (int i = 0; i < 60; i++)
            assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* What must come from memory is expected to come sooner. */
static void tables_are_expected_to_pay(void **state)
{
    static const char *const text[] = {"sell slice=2 index=16",
                                       "sell slice=2 index=16 palette=8"};
    spry_prediction guess[2];
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    if (!sp_isa_of(m.isa)->permutes)
        skip_because("this CPU picks no lanes from registers");
    for (int i = 0; i < SPRY_CACHES; i++)
        m.cache[i].bytes = 1 << 18;
    check_ok(spry_matrix_generate(&A, "banded rows=40k band=20 values=7", 1));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 2; i++) {
        spry_schedule x;

        check_ok(spry_schedule_parse(&x, text[i]));
        guess[i].size = sizeof guess[i];
        check_ok(spry_predict(&guess[i], p, &x, &m));
    }
    assert_true(guess[1].bytes < 0.4 * guess[0].bytes);
    assert_true(guess[1].seconds < guess[0].seconds);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Lanes whose row has ended see none of what follows. */
static void ended_rows_meet_no_infinity(void **state)
{
    spry_matrix *A = make_even(11, 1);
    spry_problem *p;
    spry_machine m;
    double x[64], y[60], want[60];

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 64; i++)
        x[i] = i;
    x[0] = HUGE_VAL; /* where empty rows point */
    x[33] = (double)NAN;
    check_ok(spry_problem_reference(p, 2, x, NULL, 0, want));
    for (int t = 0; t < TEXTS; t++) {
        spry_plan *plan;

        check_ok(make_plan(&plan, p, texts[t], m.isa));
        memset(y, 0, sizeof y);
        check_ok(spry_run_scaled(plan, 2, x, NULL, 0, y));
        for (int i = 0; i < 60; i++)
            assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Values that differ, or whose sum could overflow where products do not. */
static void other_values_are_refused(void **state)
{
    static const double value[] = {0.5, 0, HUGE_VAL, 1e300};
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int v = 0; v <= 4; v++) {
        spry_matrix *A = v < 4 ? make_even(6, value[v]) : make_matrix(6);
        spry_problem *p;
        spry_plan *plan;
        spry_prediction guess = {.size = sizeof guess};
        spry_schedule x;

        check_ok(spry_problem_spmv(&p, A, SPRY_F64));
        check_ok(spry_schedule_parse(&x, texts[0]));
        assert_int_equal(make_plan(&plan, p, texts[0], m.isa), SPRY_USAGE);
        assert_int_equal(spry_predict(&guess, p, &x, &m), SPRY_USAGE);
        assert_false(spry_problem_stats(p)->one_value);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

/* ---- codes ---- */

/* Value number i of a kind: few bits at the top, many bits, odd ones. */
static double nth_value(int kind, int i)
{
    static const double odd[] = {0,           -0.0, HUGE_VAL, -HUGE_VAL,
                                 (double)NAN, 1,    -1};

    if (kind == 0)
        return i - 100;
    if (kind == 1)
        return ldexp(i % 2 ? 1 : -1, i - 60);
    if (kind == 2)
        return sqrt(i + 2);
    return odd[i % 7];
}

/* Each entry has the code of its value, bit by bit, and code 0 is 0. */
static void check_codes(const spry_matrix *m, int threads)
{
    uint8_t *code = sp_alloc(m->nnz + 1, 1);
    sp_palette c, other;

    sp_palette_codes(&c, code, m, threads);
    sp_palette_of(&other, m);
    assert_int_equal(c.count, other.count);
    assert_true(c.count <= SP_PALETTE);
    for (int64_t k = 0; k < m->nnz; k++) {
        double v = sp_val(m, k);

        assert_memory_equal(&c.value[code[k]], &v, sizeof v);
        assert_memory_equal(&other.value[code[k]], &v, sizeof v);
    }
    sp_free(code);
}

/* Values show up one after the other: the last ones late. */
static void every_value_has_its_code(void **state)
{
    enum { ENTRIES = 150001 };
    double *wide = sp_alloc(ENTRIES, sizeof *wide);
    float *narrow = sp_alloc(ENTRIES, sizeof *narrow);
    const int many[] = {1, 2, 7, 16, 200, 255};
    spry_matrix m = {.nnz = ENTRIES};

    (void)state;
    for (int i = 0; i < 6 * 4 * 3; i++) {
        int kind = i % 4, count = many[i / 4 % 6], pace = i / 24;

        if (kind == 1 && count > 120)
            continue; /* beyond a float's exponents */
        for (int k = 0; k < ENTRIES; k++) {
            int far =
                pace == 0 ? count : 1 + (int)((int64_t)k * count / ENTRIES);

            wide[k] = nth_value(kind, pace == 2 ? far - 1 : k * 11 % far);
            narrow[k] = (float)wide[k];
            wide[k] = (double)narrow[k];
        }
        for (int threads = 1; threads <= 3; threads += 2) {
            m.type = SPRY_F64;
            m.val = wide;
            check_codes(&m, threads);
            m.type = SPRY_F32;
            m.val = narrow;
            check_codes(&m, threads);
        }
    }
    sp_free(wide);
    sp_free(narrow);
}

static void one_value_too_many_is_told(void **state)
{
    enum { ENTRIES = 40000 };
    double *value = sp_alloc(ENTRIES, sizeof *value);
    uint8_t *code = sp_alloc(ENTRIES, 1);
    spry_matrix m = {.nnz = ENTRIES, .type = SPRY_F64, .val = value};
    sp_palette c;

    (void)state;
    for (int k = 0; k < ENTRIES; k++)
        value[k] = k % 255 + 1; /* and 0 */
    sp_palette_codes(&c, code, &m, 1);
    assert_int_equal(c.count, SP_PALETTE);
    value[ENTRIES - 1] = 0.5;
    sp_palette_codes(&c, code, &m, 1);
    assert_int_equal(c.count, SP_PALETTE + 1);
    sp_free(value);
    sp_free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_without_values_agree),
        cmocka_unit_test(kernels_with_codes_agree),
        cmocka_unit_test(values_are_counted),
        cmocka_unit_test(padding_meets_no_infinity),
        cmocka_unit_test(tables_are_expected_to_pay),
        cmocka_unit_test(ended_rows_meet_no_infinity),
        cmocka_unit_test(other_values_are_refused),
        cmocka_unit_test(every_value_has_its_code),
        cmocka_unit_test(one_value_too_many_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
