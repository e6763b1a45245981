/* net_runner.c - a network made ready to run in one mode or another. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 26 }; /* edges */

static spry_status open_edges(net_runner *r)
{
    int32_t *edge;
    spry_status s = net_make_order(&edge, r->net, net_order_name(), 0);

    if (s == SPRY_OK)
        s = say_status(spry_stream_make(&r->edges, r->net, edge));
    free(edge);
    return s;
}

static void measure(net_runner *r, int64_t nominal)
{
    r->inputs = r->net->inputs;
    r->outputs = r->net->outputs;
    r->executed = r->net->edges;
    r->nominal = nominal;
}

static spry_status open_as_it_is(net_runner *r, const char *path)
{
    spry_status s = net_open(&r->net, path);

    if (s == SPRY_OK)
        measure(r, r->net->edges);
    return s;
}

/* The network as it is, or what --passes leave of it. */
static spry_status open_network(net_runner *r, const char *path,
                                const char *usual)
{
    spry_graph_report report;
    unsigned passes;
    spry_status s = net_passes(&passes, usual);

    if (s == SPRY_OK && passes == 0)
        return open_as_it_is(r, path);
    if (s == SPRY_OK)
        s = net_open_compiled(&r->net, &report, path, usual);
    if (s == SPRY_OK)
        measure(r, report.nominal_edges);
    return s;
}

static spry_status open_whole(net_runner *r, const char *path,
                              const net_how *how)
{
    spry_status s = open_network(r, path, "none");

    if (s != SPRY_OK)
        return s;
    if (how->mode == NET_LAYERS)
        return say_status(spry_layers_of(&r->layers, r->net));
    return how->mode == NET_EDGE ? open_edges(r) : SPRY_OK;
}

/* Generated networks say how large they are before they exist. */
static int too_large(const char *path)
{
    spry_network_options o;
    spry_layers *layers = NULL;
    int large;

    if (strncmp(path, "gen:", 4) != 0 || net_read_options(&o) != SPRY_OK)
        return 0;
    large = spry_layers_open(&layers, path, &o) == SPRY_OK &&
            spry_layers_edges(layers) > LARGE;
    spry_layers_close(layers);
    return large;
}

static spry_status open_streamed(net_runner *r, const char *path)
{
    spry_status s = net_open_layers(&r->layers, path);

    if (s != SPRY_OK)
        return s;
    r->inputs = spry_layers_inputs(r->layers);
    return say_status(spry_layers_outputs(&r->outputs, r->layers));
}

/* ---- auto ---- */

/* What the store knows of this network and batch, else a guess. */
static spry_status find_way(spry_way *out, const net_runner *r, int64_t count)
{
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    spry_choice *choice = malloc(sizeof *choice);
    spry_status s;

    if (!choice)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    o.batch = count;
    o.threads = cli.threads;
    o.store = cli.store;
    o.passes = net_passes_text;
    o.lookup = 1;
    s = say_status(spry_network_choose(choice, r->net, &o));
    *out = choice->best;
    free(choice);
    return s;
}

/* The passes are done but for those that running does. */
static spry_status guess_way(spry_way *out, const net_runner *r, int64_t count)
{
    spry_status s = net_passes(&out->passes, "all");

    out->form = spry_form_for(r->net, count);
    out->form.threads = cli.threads;
    for (int i = 0; s == SPRY_OK && spry_pass_name(i); i++)
        if (strcmp(spry_pass_name(i), "rest") != 0)
            out->passes &= ~(1u << i);
    return s;
}

spry_status net_runner_prepare(net_runner *r, int64_t count, const net_how *how)
{
    spry_way way = {0};
    spry_status s;

    if (how->mode != NET_AUTO || r->layers)
        return SPRY_OK;
    s = how->way      ? say_status(spry_way_parse(&way, how->way))
        : r->compiled ? guess_way(&way, r, count)
                      : find_way(&way, r, count);
    if (s == SPRY_OK)
        s = say_status(spry_ready_make(&r->ready, r->net, &way));
    if (s == SPRY_OK)
        r->executed = spry_ready_edges(r->ready);
    return s;
}

static spry_status open_large(net_runner *r, const char *path)
{
    say_note("the network is large: it runs one layer at a time");
    return open_streamed(r, path);
}

/* What is too large to be held goes through the passes as its layers come. */
static spry_status open_auto(net_runner *r, const char *path,
                             const net_how *how)
{
    unsigned passes;
    spry_status s = net_passes(&passes, "all");

    if (s != SPRY_OK)
        return s;
    if (how->way || !too_large(path))
        return open_as_it_is(r, path);
    r->compiled = passes != 0;
    return passes ? open_network(r, path, "all") : open_large(r, path);
}

spry_status net_runner_open(net_runner *r, const char *path, const net_how *how)
{
    *r = (net_runner){0};
    if (how->stream && how->mode == NET_REFERENCE)
        return say_fail(SPRY_USAGE, "the reference needs the whole network, "
                                    "without --stream");
    if (how->way && (how->stream || how->mode != NET_AUTO))
        return say_fail(SPRY_USAGE, "--way goes with mode auto only");
    if (how->stream)
        return open_streamed(r, path);
    if (how->mode == NET_AUTO)
        return open_auto(r, path, how);
    if (how->mode != NET_REFERENCE && !net_passes_text && too_large(path))
        return open_large(r, path);
    return open_whole(r, path, how);
}

void net_runner_close(net_runner *r)
{
    spry_ready_free(r->ready);
    spry_stream_free(r->edges);
    spry_layers_close(r->layers);
    spry_network_free(r->net);
}

/* ---- running ---- */

static spry_status run_reference(const net_runner *r, float *y, const float *x,
                                 int64_t count)
{
    int64_t n = count * r->outputs;
    double *exact = malloc((size_t)n * sizeof *exact + 1);
    spry_status s;

    if (!exact)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    s = say_status(spry_network_reference(exact, r->net, x, count));
    for (int64_t i = 0; s == SPRY_OK && i < n; i++)
        y[i] = (float)exact[i];
    free(exact);
    return s;
}

spry_status net_runner_run(const net_runner *r, float *y, const float *x,
                           int64_t count)
{
    if (r->ready)
        return say_status(spry_ready_run(r->ready, y, x, count));
    if (r->edges)
        return say_status(spry_stream_run(r->edges, y, x, count));
    if (r->layers)
        return say_status(spry_layers_run(y, r->layers, x, count));
    return run_reference(r, y, x, count);
}
