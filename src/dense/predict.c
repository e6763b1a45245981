/* predict.c - how long a way should take: cycles of its tiles, bytes through
 * the caches, threads that wait for each other. Nothing is measured; what the
 * machine was not probed for is guessed. */
#include <math.h>

#include "dense/internal.h"

/* A machine in the units that tiles have. */
typedef struct {
    double cycle; /* seconds, at two multiply-adds each */
    double from[SPRY_CACHES + 1], size[SPRY_CACHES]; /* bytes/s, bytes */
    double fork;
    int lanes;
} rates;

static rates rates_of(const spry_machine *m)
{
    static const double per_cycle[] = {64, 32, 12, 4};
    int lanes = spry_isa_bytes(m->isa) / 4;
    double peak = m->fma_f32 > 0 ? m->fma_f32 : 4 * lanes * 3e9;
    rates r = {.cycle = 4 * lanes / peak,
               .fork = m->fork > 0 ? m->fork : 3e-6,
               .lanes = lanes};

    for (int i = 0; i <= SPRY_CACHES; i++)
        r.from[i] = per_cycle[i] / r.cycle;
    for (int i = 0; i < SPRY_CACHES; i++) {
        r.size[i] = (double)spry_machine_cache(m, i);
        if (m->cache_read[i] > 0)
            r.from[i] = m->cache_read[i];
    }
    if (m->points > 0 && m->read[0] > 0)
        r.from[SPRY_CACHES] = m->read[0];
    return r;
}

/* Seconds to read so many bytes of a working set that large. */
static double reading(const rates *r, double bytes, double set)
{
    int level = 0;

    while (level < SPRY_CACHES && (r->size[level] == 0 || set > r->size[level]))
        level++;
    return bytes / r->from[level];
}

/* Cycles of one term of a tile: multiply-adds two at a time, loads three in
 * two cycles, and a chain of sums waits for itself. */
static double tile_cycles(int mr, int v)
{
    double fma = 0.5 * mr * v, loads = 0.55 * (mr + v);

    return fmax(fmax(fma, loads), 4) * (mr * v < 8 ? 1.1 : 1.02);
}

/* All tiles of lines `width` wide, for one block of v vectors. */
static double line_cycles(double width, int mr, int v, double terms)
{
    double tiles = ceil(width / mr), base = floor(width / tiles);
    double extra = width - base * tiles;
    double each = 24 + 1.5 * v * mr; /* to begin, to store */

    return extra * (terms * tile_cycles((int)base + 1, v) + each) +
           (tiles - extra) * (terms * tile_cycles((int)base, v) + each);
}

/* Cycles of all tiles with all blocks of k channels. */
static double sweep_cycles(double width, double k, const sp_dense_way *x,
                           double terms, int lanes)
{
    double whole = floor(k / (x->v * lanes));
    int rest = (int)ceil((k - whole * x->v * lanes) / lanes);
    double cycles = whole * line_cycles(width, x->mr, x->v, terms);

    if (rest > 0)
        cycles += line_cycles(width, x->mr, rest, terms);
    return cycles;
}

/* The largest share of `units` that can be dealt to `threads`. */
static double largest_share(double units, int threads)
{
    return ceil(units / threads) / units;
}

static double with_threads(const rates *r, double seconds, double units,
                           int threads)
{
    return threads == 1 ? seconds
                        : seconds * largest_share(units, threads) + r->fork;
}

/* ---- sums of products ---- */

sp_dense_extent sp_dense_extent_of(const sp_dense_problem *p)
{
    const spry_operator *op = &p->op;
    sp_dense_extent e = {
        .lines = 1, .width = (double)p->rows, .groups = 1, .taps = 1};

    e.out = 4 * (double)p->rows * (double)p->cols;
    e.in = 4 * (double)sp_dense_in(op);
    e.weights = 4 * (double)(sp_dense_weights(op) + sp_dense_b(op));
    e.c = (double)op->k;
    e.k = (double)op->n;
    if (op->kind == SPRY_MATMUL) {
        if (!op->shared_b) {
            e.lines = (double)op->batch;
            e.width = (double)op->m;
        }
        return e;
    }
    e.groups = (double)op->groups;
    e.c = (double)op->c / e.groups;
    e.k = (double)op->k / e.groups;
    e.taps = (double)(op->r * op->s);
    if (e.taps > 1 || op->stride_h > 1 || op->stride_w > 1) {
        e.lines = (double)(op->n * p->height);
        e.width = (double)p->width;
    }
    return e;
}

static double predict_direct(const sp_dense_problem *p, const sp_dense_way *x,
                             const rates *r)
{
    sp_dense_extent e = sp_dense_extent_of(p);
    double terms = e.c * e.taps, tiles = e.lines * ceil(e.width / x->mr);
    double blocks = e.groups * ceil(e.k / (x->v * r->lanes));
    double cycles =
        e.lines * e.groups * sweep_cycles(e.width, e.k, x, terms, r->lanes);
    double sweeps = x->block ? ceil(tiles / x->threads / (double)x->block) : 1;
    double part = x->block ? fmin(1, (double)x->block / tiles) : 1;
    double block = e.weights / blocks, memory;

    if (x->channels)
        sweeps = x->block ? ceil(tiles / (double)x->block) : 1;
    /* weights once a sweep from where all of them fit, a block again for
     * every tile, the input of a sweep once for every block */
    memory = reading(r, e.weights * sweeps, e.weights + part * e.in) +
             reading(r, block * blocks * tiles, 2 * block) * 0.3 +
             reading(r, e.in * blocks / e.groups, part * e.in + block) +
             reading(r, e.out, e.out);
    if (p->op.given)
        cycles += e.weights / 4 * (p->op.transposed ? 2 : 0.5);
    return with_threads(r, cycles * r->cycle + 0.5 * memory,
                        p->op.given   ? e.lines * blocks
                        : x->channels ? blocks
                                      : tiles,
                        x->threads);
}

static double predict_wino2(const sp_dense_problem *p, const sp_dense_way *x,
                            const rates *r)
{
    sp_dense_extent e = sp_dense_extent_of(p);
    double tiles =
        (double)(p->op.n * ((p->height + 1) / 2) * ((p->width + 1) / 2));
    double count = fmin((double)x->block, ceil(tiles / x->threads));
    double bands = ceil(tiles / count), vectors = ceil(e.c / r->lanes);
    double blocks = ceil(e.k / (x->v * r->lanes));
    double cycles = 16 * bands * sweep_cycles(count, e.k, x, e.c, r->lanes);
    double weights = 16 / 9.0 * e.weights, in = 64 * count * e.c, memory;

    cycles += tiles * vectors * 34 * (x->channels ? x->threads : 1);
    cycles += tiles * ceil(e.k / r->lanes) * 36;
    memory = reading(r, weights * bands, weights + in) +
             reading(r, in * blocks * bands, 2 * in + weights / blocks) +
             reading(r, e.in + e.out, e.in + e.out);
    return with_threads(r, cycles * r->cycle + 0.5 * memory,
                        x->channels ? blocks : tiles, x->threads);
}

/* Lines of the input are read once for each filter line that meets them: from
 * the nearest cache if what a tile reads stays there. */
static double predict_dw(const sp_dense_problem *p, const sp_dense_way *x,
                         const rates *r)
{
    const spry_operator *op = &p->op;
    double tiles = ceil((double)p->width / x->mr),
           mr = (double)p->width / tiles;
    double vectors = ceil((double)op->c / r->lanes);
    double pixels = (mr - 1) * (double)op->stride_w + (double)op->s;
    double line =
        fmax(0.7 * (pixels + (double)op->s), 0.5 * mr * (double)op->s);
    double each =
        (double)op->r * fmax(line, 4.0 * fmin(1, 4 / mr)) + 1.5 * mr + 6;
    double calls = x->block ? ceil((double)op->c / (double)x->block) : 1;
    double lines = (double)(op->n * p->height);
    double cycles = lines * tiles * (vectors * each + 20 * calls);
    double in = 4 * (double)sp_dense_in(op), out = 4 * (double)sp_dense_out(op);
    double window = 4 * pixels * (double)op->r *
                    fmin((double)op->c, x->block ? (double)x->block : HUGE_VAL);
    double again = in * (double)op->r / (double)op->stride_h;
    double memory = 0.3 * reading(r, in + out, in + out);

    if (x->block)
        memory *= 1.3; /* it does not come in one piece */
    memory += 0.3 * reading(r, again, window + 8192);
    return with_threads(r, cycles * r->cycle + memory,
                        x->channels ? ceil((double)op->c / 16) : lines,
                        x->threads);
}

/* One pixel: three loads for every product. */
static double predict_single(const sp_dense_problem *p, const sp_dense_way *x,
                             const rates *r)
{
    sp_dense_extent e = sp_dense_extent_of(p);
    double nonzeros = (1 - (double)p->op.sparsity) * e.c * e.taps * e.k;
    double bytes = 8 * nonzeros;

    return with_threads(
        r,
        fmax((1.1 * nonzeros + 20 * e.k) * r->cycle, reading(r, bytes, bytes)),
        ceil(e.k / 64), x->threads);
}

/* Loads bound it: a vector for every product, and the weight. Columns and
 * sums are turned, sums of all blocks but the first are loaded again. */
static double predict_pruned(const sp_dense_problem *p, const sp_dense_way *x,
                             const rates *r)
{
    sp_dense_extent e = sp_dense_extent_of(p);
    double columns = e.c * e.taps, kept = 1 - (double)p->op.sparsity;
    double vectors = ceil((double)p->rows / r->lanes), split = x->threads;
    double mine = x->channels ? vectors : ceil(vectors / split);
    double tiles = ceil(mine / x->v), v = mine / tiles;
    double rows = x->channels ? 64 * ceil(ceil(e.k / 64) / split) : e.k;
    double block = x->block ? (double)x->block : columns;
    double blocks = ceil(columns / block),
           chunks = blocks > 1 ? ceil(rows / 512) : 1;
    double nonzeros = kept * columns * rows;
    double each = fmax(0.55 * (v + 1) + 0.3, 4.0 / x->mr);
    double turn = r->lanes > 8 ? 5 : 3;
    double hot = 4 * r->lanes * v * block, cycles;
    double memory = reading(r, 4 * r->lanes * v * nonzeros, hot) +
                    reading(r, 8 * nonzeros, 8 * nonzeros);

    /* columns are read in no order: what is not near comes late */
    if (r->size[0] > 0 && hot > 0.8 * r->size[0])
        each *= 1 + fmin(1, hot / r->size[0] - 0.8);

    cycles = nonzeros * each +
             rows * blocks * (8 + 1.2 * v + (blocks > 1 ? v : 0)) +
             turn * v * columns * chunks + (turn + 1) * v * rows +
             100 * e.taps * chunks;
    cycles *= tiles;
    memory *= tiles;
    return fmax(cycles * r->cycle, memory) + 0.2 * memory +
           (x->threads > 1 ? r->fork : 0);
}

/* ---- plain loops, rows ---- */

static double predict_plain(const sp_dense_problem *p, const sp_dense_way *x,
                            const rates *r)
{
    double flops = spry_problem_flops(&p->head);
    double bytes = spry_problem_bytes(&p->head);
    int sums = p->op.kind == SPRY_CONV2D || p->op.kind == SPRY_MATMUL;
    double each = sums ? 0.75 / r->lanes : 1.5; /* cycles of an operation */

    return with_threads(r, flops * each * r->cycle + reading(r, bytes, bytes),
                        (double)p->rows, x->threads);
}

static double predict_rows(const sp_dense_problem *p, const sp_dense_way *x,
                           const rates *r)
{
    double flops = spry_problem_flops(&p->head);
    double bytes = spry_problem_bytes(&p->head);
    double each = p->op.kind == SPRY_SOFTMAX ? 3 : 1;

    return with_threads(r,
                        flops * each / r->lanes * r->cycle +
                            reading(r, bytes, bytes) +
                            20 * (double)p->rows * r->cycle,
                        (double)p->rows, x->threads);
}

double sp_dense_predict(const sp_dense_problem *p, const sp_dense_way *x,
                        const spry_machine *m)
{
    rates r = rates_of(m);

    switch (x->algorithm) {
    case SP_DIRECT: return predict_direct(p, x, &r);
    case SP_WINO2: return predict_wino2(p, x, &r);
    case SP_DW: return predict_dw(p, x, &r);
    case SP_ROWS: return predict_rows(p, x, &r);
    case SP_PRUNED:
        return p->rows == 1 ? predict_single(p, x, &r)
                            : predict_pruned(p, x, &r);
    case SP_PLAIN:
    case SP_ALGORITHMS: break;
    }
    return predict_plain(p, x, &r);
}

/* ---- the bound ---- */

double sp_dense_least(const sp_dense_problem *p, const spry_machine *m)
{
    rates r = rates_of(m);
    double flops = spry_problem_flops(&p->head);
    double saved = p->op.kind == SPRY_CONV2D && p->op.r == 3 && p->op.s == 3
                       ? 16 / 36.0
                       : 1;

    /* clipped taps are not computed: half of them at the very most */
    if ((double)p->op.sparsity > 0)
        saved = fmin(saved, 1 - (double)p->op.sparsity);
    return saved * 0.4 * flops * r.cycle / (4 * r.lanes) / m->threads;
}
