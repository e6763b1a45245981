/* trees.c - decision trees as data: kept, checked, walked. */
#include "model/trees.h"

#include <math.h>
#include <string.h>

void sp_trees_free(sp_trees *t)
{
    sp_free(t->start);
    sp_free(t->node);
    *t = (sp_trees){0};
}

/* ---- walking ---- */

static int32_t child(const sp_node *n, const float *row)
{
    float x = row[n->feature];

    return n->left + (isnan(x) ? n->lost : !(x < n->value));
}

static double leaf(const sp_node *tree, const float *row)
{
    const sp_node *n = tree;

    while (n->feature >= 0)
        n = tree + child(n, row);
    return (double)n->value;
}

double sp_trees_sum(const sp_trees *t, const float *row)
{
    double sum = 0;

    for (int k = 0; k < t->trees; k++)
        sum += leaf(t->node + t->start[k], row);
    return sum;
}

/* Tree by tree over a few rows at a time: a tree stays in the cache. */
void sp_trees_add(double *out, const sp_trees *t, const float *row,
                  int64_t rows)
{
    enum { FEW = 64 };

    for (int64_t at = 0; at < rows; at += FEW) {
        int64_t few = rows - at < FEW ? rows - at : FEW;
        const float *x = row + at * t->features;

        for (int k = 0; k < t->trees; k++)
            for (int64_t i = 0; i < few; i++)
                out[at + i] += leaf(t->node + t->start[k], x + i * t->features);
    }
}

/* ---- keeping ----
 *
 * Every number is a float in the file: counts stay below 2^24. */

enum { EXACT = 1 << 24, FIELDS = 4, NAME = 64 };

/* ---- settling ---- */

/* Down from a node while the way is known. */
static sp_node settled(const sp_node *tree, int32_t at, const float *row,
                       int known)
{
    while (tree[at].feature >= 0 && tree[at].feature < known)
        at = child(&tree[at], row);
    return tree[at];
}

/* Level by level into `to`; how many nodes. */
static int32_t settle_tree(sp_node *to, const sp_node *tree, const float *row,
                           int known)
{
    int32_t count = 1;

    to[0] = settled(tree, 0, row, known);
    for (int32_t i = 0; i < count; i++) {
        int32_t left = to[i].left;

        if (to[i].feature < 0)
            continue;
        to[i].left = count;
        to[count++] = settled(tree, left, row, known);
        to[count++] = settled(tree, left + 1, row, known);
    }
    return count;
}

spry_status sp_trees_settle(sp_trees *out, double *sum, const sp_trees *t,
                            const float *row, int known)
{
    spry_status s =
        sp_trees_new(out, t->features, t->trees, t->start[t->trees]);

    if (s != SPRY_OK)
        return s;
    out->trees = 0;
    for (int k = 0; k < t->trees; k++) {
        int64_t at = out->start[out->trees];
        int32_t count =
            settle_tree(out->node + at, t->node + t->start[k], row, known);

        if (count == 1)
            *sum += (double)out->node[at].value;
        else
            out->start[++out->trees] = at + count;
    }
    return SPRY_OK;
}

/* ---- keeping ---- */

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
