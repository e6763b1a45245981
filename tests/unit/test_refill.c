/* test_refill.c - a refilled plan is a plan made anew, bit for bit. */
#include "odd_matrices.h"

#include <string.h>

#include "matrix/matrix.h"
#include "plan/sparse.h"

enum { PATTERNS = 100 };

/* Every format, and every parameter that moves entries. */
static const char *const spmv[] = {
    "csr",
    "csr unroll=4 order=length",
    "csr unroll=2 order=rcm threads=3",
    "csr unroll=4 order=cluster index=16",
    "csr unroll=4 panel=16",
    "csr unroll=4 palette=256",
    "csr unroll=4 palette=256 order=length",
    "csr unroll=4 palette=1",
    "dcsr unroll=4",
    "dcsr unroll=2 palette=256",
    "bcsr r=2 c=2",
    "bcsr r=4 c=4 rest=25",
    "bcsr r=3 c=3",
    "sell",
    "sell slice=2 sigma=64",
    "sell sigma=64 panel=16",
    "sell index=8",
    "sell palette=256 sigma=64",
    "sell slice=2 palette=256",
    "sell slice=4 palette=256 sigma=64 index=16",
    "sell index=8 palette=256",
    "sell palette=1",
    "dia",
    "super loops=ik dense=i",
    "super k=8 loops=k1ik0 dense=k0 parallel=k1 threads=2",
};
static const char *const spmm[] = {
    "csr",
    "csr tile=2 order=length",
    "csr tile=2 sigma=64 order=cluster",
    "csr tile=1 panel=16",
    "dcsr tile=2",
    "bcsr r=2 c=2 tile=2",
    "bcsr r=4 c=2 rest=50 tile=2 threads=3",
    "sell slice=4 sigma=64 tile=2",
    "super i=4 k=8 j=4 loops=i1k1j1i0k0j0 dense=i1i0k0",
};
static const char *const sddmm[] = {
    "csr",
    "csr tile=2 panel=16",
    "dcsr tile=1",
    "super j=8 loops=j1ij0k dense=j0",
};
static const char *const mttkrp[] = {
    "csr",
    "csr tile=2 panel=16",
    "csf tile=1",
    "csf tile=2 modes=ilk",
    "csf tile=1 modes=kli",
};

static const struct {
    spry_op op;
    const char *const *text;
    int count;
} lists[] = {
    {SPRY_SPMV, spmv, sizeof spmv / sizeof *spmv},
    {SPRY_SPMM, spmm, sizeof spmm / sizeof *spmm},
    {SPRY_SDDMM, sddmm, sizeof sddmm / sizeof *sddmm},
    {SPRY_MTTKRP, mttkrp, sizeof mttkrp / sizeof *mttkrp},
};

/* ---- patterns ---- */

/* The odd ones first, then generated ones of every kind and many sizes. */
static spry_matrix *pattern(int i)
{
    char spec[96];
    int size = 17 + 13 * (i % 29), other = 11 + 7 * (i % 41);
    spry_matrix *A;

    if (i < MAKERS)
        return make_matrix(i);
    if (i % 4 == 0)
        snprintf(spec, sizeof spec, "uniform rows=%d cols=%d nnz=%d", size,
                 other, 3 * size);
    else if (i % 4 == 1)
        snprintf(spec, sizeof spec, "banded rows=%d", size);
    else if (i % 4 == 2)
        snprintf(spec, sizeof spec, "uniform rows=%d cols=%d nnz=%d", other,
                 size, size * other / 3);
    else
        snprintf(spec, sizeof spec, "rmat scale=%d degree=5", 4 + i % 4);
    check_ok(spry_matrix_generate(&A, spec, (uint64_t)i));
    return A;
}

static spry_tensor *tensor(int i)
{
    char spec[96];
    spry_tensor *T;

    snprintf(spec, sizeof spec, "uniform i=%d k=%d l=%d nnz=%d", 5 + i % 31,
             3 + i % 23, 20 + i % 17, 30 + i / 2);
    check_ok(spry_tensor_generate(&T, spec, (uint64_t)i));
    return T;
}

/* ---- values ---- */

typedef enum { ANY, FEW, ONE } variety;

static variety of_text(const char *text)
{
    return strstr(text, "palette=1") ? ONE
           : strstr(text, "palette") ? FEW
                                     : ANY;
}

static void *values(const spry_matrix *A, variety how, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);
    void *out = sp_alloc(A->nnz + 1, A->type);

    for (int64_t k = 0; k < A->nnz; k++) {
        double v = sp_rng_normal(&r);

        if (how == FEW)
            v = (double)((int64_t)(v * 3)) + (double)seed;
        if (how == ONE)
            v = (double)seed + 1.5;
        if (A->type == SPRY_F32)
            ((float *)out)[k] = (float)v;
        else
            ((double *)out)[k] = v;
    }
    return out;
}

/* ---- comparing ---- */

static void same_bytes(const void *a, const void *b, int64_t bytes)
{
    assert_true((a == NULL) == (b == NULL));
    if (a && bytes)
        assert_memory_equal(a, b, (size_t)bytes);
}

static void same_storage(const sp_packed *a, const sp_packed *b, spry_type type)
{
    assert_int_equal(a->parts, b->parts);
    for (int i = 0; i < a->parts; i++) {
        const sp_part *q = &a->part[i], *w = &b->part[i];

        assert_int_equal(q->values, w->values);
        assert_int_equal(q->entries, w->entries);
        same_bytes(q->val, w->val, (q->values + a->spare) * (int64_t)type);
        same_bytes(q->code, w->code, q->entries + a->spare);
        same_bytes(q->col, w->col,
                   (q->entries + a->spare) * (int64_t)a->index / 8);
    }
}

static spry_status make_problem(spry_problem **p, const spry_matrix *A,
                                const spry_tensor *T, spry_op op,
                                spry_type type)
{
    return op == SPRY_SPMV    ? spry_problem_spmv(p, A, type)
           : op == SPRY_SPMM  ? spry_problem_spmm(p, A, 19, type)
           : op == SPRY_SDDMM ? spry_problem_sddmm(p, A, 19, type)
                              : spry_problem_mttkrp(p, T, 19, type);
}

/* A plan without its kernel, for which super would need a compiler. */
static sp_sparse_plan *prepare(const spry_problem *p, const char *text)
{
    sp_sparse_plan *plan;
    static spry_machine m; /* asking for it takes longer than all the rest */
    spry_schedule x;
    spry_status s;

    if (!m.threads)
        check_ok(spry_machine_detect(&m));
    m.threads = 3;
    check_ok(spry_schedule_parse(&x, text));
    s = sp_plan_prepare(&plan, sp_sparse_of(p), &x, &m);
    if (s != SPRY_USAGE) /* does not fit the matrix */
        check_ok(s);
    return plan;
}

/* Refill twice, so that the first call's notes serve the second. */
static int check_one(const spry_problem *p, const spry_problem *fresh,
                     const char *text, const void *between, const void *last)
{
    sp_sparse_plan *plan = prepare(p, text);
    sp_sparse_plan *anew = plan ? prepare(fresh, text) : NULL;
    int done = plan && anew;

    if (done) {
        int64_t before;

        check_ok(spry_plan_refill(&plan->head, between));
        before = sp_alloc_live();
        sp_alloc_refuse(1, 1);
        check_ok(spry_plan_refill(&plan->head, last));
        sp_alloc_refuse(0, 0);
        assert_int_equal(sp_alloc_live(), before);
        same_storage(plan->packed, anew->packed, plan->p->type);
    }
    sp_sparse_plan_free(plan);
    sp_sparse_plan_free(anew);
    return done;
}

static int check_pattern(int i, spry_op op, const char *text)
{
    spry_matrix *A = pattern(i), B, C;
    spry_tensor *T = tensor(i), S, U;
    const spry_matrix *own = op == SPRY_MTTKRP ? T->unfolded : A;
    variety how = of_text(text);
    void *first = values(own, how, 2), *between = values(own, how, 3);
    void *last = values(own, how, 5);
    spry_problem *p, *fresh;
    int done;

    B = C = *own;
    B.val = first;
    C.val = last;
    S = U = *T;
    S.unfolded = &B;
    U.unfolded = &C;
    check_ok(make_problem(&p, &B, &S, op, i % 2 ? SPRY_F32 : SPRY_F64));
    check_ok(make_problem(&fresh, &C, &U, op, i % 2 ? SPRY_F32 : SPRY_F64));
    done = check_one(p, fresh, text, between, last);
    spry_problem_free(p);
    spry_problem_free(fresh);
    sp_free(first);
    sp_free(between);
    sp_free(last);
    spry_matrix_free(A);
    spry_tensor_free(T);
    return done;
}

static void all_formats_are_as_made_anew(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (int t = 0; t < lists[l].count; t++) {
            int done = 0;

            for (int i = 0; i < PATTERNS; i++)
                done += check_pattern(i, lists[l].op, lists[l].text[t]);
            if (done < PATTERNS / 4)
                fail_msg("%s fits only %d patterns", lists[l].text[t], done);
        }
}

/* ---- running ---- */

/* The result and the check follow the new values, padding or not. */
static void runs_follow_the_values(void **state)
{
    static const char *const texts[] = {"csr",
                                        "bcsr r=2 c=2",
                                        "dia",
                                        "sell sigma=64 threads=3",
                                        "csr unroll=4 palette=256",
                                        "sell palette=256 sigma=64"};
    spry_matrix *A = pattern(9), old = *A;
    double *v = values(A, FEW, 8), x[150], y[150], z[150];
    spry_problem *p;

    (void)state;
    old.val = values(A, FEW, 1);
    check_ok(spry_problem_spmv(&p, &old, SPRY_F64));
    for (int64_t k = 0; k < A->cols; k++)
        x[k] = k == 40 ? HUGE_VAL : (double)(k % 7) - 3;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        spry_matrix B = *A;
        spry_problem *q;
        spry_plan *plan, *anew;
        spry_machine m;

        check_ok(spry_machine_detect(&m));
        B.val = v;
        check_ok(spry_problem_spmv(&q, &B, SPRY_F64));
        check_ok(make_plan(&plan, p, texts[t], m.isa));
        check_ok(make_plan(&anew, q, texts[t], m.isa));
        check_ok(spry_plan_refill(plan, v));
        check_ok(spry_run(plan, x, y));
        check_ok(spry_run(anew, x, z));
        assert_memory_equal(y, z, (size_t)A->rows * sizeof *y);
        check_ok(spry_plan_check(plan, 3));
        spry_plan_free(plan);
        spry_plan_free(anew);
        spry_problem_free(q);
    }
    spry_problem_free(p);
    sp_free(v);
    sp_free((void *)(uintptr_t)old.val);
    spry_matrix_free(A);
}

/* ---- what cannot be ---- */

static void palettes_say_why_not(void **state)
{
    static const char *const texts[] = {"csr unroll=4 palette=1",
                                        "sell palette=8"};
    spry_matrix *A = pattern(9), B = *A;
    double *one = values(A, ONE, 1), *any = values(A, ANY, 1);
    double x[150], y[150], z[150];
    spry_machine m;
    spry_problem *p;

    (void)state;
    B.val = one;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, &B, SPRY_F64));
    for (int64_t k = 0; k < A->cols; k++)
        x[k] = (double)(k % 7) - 3;
    for (size_t t = 0; t < 2; t++) {
        spry_plan *plan;

        check_ok(make_plan(&plan, p, texts[t], m.isa));
        check_ok(spry_run(plan, x, y));
        assert_int_equal(spry_plan_refill(plan, any), SPRY_USAGE);
        assert_non_null(strstr(spry_message(), "another plan"));
        check_ok(spry_run(plan, x, z));
        assert_memory_equal(y, z, (size_t)A->rows * sizeof *y);
        spry_plan_free(plan);
    }
    assert_int_equal(spry_plan_refill(NULL, any), SPRY_USAGE);
    spry_problem_free(p);
    sp_free(one);
    sp_free(any);
    spry_matrix_free(A);
}

/* Whatever allocation fails, the plan stays what it was. */
static void short_memory_changes_nothing(void **state)
{
    spry_matrix *A = pattern(6);
    double *v = values(A, ANY, 4);
    spry_status s = SPRY_SYSTEM;
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int n = 1; s != SPRY_OK; n++) {
        sp_sparse_plan *plan = prepare(p, "sell sigma=64");
        sp_sparse_plan *same = prepare(p, "sell sigma=64");

        sp_alloc_refuse(n, 1);
        s = spry_plan_refill(&plan->head, v);
        sp_alloc_refuse(0, 0);
        if (s != SPRY_OK) {
            assert_int_equal(s, SPRY_SYSTEM);
            same_storage(plan->packed, same->packed, SPRY_F64);
        }
        sp_sparse_plan_free(plan);
        sp_sparse_plan_free(same);
    }
    spry_problem_free(p);
    sp_free(v);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_are_as_made_anew),
        cmocka_unit_test(runs_follow_the_values),
        cmocka_unit_test(palettes_say_why_not),
        cmocka_unit_test(short_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
