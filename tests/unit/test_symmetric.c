/* test_symmetric.c - one triangle of a symmetric matrix that stands for both:
 * kernels, what is refused, and new values. */
#include "odd_matrices.h"

#include <string.h>

#include "plan/sparse.h"
#include "schedule/schedule.h"
#include "sparse/sparse.h"

static const char *const texts[] = {
    "dia symmetric=1",
    "dia slice=4 symmetric=1",
    "dia slice=4 symmetric=1 threads=3",
    "dia symmetric=1 threads=2 chunk=5",
    "dia slice=2 symmetric=1 threads=2",
    "dia slice=8 symmetric=1",
};
enum { TEXTS = sizeof texts / sizeof texts[0], BUILT_IN = 4 };

/* Fewer rows than a group, some more, and several blocks with a rest. */
static const char *const specs[] = {
    "stencil5 nx=1 values=symmetric",
    "stencil5 nx=3 values=symmetric",
    "stencil5 nx=13 ny=11 values=symmetric",
    "stencil5 nx=83 ny=75 values=symmetric",
    "stencil27 nx=15 ny=14 nz=24 values=symmetric",
    "stencil5 nx=64 ny=32 values=symmetric",
    "diagonals rows=2051 count=1 values=symmetric",
    "stencil5 nx=2100 ny=2 values=symmetric",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

static spry_matrix *generated(const char *spec)
{
    spry_matrix *A;

    check_ok(spry_matrix_generate(&A, spec, 3));
    return A;
}

/* A without its main diagonal. */
static spry_matrix *hollow(const char *spec)
{
    spry_matrix *A = generated(spec), *out;
    int64_t *start = sp_alloc(A->rows + 1, sizeof *start), n = 0;
    int64_t *col = sp_alloc(A->nnz + 1, sizeof *col);
    double *val = sp_alloc(A->nnz + 1, sizeof *val);

    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            if (sp_col(A, k) != i) {
                col[n] = sp_col(A, k);
                val[n++] = sp_val(A, k);
            }
        start[i + 1] = n;
    }
    check_ok(spry_matrix_csr(&out, A->rows, A->cols, start, col, val, SPRY_I64,
                             SPRY_F64, SPRY_COPY));
    sp_free(start);
    sp_free(col);
    sp_free(val);
    spry_matrix_free(A);
    return out;
}

/* ---- kernels ---- */

static void check_all(const spry_matrix *A, spry_isa isa, spry_type type)
{
    int many = spry_jit_available() == SPRY_OK ? TEXTS : BUILT_IN;
    spry_problem *p;

    check_ok(spry_problem_spmv(&p, A, type));
    for (int t = 0; t < many; t++) {
        spry_plan *plan;

        check_ok(make_plan(&plan, p, texts[t], isa));
        check_ok(spry_plan_check(plan, 11));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
}

static void all_kernels_agree(void **state)
{
    (void)state;
    for (int s = 0; s < SPECS; s++) {
        spry_matrix *A = generated(specs[s]);

        check_ok(sp_matrix_symmetric(A));
        for (int isa = 0; isa < sp_isa_count; isa++)
            for (int t = 4; sp_isas[isa].runs_here() && t <= 8; t += 4)
                check_all(A, (spry_isa)isa, (spry_type)t);
        spry_matrix_free(A);
    }
}

static void there_need_be_no_main_diagonal(void **state)
{
    spry_machine m;
    spry_matrix *A = hollow("stencil5 nx=67 ny=50 values=symmetric");

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_all(A, m.isa, SPRY_F64);
    spry_matrix_free(A);
}

/* Half of the values, give or take a block, and what stands twice. */
static void stores_half(void **state)
{
    spry_matrix *A = generated("stencil27 nx=40 values=symmetric");
    spry_problem *p;
    spry_plan *all, *half;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(make_plan(&all, p, "dia slice=4", m.isa));
    check_ok(make_plan(&half, p, "dia slice=4 symmetric=1", m.isa));
    assert_true(sp_sparse_plan_of(half)->packed->bytes <
                0.54 * sp_sparse_plan_of(all)->packed->bytes);
    spry_plan_free(all);
    spry_plan_free(half);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* ---- what is refused ---- */

static void refused(const spry_matrix *A, const char *why)
{
    spry_machine m;
    spry_problem *p;
    spry_plan *plan;

    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    assert_int_equal(make_plan(&plan, p, texts[1], m.isa), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), why));
    assert_null(plan);
    spry_problem_free(p);
}

static void other_matrices_are_refused(void **state)
{
    spry_matrix *A = generated("stencil5 nx=30");

    (void)state;
    refused(A, "not symmetric");
    spry_matrix_free(A);
    A = generated("uniform rows=60 nnz=300 values=ones");
    refused(A, "not symmetric");
    spry_matrix_free(A);
    A = generated("diagonals rows=60 cols=40 count=5");
    refused(A, "square");
    spry_matrix_free(A);
    A = generated("stencil5 nx=30 values=symmetric");
    ((double *)(uintptr_t)A->val)[A->nnz - 2] += 1; /* the last pair but one */
    refused(A, "not symmetric");
    spry_matrix_free(A);
}

/* The odd ones are computed, or it is said that they are not symmetric or have
 * no diagonals worth the name. */
static void odd_ones_are_computed_or_refused(void **state)
{
    spry_machine m;
    int made = 0;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_matrix(a);
        spry_problem *p;
        spry_plan *plan;

        check_ok(spry_problem_spmv(&p, A, SPRY_F64));
        if (make_plan(&plan, p, texts[1], m.isa) == SPRY_OK) {
            check_ok(sp_matrix_symmetric(A));
            check_ok(spry_plan_check(plan, 5));
            made++;
        }
        spry_plan_free(plan);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
    assert_true(made < MAKERS);
}

static void a_missing_mirror_is_noticed(void **state)
{
    int64_t start[] = {0, 2, 3, 4}, col[] = {0, 2, 1, 2};
    double val[] = {1, 2, 3, 4};
    spry_matrix *A;

    (void)state;
    check_ok(spry_matrix_csr(&A, 3, 3, start, col, val, SPRY_I64, SPRY_F64,
                             SPRY_COPY));
    assert_int_equal(sp_matrix_symmetric(A), SPRY_USAGE);
    spry_matrix_free(A);
}

/* The search may have it, without a compiler, exactly for symmetric ones; and
 * the model knows what is stored, or refuses. */
static void is_offered_to_symmetric_ones_only(void **state)
{
    static const char *const spec[] = {"stencil5 nx=40 values=symmetric",
                                       "stencil5 nx=40"};
    spry_schedule x;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_schedule_parse(&x, texts[1]));
    for (int i = 0; i < 2; i++) {
        spry_matrix *A = generated(spec[i]);
        spry_prediction guess;
        spry_problem *p;

        check_ok(spry_problem_spmv(&p, A, SPRY_F64));
        assert_int_equal(
            sp_sparse_available(sp_sparse_of(p), &x, &m, SP_COMPILE_NONE),
            i == 0);
        guess.size = sizeof guess;
        assert_int_equal(spry_predict(&guess, p, &x, &m),
                         i == 0 ? SPRY_OK : SPRY_USAGE);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

/* ---- new values ---- */

/* v(i, j) of both triangles, another one for every seed. */
static void set_values(void *out, const spry_matrix *A, int seed)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t j = sp_col(A, k), low = i < j ? i : j, high = i + j - low;
            double v = (double)((low * 31 + high * 7 + seed) % 97 - 40);

            if (A->type == SPRY_F32)
                ((float *)out)[k] = (float)v;
            else
                ((double *)out)[k] = v;
        }
}

static void check_refill(const char *spec, const char *text, spry_type type)
{
    spry_matrix *A = generated(spec), B = *A;
    double *values = sp_alloc(A->nnz + 1, sizeof *values);
    spry_problem *p, *q;
    spry_plan *plan, *fresh;
    spry_machine m;
    const sp_packed *a, *b;

    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, type));
    check_ok(make_plan(&plan, p, text, m.isa));
    set_values(values, A, 5);
    check_ok(spry_plan_refill(plan, values));
    set_values(values, A, 8);
    check_ok(spry_plan_refill(plan, values));
    B.val = values;
    check_ok(spry_problem_spmv(&q, &B, type));
    check_ok(make_plan(&fresh, q, text, m.isa));
    a = sp_sparse_plan_of(plan)->packed;
    b = sp_sparse_plan_of(fresh)->packed;
    assert_int_equal(a->part->values, b->part->values);
    assert_memory_equal(a->part->val, b->part->val,
                        (size_t)a->part->values * type);
    check_ok(spry_plan_check(plan, 3)); /* both triangles are told back */
    values[1] += 1;
    assert_int_equal(spry_plan_refill(plan, values), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "not symmetric"));
    assert_memory_equal(a->part->val, b->part->val,
                        (size_t)a->part->values * type);
    spry_plan_free(plan);
    spry_plan_free(fresh);
    spry_problem_free(p);
    spry_problem_free(q);
    sp_free(values);
    spry_matrix_free(A);
}

static void new_values_are_symmetric_too(void **state)
{
    (void)state;
    for (int t = 0; t < BUILT_IN; t++) {
        check_refill(specs[3], texts[t], SPRY_F64);
        check_refill(specs[4], texts[t], SPRY_F32);
    }
}

/* Wherever the one value is that has no equal; the main diagonal has none. */
static void one_odd_value_is_enough(void **state)
{
    spry_matrix *A = hollow("stencil5 nx=17 ny=9 values=symmetric");
    double *values = sp_alloc(A->nnz, sizeof *values);
    spry_problem *p;
    spry_plan *plan;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(make_plan(&plan, p, "dia slice=4 symmetric=1", m.isa));
    set_values(values, A, 5);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            values[k] += 0.5;
            assert_int_equal(spry_plan_refill(plan, values),
                             sp_col(A, k) == i ? SPRY_OK : SPRY_USAGE);
            values[k] -= 0.5;
        }
    check_ok(spry_plan_refill(plan, values));
    check_ok(spry_plan_check(plan, 3));
    spry_plan_free(plan);
    spry_problem_free(p);
    sp_free(values);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kernels_agree),
        cmocka_unit_test(there_need_be_no_main_diagonal),
        cmocka_unit_test(stores_half),
        cmocka_unit_test(other_matrices_are_refused),
        cmocka_unit_test(odd_ones_are_computed_or_refused),
        cmocka_unit_test(a_missing_mirror_is_noticed),
        cmocka_unit_test(is_offered_to_symmetric_ones_only),
        cmocka_unit_test(new_values_are_symmetric_too),
        cmocka_unit_test(one_odd_value_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
