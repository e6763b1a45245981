/* test_windows.c - rows of csr sorted by length in windows, and who asks for
 * them. */
#include "check.h"

#include <string.h>

#include "family/family.h"
#include "matrix/matrix.h"
#include "pack/pack.h"
#include "problem/sparse.h"
#include "sparse/sparse.h"

enum { COLUMNS = 32, SIGMA = 64, MOST = 128 };

static spry_problem *open_problem(spry_matrix **A, const char *recipe)
{
    spry_problem *p;

    check_ok(spry_matrix_generate(A, recipe, 1));
    check_ok(spry_problem_spmm(&p, *A, COLUMNS, SPRY_F32));
    return p;
}

static int64_t length(const spry_matrix *A, int64_t i)
{
    return A->start[i + 1] - A->start[i];
}

/* Rows of a window are those of the matrix, longest first; equal ones keep
 * their order. */
static void windows_are_sorted(void **state)
{
    spry_matrix *A;
    spry_problem *p = open_problem(&A, "rmat scale=10 degree=8");
    spry_schedule x;
    sp_packed *k;
    const int32_t *row;

    (void)state;
    check_ok(spry_schedule_parse(&x, "csr tile=2 sigma=64"));
    check_ok(sp_pack(&k, sp_sparse_of(p), &x, 8, 2));
    row = k->part->row;
    assert_int_equal(k->part->units, A->rows);
    for (int64_t u = 0; u < A->rows; u++) {
        assert_int_equal(row[u] / SIGMA, u / SIGMA);
        if (u % SIGMA == 0)
            continue;
        assert_true(length(A, row[u - 1]) > length(A, row[u]) ||
                    (length(A, row[u - 1]) == length(A, row[u]) &&
                     row[u - 1] < row[u]));
    }
    sp_packed_free(k);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* How many proposals for the recipe are csr with `word`? */
static int rows_proposed(const char *recipe, const char *word, int measured)
{
    static sp_proposal list[MOST];
    static const sp_history nothing;
    sp_proposals l = {list, 0, MOST};
    spry_machine m;
    spry_matrix *A;
    spry_problem *p = open_problem(&A, recipe);
    sp_inquiry q = {.p = p, .m = &m, .history = &nothing, .measured = measured};
    sp_adviser *a;
    int count = 0;

    check_ok(spry_machine_detect(&m));
    check_ok(sp_family_sparse.consult(&a, &q));
    check_ok(sp_family_sparse.propose(a, &l));
    for (int i = 0; i < l.count; i++)
        count += strncmp(list[i].text, "csr ", 4) == 0 &&
                 strstr(list[i].text, word) != NULL;
    sp_family_sparse.dismiss(a);
    spry_problem_free(p);
    spry_matrix_free(A);
    return count;
}

/* Do four vectors hold a row of the dense operand? */
static int is_narrow(void)
{
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    return COLUMNS * (int)sizeof(float) <= 4 * spry_isa_bytes(m.isa);
}

/* Models have met none, so that only a rule proposes them: where rows are
 * uneven, and only to be raced. Two entries at a time are for narrow rows. */
static void uneven_rows_are_tried_in_windows(void **state)
{
    (void)state;
    assert_in_range(rows_proposed("rmat scale=10 degree=8", "sigma=", 1), 1, 3);
    if (is_narrow())
        assert_true(rows_proposed("rmat scale=10 degree=8", "unroll=2", 1) > 0);
    assert_int_equal(rows_proposed("rmat scale=10 degree=8", "sigma=", 0), 0);
    assert_int_equal(
        rows_proposed("banded rows=2000 band=4 density=1", "sigma=", 1), 0);
}

/* A matrix without rows has no window. */
static void no_rows_are_sorted(void **state)
{
    static const char *const texts[] = {"csr tile=2 order=length",
                                        "csr tile=2 sigma=64"};
    static const int32_t nothing[1];
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_coo(&A, 0, 5, 0, nothing, nothing, nothing, SPRY_I32,
                             SPRY_F32));
    check_ok(spry_problem_spmm(&p, A, COLUMNS, SPRY_F32));
    for (int i = 0; i < 2; i++) {
        spry_schedule x;
        sp_packed *k;

        check_ok(spry_schedule_parse(&x, texts[i]));
        check_ok(sp_pack(&k, sp_sparse_of(p), &x, 8, 2));
        sp_packed_free(k);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_sorted),
        cmocka_unit_test(uneven_rows_are_tried_in_windows),
        cmocka_unit_test(no_rows_are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
