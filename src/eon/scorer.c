/* scorer.c - the scorer of moves, and the move it likes best. */
#include "eon/scorer.h"

#include <string.h>

static const char *const head_name[SP_HEADS] = {"source", "opening", "gate"};

/* ---- weights ---- */

/* Where a fresh scorer begins: near blocked. Neurons are opened by number,
 * until half of memory is open, and again when all of them are closed; the
 * source runs that reaches those not used for longest, else the next one. */
static void start_near_blocked(sp_scorer *c)
{
    float *source = c->head[SP_RUN].linear.weight->value;
    float *opening = c->head[SP_OPEN].linear.weight->value;
    float *gate = c->head[SP_GATE].linear.weight->value;

    source[5] = 4;
    source[10] = 1;
    source[2] = 1;
    opening[7] = 2;
    opening[3] = 1;
    gate[0] = -4;
    gate[11] = 12;
    gate[1] = -8;
}

static sp_head make_head(sp_nn *n, const char *name)
{
    char part[SP_NN_NAME];
    sp_head h;

    snprintf(part, sizeof part, "%s.linear", name);
    h.linear = sp_dense_make(n, part, SP_FEATURES, 1, 0);
    snprintf(part, sizeof part, "%s.first", name);
    h.first = sp_dense_make(n, part, SP_FEATURES, SP_HIDDEN, 1);
    snprintf(part, sizeof part, "%s.last", name);
    h.last = sp_dense_make(n, part, SP_HIDDEN, 1, 0);
    return h;
}

spry_status sp_scorer_make(sp_scorer *c, sp_nn *weights)
{
    int fresh = sp_nn_count(weights) == 0;
    spry_status s;

    *c = (sp_scorer){.weights = weights};
    for (int h = 0; h < SP_HEADS; h++)
        c->head[h] = make_head(weights, head_name[h]);
    s = sp_nn_status(weights);
    if (s != SPRY_OK) {
        sp_scorer_free(c);
        return s;
    }
    for (int h = 0; fresh && h < SP_HEADS; h++) {
        sp_tensor *linear = c->head[h].linear.weight;
        sp_tensor *last = c->head[h].last.weight;

        memset(linear->value, 0, (size_t)linear->size * sizeof(float));
        memset(last->value, 0, (size_t)last->size * sizeof(float));
    }
    if (fresh)
        start_near_blocked(c);
    sp_scorer_pack(c);
    return SPRY_OK;
}

void sp_scorer_free(sp_scorer *c)
{
    sp_nn_free(c->weights);
    *c = (sp_scorer){0};
}

void sp_scorer_pack(sp_scorer *c)
{
    for (int h = 0; h < SP_HEADS; h++) {
        const float *first = c->head[h].first.weight->value;

        for (int j = 0; j < SP_HIDDEN; j++)
            for (int i = 0; i < SP_FEATURES; i++)
                c->head[h].packed[i][j] = first[j * SP_FEATURES + i];
    }
}

static float score_of(const sp_scorer *c, sp_head_kind kind, const float *f)
{
    const sp_head *h = &c->head[kind];
    const float *linear = h->linear.weight->value;
    const float *last = h->last.weight->value;
    float hidden[SP_HIDDEN], score = 0;

    memcpy(hidden, h->first.bias->value, sizeof hidden);
    for (int i = 0; i < SP_FEATURES; i++) {
        score += linear[i] * f[i];
        for (int j = 0; j < SP_HIDDEN; j++)
            hidden[j] += h->packed[i][j] * f[i];
    }
    for (int j = 0; j < SP_HIDDEN; j++)
        score += hidden[j] > 0 ? last[j] * hidden[j] : 0;
    return score;
}

/* ---- moves ---- */

static int best_of(const sp_scorer *c, sp_head_kind kind,
                   const sp_candidates *among, float *score)
{
    int best = -1;

    for (int i = 0; i < among->count; i++) {
        float x = score_of(c, kind, among->f[i]);

        if (best < 0 || x > *score) {
            best = i;
            *score = x;
        }
    }
    return best;
}

/* More open neurons than this cannot stay in memory beside the sources. */
static int may_open(const sp_moves *m)
{
    return m->openable.first != SP_NOBODY &&
           m->open_count < 3 * m->memory.room / 4;
}

void sp_scorer_move(const sp_scorer *c, sp_moves *m)
{
    float gate[SP_FEATURES], score = 0;
    sp_candidates among;
    int best;

    sp_candidates_sources(&among, gate, m);
    best = best_of(c, SP_RUN, &among, &score);
    if (best >= 0 && (!may_open(m) || score_of(c, SP_GATE, gate) <= score)) {
        sp_moves_run_source(m, among.neuron[best]);
        return;
    }
    sp_candidates_openings(&among, m);
    best = best_of(c, SP_OPEN, &among, &score);
    sp_moves_open_neuron(m, among.neuron[best]);
}
