/* sparse.c - a matrix and an operation become a problem with a key. */
#include "problem/sparse.h"
#include "base/unconst.h"

#include <stdio.h>

#include "base/base.h"
#include "matrix/matrix.h"

static void make_key(sp_sparse *p)
{
    char pattern[33], inner[24] = "";

    if (sp_has_tensor(p->op))
        snprintf(inner, sizeof inner, "-%lld", (long long)p->inner);
    spry_matrix_key(pattern, p->A);
    snprintf(p->head.key, sizeof p->head.key, "%s-%lld-%s%s%s-%s",
             spry_op_name(p->op), (long long)p->n, spry_type_name(p->type),
             p->layout == SPRY_COL_MAJOR ? "-cm" : "", inner, pattern);
}

/* Dense operands must be addressable: rows or cols times n, in bytes. */
static spry_status check_operands(const sp_sparse *p)
{
    int64_t larger = p->A->rows, cells;

    larger = p->mid > larger ? p->mid : larger;
    larger = p->inner > larger ? p->inner : larger;
    if (p->n < 0)
        return sp_fail(SPRY_USAGE, "%lld dense columns make no sense",
                       (long long)p->n);
    if (__builtin_mul_overflow(larger + 1, p->n, &cells) ||
        cells > INT64_MAX / 16)
        return sp_fail(SPRY_USAGE,
                       "a dense operand of %lld x %lld numbers is beyond any "
                       "memory",
                       (long long)larger, (long long)p->n);
    return SPRY_OK;
}

spry_status sp_sparse_make(spry_problem **out, const sp_sparse *as)
{
    sp_sparse *p;

    if (as->type != SPRY_F32 && as->type != SPRY_F64)
        return sp_fail(SPRY_USAGE, "type %d is neither f32 nor f64",
                       (int)as->type);
    SP_REFUSE(!as->A, "the tensor has no entries: it was not made by spry");
    if (check_operands(as) != SPRY_OK)
        return SPRY_USAGE;
    p = sp_alloc(1, sizeof *p);
    if (!p)
        return sp_fail_memory(sizeof *p);
    *p = *as;
    p->head.kind = &sp_sparse_kind;
    pthread_mutex_init(&p->lock, NULL);
    make_key(p);
    *out = &p->head;
    return SPRY_OK;
}

static spry_status of_matrix(spry_problem **out, spry_op op,
                             const spry_matrix *A, int64_t n, spry_type type)
{
    sp_sparse as = {.op = op, .A = A, .n = n, .type = type, .inner = 1};

    as.mid = A->cols;
    return sp_sparse_make(out, &as);
}

spry_status spry_problem_make(spry_problem **out, spry_op op,
                              const spry_matrix *A, int64_t n, spry_type type)
{
    SP_NEED_NEW(out, A);

    const sp_operation *o = sp_operation_of(op);

    SP_REFUSE(!o, "there is no operation %d", (int)op);
    SP_REFUSE(n < 0, "%lld dense columns make no sense", (long long)n);
    SP_REFUSE(o->modes != 2, "%s takes a tensor, not a matrix", o->name);
    return of_matrix(out, op, A, o->dense >= 0 ? n : 1, type);
}

spry_status spry_problem_spmv(spry_problem **out, const spry_matrix *A,
                              spry_type type)
{
    SP_NEED_NEW(out, A);
    return of_matrix(out, SPRY_SPMV, A, 1, type);
}

spry_status spry_problem_spmm(spry_problem **out, const spry_matrix *A,
                              int64_t n, spry_type type)
{
    SP_NEED_NEW(out, A);
    return of_matrix(out, SPRY_SPMM, A, n, type);
}

spry_status spry_problem_sddmm(spry_problem **out, const spry_matrix *A,
                               int64_t n, spry_type type)
{
    SP_NEED_NEW(out, A);
    return of_matrix(out, SPRY_SDDMM, A, n, type);
}

spry_status spry_problem_mttkrp(spry_problem **out, const spry_tensor *T,
                                int64_t n, spry_type type)
{
    SP_NEED_NEW(out, T);

    sp_sparse as = {.op = SPRY_MTTKRP, .n = n, .type = type};

    as.A = T->unfolded;
    as.mid = T->dim[1];
    as.inner = T->dim[2];
    return sp_sparse_make(out, &as);
}

const sp_sparse *sp_sparse_of(const spry_problem *p)
{
    return p->kind == &sp_sparse_kind ? (const sp_sparse *)p : NULL;
}

spry_status sp_sparse_need(const sp_sparse **out, const spry_problem *p)
{
    *out = sp_sparse_of(p);
    return *out ? SPRY_OK
                : sp_fail(SPRY_USAGE,
                          "schedules of sparse matrices do not compute a %s",
                          p->kind->name);
}

void spry_problem_set_layout(spry_problem *problem, spry_layout layout)
{
    SP_NEED_OR(, problem);

    sp_sparse *p = (sp_sparse *)problem;

    if (!sp_sparse_of(problem))
        return;
    p->layout = sp_is_product(sp_operation_of(p->op)) ? layout : SPRY_ROW_MAJOR;
    make_key(p);
}

static void free_sparse(spry_problem *problem)
{
    sp_sparse *p = (sp_sparse *)problem;

    pthread_mutex_destroy(&p->lock);
    sp_free(p->stats);
    sp_free(p->sketch);
    sp_free(p->fibers);
    sp_free(p->blocks);
    sp_free(p->tiles);
    spry_matrix_free(p->own);
    sp_free(p->order);
    sp_free(p);
}

/* ---- asked of any problem ---- */

spry_op spry_problem_op(const spry_problem *p)
{
    SP_NEED_OR((spry_op)0, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->op : (spry_op)SPRY_OPS;
}

spry_type spry_problem_type(const spry_problem *p)
{
    SP_NEED_OR(SPRY_F32, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->type : SPRY_F32;
}

int64_t spry_problem_cols(const spry_problem *p)
{
    SP_NEED_OR(0, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->n : 1;
}

const spry_matrix *spry_problem_matrix(const spry_problem *p)
{
    SP_NEED_OR(NULL, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->A : NULL;
}

int64_t spry_problem_mid(const spry_problem *p)
{
    SP_NEED_OR(0, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->mid : 0;
}

int64_t spry_problem_inner(const spry_problem *p)
{
    SP_NEED_OR(0, p);

    const sp_sparse *a = sp_sparse_of(p);

    return a ? a->inner : 0;
}

int spry_problem_shape(int64_t shape[2], const spry_problem *p, int which)
{
    SP_NEED_OR(0, shape, p);

    const sp_sparse *a = sp_sparse_of(p);
    const sp_operation *d = a ? sp_operation_of(a->op) : NULL;

    shape[0] = which == 2 ? spry_problem_output_size(p)
                          : spry_problem_input_size(p, which);
    shape[1] = 1;
    if (!a)
        return shape[0] > 0;
    if (which < 0 || which > 2 || (which < 2 && which >= d->operands))
        return 0;
    if (d->dense < 0 || (which == 2 && d->sampled))
        return 1;
    shape[0] = sp_sparse_extent(a, which == 2 ? d->sparse[0] : d->row[which]);
    shape[1] = a->n;
    return 2;
}

/* Statistics cost a pass over the entries, so they wait until asked for;
 * the lock lets any thread be the one that asks first. */
static const spry_stats *counted(sp_sparse *p, spry_stats **slot,
                                 spry_status (*count)(spry_stats *,
                                                      const spry_matrix *))
{
    spry_stats *s, *known;

    pthread_mutex_lock(&p->lock);
    if (!*slot && (s = sp_alloc(1, sizeof *s))) {
        if (count(s, p->A) == SPRY_OK)
            *slot = s;
        else
            sp_free(s);
    }
    known = *slot;
    pthread_mutex_unlock(&p->lock);
    return known;
}

static const spry_stats *stats_of(const sp_sparse *p)
{
    sp_sparse *own = sp_unconst(p);

    return counted(own, &own->stats, sp_matrix_stats);
}

const spry_stats *spry_problem_stats(const spry_problem *p)
{
    SP_NEED_OR(NULL, p);
    return sp_sparse_of(p) ? stats_of(sp_sparse_of(p)) : NULL;
}

const spry_stats *sp_problem_sketch(const sp_sparse *p)
{
    sp_sparse *own = sp_unconst(p);

    if (own->A->nnz <= SP_SKETCH_FROM) /* the same, and perhaps known */
        return stats_of(own);
    return counted(own, &own->sketch, sp_matrix_sketch);
}

const sp_fibers *sp_problem_fibers(const sp_sparse *p)
{
    sp_sparse *own = sp_unconst(p);
    sp_fibers *s, *known;

    pthread_mutex_lock(&own->lock);
    if (!own->fibers && (s = sp_alloc(1, sizeof *s))) {
        if (sp_fibers_count(s, own) == SPRY_OK)
            own->fibers = s;
        else
            sp_free(s);
    }
    known = own->fibers;
    pthread_mutex_unlock(&own->lock);
    return known;
}

/* ---- the kind ---- */

static double flops(const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;

    return sp_operation_of(p->op)->flops * (double)p->A->nnz * (double)p->n;
}

int64_t sp_sparse_extent(const sp_sparse *p, int index)
{
    const sp_operation *d = sp_operation_of(p->op);
    const int64_t extent[SP_SPARSE] = {p->A->rows, p->mid, p->inner};

    for (int i = 0; i < SP_SPARSE; i++)
        if (i < d->modes && d->sparse[i] == index)
            return extent[i];
    return p->n;
}

int64_t sp_sparse_input_size(const sp_sparse *p, int which)
{
    const sp_operation *d = sp_operation_of(p->op);

    return which >= 0 && which < d->operands
               ? sp_sparse_extent(p, d->row[which]) * p->n
               : 0;
}

int64_t sp_sparse_output_size(const sp_sparse *p)
{
    return sp_is_sampled(p->op) ? p->A->nnz : p->A->rows * p->n;
}

static int64_t input_size(const spry_problem *p, int which)
{
    return sp_sparse_input_size((const sp_sparse *)p, which);
}

static int64_t output_size(const spry_problem *p)
{
    return sp_sparse_output_size((const sp_sparse *)p);
}

/* Compressed rows with 32-bit indices (two per entry of a tensor), inputs read
 * and outputs written once. */
static double bytes(const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;
    double size = (double)p->type,
           index = 4.0 * (sp_operation_of(p->op)->modes - 1);
    double dense =
        (double)(sp_sparse_input_size(p, 0) + sp_sparse_input_size(p, 1) +
                 sp_sparse_output_size(p));

    return (double)p->A->nnz * (size + index) + 4 * (double)p->A->rows +
           dense * size;
}

static double given_bytes(const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;

    return (double)p->A->nnz * (4 + (double)p->type);
}

static int nothing(const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;

    return sp_sparse_output_size(p) == 0 || p->A->nnz == 0;
}

static void about(char *out, size_t size, const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;
    char inner[24] = "";

    if (sp_has_tensor(p->op))
        snprintf(inner, sizeof inner, "x%lld", (long long)p->inner);
    snprintf(out, size, "%s %lld %s %lldx%lld%s nnz %lld", spry_op_name(p->op),
             (long long)p->n, spry_type_name(p->type), (long long)p->A->rows,
             (long long)p->mid, inner, (long long)p->A->nnz);
}

static void origin(spry_origin *out, const spry_problem *problem)
{
    const sp_sparse *p = (const sp_sparse *)problem;

    out->op = spry_op_name(p->op);
    out->type = spry_type_name(p->type);
    out->n = p->n;
    out->rows = p->A->rows;
    out->cols = p->A->cols;
    out->nnz = p->A->nnz;
}

static void fields(sp_json *j, const spry_problem *problem, const char *source)
{
    const sp_sparse *p = (const sp_sparse *)problem;

    sp_json_text(j, "matrix", source);
    sp_json_text(j, "op", spry_op_name(p->op));
    sp_json_integer(j, "rows", p->A->rows);
    sp_json_integer(j, "cols", p->A->cols);
    sp_json_integer(j, "nnz", p->A->nnz);
    sp_json_integer(j, "dense_cols", p->n);
}

static spry_status reference(const spry_problem *p, const sp_operands *f)
{
    sp_reference((const sp_sparse *)p, f);
    return SPRY_OK;
}

const sp_problem_kind sp_sparse_kind = {
    "sparse", about, origin,     fields,      nothing,   given_bytes,
    flops,    bytes, input_size, output_size, reference, free_sparse};
