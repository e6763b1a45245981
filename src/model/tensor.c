/* tensor.c - mttkrp: what is stored, issued and moved.
 *
 * Three modes take part: the outer one is walked in order, rows of the middle
 * one's operand are visited once per fiber, rows of the inner one's once per
 * entry. Entry by entry (csr), every entry is a fiber. */
#include "model/internal.h"

#include <math.h>

enum { MOST_PARTS = 256, FMA_LATENCY = 4 };

/* The modes from the outermost inwards. */
static const int nesting[][3] = {[SPRY_MODES_IKL] = {0, 1, 2},
                                 [SPRY_MODES_ILK] = {0, 2, 1},
                                 [SPRY_MODES_KLI] = {1, 2, 0},
                                 [SPRY_MODES_LKI] = {2, 1, 0}};

static int scatters(const sp_ask *q)
{
    return sp_schedule_innermost(q->x) == 2;
}

static double size_of_mode(const sp_ask *q, int mode)
{
    const sp_sparse *p = q->p;

    return (double)(mode == 0 ? p->A->rows : mode == 1 ? p->mid : p->inner);
}

/* ---- storage ---- */

/* Runs of `length` entries on average meet so many of `parts` parts. */
static double pieces(double runs, double length, double parts)
{
    return runs * parts * (1 - pow(1 - 1 / (parts + 1e-9), length));
}

static void count_runs(sp_storage *k, const sp_ask *q)
{
    const int *mode = nesting[q->x->modes];
    double nnz = (double)q->t->nnz;
    double outer = (double)q->f->used[mode[0]], fibers;

    fibers = scatters(q) ? (double)q->t->reuse_first
                         : (double)q->f->pairs[mode[1] - 1];
    k->units = scatters(q) || k->parts > 1 ? outer : size_of_mode(q, 0);
    if (k->parts > 1) {
        k->units = pieces(outer, nnz / fmax(1, outer), k->parts);
        fibers = pieces(fibers, nnz / fmax(1, fibers), k->parts);
    }
    k->fibers = sp_format_of(q->x)->fibers ? fibers : nnz;
    k->entries = k->values = nnz;
}

static double count_parts(const sp_ask *q)
{
    double size = size_of_mode(q, nesting[q->x->modes][2]), threads;
    double parts = q->x->panel ? ceil(size / q->x->panel) : 1;

    threads = q->x->threads;
    return scatters(q) ? ceil(parts / threads) * threads : parts;
}

spry_status sp_tensor_storage(sp_storage *k, const sp_ask *q)
{
    const int *mode = nesting[q->x->modes];
    double number = 4, column, span;
    spry_status s;

    k->parts = count_parts(q);
    span = size_of_mode(q, mode[2]) / (scatters(q) ? 1 : k->parts);
    if (q->x->format == SPRY_CSR)
        span = fmax(span, size_of_mode(q, mode[1]));
    if (k->parts > MOST_PARTS)
        return sp_fail(SPRY_USAGE, "%.0f panels are too many", k->parts);
    s = sp_check_index(q, (double)q->t->nnz, (int64_t)span);
    count_runs(k, q);
    if (q->x->index == 64)
        number = 8;
    column = q->x->index == 16 ? 2 : number;
    k->bytes = (k->units + k->parts) * number +
               k->entries * (column + (double)q->p->type) +
               (sp_format_of(q->x)->fibers ? k->fibers * 2 * number
                                           : k->entries * column);
    return s;
}

/* ---- work ---- */

/* Ends of fibers that are guessed wrong: none when all hold one entry. */
static double wrong_ends(const sp_storage *k)
{
    double length = k->entries / fmax(1, k->fibers);

    return 0.5 * k->fibers * fmin(1, length - 1);
}

static sp_work plain_work(const sp_ask *q, const sp_storage *k)
{
    double vectors = ceil((double)q->p->n / q->lanes);
    int in_fibers = sp_format_of(q->x)->fibers;

    return (sp_work){
        .inner = k->entries * (18 + vectors * (in_fibers ? 4 : 6)),
        .ends = k->units * (20 + 2 * vectors) +
                in_fibers * k->fibers * (30 + 6 * vectors),
        .fma = k->entries * vectors,
        .chain = 8 * (k->entries + in_fibers * k->fibers),
        .units = k->units,
        .wrong = in_fibers ? wrong_ends(k) + 0.2 * k->fibers : 0.1 * k->entries,
    };
}

sp_work sp_tensor_work(const sp_ask *q, const sp_storage *k)
{
    double tiles, vectors, lines, entry, fiber;
    int in_fibers = sp_format_of(q->x)->fibers;

    if (!q->x->tile)
        return plain_work(q, k);
    sp_count_tiles(q, &tiles, &vectors);
    lines = q->x->prefetch
                ? tiles * 2 + vectors * q->lanes * (double)q->p->type / 64
                : 0;
    /* A step, a vector: load and multiply-add; scattered also a store. */
    entry = tiles * 5 + lines + vectors * (scatters(q) ? 3 : 1.5);
    fiber = tiles * 10 + lines + vectors * (scatters(q) ? 2 : 2.5);
    if (!in_fibers) {
        entry += tiles * 2 + lines + vectors * 2;
        fiber = 0;
    }
    return (sp_work){
        .inner = k->entries * entry + k->fibers * fiber,
        .ends = k->units * (tiles * 16 + 3 * vectors),
        .fma = k->entries * vectors + (in_fibers ? k->fibers * vectors : 0),
        .chain =
            scatters(q) ? 0 : FMA_LATENCY * k->entries * tiles / q->x->unroll,
        .units = in_fibers ? k->fibers * tiles : k->units * tiles,
        .wrong = (in_fibers ? wrong_ends(k) * tiles : 0) + k->units * tiles,
    };
}

/* ---- traffic ---- */

/* Rows of a dense operand that are visited here and there. */
typedef struct {
    double visits;
    double used; /* different rows in reach at a time */
    double row;  /* bytes */
} visited;

/* Bytes that `visits` of them touch. */
static double touched(const visited *v, double visits)
{
    return visits * v->used / (visits + v->used) * v->row;
}

typedef struct {
    visited middle, inner;
    double beside; /* bytes of the tensor per entry */
    double closer; /* reuse distances shrink to this share */
    double nnz;
} reach;

/* What d entries touch. */
static double footprint(const reach *w, double d)
{
    d *= w->closer;
    return touched(&w->inner, d) +
           touched(&w->middle, d * w->middle.visits / w->nnz) + d * w->beside;
}

static reach reach_of(const sp_ask *q, const sp_storage *k, const sp_rates *r)
{
    const int *mode = nesting[q->x->modes];
    double n = (double)(q->x->pass ? q->x->pass : q->p->n);
    double row = ceil(n * (double)q->p->type / r->line) * r->line;
    double nnz = fmax(1, (double)q->t->nnz);

    return (reach){
        .middle = {k->fibers, fmax(1, (double)q->f->used[mode[1]]), row},
        .inner = {k->entries, fmax(1, (double)q->f->used[mode[2]] / k->parts),
                  row},
        .beside = 0.25 * k->bytes / nnz,
        .closer = 1 / k->parts,
        .nnz = nnz,
    };
}

/* Visits to one operand by the level that serves them. Of modes 1 and 2 the
 * distances are known, of the result's they are as if even. */
static void serve_visits(double loads[SP_LEVELS], const sp_ask *q,
                         const reach *w, const visited *v, int mode,
                         const sp_rates *r, double everything)
{
    double known = 0, scale;

    if (mode == 0) {
        sp_serve(loads, r, footprint(w, v->used), v->visits);
        return;
    }
    for (int i = 0; i < SPRY_REUSE; i++)
        known += (double)q->f->reuse[mode][i];
    known += (double)q->f->used[mode];
    scale = v->visits / fmax(1, known);
    for (int i = 0; i < SPRY_REUSE; i++)
        if (q->f->reuse[mode][i])
            sp_serve(loads, r, footprint(w, ldexp(1.5, i)),
                     scale * (double)q->f->reuse[mode][i]);
    sp_serve(loads, r, everything, scale * (double)q->f->used[mode]);
}

/* The rows that are walked in order: the result's, or the outer operand's. */
static void serve_walked(sp_traffic *f, const sp_ask *q, const sp_storage *k,
                         const sp_rates *r, double everything)
{
    double bytes = (double)q->p->n * (double)q->p->type;
    double outside[SP_LEVELS] = {0};

    sp_serve(outside, r, everything, k->units * bytes);
    for (int i = 0; i < SP_LEVELS; i++)
        f->bytes[i] += outside[i];
    if (!scatters(q))
        f->stored += outside[SPRY_CACHES];
}

sp_traffic sp_tensor_traffic(const sp_ask *q, const sp_storage *k,
                             const sp_rates *r)
{
    const int *mode = nesting[q->x->modes];
    sp_traffic f = {{0}, 0, {0}};
    reach w = reach_of(q, k, r);
    double size = (double)q->p->n * (double)q->p->type, everything;
    double loads[2][SP_LEVELS] = {{0}, {0}};

    everything = (k->bytes + size_of_mode(q, 0) * size) / r->cores +
                 ((double)q->f->used[1] + (double)q->f->used[2]) * size;
    serve_visits(loads[0], q, &w, &w.middle, mode[1], r, everything);
    serve_visits(loads[1], q, &w, &w.inner, mode[2], r, everything);
    for (int i = 0; i < SP_LEVELS; i++)
        for (int v = 0; v < 2; v++) {
            double visits = loads[v][i] * sp_passes(q);
            int written = v == 1 && scatters(q);

            f.bytes[i] += visits * w.inner.row * (1 + written);
            f.misses[i] += visits * sp_waits(q, r, w.inner.row);
        }
    sp_serve(f.bytes, r, everything, k->bytes * sp_passes(q));
    serve_walked(&f, q, k, r, everything);
    return f;
}
