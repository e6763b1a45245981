/* candidates.c - the candidates of a move and their features; each found in
 * O(1), but for the edges of a neuron that are looked through. */
#include "eon/scorer.h"

#include <math.h>
#include <string.h>

enum { FROM_TOP = 5, TAIL = 16, FROM_TAIL = 2, NEWEST = 6, SWEEP = 256 };
enum {
    FROM_FRONT = 5,
    FROM_BACK = 4,
    FROM_NEWEST = 4,
    BEHIND = 3,
    LOOKED_AT = 64
};

/* One more candidate, unless it is among them; its place. */
static int add_candidate(sp_candidates *c, int32_t neuron)
{
    for (int i = 0; i < c->count; i++)
        if (c->neuron[i] == neuron)
            return i;
    if (c->count == SP_CANDIDATES)
        return -1;
    c->neuron[c->count] = neuron;
    return c->count++;
}

/* 0 .. 1, however many there are: what is learned on small networks must
 * not run wild on large ones. */
static float bounded(double count)
{
    return (float)(count / (count + 8));
}

static float flag(int so)
{
    return so ? 1.0F : 0.0F;
}

/* ---- sources to run ---- */

/* Those with the largest gains. */
static void add_gainers(sp_candidates *c, const sp_moves *m)
{
    int64_t gain = m->gains.top;
    int lists = 0;

    for (; gain > 0 && c->count < FROM_TOP && lists < 4; gain--, lists++)
        for (int32_t u = m->gains.first[gain];
             u != SP_NOBODY && c->count < FROM_TOP; u = m->gains.next[u])
            add_candidate(c, u);
}

/* Sources that would keep the open neuron v from leaving. */
static void add_sources_of(sp_candidates *c, const sp_moves *m, int32_t v)
{
    int64_t first = m->net->start[v], left = m->memory.ins[v];

    add_candidate(c, m->net->source[m->in_edge[first]]);
    add_candidate(c, m->net->source[m->in_edge[first + m->clock % left]]);
}

/* What lies at the end of memory and will leave next: sources that could
 * still run, and open neurons. How many lie before the first open one. */
static int add_leavers(sp_candidates *c, const sp_moves *m)
{
    int32_t x = m->memory.by_use.first;
    int slack = TAIL, sources = 0, sums = 0;

    for (int i = 0; i < TAIL && x != SP_NOBODY;
         i++, x = m->memory.by_use.after[x])
        if (m->open[x]) {
            slack = slack < i ? slack : i;
            if (sums++ < FROM_TAIL)
                add_sources_of(c, m, x);
        } else if (m->gain[x] > 0 && sources++ < FROM_TAIL) {
            add_candidate(c, x);
        }
    return slack;
}

static void add_newest(sp_candidates *c, const sp_moves *m)
{
    int32_t x = m->memory.by_use.last;

    for (int i = 0; i < NEWEST && x != SP_NOBODY;
         i++, x = m->memory.by_use.before[x])
        if (m->gain[x] > 0)
            add_candidate(c, x);
}

/* The next source on the way up or down, or the first on the way back. */
static int32_t next_of_sweep(const sp_moves *m)
{
    int way = m->upwards ? 1 : -1;

    for (int turn = 0; turn < 2; turn++, way = -way) {
        int64_t u = m->last_run < 0 ? 0 : m->last_run;

        for (int i = 0; i < SWEEP && u >= 0 && u < m->net->neurons;
             i++, u += way)
            if (m->gain[u] > 0)
                return (int32_t)u;
    }
    return SP_NOBODY;
}

/* What the edges of u into open neurons would do. */
typedef struct {
    int missing, fresh, finished;
    double age_sum, age_most; /* of those in memory: 0 new .. 1 leaves next */
} effect;

static effect effect_of(const sp_moves *m, int32_t u)
{
    const sp_memory *y = &m->memory;
    int64_t i = m->out.start[u];
    double since = y->by_use.first == SP_NOBODY
                       ? 1
                       : (double)(m->clock - m->touched[y->by_use.first] + 1);
    effect e = {0};

    for (int32_t left = m->gain[u]; left > 0; i++) {
        int32_t v = m->out_to[i];

        if (!m->open[v])
            continue;
        left--;
        e.finished += y->ins[v] == 1;
        if (y->present[v]) {
            double age = (double)(m->clock - m->touched[v]) / since;

            e.age_sum += age;
            e.age_most = age > e.age_most ? age : e.age_most;
        } else if (m->touched[v]) {
            e.missing++;
        } else {
            e.fresh++;
        }
    }
    return e;
}

static void fill_source(sp_candidates *c, int i, const sp_moves *m)
{
    int32_t u = c->neuron[i];
    effect e = effect_of(m, u);
    float gain = (float)m->gain[u], *f = c->f[i];
    int32_t later = m->memory.outs[u] - m->gain[u];

    f[0] = 1;
    f[1] = gain / (float)m->gains.top;
    f[2] = bounded((double)gain);
    f[3] = flag(m->memory.present[u]);
    f[4] = (float)e.missing / gain;
    f[5] = (float)e.age_most;
    f[6] = (float)e.age_sum / gain;
    f[7] = (float)later / (float)(m->out.start[u + 1] - m->out.start[u]);
    f[8] = flag(later == 0);
    f[9] = (float)e.finished / gain;
    f[10] = 0; /* the next of the sweep; set by who knows */
    f[11] = (float)e.fresh / gain;
}

/* ---- whether to open ---- */

static void fill_gate(float *f, const sp_moves *m, int slack)
{
    double room = (double)m->memory.room;
    double sources = m->gaining > 0 ? (double)m->gaining : 1;
    double opened = m->open_count > 0 ? (double)m->open_count : 1;
    /* What runs before an open neuron has its turn again, at random. */
    double apart = sources * opened / (double)(m->open_edges + 1) / room;

    f[0] = 1;
    f[1] = (float)((double)m->open_count / room);
    f[2] = (float)slack / TAIL;
    f[3] = bounded((double)m->gains.top);
    f[4] = bounded((double)m->open_edges / sources);
    f[5] = (float)((double)m->memory.held / room);
    f[6] = flag(slack == 0);
    f[7] = bounded((double)m->open_edges / opened);
    f[8] = (float)(apart < 2 ? apart : 2);
    f[9] = bounded(room);
    f[10] = flag(m->open_count == 0);
    f[11] = flag(m->opening);
}

void sp_candidates_sources(sp_candidates *out, float gate[SP_FEATURES],
                           const sp_moves *m)
{
    int32_t next = next_of_sweep(m);
    int slack;

    out->count = 0;
    add_gainers(out, m);
    slack = add_leavers(out, m);
    add_newest(out, m);
    if (next != SP_NOBODY)
        add_candidate(out, next);
    for (int i = 0; i < out->count; i++) {
        fill_source(out, i, m);
        out->f[i][10] = flag(out->neuron[i] == next);
    }
    fill_gate(gate, m, slack);
}

/* ---- neurons to open ---- */

/* Whether v waits in the list of those that may be opened. */
static int is_openable(const sp_moves *m, int32_t v)
{
    return m->waits[v] == 0 && !m->open[v] && m->memory.ins[v] > 0;
}

/* The next behind the one opened last, or SP_NOBODY. */
static int32_t next_by_number(const sp_moves *m, int32_t v)
{
    for (int i = 0; i < SWEEP && ++v < m->net->neurons; i++)
        if (is_openable(m, v))
            return v;
    return SP_NOBODY;
}

/* Who could be opened and shares the source x. */
static void add_targets_of(sp_candidates *c, const sp_moves *m, int32_t x)
{
    int64_t i = m->out.start[x], end = i + m->memory.outs[x];
    int found = 0;

    for (int looked = 0; i < end && found < FROM_NEWEST && looked < LOOKED_AT;
         i++, looked++) {
        int32_t v = m->out_to[i];

        if (is_openable(m, v)) {
            add_candidate(c, v);
            found++;
        }
    }
}

static void fill_opening(sp_candidates *c, int i, const sp_moves *m)
{
    int32_t v = c->neuron[i];
    int64_t first = m->net->start[v], count = m->net->start[v + 1] - first;
    int64_t stride = 1 + (count - 1) / LOOKED_AT, seen = 0;
    int64_t present = 0, gaining = 0;
    double gains = 0;
    float *f = c->f[i];

    for (int64_t k = 0; k < count; k += stride, seen++) {
        int32_t u = m->net->source[first + k];

        present += m->memory.present[u];
        gaining += m->gain[u] > 0;
        gains += m->gain[u];
    }
    memset(f, 0, sizeof c->f[i]);
    f[0] = (float)present / (float)seen;
    f[1] = (float)gaining / (float)seen;
    f[2] = (float)(gains / (double)seen / (double)(m->gains.top + 1));
    f[3] = flag(v == m->openable.first);
    f[4] = flag(v == m->openable.last);
    f[5] = bounded((double)count);
    f[6] = bounded((double)present);
    f[7] = flag(v == next_by_number(m, m->last_opened));
    f[8] = flag(m->memory.outs[v] == 0);
    f[9] = bounded((double)m->memory.outs[v]);
}

void sp_candidates_openings(sp_candidates *out, const sp_moves *m)
{
    int32_t v = m->openable.first, x = m->memory.by_use.last;

    out->count = 0;
    for (int i = 0; i < FROM_FRONT && v != SP_NOBODY;
         i++, v = m->openable.after[v])
        add_candidate(out, v);
    v = next_by_number(m, m->last_opened);
    for (int i = 0; i < BEHIND && v != SP_NOBODY; i++) {
        add_candidate(out, v);
        v = next_by_number(m, v);
    }
    v = m->openable.last;
    for (int i = 0; i < FROM_BACK && v != SP_NOBODY;
         i++, v = m->openable.before[v])
        add_candidate(out, v);
    for (int i = 0; i < 2 && x != SP_NOBODY;
         i++, x = m->memory.by_use.before[x])
        add_targets_of(out, m, x);
    for (int i = 0; i < out->count; i++)
        fill_opening(out, i, m);
}
