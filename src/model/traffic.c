/* traffic.c - which level of the memory serves which bytes.
 *
 * A column used again after d entries finds its row of the dense operand in
 * a cache if what those d entries touched fits there. Panels shorten d,
 * passes narrow the rows. Streams (A, C) come from where everything fits. */
#include "model/internal.h"

#include <math.h>

/* Add `amount`, last touched `footprint` bytes ago, to the levels. */
static void serve(double to[SP_LEVELS], const sp_rates *r, double footprint,
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
    double places; /* rows in reach at a time */
    double used;   /* rows that are used at all */
    double beside; /* bytes of A that pass by per entry */
    double closer; /* reuse distances shrink to this share */
} scattered;

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
                   .used = fmax(1, (double)t->reuse_first),
                   .beside = k->bytes / nnz,
                   .closer = 1 / k->parts};

    b.places = b.used / k->parts;
    return b;
}

/* What d entries touch. */
static double footprint(const scattered *b, double d)
{
    d *= b->closer;
    return d * b->places / (d + b->places) * b->row + d * b->beside;
}

/* Loads of the scattered operand, the shortest distances first: those that
 * a block shares between its rows do not happen. */
static void serve_scattered(double loads[SP_LEVELS], const sp_ask *q,
                            const sp_storage *k, const sp_rates *r,
                            double everything)
{
    const spry_stats *t = q->t;
    scattered b = scatter_of(q, k, r);
    double rows = k->entries * (q->x->format == SPRY_BCSR ? q->x->c : 1);
    double spared = (double)t->nnz - rows;

    if (q->x->format == SPRY_DIA) {
        spared = 0;
        rows = (double)t->nnz;
    }
    for (int i = 0; i < SPRY_REUSE; i++) {
        double count = (double)t->reuse[i];
        double skip = fmin(count, fmax(0, spared));

        spared -= skip;
        if (count > skip)
            serve(loads, r, footprint(&b, ldexp(1.5, i)), count - skip);
    }
    serve(loads, r, everything, (double)t->reuse_first);
    if (spared < 0) /* padding repeats what was just loaded */
        loads[0] -= spared;
}

static double passes_of(const sp_ask *q)
{
    return q->x->pass ? ceil((double)q->p->n / q->x->pass) : 1;
}

/* The result, and of sddmm also B, walked row by row. */
static void serve_rows(sp_traffic *f, const sp_ask *q, const sp_storage *k,
                       const sp_rates *r, double everything)
{
    double size = (double)q->p->type, n = (double)q->p->n;
    double rows = (double)q->t->rows;
    double visits = k->parts > 1 ? k->units : rows;
    double outside[SP_LEVELS] = {0};

    if (q->p->op == SPRY_SDDMM) {
        serve(f->bytes, r, everything, visits * n * size);
        visits = (double)q->t->nnz;
        n = 1;
    }
    if (q->x->stream) {
        f->stored += visits * n * size;
        return;
    }
    /* A store reads its line first; panels add to what is there. */
    serve(outside, r, everything, 1);
    for (int i = 0; i < SP_LEVELS; i++)
        f->bytes[i] += outside[i] * visits * n * size;
    f->stored += outside[SPRY_CACHES] * visits * n * size;
}

sp_traffic sp_model_traffic(const sp_ask *q, const sp_storage *k,
                            const sp_rates *r)
{
    sp_traffic f = {{0}, 0, {0}};
    double size = (double)q->p->type, n = (double)q->p->n;
    double outputs = (double)spry_problem_output_size(q->p) * size;
    double inputs = (double)q->t->reuse_first * n * size;
    double everything, loads[SP_LEVELS] = {0}, line;
    scattered b = scatter_of(q, k, r);

    if (q->p->op == SPRY_SDDMM)
        outputs += (double)q->t->rows * n * size;
    everything = (k->bytes + outputs) / r->cores + inputs;
    serve_scattered(loads, q, k, r, everything);
    line = fmin(b.row, r->line);
    for (int i = 0; i < SP_LEVELS; i++) {
        double bytes = loads[i] * b.row * passes_of(q);

        f.bytes[i] += bytes;
        if (q->x->format != SPRY_DIA)
            f.misses[i] = bytes / line * fmin(1, line / r->line);
    }
    serve(f.bytes, r, everything, k->bytes * passes_of(q));
    serve_rows(&f, q, k, r, everything);
    if (q->p->layout == SPRY_COL_MAJOR) /* copies in and out */
        f.stored += 2 * (inputs + outputs);
    return f;
}
