/* onnx.c - one of those that bench/onnx.py lets run in turns:
 *
 *   run NET THREADS STORE      an executor, as the store has it
 *   onednn NET THREADS         the sum of oneDNN's convolutions and products
 *   layouts NET THREADS        those sums in either layout of images, and with
 *                              the faster one of each layer, moves not counted
 *   tune NET THREADS STORE SECONDS ORDER TRANSFER
 *   check NET                  the largest error, with Winograd and without
 *
 * run and onednn print a line of JSON when they are ready, then run once for
 * each line they read and print its seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/peer.h"
#include "graph/executor.h"

typedef struct {
    spry_graph *g;
    spry_executor *e;
    void **in, **out;
} job;

static void insist(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "bench-onnx: %s\n", spry_message());
    exit(1);
}

static void fill(void *to, const sp_opvalue *v, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);

    for (int64_t i = 0; i < v->count; i++)
        if (v->whole)
            ((int64_t *)to)[i] = (int64_t)sp_rng_below(&r, 2);
        else
            ((float *)to)[i] = (float)(sp_rng_unit(&r) - 0.5);
}

static void open_job(job *j, const char *net)
{
    memset(j, 0, sizeof *j);
    insist(spry_graph_read(&j->g, net, NULL));
    j->in = sp_alloc(j->g->inputs + 1, sizeof *j->in);
    j->out = sp_alloc(j->g->outputs + 1, sizeof *j->out);
    for (int i = 0; i < j->g->inputs; i++) {
        const sp_opvalue *v = &j->g->value[j->g->input[i]];

        j->in[i] = sp_alloc(v->count + 1, 8);
        fill(j->in[i], v, 5 + (uint64_t)i);
    }
    for (int i = 0; i < j->g->outputs; i++)
        j->out[i] = sp_alloc(j->g->value[j->g->output[i]].count + 1, 8);
}

static spry_executor_options options_of(char **arg)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;

    o.threads = atoi(arg[0]);
    o.store = arg[1];
    return o;
}

/* Once for each line. */
static void take_turns(void (*run)(void *), void *arg)
{
    char line[64];

    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double begun = sp_seconds();

        run(arg);
        printf("%.9f\n", sp_seconds() - begun);
        fflush(stdout);
    }
}

/* ---- spry ---- */

static void run_executor(void *arg)
{
    job *j = arg;

    insist(spry_executor_run(j->e, (const void *const *)j->in, j->out));
}

static void role_run(char **arg)
{
    spry_executor_options o = options_of(arg + 1);
    double begun, made, first;
    job j;

    open_job(&j, arg[0]);
    begun = sp_seconds();
    insist(spry_executor_make(&j.e, j.g, &o));
    made = sp_seconds() - begun;
    run_executor(&j);
    first = sp_seconds() - begun;
    printf("{\"make\": %.6f, \"first\": %.6f, \"arena\": %lld, \"live\": %lld}"
           "\n",
           made, first, (long long)spry_executor_arena(j.e),
           (long long)spry_executor_live(j.e));
    take_turns(run_executor, &j);
}

static void role_tune(char **arg)
{
    spry_executor_options o = options_of(arg + 1);
    double begun;
    job j;

    o.effort = SPRY_MEASURE;
    o.seconds = atof(arg[3]);
    insist(spry_tuning_order_parse(&o.order, arg[4]));
    o.transfer = atoi(arg[5]);
    open_job(&j, arg[0]);
    begun = sp_seconds();
    insist(spry_executor_make(&j.e, j.g, &o));
    printf("{\"seconds\": %.3f}\n", sp_seconds() - begun);
}

/* ---- oneDNN ---- */

typedef struct {
    dense_peer *peer;
    spry_tensors t;
} layer;

typedef struct {
    layer *layer;
    int count;
} layers;

static float *chance(int64_t count)
{
    float *x = count ? sp_alloc(count + 16, sizeof *x) : NULL;
    sp_rng r = sp_rng_seed(3);

    for (int64_t i = 0; x && i < count; i++)
        x[i] = (float)(sp_rng_unit(&r) - 0.5);
    return x;
}

static double seconds_of(dense_peer *p, int runs)
{
    double best = HUGE_VAL;

    for (int i = 0; p && i < runs; i++) {
        double begun = sp_seconds(), took;

        dense_peer_run(p);
        took = sp_seconds() - begun;
        best = took < best ? took : best;
    }
    return best;
}

/* A layer in both layouts; a product has one. */
static void open_layouts(dense_peer *p[2], layer *l, const spry_operator *op,
                         dense_layout other, int threads)
{
    spry_operator bare = *op;

    bare.add = SPRY_ADD_NONE;
    bare.act = SPRY_ACT_NONE;
    bare.with_bias = 0;
    l->t.in = chance(sp_dense_in(op));
    l->t.b = chance(sp_dense_b(op));
    l->t.out = chance(sp_dense_out(op));
    p[0] = dense_peer_open(&bare, &l->t, PEER_ROWS, threads);
    p[1] = op->kind == SPRY_MATMUL
               ? NULL
               : dense_peer_open(&bare, &l->t, other, threads);
}

/* In the layout that is faster. */
static int open_layer(layer *l, const spry_operator *op, int threads)
{
    dense_peer *p[2];
    int slow;

    open_layouts(p, l, op, PEER_BLOCKED, threads);
    slow = seconds_of(p[0], 4) <= seconds_of(p[1], 4);
    l->peer = p[!slow];
    dense_peer_close(p[slow]);
    return l->peer != NULL;
}

static void run_layers(void *arg)
{
    const layers *l = arg;

    for (int i = 0; i < l->count; i++)
        dense_peer_run(l->layer[i].peer);
}

static int open_executor(job *j, char **arg)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;

    o.threads = atoi(arg[1]);
    o.store = ":memory:";
    open_job(j, arg[0]);
    insist(spry_executor_make(&j->e, j->g, &o));
    return o.threads;
}

/* The convolution or product of stage i; NULL: it is none. */
static const spry_operator *sum_of(const job *j, int i)
{
    const spry_problem *p = j->e->stage[i].problem;
    const spry_operator *op = p ? spry_problem_operator(p) : NULL;

    return op && (op->kind == SPRY_CONV2D || op->kind == SPRY_MATMUL) ? op
                                                                      : NULL;
}

static void role_layouts(char **arg)
{
    enum { ROWS, BLOCKED, FASTER, WINS };
    double sum[WINS] = {0};
    int count = 0, wins = 0, missing = 0;
    job j;
    int threads = open_executor(&j, arg);
    dense_layout block =
        spry_isa_bytes(j.e->m.isa) < 64 ? PEER_EIGHTS : PEER_SIXTEENS;

    for (int i = 0; i < j.e->p->stages; i++) {
        const spry_operator *op = sum_of(&j, i);
        double best[2] = {HUGE_VAL, HUGE_VAL};
        dense_peer *p[2] = {NULL, NULL};
        layer l;

        if (op)
            open_layouts(p, &l, op, block, threads);
        if (!p[0])
            continue;
        if (p[1] && strstr(dense_peer_about(p[1]), "ref")) {
            dense_peer_close(p[1]); /* it has no kernel for that */
            p[1] = NULL;
            missing++;
        }
        for (int k = 0; k < 10; k++) /* in turns */
            for (int w = 0; w < 2; w++)
                best[w] = fmin(best[w], seconds_of(p[w], 3));
        if (!p[1])
            best[1] = best[0];
        sum[ROWS] += best[0];
        sum[BLOCKED] += best[1];
        sum[FASTER] += fmin(best[0], best[1]);
        wins += best[1] < 0.95 * best[0];
        count++;
        dense_peer_close(p[0]);
        dense_peer_close(p[1]);
    }
    printf("{\"layers\": %d, \"neighbours\": %.6f, \"blocked\": %.6f, "
           "\"faster\": %.6f, \"blocked_faster\": %d, \"missing\": %d}\n",
           count, sum[ROWS], sum[BLOCKED], sum[FASTER], wins, missing);
}

static void role_onednn(char **arg)
{
    layers all = {0};
    int left = 0;
    job j;
    int threads = open_executor(&j, arg);

    all.layer = sp_alloc(j.e->p->stages + 1, sizeof *all.layer);
    for (int i = 0; i < j.e->p->stages; i++) {
        const spry_operator *op = sum_of(&j, i);

        if (!op)
            continue;
        if (open_layer(&all.layer[all.count], op, threads))
            all.count++;
        else
            left++;
    }
    if (!all.count) {
        fprintf(stderr, "bench-onnx: %s\n", dense_peer_name());
        exit(1);
    }
    printf("{\"layers\": %d, \"left_out\": %d, \"name\": \"%s\"}\n", all.count,
           left, dense_peer_name());
    take_turns(run_layers, &all);
}

/* ---- is it right? ---- */

/* The fastest way by the model that is not Winograd's. */
static void without_winograd(spry_executor *e)
{
    for (int i = 0; i < e->p->stages; i++) {
        const sp_dense_problem *p = sp_dense_of(e->stage[i].problem);
        double least = HUGE_VAL;
        sp_dense_way *way = NULL;
        char text[SPRY_SCHEDULE_TEXT];
        int count = 0;

        if (!p || strncmp(e->stage[i].plan->text, "wino", 4) != 0)
            continue;
        insist(sp_dense_ways(&way, &count, p, &e->m));
        for (int k = 0; k < count; k++) {
            double t = sp_dense_predict(p, &way[k], &e->m);

            if (way[k].algorithm == SP_WINO2 || t >= least)
                continue;
            least = t;
            sp_dense_way_text(text, &way[k]);
        }
        sp_free(way);
        insist(sp_executor_bind(e, i, text));
    }
    insist(sp_executor_room(e));
}

/* The largest difference, as a share of the largest number. */
static double error_of(const job *j, void *const *right)
{
    double off = 0, most = 0;

    for (int i = 0; i < j->g->outputs; i++) {
        const sp_opvalue *v = &j->g->value[j->g->output[i]];

        for (int64_t k = 0; !v->whole && k < v->count; k++) {
            double x = (double)((const float *)j->out[i])[k];
            double y = (double)((const float *)right[i])[k];

            off = fmax(off, fabs(x - y));
            most = fmax(most, fabs(y));
        }
    }
    return off / most;
}

static void role_check(char **arg)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    double with;
    void **right;
    job j;

    open_job(&j, arg[0]);
    right = sp_alloc(j.g->outputs + 1, sizeof *right);
    for (int i = 0; i < j.g->outputs; i++)
        right[i] = sp_alloc(j.g->value[j.g->output[i]].count + 1, 8);
    insist(spry_graph_reference(j.g, (const void *const *)j.in, right));
    o.store = ":memory:";
    insist(spry_executor_make(&j.e, j.g, &o));
    run_executor(&j);
    with = error_of(&j, right);
    without_winograd(j.e);
    run_executor(&j);
    printf("{\"with\": %.3g, \"without\": %.3g}\n", with, error_of(&j, right));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int words;
        void (*act)(char **);
    } roles[] = {{"run", 3, role_run},
                 {"onednn", 2, role_onednn},
                 {"layouts", 2, role_layouts},
                 {"tune", 6, role_tune},
                 {"check", 1, role_check}};

    for (size_t i = 0; argc > 1 && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(argv[1], roles[i].name) == 0 && argc == 2 + roles[i].words) {
            roles[i].act(argv + 2);
            return 0;
        }
    fprintf(stderr, "bench/onnx.py starts this, see there\n");
    return 2;
}
