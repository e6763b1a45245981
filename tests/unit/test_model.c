/* test_model.c - predictions against what packing really stores. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "schedule/schedule.h"
#include "spry/model.h"
#include "spry/plan.h"

static spry_machine machine(void)
{
    spry_machine m = {.threads = 4, .line = 64, .isa = SPRY_PORTABLE};

    return m;
}

static spry_matrix *made(const char *spec)
{
    spry_matrix *A;

    check_ok(spry_matrix_generate(&A, spec, 1));
    return A;
}

static spry_status predict(spry_prediction *out, const spry_problem *p,
                           const char *text)
{
    spry_machine m = machine();
    spry_schedule x;

    check_ok(spry_schedule_parse(&x, text));
    return spry_predict(out, p, &x, &m);
}

static double packed_bytes(const spry_problem *p, const char *text)
{
    spry_machine m = machine();
    spry_schedule x;
    spry_plan *plan;
    double bytes;

    check_ok(spry_schedule_parse(&x, text));
    check_ok(spry_plan_make(&plan, p, &x, &m));
    bytes = spry_plan_bytes(plan);
    spry_plan_free(plan);
    return bytes;
}

static void check_bytes(const char *spec, const char *text, double tolerance)
{
    spry_matrix *A = made(spec);
    spry_problem *p;
    spry_prediction got = {.size = sizeof got};
    double want;

    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    check_ok(predict(&got, p, text));
    want = packed_bytes(p, text);
    if (fabs(got.bytes - want) > tolerance * want)
        fail_msg("%s, %s: predicted %.0f bytes, packed %.0f", spec, text,
                 got.bytes, want);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void storage_is_exact(void **state)
{
    static const char *const exact[] = {
        "csr",           "csr index=64",           "csr unroll=4 index=16",
        "dcsr unroll=2", "csr unroll=2 order=rcm", "bcsr r=2 c=2",
        "bcsr r=4 c=1",  "bcsr r=1 c=8 index=16",
    };

    (void)state;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        check_bytes("uniform rows=501 nnz=4k", exact[i], 0);
        check_bytes("rmat scale=9 degree=8", exact[i], 0);
        check_bytes("blocks rows=512 r=8 c=8 nnz=8k", exact[i], 0);
    }
    check_bytes("blocks rows=510 r=3 c=3 nnz=8k", "bcsr r=3 c=3", 0);
    check_bytes("blocks rows=511 r=3 c=3 nnz=8k", "bcsr r=6 c=6 index=16", 0);
    check_bytes("diagonals rows=70001 count=5 spread=100",
                "csr unroll=2 index=16", 0);
    check_bytes("diagonals rows=1003 count=5 spread=100", "dia", 0);
    check_bytes("rmat scale=9 degree=8 values=ones",
                "csr unroll=4 index=16 palette=1", 0);
    check_bytes("rmat scale=9 degree=8 values=99",
                "csr unroll=4 index=16 palette=256", 0);
    check_bytes("stencil5 nx=64 values=3", "sell slice=2 palette=16", 0.05);
    check_bytes("diagonals rows=1003 count=5 spread=100", "dia slice=4", 0);
    check_bytes("stencil5 nx=30 values=symmetric", "dia symmetric=1", 0);
    check_bytes("stencil27 nx=17 values=symmetric", "dia slice=4 symmetric=1",
                0);
}

static void storage_that_is_sampled_is_close(void **state)
{
    static const char *const spec[] = {"uniform rows=20k nnz=200k",
                                       "rmat scale=13 degree=16",
                                       "stencil5 nx=100"};
    static const char *const text[] = {
        "sell",
        "sell slice=4",
        "sell slice=2 sigma=64 index=16",
        "sell sigma=512",
        "sell sigma=4096",
        "sell slice=2 sigma=1048576",
        "csr unroll=4 panel=2048",
    };

    (void)state;
    for (size_t i = 0; i < sizeof spec / sizeof spec[0]; i++)
        for (size_t j = 0; j < sizeof text / sizeof text[0]; j++)
            check_bytes(spec[i], text[j], 0.35);
}

/* Padded to their length, few rows make a slice many times its entries. */
static void long_rows_are_not_missed(void **state)
{
    static const char *const spec[] = {
        "powerlaw rows=2800 nnz=34k exponent=1.8",
        "powerlaw rows=12k nnz=49k exponent=2.2",
        "arrow rows=5700 head=1 band=8"};
    static const char *const text[] = {"sell sigma=512", "sell sigma=4096",
                                       "sell slice=2 sigma=4096",
                                       "sell slice=2 sigma=1048576"};

    (void)state;
    for (size_t i = 0; i < sizeof spec / sizeof spec[0]; i++)
        for (size_t j = 0; j < sizeof text / sizeof text[0]; j++)
            check_bytes(spec[i], text[j], 0.35);
    check_bytes("arrow rows=5700 head=1 band=8", "sell", 0.35);
}

static void what_packing_refuses_is_refused(void **state)
{
    static const char *const no[] = {
        "dia",           "bcsr r=16 c=16",         "csr unroll=2 index=16",
        "sell index=16", "csr unroll=2 panel=512", "csr unroll=2 order=rcm",
    };
    spry_matrix *A = made("uniform rows=20k cols=300k nnz=60k");
    spry_problem *p;
    spry_prediction out = {.size = sizeof out};
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        spry_machine m = machine();
        spry_schedule x;

        check_ok(spry_schedule_parse(&x, no[i]));
        if (spry_predict(&out, p, &x, &m) != SPRY_USAGE)
            fail_msg("%s should be infeasible", no[i]);
        assert_true(strlen(spry_message()) > 0);
        assert_int_equal(spry_plan_make(&plan, p, &x, &m), SPRY_USAGE);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static double seconds(const spry_problem *p, const char *text)
{
    spry_prediction out = {.size = sizeof out};

    check_ok(predict(&out, p, text));
    assert_true(isfinite(out.seconds) && out.seconds > 0);
    assert_true(out.pack_seconds >= 0 && isfinite(out.pack_seconds));
    return out.seconds;
}

static void formats_fit_their_patterns(void **state)
{
    static const struct {
        const char *spec, *good, *bad;
    } pair[] = {
        {"diagonals rows=200k count=11 spread=10k", "dia", "csr unroll=4"},
        {"blocks rows=16k r=8 c=8 nnz=1M", "bcsr r=8 c=8", "csr unroll=4"},
        {"uniform rows=50k nnz=800k", "csr unroll=4", "bcsr r=4 c=1"},
        {"uniform rows=50k nnz=800k", "sell sigma=64 index=16", "sell"},
        {"hypersparse rows=1M nnz=100k", "dcsr unroll=2", "csr unroll=2"},
        {"blocks rows=20k r=4 c=4 nnz=400k scatter=0.1", "bcsr r=4 c=4 rest=50",
         "bcsr r=4 c=4"},
        {"blocks rows=20k r=4 c=4 nnz=400k scatter=0.1", "bcsr r=4 c=4 rest=50",
         "csr unroll=4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        spry_matrix *A = made(pair[i].spec);
        spry_problem *p;

        check_ok(spry_problem_spmv(&p, A, SPRY_F32));
        if (seconds(p, pair[i].good) >= seconds(p, pair[i].bad))
            fail_msg("%s: %s should beat %s", pair[i].spec, pair[i].good,
                     pair[i].bad);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

static void edges_have_finite_answers(void **state)
{
    const int64_t start[] = {0, 0, 0, 0}, one[] = {0, 1}, col[] = {0};
    const float val[] = {2};
    spry_matrix *empty, *single;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_csr(&empty, 3, 5, start, col, val, SPRY_I64, SPRY_F32,
                             SPRY_COPY));
    check_ok(spry_matrix_csr(&single, 1, 1, one, col, val, SPRY_I64, SPRY_F32,
                             SPRY_COPY));
    check_ok(spry_problem_spmm(&p, empty, 7, SPRY_F64));
    seconds(p, "csr");
    seconds(p, "csr tile=4 threads=4 chunk=64");
    seconds(p, "bcsr tile=1 r=2 c=2");
    spry_problem_free(p);
    check_ok(spry_problem_spmv(&p, single, SPRY_F32));
    seconds(p, "csr threads=64");
    seconds(p, "sell slice=4 sigma=64");
    seconds(p, "dia");
    spry_problem_free(p);
    check_ok(spry_problem_sddmm(&p, single, 3, SPRY_F32));
    seconds(p, "csr tile=1 unroll=4");
    spry_problem_free(p);
    spry_matrix_free(empty);
    spry_matrix_free(single);
}

static void bound_is_the_largest_term(void **state)
{
    spry_prediction p = {.compute = 1, .latency = 2};

    (void)state;
    assert_string_equal(spry_prediction_bound(&p), "latency");
    p.overhead = 3;
    assert_string_equal(spry_prediction_bound(&p), "overhead");
    p.imbalance = 4;
    assert_string_equal(spry_prediction_bound(&p), "imbalance");
    p.bandwidth = 5;
    assert_string_equal(spry_prediction_bound(&p), "bandwidth");
    p.compute = 6;
    assert_string_equal(spry_prediction_bound(&p), "compute");
}

static void no_memory_for_statistics(void **state)
{
    spry_matrix *A = made("uniform rows=20 nnz=40");
    spry_problem *p;
    spry_prediction out = {.size = sizeof out};
    spry_status s;

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    sp_alloc_refuse(1, 1);
    s = predict(&out, p, "csr");
    sp_alloc_refuse(0, 0);
    assert_int_equal(s, SPRY_SYSTEM);
    check_ok(predict(&out, p, "csr"));
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* A machine with known limits: what binds follows from them. */
static void the_limit_that_binds_is_named(void **state)
{
    spry_matrix *A = made("uniform rows=20k nnz=200k");
    spry_machine m = {.threads = 1,
                      .cores = 1,
                      .line = 64,
                      .isa = SPRY_PORTABLE,
                      .cache = {{32 << 10, 1}, {512 << 10, 1}, {1 << 30, 1}},
                      .probed = 1,
                      .points = 1,
                      .at = {1},
                      .read = {1e10},
                      .triad = {1e10},
                      .lines = {1e8},
                      .latency = {1e-9, 4e-9, 1e-8, 1e-7},
                      .cache_read = {1e11, 1e11, 1e11},
                      .fma_f32 = 1e9};
    spry_schedule x;
    spry_prediction big = {.size = sizeof big}, none = {.size = sizeof none};
    spry_problem *p;
    double seconds;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 32, SPRY_F32));
    check_ok(spry_schedule_parse(&x, "csr tile=4"));
    check_ok(spry_predict(&big, p, &x, &m));
    assert_string_equal(spry_prediction_limit(&big, &seconds), "multiply-adds");
    assert_true(fabs(seconds - 2 * 32 * (double)A->nnz / 1e9) < 1e-9);
    assert_true(big.least_gathers < 1e-3 * big.seconds); /* all in cache */
    /* The probe finds that the last cache is none: rows come from memory. */
    m.fma_f32 = 1e12;
    m.measured[0] = 32 << 10;
    m.measured[1] = 512 << 10;
    m.lines[0] = 4e7;
    check_ok(spry_predict(&none, p, &x, &m));
    assert_string_equal(spry_prediction_limit(&none, &seconds), "gathers");
    assert_true(none.latency >= seconds && none.seconds > big.least_gathers);
    assert_true(seconds > 0.5 * (double)A->nnz / 4e7);
    none = (spry_prediction){.size = sizeof none};
    assert_string_equal(spry_prediction_limit(&none, &seconds), "nothing");
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_that_binds_is_named),
        cmocka_unit_test(storage_is_exact),
        cmocka_unit_test(storage_that_is_sampled_is_close),
        cmocka_unit_test(long_rows_are_not_missed),
        cmocka_unit_test(what_packing_refuses_is_refused),
        cmocka_unit_test(formats_fit_their_patterns),
        cmocka_unit_test(edges_have_finite_answers),
        cmocka_unit_test(bound_is_the_largest_term),
        cmocka_unit_test(no_memory_for_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
