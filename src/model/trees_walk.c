/* trees_walk.c - rows down the trees.
 *
 * One row after another mispredicts at every other node. So rows go through a
 * settled tree side by side and without a branch, as QuickScorer does it: a
 * row may end in any leaf at first; each split that sends it right takes away
 * the leaves left of it; and the first leaf still there is the row's. */
#include "model/trees.h"

#include <math.h>
#include <string.h>

/* ---- one row ---- */

static int32_t child(const sp_node *n, const float *row)
{
    float x = row[n->feature];

    return n->left + (isnan(x) ? n->lost : !(x < n->value));
}

uint16_t sp_tree_leaf(const sp_node *tree, const float *row)
{
    const sp_node *n = tree;

    while (n->feature >= 0)
        n = tree + child(n, row);
    return (uint16_t)(n - tree);
}

static double leaf(const sp_node *tree, const float *row)
{
    return (double)tree[sp_tree_leaf(tree, row)].value;
}

double sp_trees_sum(const sp_trees *t, const float *row)
{
    double sum = 0;

    for (int k = 0; k < t->trees; k++)
        sum += leaf(t->node + t->start[k], row);
    return sum;
}

/* ---- many rows ---- */

enum { ABREAST = 8, WORD = 32, MOST = 2 * WORD, MOST_FEATURES = 256 };

/* Rows that are not below `value` keep these leaves. */
struct sp_cut {
    float value;
    int32_t feature;
    uint32_t keep[2];
};

/* Numbers of a few rows, those of a feature side by side. */
typedef float columns[][ABREAST];

static void cut_word(uint32_t in[ABREAST], const sp_cut *cut, int cuts,
                     int word, columns x)
{
    for (int c = 0; c < cuts; c++) {
        const float *of = x[cut[c].feature];
        float value = cut[c].value;
        uint32_t keep = cut[c].keep[word];

#pragma omp simd
        for (int i = 0; i < ABREAST; i++)
            in[i] &= keep | -(uint32_t)(of[i] < value);
    }
}

/* Add the k-th tree's leaves. */
static void add_abreast(double out[ABREAST], const sp_trees *t, int k,
                        columns x)
{
    int cuts = t->leaves[k] - 1;
    const sp_cut *cut = t->cut + (t->start[k] - k) / 2;
    const float *value = t->leaf + (t->start[k] + k) / 2;
    uint32_t low[ABREAST], high[ABREAST];

    memset(low, 0xff, sizeof low);
    cut_word(low, cut, cuts, 0, x);
    if (cuts < WORD) {
        for (int i = 0; i < ABREAST; i++)
            out[i] += (double)value[__builtin_ctz(low[i])];
        return;
    }
    memset(high, 0xff, sizeof high);
    cut_word(high, cut, cuts, 1, x);
    for (int i = 0; i < ABREAST; i++)
        out[i] += (double)value[low[i] ? __builtin_ctz(low[i])
                                       : WORD + __builtin_ctz(high[i])];
}

/* A few rows, at most ABREAST of them, through all trees. */
static void add_few(double *out, const sp_trees *t, const float *row, int few)
{
    float x[MOST_FEATURES][ABREAST] = {{0}};
    double sum[ABREAST] = {0};
    int wide = t->cut && t->features <= MOST_FEATURES;

    memcpy(sum, out, (size_t)few * sizeof *sum);
    for (int i = 0; wide && i < few; i++)
        for (int f = 0; f < t->features; f++)
            x[f][i] = row[i * t->features + f];
    for (int k = 0; k < t->trees; k++) {
        if (wide && t->leaves[k])
            add_abreast(sum, t, k, x);
        else
            for (int i = 0; i < few; i++)
                sum[i] += leaf(t->node + t->start[k], row + i * t->features);
    }
    memcpy(out, sum, (size_t)few * sizeof *sum);
}

void sp_trees_add(double *out, const sp_trees *t, const float *row,
                  int64_t rows)
{
    for (int64_t at = 0; at < rows; at += ABREAST)
        add_few(out + at, t, row + at * t->features,
                (int)(rows - at < ABREAST ? rows - at : ABREAST));
}

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

/* A tree as cuts and leaves, from left to right. */
typedef struct {
    const sp_node *node;
    sp_cut *cut;
    float *leaf;
    int cuts, leaves;
} flat;

/* What lies below a node. */
static void flatten(flat *to, int32_t at)
{
    const sp_node *n = &to->node[at];
    uint64_t before = ((uint64_t)1 << to->leaves) - 1, with;
    sp_cut *cut;

    if (n->feature < 0) {
        to->leaf[to->leaves++] = n->value;
        return;
    }
    cut = &to->cut[to->cuts++];
    flatten(to, n->left);
    with = ((uint64_t)1 << to->leaves) - 1;
    *cut = (sp_cut){
        n->value,
        n->feature,
        {(uint32_t) ~(with ^ before), (uint32_t)(~(with ^ before) >> WORD)}};
    flatten(to, n->left + 1);
}

/* Not when it has too many leaves, or what is not known goes left. */
static int can_be_flat(const sp_node *node, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (node[i].feature >= 0 && !node[i].lost)
            return 0;
    return count < 2 * MOST;
}

static void settle_all(sp_trees *out, double *sum, const sp_trees *t,
                       const float *row, int known)
{
    out->trees = 0;
    for (int k = 0; k < t->trees; k++) {
        int64_t at = out->start[out->trees];
        int32_t count =
            settle_tree(out->node + at, t->node + t->start[k], row, known);
        flat to = {.node = out->node + at,
                   .cut = out->cut + (at - out->trees) / 2,
                   .leaf = out->leaf + (at + out->trees) / 2};

        if (count == 1) {
            *sum += (double)out->node[at].value;
            continue;
        }
        if (can_be_flat(to.node, count))
            flatten(&to, 0);
        out->leaves[out->trees] = to.leaves;
        out->start[++out->trees] = at + count;
    }
}

spry_status sp_trees_settle(sp_trees *out, double *sum, const sp_trees *t,
                            const float *row, int known)
{
    int64_t nodes = t->start[t->trees];
    spry_status s = sp_trees_new(out, t->features, t->trees, nodes);

    if (s != SPRY_OK)
        return s;
    out->leaves = sp_alloc(t->trees, sizeof *out->leaves);
    out->cut = sp_alloc(nodes / 2 + 1, sizeof *out->cut);
    out->leaf = sp_alloc(nodes / 2 + t->trees + 1, sizeof *out->leaf);
    if (out->leaves && out->cut && out->leaf) {
        settle_all(out, sum, t, row, known);
        return SPRY_OK;
    }
    sp_trees_free(out);
    return sp_fail_memory((size_t)nodes * sizeof *out->cut);
}
