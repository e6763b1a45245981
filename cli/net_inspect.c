/* net_inspect.c - what a network is made of, layer by layer. */
#include "net.h"

#include <inttypes.h>
#include <string.h>

static int layers_too, counters;
static const opt options[] = {
    {"layers", OPT_FLAG, &layers_too, NULL, "a line for each layer"},
    {"counters", OPT_FLAG, &counters, NULL,
     "the four counters that tell official networks"},
    {0}};
static const opt_page page = {
    "net inspect",          "NETWORK", "Show what a network is made of.",
    {options, net_reading}, 1,         1};

/* What is worth knowing of edges from one neuron range to another. */
typedef struct {
    int64_t edges, least, most, lone;
    float low, high; /* weights */
    int64_t skips;   /* edges that come from further back */
} summary;

static summary sum_up(const spry_network *n, int64_t layer)
{
    int64_t from = n->first[layer], end = n->first[layer + 1];
    int64_t before = layer ? n->first[layer - 1] : 0;
    summary s = {.edges = n->start[end] - n->start[from], .least = INT64_MAX};

    for (int64_t v = from; v < end; v++) {
        int64_t degree = n->start[v + 1] - n->start[v];

        s.least = degree < s.least ? degree : s.least;
        s.most = degree > s.most ? degree : s.most;
        s.lone += degree == 0;
    }
    for (int64_t k = n->start[from]; k < n->start[end]; k++) {
        float w = n->weight[k];

        s.low = k == n->start[from] || w < s.low ? w : s.low;
        s.high = k == n->start[from] || w > s.high ? w : s.high;
        s.skips += n->source[k] < before;
    }
    return s;
}

static summary sum_all(const spry_network *n)
{
    summary all = sum_up(n, 0);

    for (int64_t l = 1; l < n->layers; l++) {
        summary s = sum_up(n, l);

        all.edges += s.edges;
        all.least = s.least < all.least ? s.least : all.least;
        all.most = s.most > all.most ? s.most : all.most;
        all.lone += s.lone;
        all.low = s.low < all.low ? s.low : all.low;
        all.high = s.high > all.high ? s.high : all.high;
        all.skips += s.skips;
    }
    return all;
}

static void json_summary(json *j, const summary *s)
{
    json_integer(j, "edges", s->edges);
    json_integer(j, "fan_in_least", s->least);
    json_integer(j, "fan_in_most", s->most);
    json_integer(j, "without_edges", s->lone);
    json_number(j, "weight_least", (double)s->low);
    json_number(j, "weight_most", (double)s->high);
    json_integer(j, "skip_edges", s->skips);
}

static void json_network(const spry_network *n, const spry_counters *c)
{
    json j = json_begin("spry.net.inspect/1");
    summary all = sum_all(n);
    char key[33];

    spry_network_key(key, n);
    json_text(&j, "key", key);
    json_integer(&j, "inputs", n->inputs);
    json_integer(&j, "outputs", n->outputs);
    json_integer(&j, "layers", n->layers);
    json_integer(&j, "neurons", n->neurons);
    json_bool(&j, "chained", n->chained);
    json_bool(&j, "bias_on_nonzero", n->bias_on_nonzero);
    json_summary(&j, &all);
    if (c) {
        json_integer(&j, "buffers", c->buffers);
        json_integer(&j, "map", c->map);
        json_integer(&j, "warpnz", c->warpnz);
        json_integer(&j, "weightsizemax", c->weight_max);
    }
    json_open(&j, "layer", '[');
    for (int64_t l = 0; layers_too && l < n->layers; l++) {
        summary s = sum_up(n, l);

        json_open(&j, NULL, '{');
        json_integer(&j, "neurons", n->first[l + 1] - n->first[l]);
        json_text(&j, "activation", spry_curve_name(n->activation[l].curve));
        json_summary(&j, &s);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_layers(const spry_network *n)
{
    table *t = table_new("layer>neurons>edges>fan-in<weights<activation<");

    for (int64_t l = 0; l < n->layers; l++) {
        summary s = sum_up(n, l);

        table_cell(t, "%" PRId64, l + 1);
        table_cell(t, "%s", say_count((double)(n->first[l + 1] - n->first[l])));
        table_cell(t, "%s", say_count((double)s.edges));
        table_cell(t, "%" PRId64 "..%" PRId64, s.least, s.most);
        table_cell(t, "%.4g..%.4g", (double)s.low, (double)s.high);
        table_cell(t, "%s", spry_curve_name(n->activation[l].curve));
    }
    table_print(t, stdout);
}

static void print_network(const spry_network *n, const spry_counters *c)
{
    summary s = sum_all(n);
    char key[33];

    spry_network_key(key, n);
    printf("inputs     %s\noutputs    %s\nlayers     %s%s\nneurons    %s\n",
           say_count((double)n->inputs), say_count((double)n->outputs),
           say_count((double)n->layers),
           n->chained ? "" : ", edges skip layers",
           say_count((double)n->neurons));
    printf("edges      %s, %" PRId64 "..%" PRId64 " into a neuron\n",
           say_count((double)s.edges), s.least, s.most);
    if (s.skips)
        printf("           %s skip a layer or more\n",
               say_count((double)s.skips));
    if (s.lone)
        printf("           %s neurons have none\n", say_count((double)s.lone));
    printf("weights    %.6g..%.6g\nbias       %.6g at the first neuron%s\n"
           "activation %s",
           (double)s.low, (double)s.high, (double)n->bias[n->inputs],
           n->bias_on_nonzero ? ", only where a sum is not 0" : "",
           spry_curve_name(n->activation[0].curve));
    if (n->activation[0].curve == SPRY_CLAMP)
        printf(" at %g", (double)n->activation[0].limit);
    printf("\nkey        %s\n", key);
    if (c)
        printf("counters   buffers %" PRId64 ", map %" PRId64
               ", warpnz %" PRId64 ", weightsizemax %" PRId64 "\n",
               c->buffers, c->map, c->warpnz, c->weight_max);
    if (layers_too)
        print_layers(n);
}

static spry_status count(spry_counters *out, const spry_network *n)
{
    spry_layers *layers;
    spry_status s = spry_layers_of(&layers, n);

    if (s == SPRY_OK)
        s = spry_layers_counters(out, layers);
    spry_layers_close(layers);
    return say_status(s);
}

spry_status net_inspect(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_counters c = {.size = sizeof c};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = net_open(&n, argv[0]);
    if (s == SPRY_OK && counters)
        s = count(&c, n);
    if (s == SPRY_OK && cli.json)
        json_network(n, counters ? &c : NULL);
    else if (s == SPRY_OK)
        print_network(n, counters ? &c : NULL);
    spry_network_free(n);
    return s;
}
