/* net_simulate.c - what an order of edges moves between fast and slow memory,
 * beside what any order must and what none needs to. */
#include "net.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *orders = "destination", *memories = "128";
static int policy = SPRY_LRU, line = 1, shared;
static const opt options[] = {
    {"order", OPT_TEXT, &orders, "NAME,...",
     "orders to simulate, or all (destination)"},
    {"memory", OPT_TEXT, &memories, "M,...",
     "neurons that fast memory holds, also to order for (128)"},
    {"policy", OPT_WORD, &policy, "lru|rr|min", "which line leaves (lru)"},
    {"line", OPT_INTEGER, &line, "B", "neurons that travel together (1)"},
    {"shared", OPT_FLAG, &shared, NULL,
     "equal weights are one, held in fast memory like a neuron"},
    {0}};
static const opt_page page = {
    "net simulate",
    "NETWORK",
    "Count the reads and writes of neurons by an order of edges with a fast\n"
    "memory of M neurons. What is evicted: lru, the least recently used line;\n"
    "rr, lines in order of arrival; min, the one whose next use is furthest.\n"
    "  spry net simulate gen:radix,depth=16 --order blocked,ego --memory "
    "32,128",
    {options, net_shaping, net_reading},
    1,
    1};

static spry_status list_orders(net_words *out)
{
    if (strcmp(orders, "all") != 0)
        return net_split(out, "order", orders);
    out->count = 0;
    for (int i = 0; i < NET_LIST && spry_order_name(i); i++)
        out->word[out->count++] = spry_order_name(i);
    return SPRY_OK;
}

/* ---- showing ---- */

typedef struct {
    const spry_network *net;
    int begun;
    table *rows; /* or the document */
    json document;
} page_of;

/* Not before there is a result: a failure leaves stdout empty. */
static void begin(page_of *p)
{
    p->begun = 1;
    if (!cli.json) {
        p->rows = table_new("order<memory>reads>writes>at least>at most>"
                            "of least>bytes>");
        return;
    }
    p->document = json_begin("spry.net.simulate/1");
    json_integer(&p->document, "neurons", p->net->neurons);
    json_integer(&p->document, "edges", p->net->edges);
    json_text(&p->document, "policy", spry_policy_name((spry_policy)policy));
    json_integer(&p->document, "line", line);
    json_open(&p->document, "runs", '[');
}

static void add_json(json *j, const char *order, int64_t memory,
                     const spry_io *io)
{
    json_open(j, NULL, '{');
    json_text(j, "order", order);
    json_integer(j, "memory", memory);
    json_integer(j, "reads", io->reads);
    json_integer(j, "writes", io->writes);
    json_integer(j, "weight_reads", io->weight_reads);
    json_integer(j, "least_reads", io->least_reads);
    json_integer(j, "least_writes", io->least_writes);
    json_integer(j, "most_reads", io->most_reads);
    json_integer(j, "most_writes", io->most_writes);
    json_integer(j, "stream_bytes", io->stream_bytes);
    json_integer(j, "total_bytes", io->total_bytes);
    json_close(j, '}');
}

static void add(page_of *p, const char *order, int64_t memory,
                const spry_io *io)
{
    int64_t sum = io->reads + io->writes;
    int64_t least = io->least_reads + io->least_writes;

    if (!p->begun)
        begin(p);
    if (cli.json) {
        add_json(&p->document, order, memory, io);
        return;
    }
    table_cell(p->rows, "%s", order);
    table_cell(p->rows, "%" PRId64, memory);
    table_cell(p->rows, "%s", say_count((double)io->reads));
    table_cell(p->rows, "%s", say_count((double)io->writes));
    table_cell(p->rows, "%s", say_count((double)least));
    table_cell(p->rows, "%s",
               say_count((double)(io->most_reads + io->most_writes)));
    table_cell(p->rows, "%s",
               say_times(least > 0 ? (double)sum / (double)least : 1));
    table_cell(p->rows, "%s", say_bytes((double)io->total_bytes));
}

static void end(page_of *p)
{
    if (!p->begun)
        return;
    if (!cli.json) {
        table_print(p->rows, stdout);
        return;
    }
    json_close(&p->document, ']');
    json_end(&p->document);
}

/* ---- simulating ---- */

static spry_status share_weights(int32_t **weight, int64_t *weights,
                                 const spry_network *n)
{
    *weight = malloc((size_t)(n->edges + 1) * sizeof **weight);
    if (!*weight)
        return say_fail(SPRY_SYSTEM, "out of memory");
    return say_status(spry_weights_shared(*weight, weights, n));
}

static spry_status simulate(page_of *p, const char *order, int64_t memory)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    int32_t *edge, *weight = NULL;
    spry_io io = {.size = sizeof io};
    spry_status s = net_make_order(&edge, p->net, order, memory);

    o.memory = memory;
    o.line = line;
    o.policy = (spry_policy)policy;
    if (s == SPRY_OK && shared)
        s = share_weights(&weight, &o.weights, p->net);
    o.weight = weight;
    if (s == SPRY_OK)
        s = say_status(spry_simulate(&io, p->net, edge, &o));
    free(edge);
    free(weight);
    if (s == SPRY_OK)
        add(p, order, memory, &io);
    return s;
}

/* What is done when it is to stop is shown; a simulation that takes longer than
 * a second then ends without. */
static spry_status simulate_all(const spry_network *n, const net_words *order,
                                const int64_t *memory, int memory_count)
{
    page_of p = {.net = n};
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < order->count; i++)
        for (int k = 0; s == SPRY_OK && k < memory_count && !stop_asked(); k++)
            s = simulate(&p, order->word[i], memory[k]);
    end(&p);
    return s;
}

spry_status net_simulate(int argc, char **argv)
{
    spry_network *n = NULL;
    int64_t memory[NET_LIST];
    int count = 0;
    net_words order = {.count = 0};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = list_orders(&order);
    if (s == SPRY_OK)
        s = net_memories(memory, &count, memories);
    stop_within(1);
    if (s == SPRY_OK)
        s = net_open(&n, argv[0]);
    if (s == SPRY_OK)
        s = simulate_all(n, &order, memory, count);
    spry_network_free(n);
    return s;
}
