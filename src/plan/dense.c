/* dense.c - dense operands with strides and a layout each.
 *
 * Kernels take row-major operands; most take rows with gaps between them. All
 * else goes through copies without gaps. */
#include "base/base.h"
#include "plan/internal.h"

enum { BLOCK = 32 };

/* An operand as a matrix: element (i, j) is i * down + j * right further. */
typedef struct {
    void *data;
    int64_t rows, cols, down, right;
} strided;

static strided rows_of(void *data, int64_t rows, int64_t cols)
{
    return (strided){data, rows, cols, cols, 1};
}

static strided as_given(const spry_dense *X, int64_t rows, int64_t cols)
{
    strided s = rows_of(X->data, rows, cols);

    if (X->layout == SPRY_COL_MAJOR) {
        s.down = 1;
        s.right = X->ld ? X->ld : rows;
    } else if (X->ld)
        s.down = X->ld;
    return s;
}

static void copy_block(const strided *to, const strided *from, int64_t i0,
                       int64_t j0, spry_type type)
{
    for (int64_t i = i0; i < to->rows && i < i0 + BLOCK; i++)
        for (int64_t j = j0; j < to->cols && j < j0 + BLOCK; j++) {
            int64_t at = i * to->down + j * to->right;
            int64_t source = i * from->down + j * from->right;

            if (type == SPRY_F32)
                ((float *)to->data)[at] = ((const float *)from->data)[source];
            else
                ((double *)to->data)[at] = ((const double *)from->data)[source];
        }
}

static void copy(const strided *to, const strided *from, spry_type type,
                 int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t i = 0; i < to->rows; i += BLOCK)
        for (int64_t j = 0; j < to->cols; j += BLOCK)
            copy_block(to, from, i, j, type);
}

static int is_dense(const strided *s)
{
    return s->right == 1 && (s->down == s->cols || s->rows <= 1);
}

/* The operand without gaps: itself, or a copy that *held owns. `filled`: its
 * elements are read. */
static spry_status without_gaps(void **out, void **held, const strided *s,
                                int filled, const sp_sparse_plan *plan)
{
    strided to;

    *held = NULL;
    *out = s->data;
    if (is_dense(s))
        return SPRY_OK;
    *held = sp_alloc_raw(s->rows * s->cols, plan->p->type);
    if (!*held)
        return sp_fail_memory((size_t)(s->rows * s->cols) * plan->p->type);
    *out = *held;
    to = rows_of(*held, s->rows, s->cols);
    if (filled)
        copy(&to, s, plan->p->type, plan->x.threads);
    return SPRY_OK;
}

typedef struct {
    strided B, D, C;
} all_operands;

/* Every operand through what the row-major run wants. */
static spry_status run_on_copies(const sp_sparse_plan *plan, double alpha,
                                 const all_operands *x, double beta)
{
    sp_operands f = {alpha, beta, NULL, NULL, NULL};
    void *B = NULL, *D = NULL, *C = NULL, *b, *d = NULL;
    spry_status s = without_gaps(&b, &B, &x->B, 1, plan);

    if (s == SPRY_OK && x->D.data)
        s = without_gaps(&d, &D, &x->D, 1, plan);
    if (s == SPRY_OK)
        s = without_gaps(&f.C, &C, &x->C, beta != 0, plan);
    if (s == SPRY_OK) {
        f.B = b;
        f.D = d;
        s = sp_run_rows(plan, f);
    }
    if (s == SPRY_OK && C) {
        strided result = rows_of(C, x->C.rows, x->C.cols);

        copy(&x->C, &result, plan->p->type, plan->x.threads);
    }
    sp_free(B);
    sp_free(D);
    sp_free(C);
    return s;
}

static spry_status check_operand(const char *name, const spry_dense *X,
                                 int64_t rows, int64_t cols)
{
    int64_t least = X->layout == SPRY_COL_MAJOR ? rows : cols;

    if (!X->data && rows && cols)
        return sp_fail(SPRY_USAGE, "operand %s is missing", name);
    if (X->layout != SPRY_ROW_MAJOR && X->layout != SPRY_COL_MAJOR)
        return sp_fail(SPRY_USAGE, "operand %s has no layout %d", name,
                       (int)X->layout);
    if (X->ld && X->ld < least)
        return sp_fail(
            SPRY_USAGE, "operand %s is %lld x %lld and cannot have ld %lld",
            name, (long long)rows, (long long)cols, (long long)X->ld);
    return SPRY_OK;
}

/* Shapes by operation; sddmm's result is one long row. */
static spry_status shape(all_operands *out, const sp_sparse_plan *plan,
                         const spry_dense *B, const spry_dense *D,
                         const spry_dense *C)
{
    const sp_sparse *p = plan->p;
    int64_t n = p->n ? p->n : 1;
    int64_t b = sp_sparse_input_size(p, 0) / n;
    int64_t d = sp_sparse_input_size(p, 1) / n;
    int sampled = sp_is_sampled(p->op);
    spry_dense row = {C->data, 0, SPRY_ROW_MAJOR};
    spry_status s = check_operand("B", B, b, p->n);

    if (s == SPRY_OK && d)
        s = check_operand("D", D, d, p->n);
    if (s == SPRY_OK && !sampled)
        s = check_operand("C", C, p->A->rows, p->n);
    if (s != SPRY_OK)
        return s;
    *out = (all_operands){.B = as_given(B, b, p->n)};
    if (d)
        out->D = as_given(D, d, p->n);
    out->C =
        sampled ? as_given(&row, 1, p->A->nnz) : as_given(C, p->A->rows, p->n);
    return SPRY_OK;
}

spry_status sp_run_dense(const sp_sparse_plan *plan, double alpha,
                         const spry_dense *B, const spry_dense *D, double beta,
                         const spry_dense *C)
{
    all_operands x;
    spry_status s = shape(&x, plan, B, D, C);
    int bad;

    if (s != SPRY_OK)
        return s;
    if (x.B.right == 1 && x.C.right == 1 &&
        !(is_dense(&x.B) && is_dense(&x.C)) &&
        sp_run_takes_strides(plan, beta)) {
        sp_operands f = {alpha, beta, x.B.data, NULL, x.C.data};

        s = sp_run_strided(plan, f, x.B.down, x.C.down, &bad);
        if (s != SPRY_OK || !bad || !plan->packed->pads)
            return s;
    }
    return run_on_copies(plan, alpha, &x, beta);
}

spry_status sp_sparse_run_dense(const sp_sparse_plan *plan, double alpha,
                                const spry_dense *B, const spry_dense *D,
                                double beta, const spry_dense *C)
{
    if (plan->foreign)
        return sp_fail(SPRY_USAGE, "a plan for %s cannot run on this machine",
                       spry_isa_name(plan->spec.isa));
    if (sp_sparse_output_size(plan->p) == 0)
        return SPRY_OK;
    return sp_run_dense(plan, alpha, B, D, beta, C);
}
