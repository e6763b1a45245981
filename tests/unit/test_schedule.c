/* test_schedule.c - text, legality, mutation. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "machine/isa.h"
#include "schedule/schedule.h"
#include "spry.h"

static void text_goes_round(void **state)
{
    static const char *const texts[] = {
        "csr",
        "csr threads=2",
        "csr tile=4 unroll=2 index=16 prefetch=12 panel=4096 threads=2",
        "bcsr tile=2 r=4 c=8 stream=1",
        "sell slice=4 sigma=4096 gather=1",
        "csr tile=8 order=cluster fixed=1 threads=2 chunk=64",
        "dcsr tile=1",
        "dia slice=2",
        "dia slice=4 symmetric=1 threads=2",
    };
    char buf[SPRY_SCHEDULE_TEXT];
    spry_schedule x;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_ok(spry_schedule_parse(&x, texts[i]));
        assert_string_equal(spry_schedule_text(buf, &x), texts[i]);
    }
    check_ok(spry_schedule_parse(&x, "  csr,threads=3  tile=2 "));
    assert_string_equal(spry_schedule_text(buf, &x), "csr tile=2 threads=3");
}

static void nonsense_is_named(void **state)
{
    static const char *const bad[][2] = {
        {"", "no format ''"},
        {"coo", "no format 'coo'; there are csr, bcsr, sell, dcsr, dia, csf, "},
        {"csr quick", "\"quick\""},
        {"csr tile", "\"tile\": tile= takes a number, as 1, 2, 4, 8"},
        {"csr tile=x", "\"tile=x\": tile= takes a number, as 1, 2, 4, 8"},
        {"csr tile=-1", "\"tile=-1\": tile= takes"},
        {"csr speed=9", "'speed'; csr has tile"},
        {"csr order=up", "order= takes one of none, length, rcm, cluster"},
        {"csr tile=99999999999", "99999999999"},
    };
    spry_schedule x;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(spry_schedule_parse(&x, bad[i][0]), SPRY_USAGE);
        assert_non_null(strstr(spry_message(), bad[i][1]));
    }
}

typedef struct {
    spry_matrix *A;
    spry_problem *p[3];
    spry_machine m;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    check_ok(
        spry_matrix_generate(&f->A, "uniform rows=900 cols=800 nnz=5000", 1));
    check_ok(spry_problem_spmv(&f->p[0], f->A, SPRY_F32));
    check_ok(spry_problem_spmm(&f->p[1], f->A, 32, SPRY_F32));
    check_ok(spry_problem_sddmm(&f->p[2], f->A, 32, SPRY_F32));
    check_ok(spry_machine_detect(&f->m));
    f->m.threads = 2;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < 3; i++)
        spry_problem_free(f->p[i]);
    spry_matrix_free(f->A);
    free(f);
    return 0;
}

static void legality_ties_parameters_together(void **state)
{
    static const struct {
        int op, legal;
        const char *text;
    } cases[] = {
        {0, 1, "csr"},
        {0, 0, "csr tile=4"}, /* spmv has no tiles */
        {1, 1, "csr tile=4"},
        {1, 0, "csr unroll=4"},
        {1, 0, "sell"},
        {1, 1, "sell tile=4 slice=2"},
        {1, 0, "sell tile=4"}, /* one row at a time is csr */
        {1, 0, "sell tile=8 slice=2"},
        {2, 0, "bcsr r=2 c=2 tile=1"},
        {2, 1, "csr tile=4 unroll=4"},
        {2, 0, "csr tile=4 unroll=3"},
        {0, 0, "bcsr"},
        {0, 0, "bcsr r=3 c=1"},
        {1, 0, "bcsr r=16 c=1 tile=4"},
        {1, 0, "csr prefetch=4"},
        {1, 0, "csr tile=4 panel=800"},
        {1, 1, "csr tile=4 panel=512"},
        {1, 0, "csr tile=4 panel=512 order=length"},
        {1, 1, "csr tile=4 sigma=64"},
        {1, 1, "csr tile=4 sigma=64 order=cluster"},
        {1, 0, "csr tile=4 sigma=64 order=length"}, /* it sorts them all */
        {1, 0, "csr tile=4 sigma=64 panel=512"},
        {1, 0, "csr sigma=64"},
        {0, 0, "csr unroll=4 sigma=64"},
        {1, 0, "csr tile=4 chunk=64"},
        {1, 1, "csr tile=4 chunk=64 threads=2"},
        {0, 0, "csr unroll=4 threads=0"},
        {1, 0, "csr tile=4 index=8"},
        {1, 0, "csr tile=1000000000 unroll=1000000000"},
        {0, 0, "csr threads=4096"}, /* of a machine that has two */
        {0, 0, "csr unroll=4 prefetch=65"},
        {0, 0, "sell gather=2"},
        {1, 0, "csr tile=4 stream=3"},
        {0, 0, "sell sigma=0"},
        {0, 0, "sell slice=16"},
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        spry_schedule x;

        check_ok(spry_schedule_parse(&x, cases[i].text));
        if ((spry_schedule_legal(&x, f->p[cases[i].op], &f->m) == SPRY_OK) !=
            cases[i].legal)
            fail_msg("%s for operation %d", cases[i].text, cases[i].op);
    }
}

/* A schedule may be filled in by hand, not only parsed. */
/* A format's name is a schedule wherever the format knows the operation. */
static void names_alone_are_legal(void **state)
{
    static const struct {
        const char *text;
        spry_op op;
    } given[] = {{"dcsr", SPRY_SPMV},
                 {"dcsr", SPRY_SPMM},
                 {"dcsr", SPRY_SDDMM},
                 {"bcsr", SPRY_SPMV},
                 {"bcsr", SPRY_SPMM},
                 {"sell", SPRY_SPMV},
                 {"sell", SPRY_SPMM},
                 {"dia", SPRY_SPMV},
                 {"csr", SPRY_SPMM},
                 {"csr fixed=1", SPRY_SPMM},
                 {"csr index=16 stream=1", SPRY_SPMM}};
    spry_matrix *A;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_matrix_generate(&A, "uniform rows=200 nnz=2000", 1));
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        spry_problem *p;
        spry_schedule x;

        check_ok(spry_problem_make(&p, given[i].op, A, 64, SPRY_F32));
        check_ok(spry_schedule_parse_for(&x, given[i].text, given[i].op));
        if (x.stream && !sp_isa_of(m.isa)->streams)
            assert_int_equal(spry_schedule_legal(&x, p, &m), SPRY_USAGE);
        else
            check_ok(spry_schedule_legal(&x, p, &m));
        spry_problem_free(p);
    }
    spry_matrix_free(A);
}

static void a_chunk_is_not_negative(void **state)
{
    fixture *f = *state;
    spry_schedule x = spry_schedule_baseline(2);

    x.chunk = -64;
    assert_int_equal(spry_schedule_legal(&x, f->p[0], &f->m), SPRY_USAGE);
}

static void mutation_stays_legal_and_reaches_far(void **state)
{
    fixture *f = *state;
    sp_rng r = sp_rng_seed(9);

    for (int op = 0; op < 3; op++) {
        spry_schedule x = spry_schedule_baseline(1);
        int formats = 0;

        for (int i = 0; i < 20000; i++) {
            spry_schedule before = x;

            assert_true(
                sp_schedule_mutate(&x, sp_sparse_of(f->p[op]), &f->m, &r));
            assert_false(sp_schedule_equal(&before, &x));
            check_ok(spry_schedule_legal(&x, f->p[op], &f->m));
            formats |= 1 << x.format;
        }
        for (int i = 0; i < sp_format_count; i++)
            assert_int_equal(formats >> i & 1, sp_formats[i].uses[op] != NULL);
    }
}

static void the_baseline_is_plain(void **state)
{
    spry_schedule x = spry_schedule_baseline(2);

    (void)state;
    assert_true(sp_schedule_plain(&x));
    x.tile = 1;
    assert_false(sp_schedule_plain(&x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_goes_round),
        cmocka_unit_test(nonsense_is_named),
        cmocka_unit_test(legality_ties_parameters_together),
        cmocka_unit_test(names_alone_are_legal),
        cmocka_unit_test(a_chunk_is_not_negative),
        cmocka_unit_test(mutation_stays_legal_and_reaches_far),
        cmocka_unit_test(the_baseline_is_plain),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
