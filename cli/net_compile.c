/* net_compile.c - a network made smaller that computes the same. */
#include "net.h"

#include <inttypes.h>
#include <string.h>

static const char *file;
static int list;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "FILE.spnet", "write what the passes left"},
    {"list", OPT_FLAG, &list, NULL, "show every pass"},
    {0}};
static const opt_page page = {
    "net compile",
    "NETWORK",
    "Run passes over a network. For every input of finite values the outputs\n"
    "stay the same; NaN and infinities may get lost with what is removed. The\n"
    "edges left are the most that are executed for an input. The network is\n"
    "read layer by layer, so only the result has to fit into memory; one whose\n"
    "edges skip layers is read whole.\n"
    "  spry net compile gen:radix,depth=1920 --out small.spnet",
    {options, net_passing, net_reading},
    0,
    1};

const char *net_passes_text;
const opt net_passing[] = {
    {"passes", OPT_TEXT, &net_passes_text, "NAMES",
     "all, none, or some: factor,merge,inline,dead,renumber,rest (all)"},
    {0}};

spry_status net_passes(unsigned *out, const char *usual)
{
    return say_status(
        spry_passes_parse(out, net_passes_text ? net_passes_text : usual));
}

/* ---- reading ---- */

/* A chain comes layer by layer. What is none is read whole; of some files
 * that shows only when an edge comes that skips a layer. */
spry_status net_open_compiled(spry_network **out, spry_graph_report *report,
                              const char *path, const char *usual)
{
    spry_network_options o;
    spry_network *whole = NULL;
    spry_layers *layers = NULL;
    unsigned which;
    spry_status s = net_passes(&which, usual);

    *out = NULL;
    if (s == SPRY_OK)
        s = net_read_options(&o, path);
    if (s != SPRY_OK)
        return s;
    s = spry_layers_open(&layers, path, &o);
    if (s == SPRY_OK)
        s = spry_layers_compile(out, layers, which, report);
    if (s == SPRY_USAGE) {
        s = spry_network_read(&whole, path, &o);
        if (s == SPRY_OK)
            s = spry_network_compile(out, whole, which, report);
    }
    spry_layers_close(layers);
    spry_network_free(whole);
    return say_status(s);
}

/* ---- saying it ---- */

static void print_json(const spry_graph_report *r, const spry_rest *rest,
                       unsigned which)
{
    json j = json_begin("spry.net.compile/1");

    json_integer(&j, "nominal_layers", r->nominal_layers);
    json_integer(&j, "nominal_neurons", r->nominal_neurons);
    json_integer(&j, "nominal_edges", r->nominal_edges);
    json_integer(&j, "layers", r->layers);
    json_integer(&j, "neurons", r->neurons);
    json_integer(&j, "executed_edges", r->edges);
    json_bool(&j, "executed_is_upper_bound", 1);
    json_number(&j, "seconds", r->seconds);
    json_integer(&j, "zero_rests_from", rest->zero + 1);
    json_integer(&j, "full_rests_from", rest->full + 1);
    json_open(&j, "passes", '[');
    for (int i = 0; spry_pass_name(i); i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", spry_pass_name(i));
        json_bool(&j, "on", (int)(which >> i & 1));
        json_integer(&j, "neurons_removed", r->pass[i].neurons);
        json_integer(&j, "edges_removed", r->pass[i].edges);
        json_number(&j, "seconds", r->pass[i].seconds);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_passes(const spry_graph_report *r, unsigned which)
{
    table *t = table_new("pass<neurons removed>edges removed>time>");

    for (int i = 0; spry_pass_name(i); i++) {
        if (!(which >> i & 1))
            continue;
        table_cell(t, "%s", spry_pass_name(i));
        table_cell(t, "%" PRId64, r->pass[i].neurons);
        table_cell(t, "%" PRId64, r->pass[i].edges);
        table_cell(t, "%s", say_seconds(r->pass[i].seconds));
    }
    table_print(t, stdout);
}

static void print_rest(const char *state, int64_t from, int64_t layers)
{
    if (from < layers)
        printf("inputs whose values are all %s in a layer from %" PRId64
               " on can stop there\n",
               state, from + 1);
}

static void print_text(const spry_graph_report *r, const spry_rest *rest,
                       unsigned which)
{
    if (which)
        print_passes(r, which);
    print_rest("0", rest->zero, r->layers);
    print_rest("at their limit", rest->full, r->layers);
    printf("layers     %s, were %s\nneurons    %s, were %s\n",
           say_count((double)r->layers), say_count((double)r->nominal_layers),
           say_count((double)r->neurons),
           say_count((double)r->nominal_neurons));
    printf("edges      nominal %s, executed at most %s: %s fewer\n",
           say_count((double)r->nominal_edges), say_count((double)r->edges),
           say_times((double)r->nominal_edges /
                     (double)(r->edges > 0 ? r->edges : 1)));
    printf("time       %s\n", say_seconds(r->seconds));
}

static spry_status report(const spry_network *n, const spry_graph_report *r)
{
    spry_rest rest = {
        .size = sizeof rest, .zero = r->layers, .full = r->layers};
    spry_status s = SPRY_OK;
    unsigned which;

    s = net_passes(&which, "all");
    for (int i = 0; s == SPRY_OK && spry_pass_name(i); i++)
        if (which >> i & 1 && strcmp(spry_pass_name(i), "rest") == 0)
            s = say_status(spry_network_rest(&rest, n));
    if (s == SPRY_OK && cli.json)
        print_json(r, &rest, which);
    else if (s == SPRY_OK)
        print_text(r, &rest, which);
    return s;
}

spry_status net_compile(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_graph_report r = {.size = sizeof r};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (list)
        return net_print_names("spry.net.passes/1", "passes", spry_pass_name,
                               spry_pass_help);
    if (argc == 0)
        return say_fail(SPRY_USAGE, "net compile needs NETWORK; see spry net "
                                    "compile --help");
    s = net_open_compiled(&n, &r, argv[0], "all");
    if (s == SPRY_OK && file)
        s = say_status(spry_network_write(n, file));
    if (s == SPRY_OK)
        s = report(n, &r);
    spry_network_free(n);
    return s;
}
