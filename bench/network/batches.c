/* batches.c - one input, 64, 1024: every form, Algorithm 1 in every order,
 * SciPy and PyTorch layer by layer. One thread each unless it says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "meet.h"
#include "parts.h"

enum { BUSY = 16 };

/* Everything that runs one network in one race. */
typedef struct {
    spry_network *net;
    float *x;
    int64_t batch;
    meet m;
    meet_form form[BUSY];
    int forms;
    meet_python *scipy, *torch;
    double *layer; /* [layers] sums to compare with, or NULL: not known yet */
    double sum;    /* of all outputs */
} table;

/* The same edges with weights of their own, and biases above 0: inputs stay
 * alive, so every edge is executed. */
static void enliven(spry_network **n)
{
    spry_network parts = **n, *out;
    float *weight = sp_alloc(parts.edges, sizeof *weight);
    float *bias = sp_alloc(parts.neurons, sizeof *bias);
    spry_activation *relu = sp_alloc(parts.layers, sizeof *relu);
    sp_rng r = sp_rng_seed(1);

    meet_must(weight && bias && relu ? SPRY_OK : sp_fail_memory(4));
    for (int64_t k = 0; k < parts.edges; k++)
        weight[k] = (float)(sp_rng_unit(&r) - 0.45) / 4;
    for (int64_t v = parts.inputs; v < parts.neurons; v++)
        bias[v] = 0.01F;
    for (int64_t l = 0; l < parts.layers; l++)
        relu[l].curve = SPRY_RELU;
    parts.weight = weight;
    parts.bias = bias;
    parts.activation = relu;
    parts.bias_on_nonzero = 0;
    meet_must(spry_network_make(&out, &parts));
    spry_network_free(*n);
    *n = out;
    sp_free(weight);
    sp_free(bias);
    sp_free(relu);
}

/* Inputs are pen strokes. */
static void open_table(table *t, const char *path, int64_t batch)
{
    spry_matrix *m;

    memset(t, 0, sizeof *t);
    t->batch = batch;
    meet_must(spry_network_read(&t->net, path, NULL));
    if (batch > 1)
        enliven(&t->net);
    meet_must(spry_inputs_strokes(&m, batch, t->net->inputs, 1));
    t->x = sp_alloc(batch * t->net->inputs, sizeof *t->x);
    meet_must(t->x ? SPRY_OK : sp_fail_memory(4));
    meet_must(spry_inputs_dense(t->x, m, 0, batch, t->net->inputs));
    spry_matrix_free(m);
    t->m.edges = (double)t->net->edges * (double)batch;
}

static void close_table(table *t)
{
    for (int i = 0; i < t->forms; i++)
        meet_form_close(&t->form[i]);
    meet_python_close(t->scipy);
    meet_python_close(t->torch);
    sp_free(t->x);
    sp_free(t->layer);
    spry_network_free(t->net);
}

static void add_form(table *t, const char *text)
{
    meet_form *f = &t->form[t->forms++];

    meet_form_open(f, t->net, text, t->x, t->batch);
    meet_add(&t->m, text, meet_form_run, f, 1);
}

static void add_order(table *t, const char *order)
{
    meet_form *f = &t->form[t->forms];
    char name[MEET_NAME];

    if (!meet_order_open(f, t->net, order, 2, t->x))
        return;
    t->forms++;
    snprintf(name, sizeof name, "Algorithm 1, %s", order);
    meet_add(&t->m, name, meet_form_run, f, 1);
}

/* All orders; those that take long only where edges are few. */
static void add_orders(table *t)
{
    for (int i = 0; spry_order_name(i) && i < BUSY - 4; i++) {
        const char *name = spry_order_name(i);
        int slow = strcmp(name, "anneal") == 0 || strncmp(name, "eon", 3) == 0;

        if (!slow || t->net->edges < 300000)
            add_order(t, name);
    }
}

/* What SciPy and PyTorch must compute too, or their time means nothing. The
 * outputs alone would not tell: those of a deep network may all be 0. */
static void open_sums(table *t)
{
    const spry_network *n = t->net;
    spry_network all = *n, *bare;
    int64_t own = n->neurons - n->inputs;
    int32_t *every = sp_alloc(own, sizeof *every);
    double *y = sp_alloc(t->batch * n->outputs + own, sizeof *y);

    t->layer = sp_alloc(n->layers, sizeof *t->layer);
    meet_must(every && y && t->layer ? SPRY_OK : sp_fail_memory(4));
    meet_must(spry_network_reference(y, n, t->x, t->batch));
    for (int64_t i = 0; i < t->batch * n->outputs; i++)
        t->sum += y[i];
    for (int64_t v = 0; v < own; v++)
        every[v] = (int32_t)(n->inputs + v);
    all.outputs = own;
    all.output = every;
    meet_must(spry_network_make(&bare, &all));
    meet_must(spry_network_reference(y, bare, t->x, 1));
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            t->layer[l] +=
                y[v - n->inputs] * (double)(1 + (v - n->first[l]) % 7);
    spry_network_free(bare);
    sp_free(every);
    sp_free(y);
}

/* Values are 0 or more, so sums say how large what was added is. */
static int near(double theirs, double ours)
{
    return fabs(theirs - ours) <= 1e-3 * ours + 1e-6;
}

/* The first layer that differs; -1: none, and there was something to see. */
static int64_t compare(const table *t, meet_python *p)
{
    double *theirs = sp_alloc(t->net->layers, sizeof *theirs);
    int64_t l = 0;

    meet_must(theirs ? SPRY_OK : sp_fail_memory(4));
    meet_python_layers(theirs, p, t->net->layers);
    while (l < t->net->layers && near(theirs[l], t->layer[l]))
        l++;
    sp_free(theirs);
    if (l == t->net->layers && near(meet_python_sum(p), t->sum))
        l = -1;
    return t->layer[0] > 0 ? l : 0;
}

static void add_python(table *t, meet_python **slot, const char *library)
{
    int64_t bad;

    *slot = meet_python_open(library, t->net, t->x, t->batch);
    if (!*slot)
        return;
    if (!t->layer)
        open_sums(t);
    bad = compare(t, *slot);
    if (bad < 0)
        meet_add(&t->m, library, meet_python_run, *slot, MEET_PYTHON_TIMES);
    else
        printf("%s computes something else from layer %lld on: left out\n",
               library, (long long)bad);
}

static void add_compiled(table *t)
{
    meet_form *f = &t->form[t->forms++];

    meet_form_open(f, t->net, "passes=all gather threads=1", t->x, t->batch);
    meet_add(&t->m, "passes=all gather (nominal edges)", meet_form_run, f, 1);
}

/* ---- one input ---- */

static void single(figures *f, const char *path, const char *title,
                   double seconds)
{
    table t;

    open_table(&t, path, 1);
    add_orders(&t);
    add_form(&t, "gather threads=1");
    add_form(&t, "gather threads=2");
    add_compiled(&t);
    add_python(&t, &t.scipy, "scipy");
    add_python(&t, &t.torch, "torch");
    meet_race(&t.m, title, seconds);
    f->one = meet_rate(&t.m, "gather threads=1");
    f->over_scipy = meet_ratio(&t.m, "gather threads=1", "scipy");
    f->over_torch = meet_ratio(&t.m, "gather threads=1", "torch");
    f->over_destination =
        meet_ratio(&t.m, "gather threads=1", "Algorithm 1, destination");
    f->compiled_over_scipy =
        meet_ratio(&t.m, "passes=all gather (nominal edges)", "scipy");
    close_table(&t);
}

/* The aims are about the last one. */
void bench_single(figures *f, int quick)
{
    double seconds = quick ? 3 : 20;

    single(f, "gen:random,width=1024,depth=4,density=0.05",
           "batch 1, random 1024 x 4 at 5 %", seconds);
    single(f, "gen:radix,depth=16", "batch 1, RadiX 1024 x 16", seconds);
    single(f, "gen:radix,depth=120", "batch 1, RadiX 1024 x 120", seconds * 2);
}

/* ---- many inputs ---- */

typedef struct {
    double one, two;
} speeds;

static speeds several(const char *path, const char *what, int64_t batch,
                      double seconds)
{
    char title[128];
    speeds s;
    table t;

    snprintf(title, sizeof title, "batch %d, %s", (int)batch, what);
    open_table(&t, path, batch);
    add_form(&t, "rows threads=1");
    add_form(&t, "rows threads=2");
    add_form(&t, "rows tile=8 threads=1");
    add_form(&t, "rows tile=16 threads=1");
    add_form(&t, "rows tile=32 threads=1");
    add_form(&t, "rows tile=64 threads=1");
    add_form(&t, "edges order=source");
    add_form(&t, "gather threads=1");
    add_python(&t, &t.scipy, "scipy");
    add_python(&t, &t.torch, "torch");
    meet_race(&t.m, title, seconds);
    s.one = meet_rate(&t.m, "rows threads=1");
    s.two = s.one * meet_ratio(&t.m, "rows threads=2", "rows threads=1");
    close_table(&t);
    return s;
}

void bench_batches(figures *f, int quick)
{
    static const int64_t batch[] = {64, 1024};
    const char *plain = quick
                            ? "gen:random,width=1024,depth=12,density=0.03125"
                            : "gen:random,width=1024,depth=120,density=0.03125";
    const char *shared = quick ? "gen:radix,depth=12" : "gen:radix,depth=120";
    double seconds = quick ? 4 : 60;

    for (int i = 0; i < 2; i++) {
        speeds s = several(plain, "unstructured weights", batch[i], seconds);

        f->plain[i] = s.one;
        f->two_over_one = s.one > 0 ? s.two / s.one : 0;
        s = several(shared, "outputs that share inputs (RadiX)", batch[i],
                    seconds);
        f->shared[i] = s.one;
    }
}
