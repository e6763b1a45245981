/* predict.c - how long a way to run a network should take, from the numbers of
 * the network and of the machine's card.
 *
 * Each form is a loop over edges that issues so many loads and multiply-adds
 * for an edge, on values that lie in some cache, beside the edges themselves,
 * which stream by from wherever they fit. */
#include <math.h>
#include <string.h>

#include "inference/internal.h"
#include "model/rates.h"

/* Loads and multiply-adds that a core starts in a cycle. */
static const double PORTS = 2;

/* What is counted of a network. */
typedef struct {
    double edges, layers, width; /* the widest two layers side by side */
    double together;             /* outputs that read the same sources */
    double batch;
} size;

static size size_of(const spry_network *n, int64_t batch)
{
    size s = {(double)n->edges, (double)n->layers, 0, 1, (double)batch};
    int64_t before = n->inputs;

    for (int64_t l = 0; l < n->layers; l++) {
        int64_t width = n->first[l + 1] - n->first[l];

        s.width = fmax(s.width, (double)(before + width));
        before = width;
    }
    if (!n->chained)
        s.width = (double)n->neurons;
    if (sp_form_sharing(&s.together, n) != SPRY_OK)
        s.together = 1;
    return s;
}

/* Bytes a second and thread out of the first level that holds so many. */
static double rate_from(const sp_rates *r, double bytes)
{
    int level = 0;

    while (level < SPRY_CACHES && bytes > r->room[level])
        level++;
    return r->bandwidth[level] / r->cores;
}

/* Of one step through all layers by one thread. */
typedef struct {
    double cycles; /* for all edges */
    double around; /* cycles for a layer besides */
    double values; /* bytes of values that are read, */
    double room;   /* and that lie ready */
    double stream; /* bytes of edges that pass by */
    double inputs; /* that take the step together */
} step;

/* Values of `tile` inputs in vectors; a load of each source's for so many
 * outputs as share it, the weight in every lane, a multiply-add. */
static step rows_step(const size *s, int tile, int lanes)
{
    double vectors = fmax(1, (double)tile / lanes);
    double shared = fmax(1, fmin(s->together, sp_form_together(tile)));
    double tiles = sp_form_tiles((int64_t)s->width, tile);
    step out = {.inputs = tile, .around = 40};

    tiles = fmin(tiles, ceil(s->batch / tile));
    out.cycles = s->edges * fmax(vectors, vectors / shared + 1) / PORTS +
                 s->edges / shared / PORTS;
    out.room = 4 * s->width * tile;
    out.values = 4 * s->edges * tile / shared;
    out.stream = 6 * s->edges / tiles;
    return out;
}

/* Value by value: a load of it, a share of loads of numbers and weights. */
static step gather_step(const size *s)
{
    return (step){.cycles = s->edges * (1 + 1.0 / 4 + 1.0 / 8) / PORTS * 1.5,
                  .around = 120,
                  .values = 4 * s->edges,
                  .room = 4 * s->width,
                  .stream = 6 * s->edges,
                  .inputs = 1};
}

/* One sum after the other: each addition waits for the one before, four
 * cycles, but for what neighbouring rows hide. */
static step plain_step(const size *s, int lanes)
{
    int side = s->batch < 8 ? 1 : 16;
    double vectors = fmax(1, (double)side / lanes);

    return (step){.cycles = s->edges * fmax(2, vectors * 1.5),
                  .around = 40,
                  .values = 4 * s->edges * side,
                  .room = 4 * s->width * side,
                  .stream = 8 * s->edges,
                  .inputs = side};
}

/* A sum is loaded and stored for every edge. */
static step edges_step(const size *s, int lanes)
{
    int side = s->batch > 1 ? 16 : 1;
    double vectors = fmax(1, (double)side / lanes);

    return (step){.cycles = s->edges * fmax(3, vectors * 4),
                  .values = 12 * s->edges * side,
                  .room = 4 * s->width * side,
                  .stream = 12 * s->edges,
                  .inputs = side};
}

static step step_of(const sp_form_options *f, const size *s, int lanes)
{
    if (strcmp(f->name, "rows") == 0)
        return rows_step(s,
                         f->tile           ? f->tile
                         : s->together < 2 ? 32
                                           : 16,
                         lanes);
    if (strcmp(f->name, "gather") == 0)
        return gather_step(s);
    return strcmp(f->name, "edges") == 0 ? edges_step(s, lanes)
                                         : plain_step(s, lanes);
}

/* Threads share out steps; one input alone only `gather` cuts, layer by layer,
 * where they meet at every end. */
static double share_out(spry_prediction *out, const sp_form_options *f,
                        const size *s, const step *t, const sp_rates *r)
{
    static const double MEETING = 16; /* lines that travel between cores */
    double steps = ceil(s->batch / t->inputs);

    if (s->batch == 1 && r->cores > 1 && strcmp(f->name, "gather") == 0) {
        out->overhead += MEETING * s->layers * r->latency[SPRY_CACHES - 1];
        return 1 / r->cores;
    }
    return ceil(steps / r->cores);
}

static void add_up(spry_prediction *out, const sp_form_options *f,
                   const size *s, const spry_machine *m)
{
    enum { WIDEST = 8 }; /* lanes of the kernels' vectors */
    int lanes = spry_isa_bytes(m->isa) / 4;
    sp_rates r = sp_rates_of(m, SPRY_F32, f->threads > 0 ? f->threads : 1);
    step t = step_of(f, s, lanes < WIDEST ? lanes : WIDEST);
    double turns, issue = t.cycles * r.cycle;
    double values = t.values / rate_from(&r, t.room);
    double stream = t.stream / rate_from(&r, t.stream);

    turns = share_out(out, f, s, &t, &r);
    out->compute = turns * issue;
    out->latency = turns * fmax(0, values - issue);
    out->bandwidth = turns * stream;
    out->overhead += turns * s->layers * t.around * r.cycle + r.fork;
    out->imbalance =
        turns >= 1 ? (turns - s->batch / t.inputs / r.cores) * (issue + stream)
                   : 0;
    out->imbalance = fmax(0, out->imbalance);
    out->compute -= fmin(out->compute, out->imbalance);
    out->bytes = t.stream;
    out->traffic = t.stream > r.room[SPRY_CACHES - 1] ? turns * t.stream : 0;
    out->pack_seconds = s->edges * 20 * r.cycle;
    out->seconds = out->compute + out->latency + out->bandwidth +
                   out->overhead + out->imbalance;
}

spry_status sp_inference_predict(spry_prediction *out, const sp_inference *p,
                                 const char *text, const spry_machine *m)
{
    const spry_network *n = p->net;
    sp_way way;
    size s;
    spry_status status = sp_way_parse(&way, text);

    memset(out, 0, sizeof *out);
    if (status == SPRY_OK && way.passes)
        status = sp_inference_smaller(&n, p);
    if (status != SPRY_OK)
        return status;
    s = size_of(n, p->batch);
    add_up(out, &way.form, &s, m);
    return SPRY_OK;
}
