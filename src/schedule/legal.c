/* legal.c - which schedules can compute which problems.
 *
 * First the table: a parameter the format does not have stays at its
 * default. Then the few rules that tie parameters to each other, to the
 * problem and to the machine, one sentence each. */
#include "schedule/schedule.h"

#include <string.h>

#include "machine/isa.h"
#include "machine/machine.h"
#include "schedule/super.h"

static int power_of_two(int32_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static int is_block(int32_t r, int32_t c)
{
    if (r == c && (r == 3 || r == 6))
        return 1;
    return power_of_two(r) && power_of_two(c) && r <= 16 && c <= 16;
}

static int has_op(const spry_schedule *x, spry_op op)
{
    return x->format >= 0 && x->format < sp_format_count &&
           sp_formats[x->format].uses[op];
}

/* The first parameter that the format does not have and that is set, or
 * NULL. */
static const sp_param *stray(const spry_schedule *x, spry_op op)
{
    for (int i = 0; i < sp_param_count; i++)
        if (sp_param_get(x, &sp_params[i]) != sp_params[i].otherwise &&
            !sp_param_used(&sp_params[i], x->format, op))
            return &sp_params[i];
    return NULL;
}

/* Sizes a kernel can be written for. */
static const char *shape_fault(const spry_schedule *x, spry_op op)
{
    const sp_operation *d = sp_operation_of(op);

    if (x->tile < 0 || x->tile > 12 || x->unroll < 1 || x->unroll > 16)
        return "tile is at most 12, unroll at most 16";
    if (x->unroll > d->most_unroll || x->tile * x->unroll > d->most_sums ||
        (d->even && !power_of_two(x->unroll)))
        return d->rule;
    if (!is_block(x->r, x->c))
        return "blocks are 3 x 3, 6 x 6, or have sides 1, 2, 4, 8 or 16";
    if (sp_format_of(x)->blocks && x->r * x->c == 1)
        return "a 1 x 1 block is csr";
    if (sp_format_of(x)->blocks && d->dense >= 0 &&
        (x->tile < 1 || x->r * x->tile > 16))
        return "r x tile must be 1 to 16";
    if (sp_format_of(x)->slices && d->dense >= 0 &&
        (x->slice < 2 || x->slice * x->tile > 12))
        return "sell takes 2 or more rows at a time, slice x tile <= 12";
    if (x->rest % 25 || x->rest < 0 || x->rest > 75)
        return "rest is 25, 50 or 75 percent, or 0";
    if (x->rest && (x->r < 2 || x->c < 2 || x->r > 8 || x->c > 8))
        return "blocks that leave a rest are 2 x 2 to 8 x 8";
    if (!power_of_two(x->slice) || x->slice > 8 || x->sigma < 1)
        return "slice is 1, 2, 4 or 8, sigma at least 1";
    if (x->index != 0 && x->index != 8 && x->index != 16 && x->index != 64)
        return "index is 8, 16 or 64 bits, or 0";
    if (x->index == 8 && (!sp_format_of(x)->slices || d->dense >= 0))
        return "only sell has columns of 8 bits, for spmv";
    if ((x->gather | x->copy | x->stream | x->fixed | x->symmetric) & ~1)
        return "gather, copy, stream, fixed and symmetric are 0 or 1";
    if (x->order < SPRY_ORDER_NONE || x->order > SPRY_ORDER_CLUSTER)
        return "there is no such order";
    if (x->modes < SPRY_MODES_IKL || x->modes > SPRY_MODES_LKI)
        return "there is no such order of modes";
    return NULL;
}

static const char *mix_fault(const spry_schedule *x, spry_op op)
{
    static const spry_super none;
    int columns = sp_has_columns(op);
    int plain = !sp_format_of(x)->blocks && x->tile == 0 && x->unroll == 1;
    int may_be_plain = sp_format_of(x)->plain;

    if (memcmp(&x->super, &none, sizeof none) != 0)
        return "only super has a nest";
    if (columns && x->tile == 0 && !may_be_plain)
        return "tile must be set";
    if (columns && may_be_plain && x->tile == 0 && x->unroll > 1)
        return "unroll needs a tile";
    if (may_be_plain && plain &&
        (x->prefetch || x->panel || x->pass || sp_schedule_sorts(x) ||
         x->stream || x->modes || x->palette || x->fixed || x->index == 16))
        return "the plain loop has only threads and chunk";
    if (sp_format_of(x)->listed && !columns && x->unroll == 1)
        return "dcsr needs unroll > 1";
    if (sp_schedule_innermost(x) == 2 && (x->unroll > 1 || x->chunk))
        return "a scattered result goes with neither unroll nor chunk";
    if (sp_has_tensor(op) && x->panel && x->pass)
        return "a tensor is walked in panels or in passes, not both";
    if (x->copy && (!x->pass || x->chunk))
        return "copy needs passes, and no chunks";
    if (x->fixed && x->pass && !x->copy)
        return "a fixed width is done in one pass, or on copies";
    if (x->panel && (x->order || x->chunk || x->stream || x->palette))
        return "panels go with neither order, chunk, stream nor palette";
    if (x->panel && x->sigma > 1 && !sp_format_of(x)->slices)
        return "panels of rows are not sorted in windows";
    if (x->order == SPRY_ORDER_LENGTH && x->sigma > 1)
        return "order=length sorts all rows, sigma those of a window";
    if (x->panel && (!power_of_two(x->sigma) || x->sigma > 4096))
        return "with panels sigma is a power of two, at most 4096";
    if (x->rest && (x->chunk || x->stream))
        return "a rest goes with neither chunk nor stream";
    if (x->index == 8 && (x->sigma > 1 || x->panel || x->prefetch))
        return "columns of 8 bits go with neither sigma, panel nor prefetch";
    if (x->index == 8 && x->palette == 1)
        return "columns of 8 bits are filled up with zeros, which need a code";
    if (x->gather && x->palette)
        return "gathers go with no palette";
    return NULL;
}

/* How many columns of A, or indices of the innermost mode, there are. */
static int64_t panel_limit(const spry_schedule *x, const sp_sparse *p)
{
    const int64_t size[] = {p->mid, p->inner, p->A->rows};

    return sp_has_tensor(p->op) ? size[sp_schedule_innermost(x)] : p->A->cols;
}

/* One value, what two vectors of 32 bytes hold, or what a byte tells apart. */
static int is_palette(int32_t values, spry_type type)
{
    return values == 0 || values == 1 || values == 256 ||
           values == 64 / (int32_t)type;
}

static const char *problem_fault(const spry_schedule *x, const sp_sparse *p,
                                 const spry_machine *m)
{
    if (p->n == 0 && !sp_schedule_plain(x))
        return "no dense columns: only the plain loop";
    if (sp_format_of(x)->blocks && p->A->cols < x->c)
        return "the block is wider than the matrix";
    if (x->symmetric && p->A->rows != p->A->cols)
        return "a symmetric matrix is square";
    if (x->panel < 0 || (x->panel && x->panel >= panel_limit(x, p)))
        return "the panel is as wide as the matrix";
    if (x->pass < 0 || (x->pass && x->pass >= p->n))
        return "one pass takes all columns";
    if (x->copy && x->fixed && x->pass && p->n % x->pass)
        return "of a fixed width all passes are equal";
    if (x->threads < 1)
        return "threads are counted from 1";
    if (x->threads > m->threads && x->threads > SP_MANY_THREADS)
        return "so many threads cannot be used here";
    if (x->chunk < 0)
        return "a chunk has rows";
    if (x->chunk && x->threads == 1)
        return "one thread needs no chunks";
    if (x->gather && !sp_isa_of(m->isa)->gathers)
        return "this machine has no gather instruction";
    if (x->stream && !sp_isa_of(m->isa)->streams)
        return "this machine has no stores past the cache";
    if (!is_palette(x->palette, p->type))
        return "a palette has 1 or 256 values, or 16 of f32, 8 of f64";
    if (x->prefetch < 0 || x->prefetch > 64)
        return "prefetch is at most 64 nonzeros ahead";
    return NULL;
}

/* What the table does not know, or NULL. */
static const char *fault_of(const spry_schedule *x, const sp_sparse *p,
                            const spry_machine *m)
{
    const char *fault = shape_fault(x, p->op);

    if (!fault)
        fault = x->format == SPRY_SUPER ? sp_super_fault(x, p->op)
                                        : mix_fault(x, p->op);
    return fault ? fault : problem_fault(x, p, m);
}

int sp_schedule_is_legal(const spry_schedule *x, const sp_sparse *p,
                         const spry_machine *m)
{
    return has_op(x, p->op) && !stray(x, p->op) && !fault_of(x, p, m);
}

spry_status spry_schedule_legal(const spry_schedule *x,
                                const spry_problem *problem,
                                const spry_machine *m)
{
    SP_NEED(x, problem, m);

    const sp_param *q;
    const char *fault;
    const sp_sparse *p;
    spry_status s = sp_sparse_need(&p, problem);

    if (s != SPRY_OK)
        return s;
    if (!has_op(x, p->op))
        return sp_fail(SPRY_USAGE, "this format has no %s",
                       spry_op_name(p->op));
    q = stray(x, p->op);
    if (q)
        return sp_fail(SPRY_USAGE, "%s has no parameter %s for %s",
                       sp_formats[x->format].name, q->name,
                       spry_op_name(p->op));
    fault = fault_of(x, p, m);
    return fault ? sp_fail(SPRY_USAGE, "%s", fault) : SPRY_OK;
}

int64_t sp_schedule_panels(int64_t rows, int64_t entries)
{
    enum { MOST = 256, WALKS = 8 };
    double fair = WALKS * (1 + (double)entries / (double)(rows > 0 ? rows : 1));

    return fair < MOST ? (int64_t)fair : MOST;
}

spry_status sp_schedule_steps(int64_t stored, int64_t entries)
{
    enum { SLACK = 4096 }; /* any small matrix will do */

    if (stored <= entries + entries / 4 + SLACK)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE,
                   "columns of 8 bits would store %lld places for %lld entries",
                   (long long)stored, (long long)entries);
}

int sp_rest_listed(int64_t used, int64_t rows, int based)
{
    return !based && used < rows - rows / 4;
}

spry_status sp_rest_check(int64_t blocks, int64_t left)
{
    if (blocks == 0)
        return sp_fail(SPRY_USAGE, "no block is filled that much");
    return left ? SPRY_OK
                : sp_fail(SPRY_USAGE, "every block is filled that much");
}
