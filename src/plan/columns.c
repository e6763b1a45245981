/* columns.c - products with operands whose columns lie one after the other.
 *
 * Kernels hold dense columns side by side, so B is turned into rows, as many
 * columns of it at a time as fill a line of the cache or as the schedule's
 * passes have. Where rows of C come in order they are computed a block at a
 * time, which is turned back while the first cache holds it; where they do
 * not, all of C's rows are. */
#include "base/base.h"
#include "plan/direct.h"
#include "plan/internal.h"

enum {
    LINE = 64,   /* bytes of B's rows that are turned at a time */
    BLOCK = 64,  /* rows of C */
    PIECE = 1024 /* rows of B, or of C, that a thread turns at a time */
};

/* One run. */
typedef struct {
    const sp_sparse_plan *plan;
    double alpha, beta;
    const sp_operand *B, *C;
    sp_turn *turn;
    int64_t wide;    /* columns at a time */
    char *rows_of_B; /* [cols * wide], */
    char *rows_of_C; /* [rows * wide], or a block for each thread */
} columns_run;

static int64_t width(const sp_sparse *p, const spry_schedule *x)
{
    int64_t wide = x->pass ? x->pass : LINE / (int64_t)p->type;

    return wide < p->n ? wide : p->n;
}

/* Kernels that know their width compute all columns at a time. */
int sp_run_takes_columns(const sp_sparse_plan *plan, double beta)
{
    return plan->turned && !plan->x.fixed && sp_run_takes_strides(plan, beta);
}

/* Do units hold rows one after the other, all of their entries? */
static int in_order(const sp_sparse_plan *plan)
{
    return plan->packed->parts == 1 && !plan->packed->part->row &&
           plan->packed->covers && !plan->x.chunk;
}

spry_status sp_columns_open(sp_scratch **out, const sp_sparse *p,
                            const spry_schedule *x)
{
    int64_t blocks = (int64_t)x->threads * BLOCK;
    int64_t rows = p->A->rows > blocks ? p->A->rows : blocks;

    *out = NULL;
    if (!sp_is_product(sp_operation_of(p->op)) || p->n < 2)
        return SPRY_OK;
    return sp_scratch_open(out, (p->A->cols + rows) * width(p, x), p->type);
}

static char *at(const sp_operand *s, int64_t i, int64_t j, spry_type type)
{
    return (char *)s->data + (i * s->down + j * s->right) * (int64_t)type;
}

/* Columns [from, from + v->n) of B as rows; called by all threads. */
static void turn_B(const columns_run *r, int64_t from, int64_t n)
{
    int64_t rows = r->B->rows, size = (int64_t)r->plan->p->type;

#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i += PIECE)
        r->turn(at(r->B, i, from, r->plan->p->type), r->B->right,
                r->rows_of_B + i * n * size, n, n,
                rows - i < PIECE ? rows - i : PIECE);
}

/* Rows [i, i + rows) of C out of `block`, or into it. */
static void turn_C(const columns_run *r, int64_t from, int64_t n, int64_t i,
                   int64_t rows, char *block, int back)
{
    char *C = at(r->C, i, from, r->plan->p->type);

    if (back)
        r->turn(C, r->C->right, block, n, n, rows);
    else
        r->turn(block, n, C, r->C->right, rows, n);
}

/* Thread t's rows of C, block by block. */
static int run_blocks(const columns_run *r, const sp_product_view *given,
                      int64_t from, int t)
{
    const sp_sparse_plan *plan = r->plan;
    const sp_part *q = plan->packed->part;
    int64_t each = plan->x.r * sp_schedule_slice(&plan->x, plan->p->op, 1);
    int64_t units = each < BLOCK ? BLOCK / each : 1, n = given->n;
    int64_t size = (int64_t)plan->p->type, last;
    char *block = r->rows_of_C + t * BLOCK * n * size;
    int bad = 0;

    for (int64_t u = q->cut[t]; u < q->cut[t + 1]; u = last) {
        int64_t i = u * each, rows;
        sp_product_view v = *given;

        last = u + units < q->cut[t + 1] ? u + units : q->cut[t + 1];
        rows = last * each < r->C->rows ? last * each - i : r->C->rows - i;
        if (r->beta != 0)
            turn_C(r, from, n, i, rows, block, 1);
        v.f.C = (void *)((uintptr_t)block - (uintptr_t)(i * n * size));
        bad |= sp_run_units(plan, &v, u, last);
        turn_C(r, from, n, i, rows, block, 0);
    }
    return bad;
}

/* All rows of C; called by all threads. */
static void turn_all_C(const columns_run *r, int64_t from, int64_t n, int back)
{
    int64_t rows = r->C->rows, size = (int64_t)r->plan->p->type;

#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i += PIECE)
        turn_C(r, from, n, i, rows - i < PIECE ? rows - i : PIECE,
               r->rows_of_C + i * n * size, back);
}

/* Operands of the columns from `from` on, turned where they have to be. */
static sp_product_view view_of(const columns_run *r, int64_t from)
{
    int64_t all = r->plan->p->n,
            n = all - from < r->wide ? all - from : r->wide;
    sp_product_view v = {
        {r->alpha, r->beta, r->rows_of_B, NULL, r->rows_of_C}, n, n, n, n, 1};

    if (r->B->right == 1) {
        v.f.B = at(r->B, 0, from, r->plan->p->type);
        v.ldb = r->B->down;
    }
    if (r->C->right == 1) {
        v.f.C = at(r->C, 0, from, r->plan->p->type);
        v.ldc = r->C->down;
        v.kept = 0;
    }
    return v;
}

static int run_by_blocks(const columns_run *r)
{
    int bad = 0, threads = r->plan->x.threads;

#pragma omp parallel num_threads(threads) reduction(| : bad)
    for (int64_t from = 0; from < r->plan->p->n; from += r->wide) {
        sp_product_view v = view_of(r, from);

        if (r->B->right != 1)
            turn_B(r, from, v.n);
#pragma omp for schedule(static)
        for (int t = 0; t < threads; t++)
            bad |= run_blocks(r, &v, from, t);
    }
    return bad;
}

static spry_status run_as_a_whole(const columns_run *r, int *bad)
{
    int threads = r->plan->x.threads, found = 0;
    spry_status s = SPRY_OK;

    for (int64_t from = 0; s == SPRY_OK && from < r->plan->p->n;
         from += r->wide) {
        sp_product_view v = view_of(r, from);
        int turns_C = r->C->right != 1;

#pragma omp parallel num_threads(threads)
        {
            if (r->B->right != 1)
                turn_B(r, from, v.n);
            if (turns_C && r->beta != 0)
                turn_all_C(r, from, v.n, 1);
        }
        s = sp_run_view(r->plan, &v, &found);
        *bad |= found;
#pragma omp parallel num_threads(threads) if (turns_C)
        if (turns_C)
            turn_all_C(r, from, v.n, 0);
    }
    return s;
}

/* The plain loop has its own way: column by column, four of them at a time,
 * over compressed rows as they are. */
static sp_by_columns *plain_loop(const sp_sparse_plan *plan)
{
    const sp_packed *k = plan->packed;

    if (!plan->spec.plain || !in_order(plan) || k->part->base || k->index < 32)
        return NULL;
    return sp_direct_here()
        ->by_columns[plan->p->type == SPRY_F64][k->index == 64];
}

static void run_plain_loop(const columns_run *r, sp_by_columns *loop)
{
    const sp_part *q = r->plan->packed->part;
    int threads = r->plan->x.threads;

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        sp_args a = {.first = q->cut[t],
                     .last = q->cut[t + 1],
                     .columns = r->plan->p->n,
                     .n = r->B->right,
                     .wide = r->C->right,
                     .start = q->start,
                     .col = q->col,
                     .val = q->val,
                     .B = r->B->data,
                     .C = r->C->data,
                     .alpha = r->alpha,
                     .beta = r->beta};

        loop(&a);
    }
}

spry_status sp_run_columns(const sp_sparse_plan *plan, double alpha,
                           const sp_operand *B, double beta,
                           const sp_operand *C, int *bad)
{
    const sp_sparse *p = plan->p;
    columns_run r = {plan,
                     alpha,
                     beta,
                     B,
                     C,
                     sp_direct_here()->turn[p->type == SPRY_F64],
                     width(p, &plan->x),
                     NULL,
                     NULL};
    sp_by_columns *loop = plain_loop(plan);
    spry_status s = SPRY_OK;

    *bad = 0;
    if (loop && B->right != 1 && C->right != 1) {
        run_plain_loop(&r, loop);
        return SPRY_OK;
    }
    r.rows_of_B = sp_scratch_take(plan->turned);
    if (!r.rows_of_B)
        return SPRY_SYSTEM;
    r.rows_of_C = r.rows_of_B + p->A->cols * r.wide * (int64_t)p->type;
    if (C->right != 1 && in_order(plan))
        *bad = run_by_blocks(&r);
    else
        s = run_as_a_whole(&r, bad);
    sp_scratch_give(plan->turned, r.rows_of_B);
    return s;
}
