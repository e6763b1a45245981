/* features.c - what a model is told of a way to compute an operator.
 *
 * A row has the parts that rows of sparse problems have (model/features.h):
 * the problem, the machine, the way, and what the three make together. Sizes
 * are logarithms, and what meets the machine is a ratio to it, so that a
 * larger cache looks like a smaller operator. What is left of a part is 0. */
#include "model/features.h"

#include <math.h>
#include <string.h>

#include "dense/learned.h"

typedef struct {
    float *at;
} numbers;

static void put(numbers *r, double value)
{
    *r->at++ = (float)value;
}

/* Sizes, 0 stays 0. */
static void put_size(numbers *r, double value)
{
    put(r, log2(1 + value));
}

static void put_problem(numbers r, const sp_dense_problem *p,
                        const sp_dense_extent *e)
{
    const spry_operator *op = &p->op;

    put_size(&r, spry_problem_flops(&p->head));
    put_size(&r, e->in);
    put_size(&r, e->weights);
    put_size(&r, e->out);
    put_size(&r, e->lines);
    put_size(&r, e->width);
    put_size(&r, e->groups);
    put_size(&r, e->c);
    put_size(&r, e->k);
    put(&r, (double)op->r);
    put(&r, (double)op->s);
    put(&r, (double)op->stride_w);
    put(&r, (double)op->dilate_w);
    put_size(&r, (double)(op->kind == SPRY_MATMUL ? op->batch : op->n));
    put(&r, op->act == SPRY_ACT_NONE ? 0 : op->act <= SPRY_ACT_LEAKY ? 1 : 2);
    put(&r, op->add != SPRY_ADD_NONE);
    put(&r, op->given != 0);
    put(&r, op->transposed != 0);
    put(&r, (double)op->sparsity);
    put(&r,
        log2(spry_problem_flops(&p->head) / (e->in + e->weights + e->out + 1)));
}

static void put_way(numbers r, const sp_dense_way *x)
{
    for (int a = 0; a < SP_ALGORITHMS; a++)
        put(&r, (int)x->algorithm == a);
    put(&r, x->mr);
    put(&r, x->v);
    put(&r, x->mr * x->v);
    put_size(&r, (double)x->block);
    put(&r, x->channels);
    put_size(&r, x->threads);
}

/* How many times it fills each cache; a cache that is not there is full. */
static void put_filled(numbers *r, const spry_machine *m, double bytes)
{
    for (int i = 0; i < SPRY_CACHES; i++) {
        double size = (double)spry_machine_cache(m, i);

        put(r, size > 0 ? log2((bytes + 1) / size) : 16);
    }
}

static double rounded_up(double x, double to)
{
    return ceil(x / to) * to / fmax(x, 1);
}

static void put_joint(numbers r, const sp_dense_problem *p,
                      const sp_dense_extent *e, const sp_dense_way *x,
                      const spry_machine *m)
{
    static const sp_dense_way plain = {
        .algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};
    double lanes = spry_isa_bytes(m->isa) / 4.0, seconds, tiles, block, part;

    seconds = sp_dense_predict(p, x, m);
    tiles = e->lines * ceil(e->width / x->mr);
    block = 4 * e->c * e->taps * x->v * lanes;
    part = x->block ? fmin(1, (double)x->block / tiles) : 1;
    put(&r, log(seconds / sp_dense_predict(p, &plain, m)));
    put(&r, log(seconds / fmax(sp_dense_least(p, m), 1e-12)));
    put(&r, rounded_up(e->width, x->mr));
    put(&r, rounded_up(e->k, x->v * lanes));
    put_size(&r, tiles);
    put(&r, rounded_up(x->channels ? ceil(e->k / (x->v * lanes)) : tiles,
                       x->threads));
    put(&r, m->fork > 0 && x->threads > 1 ? log2(m->fork / seconds) : -16);
    put_filled(&r, m, e->weights);
    put_filled(&r, m, e->in);
    put_filled(&r, m, e->out);
    put_filled(&r, m, block);
    put_filled(&r, m, part * e->in);
}

void sp_dense_row(float out[SP_FEATURES], const sp_dense_problem *p,
                  const sp_dense_way *x, const spry_machine *m)
{
    sp_dense_extent e = sp_dense_extent_of(p);
    float *at = out;

    memset(out, 0, SP_FEATURES * sizeof *out);
    put_problem((numbers){at}, p, &e);
    at += SP_PATTERN;
    sp_features_machine(at, m);
    at += SP_MACHINE;
    put_way((numbers){at}, x);
    put_joint((numbers){at + SP_SCHEDULE}, p, &e, x, m);
}
