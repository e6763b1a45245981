/* whole.c - whole networks with 0, 90 and 95 % zeros, tuned for the same time
 * and run in turns. Weights are pruned at random in every layer but the first
 * convolution. */
#include "whole.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../contest/figures.h"
#include "base/base.h"
#include "measure/measure.h"
#include "spry/graph.h"

enum { LEVELS = 3, ROUNDS = 15 };
static const double levels[LEVELS] = {0, 0.9, 0.95};
static const double goals[LEVELS] = {1, 2.2, 3};

static const struct {
    const char *name;
    int quick;
} networks[] = {{"resnet50", 1}, {"bert", 0}};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

static double gain[NETWORKS][2][LEVELS]; /* 0: not measured */

typedef struct {
    spry_graph *g;
    spry_executor *e;
    void *in[4], *out[4];
    int sparse, layers; /* chosen, of so many */
} pruned_net;

static void close_net(pruned_net *n)
{
    spry_executor_free(n->e);
    spry_graph_free(n->g);
    for (int i = 0; i < 4; i++) {
        sp_free(n->in[i]);
        sp_free(n->out[i]);
    }
}

static int fill(pruned_net *n)
{
    spry_graph_value v = {.size = sizeof v};
    int good = spry_graph_inputs(n->g) <= 4 && spry_graph_outputs(n->g) <= 4;

    for (int i = 0; good && spry_graph_input(n->g, i, &v) == SPRY_OK; i++) {
        good = (n->in[i] = sp_alloc(v.count, 8)) != NULL;
        for (int64_t k = 0; good && !v.whole && k < v.count; k++)
            ((float *)n->in[i])[k] = (float)(k % 17) / 8 - 1;
    }
    for (int i = 0; good && spry_graph_output(n->g, i, &v) == SPRY_OK; i++)
        good = (n->out[i] = sp_alloc(v.count, 8)) != NULL;
    return good;
}

static int open_net(pruned_net *n, const char *name, double zeros,
                    const spry_machine *m, double seconds)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor_stage x = {.size = sizeof x};
    char source[128];

    snprintf(source, sizeof source, "net:%s,sparsity=%g", name, zeros);
    o.threads = m->threads;
    o.effort = SPRY_MEASURE;
    o.seconds = seconds;
    o.store = ":memory:";
    o.machine = m;
    if (spry_graph_read(&n->g, source, NULL) != SPRY_OK || !fill(n) ||
        spry_executor_make(&n->e, n->g, &o) != SPRY_OK) {
        printf("%s: %s\n", source, spry_message());
        return 0;
    }
    for (int i = 0; spry_executor_stage_of(n->e, i, &x) == SPRY_OK; i++) {
        n->layers += x.macs > 0;
        n->sparse += strncmp(x.way, "sparse", 6) == 0;
    }
    return 1;
}

static void measure(int which, const spry_machine *m, double seconds)
{
    double took[LEVELS][ROUNDS], ratio[ROUNDS];
    pruned_net n[LEVELS] = {{0}};
    int good = 1;

    for (int i = 0; good && i < LEVELS; i++)
        good = open_net(&n[i], networks[which].name, levels[i], m, seconds);
    for (int r = 0; good && r < ROUNDS; r++)
        for (int i = 0; good && i < LEVELS; i++) {
            double begun = sp_seconds();

            good = spry_executor_run(n[i].e, (const void *const *)n[i].in,
                                     n[i].out) == SPRY_OK;
            took[i][r] = sp_seconds() - begun;
        }
    for (int i = 0; good && i < LEVELS; i++) {
        for (int r = 0; r < ROUNDS; r++)
            ratio[r] = took[0][r] / took[i][r];
        gain[which][m->threads - 1][i] = sp_median(ratio, ROUNDS);
        printf("%d  net:%s, %2.0f %% zeros: %.1f ms, %.2f times as fast as "
               "dense; %d of %d layers sparse\n",
               m->threads, networks[which].name, 100 * levels[i],
               1e3 * sp_median(took[i], ROUNDS), gain[which][m->threads - 1][i],
               n[i].sparse, n[i].layers);
    }
    for (int i = 0; i < LEVELS; i++)
        close_net(&n[i]);
}

void whole_networks(const spry_machine *m)
{
    for (int i = 0; i < NETWORKS; i++)
        if (bench_listed("NETS", networks[i].name) &&
            (!bench_quick() || networks[i].quick))
            measure(i, m, bench_quick() ? 12 : 30);
}

void whole_aims(void)
{
    char name[64];

    for (int k = 0; k < NETWORKS; k++)
        for (int t = 0; t < 2; t++)
            for (int i = 1; i < LEVELS; i++)
                if (gain[k][t][i] > 0) {
                    snprintf(name, sizeof name, "pruned-%s-%.0f-threads-%d",
                             networks[k].name, 100 * levels[i], t + 1);
                    bench_aim_least(name, gain[k][t][i], goals[i]);
                }
}
