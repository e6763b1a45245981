/* traffic.c - which level of the memory serves which bytes.
 *
 * A column used again after d entries finds its row of the dense operand in
 * a cache if what those d entries touched fits there. Panels shorten d,
 * passes narrow the rows. Streams (A, C) come from where everything fits. */
#include "model/internal.h"

#include <math.h>

static const double passing = 0.25; /* a stream displaces that much of itself */

/* Of lines side by side the first is waited for, the next ones less: the
 * hardware has seen them coming. */
static const double coming = 0.35;

/* Of visits in perfect order, so many are in time. */
static const double foreseen = 0.85;

void sp_serve(double to[SP_LEVELS], const sp_rates *r, double footprint,
              double amount)
{
    for (int i = 0; i < SPRY_CACHES; i++) {
        double fraction = footprint / r->room[i];
        double hit = amount / (1 + fraction * fraction * fraction);

        to[i] += hit;
        amount -= hit;
    }
    to[SPRY_CACHES] += amount;
}

/* The scattered dense operand: B of spmv and spmm, D of sddmm. */
typedef struct {
    double row;    /* bytes of one row, in whole lines */
    double room;   /* bytes of cache it takes up */
    double places; /* rows in reach at a time */
    double used;   /* rows that are used at all */
    double beside; /* bytes of A that pass by per entry */
    double closer; /* reuse distances shrink to this share */
} scattered;

/* A pass takes a slice of every row; when rows are a power of two long, the
 * slices fall into a part of the cache's sets and crowd each other there. */
static double crowding(const sp_ask *q, const sp_rates *r)
{
    int64_t pass = q->x->pass ? q->x->pass : q->p->n;
    int64_t lines = q->p->n * (int64_t)q->p->type / (int64_t)r->line;
    double even = (double)(lines & -lines);

    if (q->x->copy)
        return 1;
    return fmax(1, fmin(even, (double)q->p->n / (double)pass));
}

static scattered scatter_of(const sp_ask *q, const sp_storage *k,
                            const sp_rates *r)
{
    const spry_stats *t = q->t;
    double n = (double)(q->x->pass ? q->x->pass : q->p->n);
    double nnz = fmax(1, (double)t->nnz);
    double bytes = n * (double)q->p->type;
    /* Neighbouring columns share a line when rows are narrow. */
    double shared = fmin(1, (double)t->blocks[4][4] / nnz);
    double line = bytes < r->line ? fmax(bytes, r->line * shared)
                                  : ceil(bytes / r->line) * r->line;
    scattered b = {.row = line,
                   .room = line * crowding(q, r),
                   .used = fmax(1, (double)t->reuse_first),
                   .beside = passing * k->bytes / nnz,
                   .closer = 1 / k->parts};

    b.places = b.used / k->parts;
    return b;
}

/* What d entries touch. */
static double footprint(const scattered *b, double d)
{
    d *= b->closer;
    return d * b->places / (d + b->places) * b->room + d * b->beside;
}

/* Loads of the scattered operand, the shortest distances first: those that
 * a block shares between its rows do not happen. */
static void serve_scattered(double loads[SP_LEVELS], const sp_ask *q,
                            const sp_storage *k, const sp_rates *r,
                            double everything)
{
    const spry_stats *t = q->t;
    scattered b = scatter_of(q, k, r);
    double rows =
        k->entries * (sp_format_of(q->x)->blocks ? q->x->c : 1) + k->rest;
    double spared = (double)t->nnz - rows;

    if (sp_format_of(q->x)->ordered) {
        spared = 0;
        rows = (double)t->nnz;
    }
    for (int i = 0; i < SPRY_REUSE; i++) {
        double count = (double)t->reuse[i];
        double skip = fmin(count, fmax(0, spared));

        spared -= skip;
        if (count > skip)
            sp_serve(loads, r, footprint(&b, ldexp(1.5, i)), count - skip);
    }
    sp_serve(loads, r, q->x->copy ? b.used * b.row : everything,
             (double)t->reuse_first);
    if (spared < 0) /* padding repeats what was just loaded */
        loads[0] -= spared;
}

double sp_passes(const sp_ask *q)
{
    return q->x->pass ? ceil((double)q->p->n / q->x->pass) : 1;
}

/* The result, and of sddmm also B, walked row by row. */
static void serve_rows(sp_traffic *f, const sp_ask *q, const sp_storage *k,
                       const sp_rates *r, double everything)
{
    double size = (double)q->p->type, n = (double)q->p->n;
    double rows = (double)q->t->rows;
    double visits = k->parts == 1                ? rows
                    : sp_format_of(q->x)->slices ? rows * k->parts
                                                 : k->units;
    double outside[SP_LEVELS] = {0};

    if (sp_is_sampled(q->p->op)) {
        if (k->parts == 1) /* nobody reads B for an empty row */
            visits -= (double)q->t->empty_rows;
        sp_serve(f->bytes, r, everything, visits * n * size);
        visits = (double)q->t->nnz;
        n = 1;
    } else if (k->parts > 1 && !sp_format_of(q->x)->slices)
        visits += rows; /* all of them are cleared first */
    if (q->x->stream) {
        f->stored += visits * n * size;
        return;
    }
    /* A store reads its line first; panels add to what is there. */
    sp_serve(outside, r, everything, 1);
    for (int i = 0; i < SP_LEVELS; i++)
        f->bytes[i] += outside[i] * visits * n * size;
    f->stored += outside[SPRY_CACHES] * visits * n * size;
}

/* B is read once, pass by pass, and what is written of it stays near. */
static void serve_copies(sp_traffic *f, const sp_ask *q, const sp_rates *r,
                         double outputs)
{
    double row = (double)q->t->cols * (double)q->p->type;
    double all = row * (double)q->p->n;

    sp_serve(f->bytes, r, all + outputs, all);
    sp_serve(f->bytes, r, row * q->x->pass, all);
}

/* Share of visits that the hardware does not foresee: full diagonals and
 * full blocks walk through the dense rows in order. */
static double surprise(const spry_stats *t)
{
    double cells = (double)t->diagonals * (double)t->rows;
    double along = cells > 0 ? fmin(1, (double)t->nnz / cells) : 0;

    return 1 - foreseen * fmax(along, spry_stats_fill(t, 4, 4));
}

double sp_waits(const sp_ask *q, const sp_rates *r, double bytes)
{
    double tile = !sp_is_sampled(q->p->op) && q->x->tile
                      ? fmin(bytes, q->x->tile * q->lanes * (double)q->p->type)
                      : bytes;
    double lines = fmax(1, tile / r->line);

    if (bytes < r->line)
        return bytes / r->line;
    return bytes / fmax(tile, r->line) * (1 + coming * (lines - 1));
}

/* Panels come back to rows of the result (of sddmm, of B) here and there. */
static void wait_for_panels(sp_traffic *f, const sp_ask *q, const sp_storage *k,
                            const sp_rates *r, double everything)
{
    double bytes = (double)q->p->n * (double)q->p->type;
    double gaps = 1 - k->units / fmax(1, k->parts * (double)q->t->rows);

    if (k->parts > 1 && !sp_format_of(q->x)->slices)
        sp_serve(f->misses, r, everything,
                 gaps * k->units * sp_waits(q, r, bytes));
}

sp_traffic sp_model_traffic(const sp_ask *q, const sp_storage *k,
                            const sp_rates *r)
{
    sp_traffic f = {{0}, 0, {0}};
    double size = (double)q->p->type, n = (double)q->p->n;
    double outputs = (double)sp_sparse_output_size(q->p) * size;
    double inputs = (double)q->t->reuse_first * n * size;
    double everything, loads[SP_LEVELS] = {0};
    scattered b = scatter_of(q, k, r);

    if (sp_has_tensor(q->p->op))
        return sp_tensor_traffic(q, k, r);
    if (sp_is_sampled(q->p->op))
        outputs += (double)q->t->rows * n * size;
    if (q->x->copy)
        serve_copies(&f, q, r, outputs);
    everything = (k->bytes + outputs) / r->cores + inputs;
    serve_scattered(loads, q, k, r, everything);
    for (int i = 0; i < SP_LEVELS; i++) {
        double visits = loads[i] * sp_passes(q);

        f.bytes[i] += visits * b.row;
        if (!sp_format_of(q->x)->ordered)
            f.misses[i] = visits * sp_waits(q, r, b.row) * surprise(q->t);
    }
    wait_for_panels(&f, q, k, r, everything);
    sp_serve(f.bytes, r, everything, k->bytes * sp_passes(q));
    serve_rows(&f, q, k, r, everything);
    /* What is left over comes back to its rows of the result. */
    sp_serve(f.bytes, r, everything, 2 * k->rest_units * n * size);
    if (q->p->layout == SPRY_COL_MAJOR) /* copies in and out */
        f.stored += 2 * (inputs + outputs);
    return f;
}
