/* work.c - what the loops of a schedule issue.
 *
 * Counts of instructions per entry and per loop, read off the generated
 * code; see src/codegen for the loops themselves. */
#include "model/internal.h"

#include <math.h>

#include "machine/isa.h"

enum { FMA_LATENCY = 4 };

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* A loop's end is guessed right when all loops are alike. */
static double wrong_ends(const sp_ask *q, double loops)
{
    const spry_stats *t = q->t;
    double uneven = ratio(t->row_deviation, fmax(t->row_mean, 1e-9));

    return loops * fmin(1, 4 * uneven + (t->row_mean > 40 ? 0.7 : 0));
}

/* In a sorted window a row is mostly as long as the one before. */
static double wrong_ends_of_rows(const sp_ask *q, double loops)
{
    static const double CHANGES = 0.2;
    int windows = !sp_format_of(q->x)->slices && q->x->sigma > 1;

    return (windows ? CHANGES : 1) * wrong_ends(q, loops);
}

/* ---- spmv ---- */

/* Instructions that a palette takes per entry, or spares: a look-up by loads
 * costs a load and two moves more, by permutation a fraction. */
static double colouring(const sp_ask *q)
{
    if (q->x->palette <= 1)
        return q->x->palette ? -0.8 : 0;
    return sp_isa_of(q->m->isa)->permutes &&
                   q->x->palette * (int)q->p->type == 64
               ? 8.0 / q->lanes - 0.5
               : 2.5;
}

static sp_work spmv_rows(const sp_ask *q, const sp_storage *k)
{
    double unroll = q->x->unroll, entries = k->entries;
    int plain = sp_schedule_plain(q->x);
    double each = plain ? 3.2 : 2.6 + 2 / unroll;
    /* Rows end in up to unroll - 1 single steps, each waiting in line. */
    double rest = plain ? 0 : fmin((unroll - 1) / 2, ratio(entries, k->units));

    if (q->x->prefetch)
        each += 2;
    each += colouring(q);
    return (sp_work){
        .inner = entries * each,
        .ends = k->units * (14 + 2 * unroll + rest * 2),
        .chain = FMA_LATENCY * (entries / (plain ? 2 : unroll)),
        .units = k->units,
        .wrong = wrong_ends(q, k->units) * (plain ? 1 : 1.4),
    };
}

static sp_work spmv_slices(const sp_ask *q, const sp_storage *k)
{
    double vectors = k->entries / q->lanes, slice = q->x->slice;
    double each = q->x->gather ? 4 : 2.2 * q->lanes + 1;
    double scatter = q->x->sigma > 1 ? 4.0 * q->lanes : 4;

    if (q->x->prefetch)
        each += 2.0 * q->lanes;
    if (q->x->index == 8 && !q->x->gather) /* columns are cut out of words */
        each += 0.6 * q->lanes;
    if (q->x->palette > 1)
        each += colouring(q) * q->lanes;
    return (sp_work){
        .inner = vectors * (each + 2 / slice),
        .ends = k->units * (10 + slice * scatter),
        .fma = vectors,
        .chain = FMA_LATENCY * vectors / slice,
        .units = k->units,
        .wrong = 0.5 * wrong_ends(q, k->units),
        .gathers = q->x->gather ? k->entries : 0,
    };
}

static sp_work spmv_blocks(const sp_ask *q, const sp_storage *k)
{
    double r = q->x->r, c = q->x->c, lanes = q->lanes;
    double tall = r > 1 ? ceil(r / lanes) * c : ceil(c / lanes);

    return (sp_work){
        .inner = k->entries * (4 + (r > 1 ? c : 0) + 1.5 * tall),
        .ends = k->units * (r > 1 ? 12 + 3 * ceil(r / lanes) : 20),
        .fma = k->entries * tall,
        .chain = FMA_LATENCY * k->entries * (r > 1 ? ceil(c / 2) : 1),
        .units = k->units,
        .wrong = wrong_ends(q, k->units),
    };
}

/* Groups from which some diagonal leaves the matrix go entry by entry. A value
 * of one triangle is used twice. */
static sp_work spmv_diagonals(const sp_ask *q, const sp_storage *k)
{
    double reach = ratio((double)q->t->bandwidth, (double)q->t->cols);
    double values = k->values * (1 + q->x->symmetric);
    double edge = values * fmin(1, 2 * reach), slice = q->x->slice;
    double vectors = (values - edge) / q->lanes;

    return (sp_work){
        .inner = vectors * (2.5 + 3 / slice) + 8 * edge,
        .ends = k->units * (12 + 4 * slice),
        .fma = vectors + edge,
        .chain = FMA_LATENCY * (vectors / slice + edge),
        .units = k->units,
        .wrong = q->t->diagonals > 40 ? k->units : 0,
    };
}

/* ---- spmm ---- */

void sp_count_tiles(const sp_ask *q, double *tiles, double *vectors)
{
    int64_t n = q->p->n, pass = q->x->pass ? q->x->pass : n;
    int64_t full = (int64_t)q->x->tile * q->lanes, rest = pass % full;
    double times = ceil((double)n / (double)pass);
    double odd = (double)(rest / q->lanes);

    *tiles = (double)(pass / full);
    *vectors = *tiles * q->x->tile + odd;
    if (q->x->fixed)
        *tiles += rest > 0;
    else
        for (int64_t v = rest; v; v &= v - 1)
            *tiles += 1;
    for (int64_t v = rest % q->lanes; v; v &= v - 1)
        *vectors += 1; /* halves, quarters ... of a vector */
    *tiles *= times;
    *vectors *= times;
}

/* Instructions that copy the dense columns of all passes. */
static double copying(const sp_ask *q)
{
    double cols = (double)q->t->cols, n = (double)q->p->n;

    return q->x->copy ? cols * (20 * ceil(n / q->x->pass) + 3 * n / q->lanes)
                      : 0;
}

static sp_work spmm_tiles(const sp_ask *q, const sp_storage *k)
{
    double tiles, vectors, r = q->x->r, c = q->x->c;
    double rows = r * sp_schedule_slice(q->x, q->p->op, q->lanes);
    double unroll = sp_format_of(q->x)->blocks   ? 1
                    : sp_format_of(q->x)->slices ? q->x->slice
                                                 : q->x->unroll;
    double loops, lines, each;

    sp_count_tiles(q, &tiles, &vectors);
    loops = k->units * tiles;
    lines = q->x->prefetch
                ? c * (vectors / tiles * q->lanes * (double)q->p->type / 64 + 2)
                : 0;
    each = 4 + 2 / unroll + r * c + lines;
    return (sp_work){
        .inner =
            k->entries * (tiles * each + vectors * (c + r * c)) + copying(q),
        .ends = loops * (q->x->fixed ? 12 : 16) +
                k->units * rows * vectors *
                    (sp_format_of(q->x)->slices ? 3 : 2 + unroll),
        .fma = k->entries * vectors * r * c,
        .chain = FMA_LATENCY * k->entries * tiles * c / unroll,
        .units = loops,
        .wrong =
            wrong_ends_of_rows(q, loops) + (tiles > 1 ? 0 : 0.1) * k->units,
    };
}

static sp_work spmm_plain(const sp_ask *q, const sp_storage *k)
{
    double vectors = ceil((double)q->p->n / q->lanes);

    return (sp_work){
        .inner = k->entries * (14 + vectors * 5),
        .ends = k->units * (20 + 2 * vectors),
        .fma = k->entries * vectors,
        .chain = 8 * k->entries,
        .units = k->units,
        .wrong = wrong_ends(q, k->units) + 0.1 * k->entries,
    };
}

/* ---- sddmm ---- */

static sp_work sddmm(const sp_ask *q, const sp_storage *k)
{
    int plain = q->x->tile == 0;
    double n = (double)q->p->n, lanes = q->lanes, unroll = q->x->unroll;
    double tile = plain ? 1 : q->x->tile, vectors = floor(n / lanes);
    double odd = n - vectors * lanes, length = ratio(k->entries, k->units);
    /* Entries of short rows are left over and taken one by one. */
    double alone = plain ? 1 : fmin(1, (unroll - 1) / 2 / fmax(length, 1));
    double at_once = 1 / (alone + (1 - alone) / unroll);
    double groups = k->entries / at_once;
    double sum = plain ? 14 : unroll >= 4 ? 5 : 8;
    double ahead = q->x->prefetch ? 3 * ceil(n * (double)q->p->type / 64) : 0;

    return (sp_work){
        .inner = k->entries *
                     (sum + ahead + (plain ? 2.2 : 1) * vectors + 3 * odd + 4) +
                 groups * (vectors * (1 + 2 / tile) + 6),
        .ends = k->units * 16,
        .fma = k->entries * vectors,
        .chain = FMA_LATENCY * groups * (vectors + 4),
        .units = groups,
        .wrong = wrong_ends(q, k->units) * (unroll > 1 ? 1.5 : 1),
    };
}

static sp_work count(const sp_ask *q, const sp_storage *k)
{
    typedef sp_work counter(const sp_ask *, const sp_storage *);
    static counter *const spmv[] = {
        [SPRY_CSR] = spmv_rows,      [SPRY_BCSR] = spmv_blocks,
        [SPRY_SELL] = spmv_slices,   [SPRY_DCSR] = spmv_rows,
        [SPRY_DIA] = spmv_diagonals,
    };

    if (!sp_has_columns(q->p->op))
        return spmv[q->x->format](q, k);
    if (sp_is_sampled(q->p->op))
        return sddmm(q, k);
    if (sp_has_tensor(q->p->op))
        return sp_tensor_work(q, k);
    return q->x->tile ? spmm_tiles(q, k) : spmm_plain(q, k);
}

/* One after the other. */
static sp_work both(sp_work a, sp_work b)
{
    return (sp_work){
        .inner = a.inner + b.inner,
        .ends = a.ends + b.ends,
        .fma = a.fma + b.fma,
        .chain = a.chain + b.chain,
        .units = a.units + b.units,
        .wrong = a.wrong + b.wrong,
        .gathers = a.gathers + b.gathers,
    };
}

sp_work sp_model_work(const sp_ask *q, const sp_storage *k)
{
    spry_schedule x = sp_schedule_of_rest(q->x, q->p, q->lanes);
    sp_storage rest = {.parts = 1,
                       .units = k->rest_units,
                       .entries = k->rest,
                       .values = k->rest};
    sp_ask left = *q;

    if (!q->x->rest)
        return count(q, k);
    left.x = &x;
    return both(count(q, k), count(&left, &rest));
}
