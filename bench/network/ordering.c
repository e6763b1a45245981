/* ordering.c - orders: what they move between fast and slow memory against
 * the bounds, how long they take to make, and what EGO needs at its worst. */
#define _DEFAULT_SOURCE /* wait4 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "meet.h"
#include "parts.h"

static const int64_t memories[] = {32, 128, 512};
enum { MEMORIES = 3 };

typedef struct {
    double io[MEMORIES];
    double per_edge; /* seconds to make it */
} outcome;

/* 0, and a sentence, when the order cannot be made. */
static int try_order(outcome *out, const spry_network *n, const char *name,
                     double seconds)
{
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    int made = 1;

    *out = (outcome){{0}, 0};

    meet_must(edge ? SPRY_OK : sp_fail_memory(4));
    for (int i = 0; made && i < MEMORIES; i++) {
        spry_order_options o = SPRY_ORDER_DEFAULTS;
        spry_simulate_options s = SPRY_SIMULATE_DEFAULTS;
        double begin = sp_seconds();
        spry_io io = {.size = sizeof io};

        o.memory = s.memory = memories[i];
        o.seconds = seconds;
        made = spry_order_make(edge, n, name, &o) == SPRY_OK;
        if (!made) {
            printf("order %s is left out: %s\n", name, spry_message());
            break;
        }
        out->per_edge += (sp_seconds() - begin) / MEMORIES / (double)n->edges;
        meet_must(spry_simulate(&io, n, edge, &s));
        out->io[i] = (double)(io.reads + io.writes);
    }
    sp_free(edge);
    return made;
}

static void print_bounds(const spry_network *n)
{
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_io io = {.size = sizeof io};

    meet_must(edge ? spry_order_make(edge, n, "destination", NULL)
                   : SPRY_SYSTEM);
    meet_must(spry_simulate(&io, n, edge, NULL));
    printf("%-12s %12lld, any order; some order needs at most %lld\n",
           "at least", (long long)(io.least_reads + io.least_writes),
           (long long)(io.most_reads + io.most_writes));
    sp_free(edge);
}

/* A row for each order; those of interest are handed back. */
static void table(const char *path, const char *title, double seconds,
                  figures *f, int random)
{
    outcome destination = {{0}, 0}, blocked = destination, ego = destination,
            anneal = destination;
    spry_network *n;

    meet_must(spry_network_read(&n, path, NULL));
    printf("\norders, %s: reads + writes of neurons, LRU\n%-12s %12s %12s "
           "%12s %14s\n",
           title, "order", "M = 32", "128", "512", "us per edge");
    for (int i = 0; spry_order_name(i); i++) {
        const char *name = spry_order_name(i);
        outcome o;

        if (!try_order(&o, n, name, seconds))
            continue;
        printf("%-12s %12.0f %12.0f %12.0f %14.3f\n", name, o.io[0], o.io[1],
               o.io[2], o.per_edge * 1e6);
        fflush(stdout);
        if (strcmp(name, "destination") == 0)
            destination = o;
        if (strcmp(name, "blocked") == 0)
            blocked = o;
        if (strcmp(name, "ego") == 0)
            ego = o;
        if (strcmp(name, "anneal") == 0)
            anneal = o;
    }
    print_bounds(n);
    if (random) {
        f->blocked_over_ego = ego.io[1] / blocked.io[1];
        f->blocked_over_destination = destination.io[1] / blocked.io[1];
        f->annealed = blocked.io[1] / anneal.io[1];
    }
    spry_network_free(n);
}

/* ---- in a process of its own, to see its memory ---- */

typedef void work(const char *path);

static void only_read(const char *path)
{
    spry_network *n;

    meet_must(spry_network_read(&n, path, NULL));
    spry_network_free(n);
}

static void make_ego(const char *path)
{
    spry_network *n;
    int32_t *edge;

    meet_must(spry_network_read(&n, path, NULL));
    edge = sp_alloc(n->edges, sizeof *edge);
    meet_must(edge ? spry_order_make(edge, n, "ego", NULL) : SPRY_SYSTEM);
    sp_free(edge);
    spry_network_free(n);
}

static void run_streamed(const char *path)
{
    enum { BATCH = 16 };
    spry_layers *s;
    spry_matrix *m = NULL;
    float *x, *y;
    int64_t width;

    meet_must(spry_layers_open(&s, path, NULL));
    width = spry_layers_inputs(s);
    x = sp_alloc(BATCH * width, sizeof *x);
    y = sp_alloc(BATCH * width, sizeof *y);
    meet_must(x && y ? spry_inputs_strokes(&m, BATCH, width, 1) : SPRY_SYSTEM);
    meet_must(spry_inputs_dense(x, m, 0, BATCH, width));
    meet_must(spry_layers_run(y, s, x, BATCH));
    spry_matrix_free(m);
    sp_free(x);
    sp_free(y);
    spry_layers_close(s);
}

/* Seconds, and bytes at most. */
static double apart(double *bytes, work *w, const char *path)
{
    double begin = sp_seconds();
    struct rusage use;
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        w(path);
        _exit(0);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status != 0) {
        fprintf(stderr, "bench-network: %s could not be run apart\n", path);
        exit(SPRY_SYSTEM);
    }
    *bytes = (double)use.ru_maxrss * 1024;
    return sp_seconds() - begin;
}

static void large_ones(figures *f, int quick)
{
    static const char half[] = "gen:random,width=1024,depth=4,density=0.5";
    static const char radix[] = "gen:radix,depth=120";
    static const char wide[] = "gen:radix,width=65536,depth=120";
    double bytes, read = apart(&bytes, only_read, half);

    f->ego_half_seconds = apart(&f->ego_half_bytes, make_ego, half) - read;
    printf("\nEGO, random 1024 x 4 at density 0.5: %.2f s, %.0f MB with the "
           "network\n",
           f->ego_half_seconds, f->ego_half_bytes / 1e6);
    read = apart(&bytes, only_read, radix);
    f->ego_radix_seconds = apart(&bytes, make_ego, radix) - read;
    printf("EGO, RadiX 1024 x 120: %.2f s, %.0f MB with the network\n",
           f->ego_radix_seconds, bytes / 1e6);
    if (quick)
        return;
    read = apart(&f->wide_bytes, run_streamed, wide);
    printf("65536 x 120 streamed, 16 inputs: %.1f s, %.0f MB\n", read,
           f->wide_bytes / 1e6);
}

static void counters(figures *f)
{
    spry_counters c = {.size = sizeof c};
    spry_layers *s;

    meet_must(spry_layers_open(&s, "gen:radix,depth=120", NULL));
    meet_must(spry_layers_counters(&c, s));
    spry_layers_close(s);
    f->counters = c.buffers == 960 && c.map == 491520 && c.warpnz == 163152 &&
                  c.weight_max == 50176;
    printf("\n1024 x 120: buffers %lld, map %lld, warpnz %lld, weight %lld: %s "
           "(bench-official compares bytes)\n",
           (long long)c.buffers, (long long)c.map, (long long)c.warpnz,
           (long long)c.weight_max,
           f->counters ? "the published ones" : "NOT the published ones");
}

void bench_orders(figures *f, int quick)
{
    counters(f);
    large_ones(f, quick);
    table("gen:random,width=1024,depth=4,density=0.05",
          "random 1024 x 4 at 5 %", quick ? 1 : 10, f, 1);
    if (!quick)
        table("gen:radix,depth=16", "RadiX 1024 x 16", 10, f, 0);
}
