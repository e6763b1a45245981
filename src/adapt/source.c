/* source.c - a model that was trained elsewhere, as it scores tables.
 *
 * It is what the kind spry is made of: trees on the bound, and networks. */
#include <string.h>

#include "adapt/adapt.h"
#include "model/ensemble.h"
#include "model/kinds.h"

void sp_pretrained_learns(sp_pretrained *s, int k, int learns)
{
    static const char *const fixed[] = {"mean", "scale"};
    char name[24];

    snprintf(name, sizeof name, "net%d.", k);
    sp_nn_freeze(s->nn, name, !learns);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "net%d.%s", k, fixed[i]);
        sp_nn_freeze(s->nn, name, 1);
    }
}

static void make_nets(sp_pretrained *s)
{
    char name[16];

    for (int k = 0; k < SP_PRETRAINED_NETS; k++) {
        snprintf(name, sizeof name, "net%d", k);
        sp_resnet_make(&s->net[k], s->nn, name);
        sp_pretrained_learns(s, k, 0);
    }
}

void sp_pretrained_free(sp_pretrained *s)
{
    if (!s->borrows)
        sp_trees_free(&s->trees);
    sp_nn_free(s->nn);
    memset(s, 0, sizeof *s);
}

/* One after another, the others held still. Whoever listens hears of the trees'
 * rounds alone, but may stop these, too: the first stop ends all. */
static spry_status fit_nets(sp_pretrained *s, const sp_dataset *train,
                            const sp_dataset *stop, const sp_fitting *l)
{
    sp_fitting own = *l;
    spry_status status = SPRY_OK;

    own.quiet = 1;
    own.rounds = 0;
    for (int k = 0; k < s->nets && status == SPRY_OK; k++) {
        own.seed = l->seed + (uint64_t)k;
        sp_pretrained_learns(s, k, 1);
        status = sp_resnet_learn(&s->net[k], s->nn, &own, train, stop);
        sp_pretrained_learns(s, k, 0);
    }
    return status;
}

spry_status sp_pretrained_fit(sp_pretrained *out, const sp_dataset *train,
                              const sp_dataset *stop, const sp_fitting *l)
{
    spry_status s;

    memset(out, 0, sizeof *out);
    out->nets = SP_PRETRAINED_NETS;
    s = sp_nn_new(&out->nn, l->seed);
    if (s != SPRY_OK)
        return s;
    make_nets(out);
    s = sp_nn_status(out->nn);
    if (s == SPRY_OK && sp_boost_ready()) {
        s = sp_ensemble_grow(&out->trees, train, stop, l);
        out->has_trees = s == SPRY_OK;
    }
    if (s == SPRY_OK)
        s = fit_nets(out, train, stop, l);
    if (s != SPRY_OK)
        sp_pretrained_free(out);
    return s;
}

/* ---- from a file ---- */

/* The networks' weights, by name. */
static void copy_weights(const sp_nn *to, const sp_nn *from)
{
    const char *name, *other;
    sp_tensor *a, *b;

    for (int i = 0; (a = sp_nn_at(to, i, &name)); i++)
        for (int k = 0; (b = sp_nn_at(from, k, &other)); k++)
            if (!strcmp(name, other) && a->size == b->size)
                memcpy(a->value, b->value, (size_t)a->size * sizeof *a->value);
}

spry_status sp_pretrained_copy(sp_pretrained *out, const sp_pretrained *from)
{
    spry_status s;

    *out = *from;
    out->borrows = 1;
    s = sp_nn_new(&out->nn, 1);
    if (s != SPRY_OK)
        return s;
    make_nets(out);
    s = sp_nn_status(out->nn);
    if (s == SPRY_OK)
        copy_weights(out->nn, from->nn);
    else
        sp_pretrained_free(out);
    return s;
}

spry_status sp_pretrained_open(sp_pretrained *out, sp_nn *nn)
{
    spry_status s;

    *out = (sp_pretrained){.nn = nn, .nets = SP_PRETRAINED_NETS};
    make_nets(out);
    s = sp_trees_open(&out->trees, nn, "trees", SP_FEATURES);
    out->has_trees = s == SPRY_OK;
    if (s == SPRY_OK)
        s = sp_nn_status(nn);
    if (s != SPRY_OK)
        sp_pretrained_free(out);
    return s;
}

spry_status sp_pretrained_of(sp_pretrained *out, const sp_cost *c)
{
    spry_status s;

    memset(out, 0, sizeof *out);
    if (c->kind != &sp_cost_spry)
        return sp_fail(SPRY_USAGE,
                       "a model of the kind spry can be adapted, "
                       "not one of the kind %s",
                       c->kind->name);
    s = sp_nn_new(&out->nn, 1);
    if (s != SPRY_OK)
        return s;
    make_nets(out);
    s = sp_nn_status(out->nn);
    out->nets = sp_resnet_known(c->nn, "net0") ? SP_PRETRAINED_NETS : 0;
    if (s == SPRY_OK && out->nets)
        copy_weights(out->nn, c->nn);
    if (s == SPRY_OK)
        s = sp_trees_open(&out->trees, c->nn, "trees", SP_FEATURES);
    out->has_trees = s == SPRY_OK;
    if (s != SPRY_OK)
        sp_pretrained_free(out);
    return s;
}

/* ---- scores ---- */

void sp_pretrained_trees(float *out, const sp_pretrained *s,
                         const sp_dataset *t)
{
    enum { FEW = 64 };

    for (int64_t at = 0; at < t->rows; at += FEW) {
        int64_t n = t->rows - at < FEW ? t->rows - at : FEW;
        double sum[FEW] = {0};

        if (s->has_trees)
            sp_trees_add(sum, &s->trees, t->x + at * SP_FEATURES, n);
        for (int64_t i = 0; i < n; i++)
            out[at + i] = t->bound[at + i] + (float)sum[i];
    }
}

spry_status sp_pretrained_nets(float *out, const sp_pretrained *s,
                               const sp_dataset *t)
{
    float *one = sp_alloc(t->rows + 1, sizeof *one);
    spry_status status = SPRY_OK;

    if (!one)
        return sp_fail_memory((size_t)t->rows * sizeof *one);
    memset(out, 0, (size_t)t->rows * sizeof *out);
    for (int k = 0; k < s->nets && status == SPRY_OK; k++) {
        status = sp_net_table(one, t, &s->net[k], sp_resnet_pass, 1);
        for (int64_t i = 0; i < t->rows; i++)
            out[i] += one[i] / (float)s->nets;
    }
    sp_free(one);
    return status;
}

spry_status sp_pretrained_opinions(float *trees, float *nets,
                                   const sp_pretrained *s, const sp_dataset *t)
{
    size_t bytes = (size_t)t->rows * sizeof *trees;
    spry_status status = SPRY_OK;

    sp_pretrained_trees(trees, s, t);
    if (s->nets)
        status = sp_pretrained_nets(nets, s, t);
    else
        memcpy(nets, trees, bytes);
    if (s->nets && !s->has_trees)
        memcpy(trees, nets, bytes);
    return status;
}

spry_status sp_pretrained_score(float *out, const sp_pretrained *s,
                                const sp_dataset *t)
{
    float *nets = sp_alloc(t->rows + 1, sizeof *nets);
    spry_status status;

    if (!nets)
        return sp_fail_memory((size_t)t->rows * sizeof *nets);
    status = sp_pretrained_opinions(out, nets, s, t);
    for (int64_t i = 0; i < t->rows; i++)
        out[i] = (out[i] + nets[i]) / 2;
    sp_free(nets);
    return status;
}
