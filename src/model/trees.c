/* trees.c - decision trees as data: kept, checked. */
#include "model/trees.h"

#include <math.h>
#include <string.h>

void sp_trees_free(sp_trees *t)
{
    sp_free(t->start);
    sp_free(t->node);
    sp_free(t->leaves);
    sp_free(t->cut);
    sp_free(t->leaf);
    *t = (sp_trees){0};
}

/* ---- keeping ----
 *
 * Every number is a float in the file: counts stay below 2^24. */

enum { EXACT = 1 << 24, FIELDS = 4, NAME = 64 };

spry_status sp_trees_new(sp_trees *out, int features, int trees, int64_t nodes)
{
    *out = (sp_trees){.features = features, .trees = trees};
    out->start = sp_alloc(trees + 1, sizeof *out->start);
    out->node = sp_alloc(nodes, sizeof *out->node);
    if (out->start && out->node)
        return SPRY_OK;
    sp_trees_free(out);
    return sp_fail_memory((size_t)nodes * sizeof *out->node);
}

spry_status sp_trees_copy(sp_trees *out, const sp_trees *t)
{
    int64_t nodes = t->start[t->trees];
    spry_status s = sp_trees_new(out, t->features, t->trees, nodes);

    if (s != SPRY_OK)
        return s;
    memcpy(out->start, t->start, (size_t)(t->trees + 1) * sizeof *out->start);
    memcpy(out->node, t->node, (size_t)nodes * sizeof *out->node);
    return SPRY_OK;
}

static sp_tensor *tensor(sp_nn *nn, const char *name, const char *part,
                         sp_shape shape)
{
    char full[NAME];

    snprintf(full, sizeof full, "%s.%s", name, part);
    return sp_nn_weights(nn, full, shape, sp_init_constant(0));
}

spry_status sp_trees_keep(sp_nn *nn, const char *name, const sp_trees *t)
{
    int64_t nodes = t->start[t->trees];
    sp_tensor *start, *node;

    if (nodes >= EXACT)
        return sp_fail(SPRY_USAGE, "%lld nodes are too many for a model",
                       (long long)nodes);
    start = tensor(nn, name, "start", SP_SHAPE(t->trees + 1));
    node = tensor(nn, name, "node", SP_SHAPE(nodes, FIELDS));
    if (!start || !node)
        return sp_nn_status(nn);
    for (int k = 0; k <= t->trees; k++)
        start->value[k] = (float)t->start[k];
    for (int64_t i = 0; i < nodes; i++) {
        float *to = node->value + i * FIELDS;

        to[0] = (float)t->node[i].feature;
        to[1] = t->node[i].value;
        to[2] = (float)t->node[i].left;
        to[3] = (float)t->node[i].lost;
    }
    return SPRY_OK;
}

/* A whole number of from .. below `to`. */
static int whole(float x, int64_t from, int64_t to)
{
    return x >= (float)from && x < (float)to && x == truncf(x);
}

static int good_node(const float *at, int64_t i, int64_t nodes, int features)
{
    if (!whole(at[0], -1, features) || !whole(at[3], 0, 2))
        return 0;
    return at[0] < 0 ? at[2] == 0 : whole(at[2], i + 1, nodes - 1);
}

static int good_starts(const sp_tensor *start, int64_t nodes)
{
    int64_t last = start->size - 1;

    if (start->value[0] != 0 || start->value[last] != (float)nodes)
        return 0;
    for (int64_t k = 0; k < last; k++)
        if (!whole(start->value[k], 0, nodes) ||
            !(start->value[k] < start->value[k + 1]))
            return 0;
    return 1;
}

static spry_status take_nodes(sp_trees *out, const sp_tensor *start,
                              const sp_tensor *node)
{
    for (int k = 0; k <= out->trees; k++)
        out->start[k] = (int64_t)start->value[k];
    for (int k = 0; k < out->trees; k++) {
        int64_t nodes = out->start[k + 1] - out->start[k];

        for (int64_t i = 0; i < nodes; i++) {
            const float *at = node->value + (out->start[k] + i) * FIELDS;

            if (!good_node(at, i, nodes, out->features))
                return sp_fail(SPRY_INPUT, "node %lld of tree %d is not one",
                               (long long)i, k);
            out->node[out->start[k] + i] = (sp_node){
                (int32_t)at[0], at[1], (int32_t)at[2], (int32_t)at[3]};
        }
    }
    return SPRY_OK;
}

/* The size of a tensor in the file, 0 when it is not there. */
static int64_t size_of(const sp_nn *nn, const char *name, const char *part,
                       sp_shape *shape)
{
    char full[NAME];
    const char *at;
    sp_tensor *t;

    snprintf(full, sizeof full, "%s.%s", name, part);
    for (int i = 0; (t = sp_nn_at(nn, i, &at)); i++)
        if (!strcmp(at, full)) {
            *shape = t->shape;
            return t->size;
        }
    return 0;
}

spry_status sp_trees_open(sp_trees *out, sp_nn *nn, const char *name,
                          int features)
{
    sp_shape start_shape, node_shape;
    int64_t starts = size_of(nn, name, "start", &start_shape);
    int64_t nodes = size_of(nn, name, "node", &node_shape) / FIELDS;
    sp_tensor *start, *node;
    spry_status s;

    *out = (sp_trees){0};
    if (starts < 2 || starts >= EXACT || nodes < 1 || nodes >= EXACT)
        return sp_fail(SPRY_INPUT, "holds no trees %s", name);
    start = tensor(nn, name, "start", SP_SHAPE(starts));
    node = tensor(nn, name, "node", SP_SHAPE(nodes, FIELDS));
    if (!start || !node)
        return sp_nn_status(nn);
    if (!good_starts(start, nodes))
        return sp_fail(SPRY_INPUT, "the trees %s do not follow one another",
                       name);
    s = sp_trees_new(out, features, (int)starts - 1, nodes);
    if (s == SPRY_OK)
        s = take_nodes(out, start, node);
    if (s != SPRY_OK)
        sp_trees_free(out);
    return s;
}
