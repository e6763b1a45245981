/* run.c - hand a plan its operands.
 *
 * Kernels are serial and walk a range of units; threads are dealt out here,
 * in one place, for every format. */
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "base/unconst.h"
#include "plan/internal.h"

/* ---- one part, one range ---- */

static const void *offset(const void *dense, int64_t elements, spry_type type)
{
    return dense ? (const char *)dense + elements * (int64_t)type : NULL;
}

/* Past the cache only where every vector falls on its own boundary: C's
 * beginning, every row of it and every pass over a row. */
static int can_stream(const sp_sparse_plan *plan, const sp_operands *f,
                      int64_t ldc)
{
    int64_t bytes = spry_isa_bytes(plan->spec.isa);
    int64_t size = (int64_t)plan->p->type;

    return plan->x.stream && f->beta == 0 &&
           (uintptr_t)f->C % (uintptr_t)bytes == 0 && ldc * size % bytes == 0 &&
           plan->x.pass * size % bytes == 0;
}

static sp_product_view whole(const sp_sparse_plan *plan, const sp_operands *f)
{
    int64_t n = plan->p->n;

    return (sp_product_view){*f, n, n, n, plan->x.pass ? plan->x.pass : n, 0};
}

int sp_plan_inner(const sp_sparse_plan *plan)
{
    if (sp_has_tensor(plan->p->op))
        return sp_schedule_innermost(&plan->x);
    return sp_is_sampled(plan->p->op);
}

int sp_plan_swapped(const sp_sparse_plan *plan)
{
    return plan->x.modes == SPRY_MODES_ILK || plan->x.modes == SPRY_MODES_LKI;
}

/* As many fibers as hold the entries that are looked ahead. */
int64_t sp_plan_mid_prefetch(const sp_sparse_plan *plan, const sp_part *q)
{
    if (!q->mid_start || q->entries == 0)
        return 0;
    return 1 + plan->x.prefetch * q->fibers / q->entries;
}

/* Which dense operands a part walks, and from where on. */
static void set_operands(sp_args *a, const sp_sparse_plan *plan,
                         const sp_part *q, const sp_product_view *v)
{
    const sp_operands *f = &v->f;
    const void *dense[] = {f->B, f->D, f->C};
    int inner = sp_plan_inner(plan), swapped = sp_plan_swapped(plan);

    dense[inner] = offset(dense[inner], q->col0 * v->ldb, plan->p->type);
    a->B = dense[swapped];
    a->D = dense[!swapped];
    a->C = sp_unconst(dense[2]);
}

/* The arguments that do not depend on the range of units. */
static sp_args part_args(const sp_sparse_plan *plan, const sp_part *q,
                         const sp_product_view *v)
{
    const sp_sparse *p = plan->p;
    const sp_operands *f = &v->f;
    int sampled = sp_is_sampled(p->op), later = q != plan->packed->part;
    sp_args a = {
        .rows = p->A->rows,
        .cols = p->A->cols,
        .columns = v->n,
        .n = v->ldb,
        .wide = v->ldc,
        .start = q->start,
        .col = q->col,
        .val = q->val,
        .code = q->code,
        .row = q->row,
        .base = q->base,
        .out = q->out,
        .mid = q->mid,
        .mid_start = q->mid_start,
        .whole = q->whole,
        .length = q->length,
        .diagonal = plan->packed->diagonal,
        .diagonals = plan->packed->diagonals,
        .level = plan->packed->level,
        .results = sp_sparse_output_size(p),
        .threads = plan->x.threads,
        .chunk = plan->x.chunk,
        .alpha = f->alpha,
        .beta = later && !sampled ? 1 : f->beta,
        .prefetch = plan->x.prefetch,
        .mid_prefetch = sp_plan_mid_prefetch(plan, q),
        .pass = v->pass,
        .stream = !v->kept && can_stream(plan, f, v->ldc),
    };

    set_operands(&a, plan, q, v);
    return a;
}

/* The first unit of the rest at or behind a row. */
static int64_t unit_of_row(const sp_sparse_plan *plan, const sp_part *q,
                           int64_t row)
{
    int64_t low = 0, high = q->units;

    if (!q->row)
        return row < high ? row : high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t at = plan->packed->index == 64 ? ((int64_t *)q->row)[middle]
                                               : ((int32_t *)q->row)[middle];

        if (at < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Blocks and the rows they leave, a few at a time, so that the second find
 * the result where the first have just put it. */
static int run_slabs(const sp_sparse_plan *plan, const sp_product_view *v,
                     int t)
{
    enum { SLAB = 1 << 16 }; /* bytes of the result */
    const sp_part *blocks = plan->packed->part, *rest = blocks + 1;
    sp_args a = part_args(plan, blocks, v), b = part_args(plan, rest, v);
    int64_t r = plan->x.r, to = blocks->cut[t + 1];
    int64_t step = SLAB / (v->n * r * (int64_t)plan->p->type) + 1;
    int bad = 0;

    b.last = rest->cut[t];
    for (a.first = blocks->cut[t]; a.first < to; a.first = a.last) {
        a.last = a.first + step < to ? a.first + step : to;
        b.first = b.last;
        b.last = a.last < to ? unit_of_row(plan, rest, a.last * r)
                             : rest->cut[t + 1];
        bad |= plan->kernel(&a);
        if (b.first < b.last)
            bad |= plan->rest(&b);
    }
    return bad;
}

/* All parts for thread t's share of the units. */
static int run_share(const sp_sparse_plan *plan, const sp_product_view *v,
                     int t)
{
    int bad = 0;

    /* what the kernel was written for is what was packed */
    SP_ASSERT(plan->kernel && plan->spec.index == plan->packed->index);
    SP_ASSERT(t < plan->x.threads && v->n <= v->ldc);
    if (plan->rest && plan->packed->parts > 1)
        return run_slabs(plan, v, t);
    for (int i = 0; i < plan->packed->parts; i++) {
        const sp_part *q = &plan->packed->part[i];
        sp_args a = part_args(plan, q, v);

        a.first = q->cut[t];
        a.last = q->cut[t + 1];
        if (a.first < a.last)
            bad |= plan->kernel(&a);
    }
    return bad;
}

int sp_run_units(const sp_sparse_plan *plan, const sp_product_view *v,
                 int64_t first, int64_t last)
{
    sp_args a = part_args(plan, plan->packed->part, v);

    a.first = first;
    a.last = last;
    return plan->kernel(&a);
}

static int run_static(const sp_sparse_plan *plan, const sp_product_view *v)
{
    int bad = 0, shares = plan->x.threads;

    if (shares == 1)
        return run_share(plan, v, 0);
#pragma omp parallel for num_threads(shares) schedule(static) reduction(| : bad)
    for (int t = 0; t < shares; t++)
        bad |= run_share(plan, v, t);
    return bad;
}

/* Wait, awake, until all are here; not for ever, there may be fewer cores. A
 * thread that slept here would be woken on the core of its waker. */
static void gather(atomic_int *here, int all)
{
    double late = sp_seconds() + 2e-4;

    atomic_fetch_add(here, 1);
    while (atomic_load(here) < all && sp_seconds() < late)
        continue;
}

/* Threads that start one after the other may be done before they meet; all
 * awake, over many runs of their shares, they do. */
void sp_run_crowded(const sp_sparse_plan *plan, sp_operands f, int times)
{
    sp_product_view v = whole(plan, &f);
    int shares = plan->x.threads;
    atomic_int here = 0;

#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int t = 0; t < shares; t++) {
        gather(&here, shares);
        for (int i = 0; i < times; i++)
            (void)run_share(plan, &v, t);
    }
}

int sp_run_has_shares(const sp_sparse_plan *plan)
{
    return plan->x.format != SPRY_SUPER && !plan->x.chunk && !plan->scratch;
}

static int run_dynamic(const sp_sparse_plan *plan, const sp_product_view *v)
{
    const sp_part *q = plan->packed->part;
    int64_t chunk = plan->x.chunk;
    int bad = 0;

#pragma omp parallel for num_threads(plan->x.threads) schedule(dynamic) \
    reduction(|                                                         \
              : bad)
    for (int64_t u = 0; u < q->units; u += chunk) {
        sp_args a = part_args(plan, q, v);

        a.first = u;
        a.last = u + chunk < q->units ? u + chunk : q->units;
        bad |= plan->kernel(&a);
    }
    return bad;
}

/* ---- passes over copies of B ---- */

/* Columns [from, from + width) of B, packed; called by all threads. */
static void copy_columns(const sp_sparse_plan *plan, const sp_product_view *v,
                         int64_t from, void *copy, int64_t width)
{
    int64_t size = (int64_t)plan->p->type, row = v->ldb * size;
    const char *in = (const char *)v->f.B + from * size;
    size_t bytes = (size_t)(width * size);

#pragma omp for schedule(static)
    for (int64_t c = 0; c < plan->p->A->cols; c++)
        memcpy((char *)copy + (size_t)c * bytes, in + c * row, bytes);
}

static spry_status run_copies(const sp_sparse_plan *plan,
                              const sp_product_view *all, int *bad)
{
    int64_t n = plan->p->n, step = plan->x.pass;
    int found = 0, shares = plan->x.threads;
    void *copy = sp_scratch_take(plan->scratch);

    if (!copy)
        return SPRY_SYSTEM;
#pragma omp parallel num_threads(shares) reduction(| : found)
    for (int64_t from = 0; from < n; from += step) {
        int64_t width = n - from < step ? n - from : step;
        sp_product_view v = {all->f, width, width, all->ldc, width, all->kept};

        v.f.B = copy;
        v.f.C = (char *)all->f.C + from * (int64_t)plan->p->type;
        copy_columns(plan, all, from, copy, width);
#pragma omp for schedule(static)
        for (int t = 0; t < shares; t++)
            found |= run_share(plan, &v, t);
    }
    sp_scratch_give(plan->scratch, copy);
    *bad = found;
    return SPRY_OK;
}

/* A nest deals out its own threads. */
static int run_nest(const sp_sparse_plan *plan, const sp_product_view *v)
{
    sp_args a = part_args(plan, plan->packed->part, v);

    return plan->kernel(&a);
}

/* ---- around the kernel ---- */

/* Elements [from, to) of C times beta. */
static void scale_run(const sp_sparse *p, void *C, int64_t from, int64_t to,
                      double beta)
{
    if (beta == 0)
        memset((char *)C + from * (int64_t)p->type, 0,
               (size_t)(to - from) * p->type);
    else
        for (int64_t k = from; k < to; k++)
            sp_dense_put(p, C, k, beta * sp_dense_get(p, C, k));
}

/* C = beta C, for rows that no unit visits. */
static void scale(const sp_sparse_plan *plan, sp_product_view *v)
{
    const sp_sparse *p = plan->p;
    int has_rows = p->n && !sp_is_sampled(p->op); /* else a vector */
    int64_t wide = has_rows ? v->n : 1, ld = has_rows ? v->ldc : 1;
    int64_t rows = sp_sparse_output_size(p) / (has_rows ? p->n : 1);
    int threads = plan->x.threads;

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t from = rows / threads * t;
        int64_t to = t + 1 == threads ? rows : rows / threads * (t + 1);

        if (ld == wide)
            scale_run(p, v->f.C, from * wide, to * wide, v->f.beta);
        for (int64_t i = from; ld != wide && i < to; i++)
            scale_run(p, v->f.C, i * ld, i * ld + wide, v->f.beta);
    }
    v->f.beta = 1;
}

static int all_finite(const sp_sparse *p, const void *X, int64_t count)
{
    double sum = 0;

    for (int64_t k = 0; k < count; k++) {
        double x = sp_dense_get(p, X, k);

        sum += x - x;
    }
    return sum == 0;
}

/* The stored entries one by one: what padding cannot disturb. */
static spry_status run_plainly(const sp_sparse_plan *plan, const sp_operands *f)
{
    sp_present now;
    spry_status s = sp_present_open(&now, plan);

    now.p.layout = SPRY_ROW_MAJOR; /* as operands are by now */
    if (s == SPRY_OK)
        sp_reference(&now.p, f);
    sp_present_close(&now);
    return s;
}

spry_status sp_run_view(const sp_sparse_plan *plan,
                        const sp_product_view *given, int *bad)
{
    sp_product_view v = *given;

    *bad = 0;
    if (!plan->packed->covers)
        scale(plan, &v);
    if (plan->x.copy && v.pass < v.n)
        return run_copies(plan, &v, bad);
    *bad = plan->x.format == SPRY_SUPER ? run_nest(plan, &v)
           : plan->x.chunk              ? run_dynamic(plan, &v)
                                        : run_static(plan, &v);
    return SPRY_OK;
}

spry_status sp_run_kernel(const sp_sparse_plan *plan, sp_operands f, int *bad)
{
    sp_product_view v = whole(plan, &f);

    return sp_run_view(plan, &v, bad);
}

/* Zeros of padding are seen to where rows are dense. */
int sp_run_takes_strides(const sp_sparse_plan *plan, double beta)
{
    return sp_is_product(sp_operation_of(plan->p->op)) &&
           plan->x.format != SPRY_SUPER && !(plan->packed->pads && beta != 0);
}

spry_status sp_run_strided(const sp_sparse_plan *plan, sp_operands f,
                           int64_t ldb, int64_t ldc, int *bad)
{
    sp_product_view v = whole(plan, &f);

    v.ldb = ldb;
    v.ldc = ldc;
    return sp_run_view(plan, &v, bad);
}

/* Row-major operands. Padding multiplies zeros by the dense operand; where
 * that is not finite the result would be NaN though no entry asked for it.
 * Kernels that pad report such results, and the row loop computes them as
 * they should be. When C is also an input it cannot be computed twice, so
 * the dense operand is looked at first. */
spry_status sp_run_rows(const sp_sparse_plan *plan, sp_operands f)
{
    const sp_sparse *p = plan->p;
    spry_status s;
    int bad;

    if (plan->packed->pads && f.beta != 0 &&
        (!all_finite(p, f.B, sp_sparse_input_size(p, 0)) ||
         !all_finite(p, f.D, sp_sparse_input_size(p, 1))))
        return run_plainly(plan, &f);
    s = sp_run_kernel(plan, f, &bad);
    if (s == SPRY_OK && bad && plan->packed->pads && f.beta == 0)
        s = run_plainly(plan, &f);
    return s;
}

spry_status sp_sparse_run(const sp_sparse_plan *plan, sp_operands f)
{
    if (plan->foreign)
        return sp_fail(SPRY_USAGE, "a plan for %s cannot run on this machine",
                       spry_isa_name(plan->spec.isa));
    if (sp_sparse_output_size(plan->p) == 0)
        return SPRY_OK;
    if (plan->p->layout == SPRY_COL_MAJOR) {
        spry_dense B = {sp_unconst(f.B), plan->p->A->cols, SPRY_COL_MAJOR};
        spry_dense C = {f.C, plan->p->A->rows, SPRY_COL_MAJOR};

        return sp_run_dense(plan, f.alpha, &B, NULL, f.beta, &C);
    }
    return sp_run_rows(plan, f);
}
