/* test_plan.c - every kernel of every family against the reference.
 *
 * The kernels are the built-in ones, found by walking the schedule space;
 * the matrices are the odd ones on which kernels go wrong. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "spry.h"

/* ---- odd matrices ---- */

enum { MOST = 4096 };
typedef struct {
    int64_t rows, cols, nnz;
    int64_t row[MOST], col[MOST];
    double val[MOST];
} triples;

static void put(triples *t, int64_t i, int64_t j, double v)
{
    t->row[t->nnz] = i;
    t->col[t->nnz] = j;
    t->val[t->nnz++] = v;
}

static void empty(triples *t)
{
    t->rows = 5;
    t->cols = 7;
}

static void nothing(triples *t)
{
    t->rows = t->cols = 0;
}

static void single(triples *t)
{
    t->rows = t->cols = 1;
    put(t, 0, 0, 2.5);
}

static void dense_row(triples *t)
{
    t->rows = 9;
    t->cols = 130;
    for (int j = 0; j < 130; j++)
        put(t, 4, j, j - 60.5);
}

static void dense_col(triples *t)
{
    t->rows = 67;
    t->cols = 33;
    for (int i = 0; i < 67; i++)
        put(t, i, 31, i + 0.25);
}

static void only_last(triples *t)
{
    t->rows = 70;
    t->cols = 20;
    put(t, 69, 19, -3);
    put(t, 69, 0, 4);
}

static void scatter(triples *t, int64_t rows, int64_t cols, int64_t nnz)
{
    sp_rng r = sp_rng_seed(3);

    t->rows = rows;
    t->cols = cols;
    for (int64_t k = 0; k < nnz; k++)
        put(t, (int64_t)sp_rng_below(&r, (uint64_t)rows),
            (int64_t)sp_rng_below(&r, (uint64_t)cols), sp_rng_unit(&r) - 0.5);
}

static void wide(triples *t)
{
    scatter(t, 37, 301, 900);
}

static void tall(triples *t)
{
    scatter(t, 303, 29, 900);
}

/* Unsorted, and most entries more than once. */
static void repeated(triples *t)
{
    scatter(t, 12, 11, 500);
}

static void banded(triples *t)
{
    t->rows = t->cols = 150;
    for (int i = 0; i < 150; i++)
        for (int d = -3; d <= 3; d += 3)
            if (i + d >= 0 && i + d < 150)
                put(t, i, i + d, i - 70.0 + d);
}

static void not_finite(triples *t)
{
    scatter(t, 60, 60, 400);
    t->val[7] = (double)NAN;
    t->val[100] = HUGE_VAL;
    t->val[200] = -HUGE_VAL;
}

/* Rows of every length, so that every tail is met. */
static void stairs(triples *t)
{
    t->rows = 60;
    t->cols = 64;
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < i; j++)
            put(t, i, (j * 7 + i) % 64, i + j * 0.5);
}

static void (*const makers[])(triples *) = {
    empty, nothing, single,   dense_row, dense_col,  only_last,
    wide,  tall,    repeated, banded,    not_finite, stairs,
};
enum { MAKERS = sizeof makers / sizeof makers[0] };

static spry_matrix *make_matrix(int which)
{
    triples *t = calloc(1, sizeof *t);
    spry_matrix *A;

    makers[which](t);
    check_ok(spry_matrix_triples(&A, t->rows, t->cols, t->nnz, t->row, t->col,
                                 t->val, SPRY_F64));
    free(t);
    return A;
}

/* ---- every schedule that needs no compiler ----
 *
 * They are listed once per operation and type, and dealt out to the matrices
 * in turn; the first lap meets every kernel. */

enum { LISTED = 40000 };

typedef struct {
    spry_schedule x[LISTED];
    sp_kernel *kernel[LISTED];
    int count, next;
    int kernels; /* different ones; their first schedules lead the list */
} list;

/* Values of a parameter that reach every branch of the code. */
static int values_of(int32_t out[16], const sp_param *q)
{
    static const struct {
        const char *name;
        int32_t value;
    } other[] = {{"threads", 3}, {"prefetch", 12}, {"panel", 16},
                 {"pass", 16},   {"sigma", 64},    {"chunk", 3}};
    int n = 0;

    out[n++] = q->otherwise;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (strcmp(q->name, other[i].name) == 0) {
            out[n++] = other[i].value;
            return n;
        }
    for (int i = 0; q->value[i] >= 0; i++)
        if (q->value[i] != q->otherwise)
            out[n++] = q->value[i];
    if (strcmp(q->name, "index") == 0)
        out[n++] = 64;
    return n;
}

static void add(list *l, const spry_schedule *x, const spry_problem *p,
                const spry_machine *m)
{
    sp_spec k = sp_codegen_spec(x, p, m->isa, x->index ? x->index : 32);
    sp_kernel *kernel = sp_builtin_find(&k);

    if (kernel && l->count < LISTED &&
        spry_schedule_legal(x, p, m) == SPRY_OK) {
        l->kernel[l->count] = kernel;
        l->x[l->count++] = *x;
    }
}

/* Choose a value for parameter `at` and all after it. */
static void enumerate(list *l, spry_schedule x, int at, const spry_problem *p,
                      const spry_machine *m)
{
    int32_t value[16];
    int n;

    if (at == sp_param_count) {
        add(l, &x, p, m);
        return;
    }
    if (!sp_param_used(&sp_params[at], x.format, p->op)) {
        enumerate(l, x, at + 1, p, m);
        return;
    }
    n = values_of(value, &sp_params[at]);
    for (int i = 0; i < n; i++) {
        sp_param_set(&x, &sp_params[at], value[i]);
        enumerate(l, x, at + 1, p, m);
    }
}

static void swap(list *l, int i, int j)
{
    spry_schedule x = l->x[i];
    sp_kernel *kernel = l->kernel[i];

    l->x[i] = l->x[j];
    l->kernel[i] = l->kernel[j];
    l->x[j] = x;
    l->kernel[j] = kernel;
}

/* In random order, but one schedule of every kernel first. */
static void shuffle(list *l, sp_rng *r)
{
    for (int i = l->count - 1; i > 0; i--)
        swap(l, i, (int)sp_rng_below(r, (uint64_t)i + 1));
    for (int i = l->kernels = 0; i < l->count; i++) {
        int k = 0;

        while (k < l->kernels && l->kernel[k] != l->kernel[i])
            k++;
        if (k == l->kernels)
            swap(l, l->kernels++, i);
    }
}

static spry_status make_problem(spry_problem **p, const spry_matrix *A,
                                spry_op op, int64_t n, spry_type type)
{
    return op == SPRY_SPMV   ? spry_problem_spmv(p, A, type)
           : op == SPRY_SPMM ? spry_problem_spmm(p, A, n, type)
                             : spry_problem_sddmm(p, A, n, type);
}

/* All schedules of an operation; the matrix is large enough for each. */
static void make_list(list *l, spry_op op, int64_t n, spry_type type,
                      const spry_machine *m, sp_rng *r)
{
    spry_matrix *A = make_matrix(6);
    spry_problem *p;

    check_ok(make_problem(&p, A, op, n, type));
    l->count = l->next = 0;
    for (int f = 0; f < sp_format_count; f++)
        if (sp_formats[f].uses[op])
            enumerate(l, sp_schedule_default(f), 0, p, m);
    assert_in_range(l->count, 1, LISTED - 1);
    shuffle(l, r);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* The next `most` plans of the list must agree with the oracle, if they fit
 * the problem. */
static int check_problem(list *l, const spry_problem *p, const spry_machine *m,
                         int most)
{
    sp_oracle *o;
    int done = 0;

    check_ok(sp_oracle_make(&o, p, 5));
    for (int i = 0; i < most; i++) {
        spry_plan *plan;
        spry_status s =
            spry_plan_make(&plan, p, &l->x[l->next++ % l->count], m);

        if (s == SPRY_USAGE) /* does not fit: 16 bits, too much padding */
            continue;
        check_ok(s);
        check_ok(sp_oracle_check(o, plan));
        spry_plan_free(plan);
        done++;
    }
    sp_oracle_free(o);
    return done;
}

/* Every odd matrix with every dense width. */
static int check_list(list *l, spry_op op, spry_type type, const int64_t *n,
                      int widths, const spry_machine *m)
{
    int done = 0;

    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_matrix(a);

        for (int i = 0; i < widths; i++) {
            spry_problem *p;

            check_ok(make_problem(&p, A, op, n[i], type));
            done += check_problem(l, p, m, op == SPRY_SPMV ? 40 : 16);
            spry_problem_free(p);
        }
        spry_matrix_free(A);
    }
    assert_true(l->next > l->kernels);
    return done;
}

/* Kernels for any dense width, then those that have theirs compiled in. */
static void check_isa(spry_isa isa)
{
    static const int64_t any[] = {0, 1, 3, 8, 37, 71}, fixed[] = {32, 64, 128};
    static list l;
    sp_rng r = sp_rng_seed((uint64_t)isa);
    spry_machine m;
    int done = 0;

    check_ok(spry_machine_detect(&m));
    if (isa > m.isa)
        skip();
    m.isa = isa;
    m.threads = 3;
    for (int op = SPRY_SPMV; op <= SPRY_SDDMM; op++)
        for (int t = 4; t <= 8; t += 4) {
            make_list(&l, (spry_op)op, 71, (spry_type)t, &m, &r);
            done += check_list(&l, (spry_op)op, (spry_type)t, any,
                               op == SPRY_SPMV ? 1 : 6, &m);
            for (int i = 0; op != SPRY_SPMV && i < 3; i++) {
                make_list(&l, (spry_op)op, fixed[i], (spry_type)t, &m, &r);
                done +=
                    check_list(&l, (spry_op)op, (spry_type)t, &fixed[i], 1, &m);
            }
        }
    assert_true(done > 2000);
}

static void baseline_kernels_agree(void **state)
{
    (void)state;
    check_isa(SPRY_SSE2);
}

static void avx2_kernels_agree(void **state)
{
    (void)state;
    check_isa(SPRY_AVX2);
}

static void avx512_kernels_agree(void **state)
{
    (void)state;
    check_isa(SPRY_AVX512);
}

/* ---- what the oracle must notice ---- */

static void oracle_notices_a_wrong_value(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A = make_matrix(6);
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 8, SPRY_F32));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(spry_plan_check(plan, 1));
    ((float *)plan->packed->part[0].val)[5] += 0.01f;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    ((float *)plan->packed->part[0].val)[5] -= 0.01f;
    ((int32_t *)plan->packed->part[0].col)[5] ^= 1;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Padding must not turn an infinite operand into NaN elsewhere. */
static void padding_keeps_infinity_in_its_place(void **state)
{
    static const char *const texts[] = {"bcsr r=4 c=4", "sell slice=2",
                                        "dia slice=1", "bcsr r=2 c=8"};
    spry_matrix *A = make_matrix(9);
    spry_problem *p;
    double x[150], y[150], want[150];

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 150; i++)
        x[i] = i;
    x[40] = HUGE_VAL;
    x[90] = (double)NAN;
    check_ok(spry_problem_reference(p, 2, x, NULL, 0, want));
    for (int t = 0; t < 4; t++)
        for (int beta = 0; beta <= 1; beta++) {
            spry_schedule s;
            spry_plan *plan;

            check_ok(spry_schedule_parse(&s, texts[t]));
            check_ok(spry_plan_make(&plan, p, &s, NULL));
            memset(y, 0, sizeof y);
            check_ok(spry_run_scaled(plan, 2, x, NULL, beta, y));
            for (int i = 0; i < 150; i++)
                assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
            spry_plan_free(plan);
        }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void columns_may_come_first(void **state)
{
    static const char *const texts[] = {"csr", "csr tile=4",
                                        "bcsr r=2 c=2 tile=2"};
    spry_matrix *A = make_matrix(7);
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 13, SPRY_F32));
    spry_problem_set_layout(p, SPRY_COL_MAJOR);
    for (int t = 0; t < 3; t++) {
        spry_schedule s;
        spry_plan *plan;

        check_ok(spry_schedule_parse(&s, texts[t]));
        check_ok(spry_plan_make(&plan, p, &s, NULL));
        check_ok(spry_plan_check(plan, 3));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* A pass may begin anywhere in a row; stores past the cache may not. */
static void passes_of_any_width_may_stream(void **state)
{
    spry_matrix *A = make_matrix(7);
    spry_problem *p;
    spry_schedule s;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 64, SPRY_F32));
    check_ok(spry_schedule_parse(&s, "csr tile=1 pass=19 stream=1"));
    check_ok(spry_plan_make(&plan, p, &s, NULL));
    check_ok(spry_plan_check(plan, 3));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* It may be exported, but running it would end the process. */
static void a_plan_for_another_cpu_is_not_run(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A = make_matrix(6);
    spry_problem *p;
    spry_machine m;
    spry_plan *plan;

    (void)state;
    check_ok(spry_machine_detect(&m));
    m.isa = m.isa == SPRY_NEON ? SPRY_AVX2 : SPRY_NEON;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    if (spry_plan_make(&plan, p, &x, &m) == SPRY_OK)
        assert_int_equal(spry_plan_check(plan, 1), SPRY_USAGE);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* A width compiled in, and a shape nobody built in. */
static void kernels_are_made_at_run_time(void **state)
{
    static const char *const texts[] = {
        "csr tile=4 fixed=1", "csr tile=3 unroll=3 prefetch=4",
        "bcsr r=2 c=16 tile=3 fixed=1", "csr tile=12 fixed=1 order=cluster"};
    spry_matrix *A = make_matrix(6);
    spry_problem *p;

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip();
    check_ok(spry_problem_spmm(&p, A, 77, SPRY_F32));
    for (int t = 0; t < 4; t++) {
        spry_schedule s;
        spry_plan *plan;

        check_ok(spry_schedule_parse(&s, texts[t]));
        check_ok(spry_plan_make(&plan, p, &s, NULL));
        assert_false(spry_plan_builtin(plan));
        check_ok(spry_plan_check(plan, 3));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Refuse the n-th allocation until a plan is made without a refusal. */
static void allocation_may_fail_anywhere(void **state)
{
    static const char *const texts[] = {
        "csr",          "csr unroll=4 order=rcm",   "csr unroll=4 panel=64",
        "bcsr r=4 c=2", "sell slice=2 sigma=64",    "dcsr unroll=2",
        "dia",          "csr unroll=4 order=length"};
    spry_matrix *A = make_matrix(9);
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    for (int t = 0; t < 8; t++) {
        spry_schedule s;
        spry_plan *plan = NULL;
        int64_t before = sp_alloc_live(), n = 0;
        spry_status made;

        check_ok(spry_schedule_parse(&s, texts[t]));
        do {
            sp_alloc_refuse(++n, 0);
            made = spry_plan_make(&plan, p, &s, NULL);
            sp_alloc_refuse(0, 0);
            if (made != SPRY_OK) {
                assert_null(plan);
                assert_int_equal(made, SPRY_SYSTEM);
                assert_int_equal(sp_alloc_live(), before);
            }
        } while (made != SPRY_OK);
        assert_true(n > 3);
        spry_plan_free(plan);
        assert_int_equal(sp_alloc_live(), before);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline_kernels_agree),
        cmocka_unit_test(avx2_kernels_agree),
        cmocka_unit_test(avx512_kernels_agree),
        cmocka_unit_test(oracle_notices_a_wrong_value),
        cmocka_unit_test(padding_keeps_infinity_in_its_place),
        cmocka_unit_test(columns_may_come_first),
        cmocka_unit_test(passes_of_any_width_may_stream),
        cmocka_unit_test(a_plan_for_another_cpu_is_not_run),
        cmocka_unit_test(kernels_are_made_at_run_time),
        cmocka_unit_test(allocation_may_fail_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
