/* compile.c - the passes over a network, or over layers as they come.
 *
 * A chained network is taken in pieces, so that what is held at once is a
 * piece and the result. A piece is the last layer so far and some more: the
 * passes see the first of these again, now that it is known who reads it.
 * All of a piece but its last layer is done; the last one, whose neurons are
 * the piece's outputs and so stayed apart, begins the next piece. */
#include "shrink/passes.h"

enum { PIECE_EDGES = 1 << 20 };

/* ---- passes over one network ---- */

static spry_status run_pass(spry_network **n, int i, spry_graph_report *r)
{
    double begin = sp_seconds();
    spry_network *smaller;
    spry_status s = sp_pass_at(i)->map(&smaller, *n);

    r->pass[i].seconds += sp_seconds() - begin;
    if (s != SPRY_OK || !smaller)
        return s;
    r->pass[i].neurons += (*n)->neurons - smaller->neurons;
    r->pass[i].edges += (*n)->edges - smaller->edges;
    spry_network_free(*n);
    *n = smaller;
    return SPRY_OK;
}

typedef enum { SOME_LAYERS, ALL_LAYERS } reach;

/* *n is replaced by what the passes make of it. */
static spry_status run_passes(spry_network **n, unsigned passes, reach what,
                              spry_graph_report *r)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && sp_pass_at(i); i++)
        if (passes >> i & 1 && sp_pass_at(i)->map &&
            (what == ALL_LAYERS || !sp_pass_at(i)->whole))
            s = run_pass(n, i, r);
    return s;
}

/* ---- layers of networks ---- */

/* Layers from .. to - 1 of a chained network onto g. */
static spry_status move_layers(sp_gather *g, const spry_network *n,
                               int64_t from, int64_t to)
{
    spry_layers *layers;
    const spry_layer *layer;
    spry_status s = spry_layers_of(&layers, n);

    for (int64_t l = 0; s == SPRY_OK && l < to; l++) {
        s = spry_layers_next(layers, &layer);
        if (s == SPRY_OK && l >= from)
            s = sp_gather_add(g, layer);
    }
    spry_layers_close(layers);
    return s;
}

/* ---- in pieces ---- */

typedef struct {
    spry_layers *from;
    int64_t left;       /* layers still to come */
    spry_network *last; /* the piece before; its last layer is not done */
    sp_gather done;
    unsigned passes;
    spry_graph_report *report;
} compiling;

static void count_nominal(spry_graph_report *r, const spry_layer *layer)
{
    r->nominal_layers++;
    r->nominal_neurons += layer->outputs;
    r->nominal_edges += layer->edges;
}

/* The width of what the last layer of the piece before reads. */
static int64_t open_width(const compiling *c)
{
    const spry_network *n = c->last;

    if (!n)
        return spry_layers_inputs(c->from);
    if (n->layers == 1)
        return n->inputs;
    return n->first[n->layers - 1] - n->first[n->layers - 2];
}

static spry_status fill_piece(compiling *c, sp_gather *piece)
{
    spry_status s = sp_gather_begin(piece, open_width(c), 0);
    const spry_layer *layer;
    int64_t edges = 0;

    if (s == SPRY_OK && c->last)
        s = move_layers(piece, c->last, c->last->layers - 1, c->last->layers);
    while (s == SPRY_OK && c->left > 0 && edges < PIECE_EDGES) {
        s = spry_layers_next(c->from, &layer);
        if (s == SPRY_OK)
            s = sp_gather_add(piece, layer);
        if (s == SPRY_OK) {
            count_nominal(c->report, layer);
            edges += layer->edges;
            c->left--;
        }
    }
    return s;
}

static spry_status next_piece(compiling *c)
{
    sp_gather piece = {0};
    spry_status s = fill_piece(c, &piece);

    spry_network_free(c->last);
    c->last = NULL;
    if (s == SPRY_OK)
        s = sp_gather_end(&c->last, &piece);
    else
        sp_gather_free(&piece);
    if (s == SPRY_OK)
        s = run_passes(&c->last, c->passes, SOME_LAYERS, c->report);
    if (s == SPRY_OK)
        s = move_layers(&c->done, c->last, 0, c->last->layers - 1);
    return s;
}

static spry_status compile_pieces(compiling *c)
{
    spry_status s = spry_layers_rewind(c->from);

    c->left = spry_layers_depth(c->from);
    c->report->nominal_neurons = spry_layers_inputs(c->from);
    if (s == SPRY_OK)
        s = sp_gather_begin(&c->done, spry_layers_inputs(c->from), 0);
    while (s == SPRY_OK && c->left > 0)
        s = next_piece(c);
    if (s == SPRY_OK)
        s = move_layers(&c->done, c->last, c->last->layers - 1,
                        c->last->layers);
    return s;
}

static void sum_up(spry_graph_report *r, const spry_network *n, double begin)
{
    r->layers = n->layers;
    r->neurons = n->neurons;
    r->edges = n->edges;
    r->seconds = sp_seconds() - begin;
}

/* Once more over all of what the pieces became. */
static spry_status finish(spry_network **out, unsigned passes,
                          spry_graph_report *r, double begin)
{
    spry_status s = run_passes(out, passes, ALL_LAYERS, r);

    if (s == SPRY_OK) {
        sum_up(r, *out, begin);
        return SPRY_OK;
    }
    spry_network_free(*out);
    *out = NULL;
    return s;
}

spry_status spry_layers_compile(spry_network **out, spry_layers *from,
                                unsigned passes, spry_graph_report *report)
{
    SP_NEED_NEW(out, from);
    if (report)
        SP_ROOM(report);

    spry_graph_report r = {.seconds = 0};
    compiling c = {.from = from, .passes = passes, .report = &r};
    double begin = sp_seconds();
    spry_status s = compile_pieces(&c);

    spry_network_free(c.last);
    if (s == SPRY_OK)
        s = sp_gather_end(out, &c.done);
    else
        sp_gather_free(&c.done);
    if (s == SPRY_OK)
        s = finish(out, passes, &r, begin);
    if (s == SPRY_OK && report)
        SP_GIVE(report, &r);
    return s;
}

/* ---- whole ---- */

static spry_status compile_whole(spry_network **out, const spry_network *n,
                                 unsigned passes, spry_graph_report *report)
{
    spry_graph_report r = {.nominal_layers = n->layers,
                           .nominal_neurons = n->neurons,
                           .nominal_edges = n->edges};
    double begin = sp_seconds();
    spry_status s = spry_network_make(out, n);

    if (s == SPRY_OK)
        s = finish(out, passes, &r, begin);
    if (s == SPRY_OK && report)
        SP_GIVE(report, &r);
    return s;
}

spry_status spry_network_compile(spry_network **out, const spry_network *n,
                                 unsigned passes, spry_graph_report *report)
{
    SP_NEED_NEW(out, n);
    if (report)
        SP_ROOM(report);

    spry_layers *layers;
    spry_status s;

    if (!n->chained)
        return compile_whole(out, n, passes, report);
    s = spry_layers_of(&layers, n);
    if (s == SPRY_OK)
        s = spry_layers_compile(out, layers, passes, report);
    spry_layers_close(layers);
    return s;
}
