/* point.c - schedules as rows of numbers, alone and on a problem. */
#include "model/features.h"

#include <math.h>

#include "model/internal.h"
#include "schedule/super.h"

/* ---- alone ---- */

static void put_family(sp_feature_row *r, const spry_schedule *x)
{
    for (int f = 0; f < sp_format_count; f++)
        sp_put(r, f == x->format);
    sp_put(r, sp_size(x->tile));
    sp_put(r, log2(x->r));
    sp_put(r, log2(x->c));
    sp_put(r, log2(x->r) + log2(x->c));
    sp_put(r, sp_size(x->slice));
    sp_put(r, sp_size(x->sigma));
    sp_put(r, log2(x->unroll));
    sp_put(r, x->gather);
    sp_put(r, x->index == 16);
    sp_put(r, x->palette == 1);
    sp_put(r, sp_size(x->prefetch));
    sp_put(r, sp_size(x->panel));
    sp_put(r, sp_size(x->pass));
    sp_put(r, x->copy);
    for (int o = SPRY_ORDER_LENGTH; o <= SPRY_ORDER_CLUSTER; o++)
        sp_put(r, x->order == o);
    for (int o = SPRY_MODES_ILK; o <= SPRY_MODES_LKI; o++)
        sp_put(r, x->modes == o);
    sp_put(r, x->stream);
    sp_put(r, x->fixed);
    sp_put(r, log2(x->threads));
    sp_put(r, sp_size(x->chunk));
    sp_put(r, x->chunk == 0);
}

/* Where a loop stands, from 1 on, counted from outside; 0: nowhere. */
static int place_of(const spry_super *s, int loop)
{
    for (int q = 0; q < s->loops; q++)
        if (s->order[q] == loop)
            return q + 1;
    return 0;
}

/* The nest: blocks, places, levels, who shares, and what is innermost. */
static void put_nest(sp_feature_row *r, const spry_super *s,
                     const sp_operation *d)
{
    int compressed = 0, inside = 0,
        last = s->loops ? s->order[s->loops - 1] : 0;

    for (int i = 0; i < SPRY_INDICES; i++)
        sp_put(r, s->split[i]);
    for (int loop = 0; loop < SPRY_LOOPS; loop++)
        sp_put(r, place_of(s, loop));
    for (int loop = 0; loop < SPRY_LOOPS; loop++)
        sp_put(r, s->dense >> loop & 1);
    for (int q = 0; q < s->loops; q++)
        if (sp_is_sparse(d, sp_loop_index(s->order[q]))) {
            int dense = s->dense >> s->order[q] & 1;

            compressed += !dense;
            if (dense && sp_loop_inner(s->order[q]))
                inside += s->split[sp_loop_index(s->order[q])];
        }
    sp_put(r, compressed);
    sp_put(r, inside); /* logarithm of the dense blocks at the end */
    sp_put(r, s->parallel ? place_of(s, s->parallel - 1) : 0);
    sp_put(r, s->loops && sp_loop_index(last) == d->dense);
    sp_put(r, s->loops && sp_loop_index(s->order[0]) == SP_I);
}

void sp_features_schedule(float out[SP_SCHEDULE], const spry_schedule *x,
                          spry_op op)
{
    sp_feature_row r = {out};

    put_family(&r, x);
    put_nest(&r, &x->super, sp_operation_of(op));
    sp_put(&r, x->palette > 1 ? log2(x->palette) : 0);
    sp_put(&r, x->index == 8);
    sp_put(&r, x->rest / 100.0);
    while (r.at < out + SP_SCHEDULE)
        sp_put(&r, 0);
}

/* ---- on a problem ---- */

static void put_terms(sp_feature_row *r, const spry_prediction *t, double plain)
{
    double all = fmax(t->seconds, 1e-12);

    sp_put(r, log(all / plain));
    sp_put(r, log(all));
    sp_put(r, log(plain));
    sp_put(r, t->bandwidth / all);
    sp_put(r, t->latency / all);
    sp_put(r, t->compute / all);
    sp_put(r, t->overhead / all);
    sp_put(r, t->imbalance / all);
    sp_put(r, log2(1e-9 + t->pack_seconds) - log2(all));
}

/* What is stored and moved, against what must be. */
static void put_bytes(sp_feature_row *r, const spry_prediction *t,
                      const sp_sparse *p, const spry_machine *m)
{
    double csr =
        (double)p->A->nnz * (4 + (double)p->type) + 8 * (double)p->A->rows;
    double dense = (double)p->A->cols * (double)p->n * (double)p->type;

    sp_put(r, log2((1 + t->bytes) / (1 + csr)));
    sp_put(r, log2((1 + t->traffic) / (1 + spry_problem_bytes(&p->head))));
    for (int i = 0; i < SPRY_CACHES; i++) {
        double cache = (double)spry_machine_cache(m, i);

        sp_put(r, log2((1 + t->bytes) / (1 + cache)));
        sp_put(r, log2((1 + dense) / (1 + cache)));
    }
}

/* How the schedule's numbers divide the problem's. */
static void put_ratios(sp_feature_row *r, const spry_schedule *x,
                       const sp_sparse *p, const spry_machine *m)
{
    double n = (double)p->n, rows = (double)p->A->rows;
    double wide = (double)x->tile * spry_isa_bytes(m->isa) / (double)p->type;
    double pass = x->pass ? fmin(x->pass, n) : n;

    sp_put(r, sp_size((double)p->A->nnz * n / x->threads));
    sp_put(r, x->threads / fmax(1, m->threads));
    sp_put(r, x->chunk ? log2((1 + rows) / x->chunk / x->threads) : 0);
    sp_put(r, wide > 0 ? log2(n / wide) : 0);
    sp_put(r, wide > 0 ? fmod(n, wide) / n : 0);
    sp_put(r, log2(n / pass));
    sp_put(r, x->panel ? log2((1 + (double)p->A->cols) / x->panel) : 0);
}

/* What a few long rows do: one thread has them, a slice is as long as its
 * longest; and how much of a vector, a block, a panel a row fills. */
static void put_fits(sp_feature_row *r, const spry_schedule *x,
                     const sp_sparse *p, const spry_machine *m,
                     const spry_stats *t)
{
    double nnz = fmax(1, (double)t->nnz), rows = fmax(1, (double)t->rows);
    double longest = (double)t->row_max / nnz;
    double lanes = (double)spry_isa_bytes(m->isa) / (double)p->type;
    double parts = x->panel ? ceil((double)t->cols / x->panel) : 1;

    sp_put(r, log2(1e-6 + x->threads * longest));
    sp_put(r, x->slice ? log2(1e-6 + x->slice * longest) : 0);
    sp_put(r, x->sigma ? log2(x->sigma / rows) : 0);
    sp_put(r, log2((1e-3 + t->row_mean) / (lanes * fmax(1, x->unroll))));
    sp_put(r, x->r * x->c > 1 ? spry_stats_fill(t, x->r, x->c) : 1);
    sp_put(r, log2(1 + rows * parts / nnz));
}

/* Share of the visits to dense rows that find them in the second and in the
 * last cache, by how many entries ago they were last visited. */
static void put_hits(sp_feature_row *r, const spry_schedule *x,
                     const sp_sparse *p, const spry_machine *m,
                     const spry_stats *t)
{
    double n = x->pass ? fmin(x->pass, (double)p->n) : (double)p->n;
    double bytes = fmax(n * (double)p->type, m->line);

    for (int level = 1; level < SPRY_CACHES; level++) {
        double hits = 0, held = (double)spry_machine_cache(m, level) / bytes;

        for (int b = 0; b < SPRY_REUSE && exp2(b) < held; b++)
            hits += (double)t->reuse[b];
        sp_put(r, hits / fmax(1, (double)t->nnz));
    }
}

int sp_features_joint(float out[SP_JOINT], const sp_joint_of *j,
                      const spry_schedule *x)
{
    spry_prediction t;
    sp_feature_row r = {out};

    if (j->p && j->m) {
        if (sp_predict(&t, j->p, x, j->m) != SPRY_OK)
            return 0;
        put_terms(&r, &t, j->plain);
        put_bytes(&r, &t, j->p, j->m);
        put_ratios(&r, x, j->p, j->m);
        put_fits(&r, x, j->p, j->m, sp_problem_sketch(j->p));
        put_hits(&r, x, j->p, j->m, sp_problem_sketch(j->p));
    }
    while (r.at < out + SP_JOINT)
        sp_put(&r, (double)NAN);
    return 1;
}
