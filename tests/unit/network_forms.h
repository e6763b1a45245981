/* network_forms.h - networks and forms to run them, beside the reference. */
#ifndef SPRY_NETWORK_FORMS_H
#define SPRY_NETWORK_FORMS_H

#include "check.h"

#include <math.h>

#include "base/base.h"
#include "form/internal.h"
#include "network_bound.h"

/* Every curve, odd widths, edges that skip layers, neurons without edges,
 * outputs that share sources. */
static const char *const specs[] = {
    "gen:radix,depth=7",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4,activation=linear",
    "gen:mixed,radices=2x3x6x2,classes=6,copies=2,activation=clamp,limit=2",
    "gen:random,width=61,depth=5,density=0.2",
    "gen:random,width=61,depth=5,density=0.2,bias=-0.2,activation=clamp",
    "gen:random,width=7,density=0,bias=1",
    "gen:random,width=7,density=1,activation=tanh",
    "gen:pruned,widths=40x31x20x10,sparsity=0.8,bias=-0.1",
    "gen:pruned,widths=5x1,sparsity=0,activation=sigmoid",
    "gen:smallworld,width=50,degree=6,activation=linear,bias=0.5",
    "gen:skip,width=20,depth=6,degree=5",
    "gen:skip,width=33,depth=9,degree=7,activation=tanh,bias=0.1",
};
enum { SPECS = sizeof specs / sizeof *specs };

static const char *const forms[] = {
    "edges",
    "edges order=blocked",
    "gather threads=1",
    "gather threads=2",
    "rows threads=1",
    "rows tile=8 threads=3",
    "rows tile=16 threads=1",
    "rows tile=32 threads=2",
    "rows tile=64 threads=1",
    "plain threads=1",
    "plain threads=2",
};
enum { WAYS = sizeof forms / sizeof *forms };

static const int64_t batches[] = {0, 1, 2, 7, 64, 131};
enum { BATCHES = sizeof batches / sizeof *batches, MOST = 131 };

static inline spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
    return n;
}

static inline sp_runner *make_runner(const spry_network *n, const char *text)
{
    sp_form_options f;
    sp_runner *r;

    check_ok(sp_form_parse(&f, text));
    check_ok(sp_runner_make(&r, n, &f));
    return r;
}

/* A third of the values, whole numbers if so wished; some inputs are all
 * zeros. */
static inline float *some_inputs(const spry_network *n, int64_t batch,
                                 int whole)
{
    float *x = sp_alloc(batch * n->inputs, sizeof *x);
    sp_rng r = sp_rng_seed(7);

    for (int64_t i = 0; i < batch * n->inputs; i++)
        if (sp_rng_below(&r, 3) == 0 && i / n->inputs % 5 != 3)
            x[i] = whole ? (float)sp_rng_below(&r, 4) : (float)sp_rng_unit(&r);
    return x;
}

/* Without bounds they must be equal. */
static inline void compare(const float *y, const double *right, int64_t count,
                           const double *bound)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)y[i] - right[i]) <= (bound ? bound[i] : 0)))
            fail_msg("output %lld is %.9g, not %.9g", (long long)i,
                     (double)y[i], right[i]);
}

/* Results behind the last stay as they were. */
static inline void check_run(const sp_runner *r, const spry_network *n,
                             const float *x, const double *right, int64_t batch,
                             const double *bound)
{
    float *y = sp_alloc(batch * n->outputs + 1, sizeof *y);

    for (int64_t i = 0; i <= batch * n->outputs; i++)
        y[i] = -12345;
    check_ok(sp_runner_run(r, y, x, batch));
    compare(y, right, batch * n->outputs, bound);
    assert_true(y[batch * n->outputs] == -12345);
    sp_free(y);
}

static inline void check_network(const spry_network *n, int whole)
{
    float *x = some_inputs(n, MOST, whole);
    double *right = sp_alloc(MOST * n->outputs, sizeof *right);
    double *bound = whole ? NULL : network_bound(n, x, MOST);

    check_ok(spry_network_reference(right, n, x, MOST));
    for (int w = 0; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        for (int b = 0; b < BATCHES; b++)
            check_run(r, n, x, right, batches[b], bound);
        sp_runner_free(r);
    }
    sp_free(x);
    sp_free(right);
    sp_free(bound);
}

#endif
