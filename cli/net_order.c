/* net_order.c - an order of a network's edges, checked, shown or written. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

static const char *file;
static int list;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "FILE",
     "write the edges in order: source, target, weight; - for stdout"},
    {"list", OPT_FLAG, &list, NULL, "show every order"},
    {0}};
static const opt_page page = {
    "net order",
    "NETWORK",
    "Put the edges of a network into an order in which every neuron is\n"
    "complete before it is used, and say what it took.",
    {options, net_ordering, net_shaping, net_reading},
    0,
    1};

/* The neuron that an edge leads to: the last whose edges begin before it. */
static int64_t target_of(const spry_network *n, int64_t edge)
{
    int64_t low = n->inputs, high = n->neurons;

    while (high - low > 1) {
        int64_t middle = (low + high) / 2;

        if (n->start[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Do the edges themselves go to stdout? */
static int is_piped(void)
{
    return file && strcmp(file, "-") == 0;
}

static spry_status write_order(const int32_t *edge, const spry_network *n)
{
    int piped = is_piped();
    FILE *f = piped ? stdout : fopen(file, "w");
    int good;

    if (!f)
        return say_fail(SPRY_SYSTEM, "%s: cannot be written", file);
    for (int64_t i = 0; i < n->edges; i++)
        fprintf(f, "%d\t%lld\t%.9g\n", n->source[edge[i]],
                (long long)target_of(n, edge[i]), (double)n->weight[edge[i]]);
    good = !ferror(f);
    if (!piped)
        good = fclose(f) == 0 && good;
    return good ? SPRY_OK
                : say_fail(SPRY_SYSTEM, "%s: cannot be written", file);
}

static void print_made(const spry_network *n, double took)
{
    json j;

    if (cli.json && !is_piped()) {
        j = json_begin("spry.net.order/1");
        json_text(&j, "order", net_order_name());
        json_integer(&j, "edges", n->edges);
        json_number(&j, "seconds", took);
        json_bool(&j, "valid", 1);
        json_end(&j);
        return;
    }
    fprintf(stderr, "%s: %s edges in %s, valid\n", net_order_name(),
            say_count((double)n->edges), say_seconds(took));
}

static spry_status order_edges(const spry_network *n)
{
    int32_t *edge;
    double begin = now_seconds();
    spry_status s = net_make_order(&edge, n, net_order_name(), 0);

    if (s == SPRY_OK) {
        print_made(n, now_seconds() - begin);
        if (file)
            s = write_order(edge, n);
    }
    free(edge);
    return s;
}

spry_status net_order(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (list)
        return net_print_names("spry.net.orders/1", "orders", spry_order_name,
                               spry_order_help);
    if (argc == 0)
        return say_fail(SPRY_USAGE, "net order needs NETWORK; see spry net "
                                    "order --help");
    stop_watch();
    s = net_open(&n, argv[0]);
    if (s == SPRY_OK)
        s = order_edges(n);
    spry_network_free(n);
    return s;
}
