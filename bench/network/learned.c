/* learned.c - twenty networks that EON has not seen: its reads and writes beside
 * those of the plain orders, the best of them for each network and memory, and
 * of what was learned alone, under LRU; and annealing beside blocked. Counts are exact, so a single run says it
 * all; means are geometric, intervals over networks. */
#include "learned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "eon/internal.h"

/* Each with a seed of its own, none of them that of learning. */
static const char *const networks[] = {
    "gen:random,width=1024,depth=4,density=0.05",
    "gen:random,width=1024,depth=2,density=0.1",
    "gen:random,width=512,depth=4,density=0.1",
    "gen:random,width=512,depth=2,density=0.4",
    "gen:random,width=256,depth=6,density=0.05",
    "gen:random,width=2048,depth=2,density=0.02",
    "gen:random,width=300,depth=3,density=0.2",
    "gen:random,width=700,depth=3,density=0.03",
    "gen:smallworld,width=1024,depth=4,degree=32",
    "gen:smallworld,width=512,depth=4,degree=16,rewire=0.5",
    "gen:smallworld,width=2048,depth=2,degree=24,rewire=0.2",
    "gen:mixed,radices=2x2x2x2x2x2,copies=16",
    "gen:mixed,radices=4x4x4,copies=8",
    "gen:radix,depth=8",
    "gen:pruned,widths=784x300x100x10,sparsity=0.9",
    "gen:pruned,widths=1024x512x256,sparsity=0.95",
    "gen:pruned,widths=512x512x512x64,sparsity=0.8",
    "gen:skip,width=256,depth=8,degree=16",
    "gen:skip,width=512,depth=6,degree=24,skip=0.4",
    "gen:skip,width=128,depth=10,degree=12,skip=0.1",
};
enum { NETWORKS = sizeof networks / sizeof *networks, MEMORIES = 3 };
static const int64_t memories[MEMORIES] = {32, 128, 512};

enum { EON, BLOCKED, EGO, DESTINATION, SOURCE, CLUSTERED, GO, ORDERS };
static const char *const orders[ORDERS] = {
    "eon", "blocked", "ego", "destination", "source", "clustered", "go"};

static void must(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "bench: %s\n", spry_message());
    exit((int)s);
}

static spry_network *read_net(int i)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n;

    o.seed = 1000 + (uint64_t)i;
    must(spry_network_read(&n, networks[i], &o));
    return n;
}

static int64_t io_of(const spry_network *n, int order, int64_t memory)
{
    int64_t io;

    must(sp_order_io(&io, n, orders[order], memory));
    return io;
}

/* ---- means of logarithms ---- */

typedef struct {
    double sum, squares, worst;
    int count, above; /* of them not below 1 */
} mean;

static void add(mean *m, double ratio)
{
    double x = log(ratio);

    m->sum += x;
    m->squares += x * x;
    m->count++;
    m->above += ratio >= 1;
    m->worst = ratio > m->worst ? ratio : m->worst;
}

static double typical(const mean *m)
{
    return m->count ? exp(m->sum / m->count) : 1;
}

static void print_mean(const char *what, const mean *m)
{
    double x = m->sum / m->count;
    double deviation = sqrt(fmax(m->squares / m->count - x * x, 0));
    double half = m->count > 1 ? 2.1 * deviation / sqrt(m->count - 1) : 0;

    printf("%-28s %.3f (%.3f..%.3f), worst %.3f, not below 1 on %d of %d\n",
           what, exp(x), exp(x - half), exp(x + half), m->worst, m->above,
           m->count);
}

static void aim(const char *name, double value, double goal)
{
    printf("aim %s %.3f %.3f %s\n", name, value, goal,
           value <= goal ? "met" : "short");
}

/* ---- parts ---- */

typedef struct {
    mean by[MEMORIES], all; /* EON over blocked; of all: one per network */
    mean best;              /* EON over the best plain order, all pairs */
    mean learned;           /* what was learned alone, over the same */
    mean over_destination, over_ego; /* blocked, random networks */
} shares;

static int best_of(const int64_t io[ORDERS])
{
    int best = BLOCKED;

    for (int o = 0; o < ORDERS; o++)
        if (o != EON && io[o] < io[best])
            best = o;
    return best;
}

/* The model's own order, without a plain one where that is better. */
static int64_t learned_io(const sp_eon *model, const spry_network *n,
                          int64_t memory)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    int64_t io;

    o.memory = memory;
    must(edge ? sp_eon_order(edge, n, &o, model) : SPRY_SYSTEM);
    must(sp_order_count(&io, edge, n, memory));
    sp_free(edge);
    return io;
}

static void compare(shares *s, const sp_eon *model, int i, int count)
{
    spry_network *n = read_net(i);
    mean of_net = {0};

    for (int m = 0; m < count; m++) {
        int64_t io[ORDERS], learned = learned_io(model, n, memories[m]);
        double share;
        int best;

        for (int o = 0; o < ORDERS; o++)
            io[o] = io_of(n, o, memories[m]);
        share = (double)io[EON] / (double)io[BLOCKED];
        best = best_of(io);
        printf("%-54s %5lld %9lld %9lld %9lld %-11s %9lld %7.3f\n",
               m ? "" : networks[i], (long long)memories[m], (long long)io[EON],
               (long long)learned, (long long)io[best], orders[best],
               (long long)io[BLOCKED], (double)io[EON] / (double)io[best]);
        add(&s->best, (double)io[EON] / (double)io[best]);
        add(&s->learned, (double)learned / (double)io[best]);
        add(&of_net, share);
        add(&s->by[m], share);
        if (strncmp(networks[i], "gen:random", 10) == 0) {
            add(&s->over_destination,
                (double)io[BLOCKED] / (double)io[DESTINATION]);
            add(&s->over_ego, (double)io[BLOCKED] / (double)io[EGO]);
        }
    }
    add(&s->all, typical(&of_net));
    spry_network_free(n);
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Seconds of this processor for each edge of the first network. */
static double time_per_edge(void)
{
    spry_network *n = read_net(0);
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    double begin = processor_seconds(), took;

    must(edge ? spry_order_make(edge, n, "eon", NULL) : SPRY_SYSTEM);
    took = (processor_seconds() - begin) / (double)n->edges;
    sp_free(edge);
    spry_network_free(n);
    return took;
}

/* Annealing of blocked, with moves that take some seconds. */
static mean anneal_some(int quick)
{
    static const int chosen[] = {4, 6, 7, 0};
    mean m = {0};

    for (int i = 0; i < (quick ? 2 : 4); i++) {
        spry_network *n = read_net(chosen[i]);
        int32_t *edge = sp_alloc(n->edges, sizeof *edge);
        spry_order_options o = SPRY_ORDER_DEFAULTS;
        spry_simulate_options so = SPRY_SIMULATE_DEFAULTS;
        spry_io io = {.size = sizeof io};

        o.memory = so.memory = 32;
        o.moves = quick ? 20000 : 100000;
        must(edge ? spry_order_make(edge, n, "anneal", &o) : SPRY_SYSTEM);
        must(spry_simulate(&io, n, edge, &so));
        add(&m, (double)(io.reads + io.writes) / (double)io_of(n, BLOCKED, 32));
        sp_free(edge);
        spry_network_free(n);
    }
    return m;
}

/* How learning went, in a few lines of what is kept beside the model. */
static void print_curve(void)
{
    enum { LINES = 12 };
    char path[4096], *line, *rest;
    int lines = 0, at = 0;
    sp_file f;

    if (!sp_model_path(path, sizeof path, "eon.nn.tsv") ||
        sp_file_read(&f, path, 1 << 24) != SPRY_OK)
        return;
    for (size_t i = 0; i < f.len; i++)
        lines += f.data[i] == '\n';
    printf("learning, %d rounds (%s):\n", lines - 1, path);
    for (line = strtok_r(f.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest), at++)
        if (at == 0 || at == lines - 1 || at % (lines / LINES + 1) == 1)
            printf("    %s\n", line);
    sp_file_free(&f);
}

void bench_learned(int quick)
{
    int count = quick ? 2 : MEMORIES;
    shares s = {0};
    mean annealed;
    sp_eon model;
    char path[4096];

    must(sp_model_path(path, sizeof path, "eon.nn")
             ? sp_eon_load(&model, path)
             : sp_fail(SPRY_INPUT, "eon.nn is not where models lie"));
    printf("%-54s %5s %9s %9s %9s %-11s %9s %7s\n", "network", "M", "eon",
           "learned", "best", "plain", "blocked", "of best");
    for (int i = 0; i < NETWORKS; i++)
        compare(&s, &model, i, count);
    sp_eon_free(&model);
    for (int m = 0; m < count; m++) {
        char what[64];

        snprintf(what, sizeof what, "eon / blocked, M = %d", (int)memories[m]);
        print_mean(what, &s.by[m]);
    }
    print_mean("eon / blocked, by network", &s.all);
    print_mean("eon / best plain order", &s.best);
    print_mean("learned alone / best plain", &s.learned);
    print_mean("blocked / destination", &s.over_destination);
    print_mean("blocked / ego", &s.over_ego);
    annealed = anneal_some(quick);
    print_mean("anneal / blocked, M = 32", &annealed);
    print_curve();
    aim("eon_share_of_blocked", typical(&s.all), 1);
    aim("eon_share_of_best_plain", typical(&s.best), 1);
    aim("eon_worst_of_best_plain", s.best.worst, 1);
    aim("eon_microseconds_per_edge", 1e6 * time_per_edge(), 1);
    aim("blocked_share_of_destination", s.over_destination.worst, 1);
    aim("blocked_share_of_ego", s.over_ego.worst, 1);
    aim("anneal_share_of_blocked", annealed.worst, 1);
}
