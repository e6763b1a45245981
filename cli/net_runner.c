/* net_runner.c - a network made ready to run in one mode or another. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 26 }; /* edges */

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
    spry_graph_report report = {.size = sizeof report};
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
    return how->mode == NET_LAYERS
               ? say_status(spry_layers_of(&r->layers, r->net))
               : SPRY_OK;
}

/* Generated networks say how large they are before they exist. */
static int too_large(const char *path)
{
    spry_network_options o;
    spry_layers *layers = NULL;
    int large;

    if (strncmp(path, "gen:", 4) != 0 || net_read_options(&o, path) != SPRY_OK)
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

/* ---- plans ---- */

/* What the store knows of this network and batch, else a guess. Of what the
 * passes left already only those are open that running does; where inputs are
 * not finite, none unless they were asked for. */
static spry_status find_plan(net_runner *r, int not_finite)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_machine given;
    const char *left = r->compiled ? "none" : net_passes_text;
    unsigned passes;
    spry_status s = net_passes(&passes, "all");

    if (not_finite && !left) {
        say_note("some inputs are not finite, for which passes do not hold: "
                 "they are left out");
        left = "none";
    }
    for (int i = 0; r->compiled && s == SPRY_OK && spry_pass_name(i); i++)
        if (strcmp(spry_pass_name(i), "rest") == 0 && passes >> i & 1)
            left = "rest";
    if (s == SPRY_OK && left)
        s = say_status(spry_problem_set_passes(r->problem, left));
    o.effort = SPRY_PREDICT;
    o.threads = cli.threads;
    o.seed = cli.seed;
    o.store = cli.store;
    o.lock = cli.lock;
    if (s == SPRY_OK && machine_given()) {
        s = open_machine(&given, 1);
        o.machine = &given;
    }
    return s == SPRY_OK ? say_status(spry_tune(&r->plan, r->problem, &o)) : s;
}

static spry_status plan_edges(net_runner *r)
{
    int32_t *edge;
    spry_status s = net_make_order(&edge, r->net, net_order_name(), 0);

    if (s == SPRY_OK)
        s = say_status(spry_plan_ordered(&r->plan, r->problem, edge));
    free(edge);
    return s;
}

static spry_status plan_way(net_runner *r, const char *way)
{
    job j = {.problem = r->problem};
    spry_status s = open_machine(&j.machine, 0);

    return s == SPRY_OK ? open_way(&r->plan, &j, way) : s;
}

spry_status net_runner_prepare(net_runner *r, const net_batch *b,
                               const net_how *how)
{
    spry_status s;

    if (r->layers || how->mode == NET_REFERENCE || b->count < 1)
        return SPRY_OK;
    s = say_status(spry_problem_network(&r->problem, r->net, b->count));
    if (s == SPRY_OK)
        s = how->mode == NET_EDGE ? plan_edges(r)
            : how->way            ? plan_way(r, how->way)
                                  : find_plan(r, b->not_finite);
    if (s == SPRY_OK)
        r->executed = spry_plan_edges(r->plan);
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

/* Options that another one leaves nothing to say are refused. */
static spry_status check_how(const net_how *how)
{
    unsigned passes;
    spry_status s = net_passes(&passes, "none");

    if (s != SPRY_OK)
        return s;
    if (how->stream && how->mode == NET_REFERENCE)
        return say_fail(SPRY_USAGE, "the reference needs the whole network, "
                                    "without --stream");
    if (how->stream && how->mode == NET_EDGE)
        return say_fail(SPRY_USAGE, "--stream goes layer by layer, and --mode "
                                    "edge edge by edge");
    if (how->stream && passes)
        return say_fail(SPRY_USAGE, "--stream takes layers as they are, "
                                    "without --passes");
    if (how->way && (how->stream || how->mode != NET_AUTO))
        return say_fail(SPRY_USAGE, "--way goes with mode auto only");
    if (how->way && net_passes_text)
        return say_fail(SPRY_USAGE,
                        "--way names its passes itself: \"passes=%s "
                        "%s\", without --passes",
                        net_passes_text, how->way);
    if (cli.lock && (how->way || how->stream || how->mode != NET_AUTO))
        return say_fail(SPRY_USAGE, "--lock says how it runs: it goes with "
                                    "mode auto, without --way and --stream");
    return SPRY_OK;
}

spry_status net_runner_open(net_runner *r, const char *path, const net_how *how)
{
    spry_network_options o;
    spry_status s = check_how(how);

    *r = (net_runner){0};
    if (s == SPRY_OK) /* once: all that follows reads them again */
        s = net_read_options(&o, path);
    if (s != SPRY_OK)
        return s;
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
    spry_plan_free(r->plan);
    spry_problem_free(r->problem);
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
    if (r->plan)
        return say_status(spry_run_inputs(r->plan, x, y, count));
    if (r->layers)
        return say_status(spry_layers_run(y, r->layers, x, count));
    return run_reference(r, y, x, count);
}
