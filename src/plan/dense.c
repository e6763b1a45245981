/* dense.c - dense operands with strides and a layout each.
 *
 * Kernels take row-major operands; most take rows with gaps between them, and
 * columns a few at a time (columns.c). All else goes through copies without
 * gaps. */
#include <string.h>

#include "base/base.h"
#include "plan/direct.h"
#include "plan/internal.h"

enum { PIECE = 1024 }; /* rows that a thread copies at a time */

static sp_operand rows_of(void *data, int64_t rows, int64_t cols)
{
    return (sp_operand){data, rows, cols, cols, 1};
}

static sp_operand as_given(const spry_dense *X, int64_t rows, int64_t cols)
{
    sp_operand s = rows_of(X->data, rows, cols);

    if (X->layout == SPRY_COL_MAJOR) {
        s.down = 1;
        s.right = cols == 1 ? 1 : X->ld ? X->ld : rows;
    } else if (X->ld)
        s.down = X->ld;
    return s;
}

/* Rows [i, to) of an operand into another, either in any layout. */
static void copy_rows(const sp_operand *to, const sp_operand *from, int64_t i,
                      int64_t end, spry_type type)
{
    const char *in = (const char *)from->data + i * from->down * (int64_t)type;
    char *out = (char *)to->data + i * to->down * (int64_t)type;
    sp_turn *turn = sp_direct_here()->turn[type == SPRY_F64];

    if (from->right != 1)
        turn(in, from->right, out, to->down, to->cols, end - i);
    else if (to->right != 1)
        turn(in, from->down, out, to->right, end - i, to->cols);
    else
        for (; i < end; i++) {
            memcpy(out, in, (size_t)to->cols * type);
            in += from->down * (int64_t)type;
            out += to->down * (int64_t)type;
        }
}

/* One of them has its rows side by side. */
static void copy(const sp_operand *to, const sp_operand *from, spry_type type,
                 int threads)
{
    int64_t rows = to->rows;

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t i = 0; i < rows; i += PIECE)
        copy_rows(to, from, i, rows - i < PIECE ? rows : i + PIECE, type);
}

static int is_dense(const sp_operand *s)
{
    return s->right == 1 && (s->down == s->cols || s->rows <= 1);
}

/* The operand without gaps: itself, or a copy that *held owns. `filled`: its
 * elements are read. */
static spry_status without_gaps(void **out, void **held, const sp_operand *s,
                                int filled, const sp_sparse_plan *plan)
{
    sp_operand to;

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
    sp_operand B, D, C;
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
        sp_operand result = rows_of(C, x->C.rows, x->C.cols);

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

/* The part of `all` that there is room for. */
static double held(double room, double all)
{
    return room < all ? room / all : 1;
}

/* Rows of B that are read over and over before others are: a panel's. */
static double rows_at_a_time(const sp_sparse_plan *plan, const sp_operand *B)
{
    int64_t panel = plan->x.panel;

    return (double)(panel && panel < B->rows ? panel : B->rows);
}

/* How much longer a row of B takes where it is than in a copy, in seconds of
 * latency.
 *
 * Rows whose distance is a multiple of a power of two begin in the same sets
 * of a cache, and rows shorter than that power never get to the others: 16
 * numbers of a row of 32 have half of each cache. What misses the second may
 * come from a third that is nearly as fast, or as slow as memory: the card
 * knows. Rows far apart have a page each; finding it takes longer than a line
 * or four, but not than many. */
static double extra_seconds(const sp_sparse_plan *plan, const sp_operand *B)
{
    enum { LINE = 64, PAGE = 4096, PAGES = 4096, SHORT = 4 };
    static const double WALK = 50e-9;
    int64_t size = (int64_t)plan->p->type, apart = B->down * size;
    int64_t row = sp_round_up(B->cols * size, LINE), power = apart & -apart;
    double rows = rows_at_a_time(plan, B);
    double lines = (double)row / LINE, all = rows * (double)row;
    double share = held((double)row, (double)power);
    double pages = rows * held((double)apart, PAGE);
    double walks =
        lines > SHORT ? 0 : held(PAGES, all / PAGE) - held(PAGES, pages);
    double seconds = WALK * walks;

    for (int i = 0; i < SPRY_CACHES; i++) {
        double cache = (double)plan->cost[i].bytes;

        seconds += lines * plan->cost[i].seconds *
                   (held(cache, all) - held(share * cache, all));
    }
    return seconds;
}

int sp_strides_conflict(const sp_sparse_plan *plan, const sp_operand *B)
{
    /* What 4 and 10 misses of the second cache take on a Xeon with AVX-512,
     * where these were the best numbers over 84 cases each, with one thread and
     * with more: then lines come out of another's cache, too. */
    double worth = plan->x.threads > 1 ? 500e-9 : 200e-9;
    int64_t lines = (B->cols * (int64_t)plan->p->type + 63) / 64;

    if (!plan->contiguous_B || (plan->x.copy && plan->x.pass < B->cols))
        return 0;
    return (double)plan->p->A->nnz * extra_seconds(plan, B) >
           worth * (double)(lines * B->rows);
}

/* Is C read and written so often that its rows had better lie side by side? */
static int revisits(const sp_sparse_plan *plan, const sp_operand *C)
{
    enum { OFTEN = 8 };

    return plan->contiguous_C && !is_dense(C) && plan->packed->parts > OFTEN;
}

/* An operand as it is, or its copy in scratch memory, which then holds it. */
typedef struct {
    sp_operand as;
    sp_scratch *scratch; /* NULL: no copy */
} contiguous;

/* A copy if it pays and there is memory: without it is slower, not wrong. */
static contiguous open_copy(const sp_operand *X, int pays, sp_scratch *scratch)
{
    void *memory = pays ? sp_scratch_take(scratch) : NULL;

    if (memory)
        return (contiguous){rows_of(memory, X->rows, X->cols), scratch};
    if (pays)
        sp_message_clear();
    return (contiguous){*X, NULL};
}

static void close_copy(const contiguous *c)
{
    if (c->scratch)
        sp_scratch_give(c->scratch, c->as.data);
}

/* Both operands have rows: in place, but for a B or a C that loses by it. */
static spry_status run_strided(const sp_sparse_plan *plan, double alpha,
                               const all_operands *x, double beta, int *bad)
{
    int conflicts = !is_dense(&x->B) && sp_strides_conflict(plan, &x->B);
    contiguous B = open_copy(&x->B, conflicts, plan->contiguous_B);
    contiguous C = open_copy(&x->C, revisits(plan, &x->C), plan->contiguous_C);
    spry_type type = plan->p->type;
    int threads = plan->x.threads;
    spry_status s;

    if (B.scratch)
        copy(&B.as, &x->B, type, threads);
    if (C.scratch && beta != 0)
        copy(&C.as, &x->C, type, threads);
    s = sp_run_strided(plan,
                       (sp_operands){alpha, beta, B.as.data, NULL, C.as.data},
                       B.as.down, C.as.down, bad);
    if (C.scratch && s == SPRY_OK)
        copy(&x->C, &C.as, type, threads);
    close_copy(&B);
    close_copy(&C);
    return s;
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
    if ((x.B.right != 1 || x.C.right != 1) &&
        sp_run_takes_columns(plan, beta)) {
        s = sp_run_columns(plan, alpha, &x.B, beta, &x.C, &bad);
        if (s != SPRY_OK || !bad || !plan->packed->pads)
            return s;
    } else if (x.B.right == 1 && x.C.right == 1 &&
               !(is_dense(&x.B) && is_dense(&x.C)) &&
               sp_run_takes_strides(plan, beta)) {
        s = run_strided(plan, alpha, &x, beta, &bad);
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
