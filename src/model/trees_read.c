/* trees_read.c - trees out of XGBoost's JSON model.
 *
 * Its nodes lie in any order and pruned ones stay behind; ours are laid out
 * anew, level by level, the two children of a node side by side. */
#include <string.h>

#include "model/trees.h"

/* One tree of the document: arrays of numbers, by node. */
typedef struct {
    const sp_json_value *left, *right, *feature, *value, *lost;
    int nodes;
} source;

static const sp_json_value *array(const sp_json_doc *d, const sp_json_value *v,
                                  const char *key, int nodes)
{
    const sp_json_value *a = v ? sp_json_get(d, v, key) : NULL;

    return a && a->kind == SP_JSON_ARRAY && (nodes < 0 || a->count == nodes)
               ? a
               : NULL;
}

static int open_source(source *out, const sp_json_doc *d,
                       const sp_json_value *tree)
{
    out->left = array(d, tree, "left_children", -1);
    out->nodes = out->left ? out->left->count : 0;
    out->right = array(d, tree, "right_children", out->nodes);
    out->feature = array(d, tree, "split_indices", out->nodes);
    out->value = array(d, tree, "split_conditions", out->nodes);
    out->lost = array(d, tree, "default_left", out->nodes);
    return out->nodes > 0 && out->right && out->feature && out->value &&
           out->lost;
}

/* Elements of an array of numbers follow it one by one. */
static double number(const sp_json_value *array, int i)
{
    const sp_json_value *v = array + 1 + i;

    return v->kind == SP_JSON_TRUE     ? 1
           : v->kind == SP_JSON_NUMBER ? v->number
                                       : 0;
}

/* Lay a tree out at `to`; from[] says which node each place holds. Returns
 * the places used, 0 when the links make no tree. */
static int64_t lay_out(sp_node *to, int32_t *from, const source *t,
                       int features)
{
    int used = 1;

    from[0] = 0;
    for (int at = 0; at < used; at++) {
        int i = from[at], left = (int)number(t->left, i);
        int right = (int)number(t->right, i);
        int feature = (int)number(t->feature, i);

        to[at] = (sp_node){.feature = -1, .value = (float)number(t->value, i)};
        if (left < 0)
            continue;
        if (left >= t->nodes || right < 0 || right >= t->nodes || feature < 0 ||
            feature >= features || used + 2 > t->nodes)
            return 0;
        to[at].feature = feature;
        to[at].left = used;
        to[at].lost = number(t->lost, i) == 0;
        from[used++] = left;
        from[used++] = right;
    }
    return used;
}

static const sp_json_value *find_trees(const sp_json_doc *d)
{
    static const char *const path[] = {"learner", "gradient_booster", "model",
                                       "trees"};
    const sp_json_value *v = d->value;

    for (int i = 0; i < 4 && v; i++)
        v = sp_json_get(d, v, path[i]);
    return v && v->kind == SP_JSON_ARRAY && v->count > 0 ? v : NULL;
}

static spry_status read_trees(sp_trees *out, const sp_json_doc *d,
                              const sp_json_value *list)
{
    int32_t *from = sp_alloc_raw(d->count, sizeof *from);
    int at = (int)(list - d->value) + 1;
    spry_status s = SPRY_OK;
    source t;

    if (!from)
        return sp_fail_memory((size_t)d->count * sizeof *from);
    for (int k = 0; k < out->trees && s == SPRY_OK; k++) {
        const sp_json_value *tree = d->value + at;
        int64_t used =
            open_source(&t, d, tree)
                ? lay_out(out->node + out->start[k], from, &t, out->features)
                : 0;

        if (used == 0)
            s = sp_fail(SPRY_FAIL, "XGBoost's tree %d makes no sense", k);
        out->start[k + 1] = out->start[k] + used;
        at = tree->next;
    }
    sp_free(from);
    return s;
}

spry_status sp_trees_read(sp_trees *out, const char *json, size_t len,
                          int features, int most)
{
    const sp_json_value *list;
    sp_json_doc d;
    spry_status s = sp_json_parse(&d, json, len);

    *out = (sp_trees){0};
    if (s != SPRY_OK)
        return s;
    list = find_trees(&d);
    if (!list)
        s = sp_fail(SPRY_FAIL, "XGBoost's model holds no trees");
    else /* no tree has more nodes than the document has values */
        s = sp_trees_new(out, features, list->count < most ? list->count : most,
                         d.count);
    if (s == SPRY_OK)
        s = read_trees(out, &d, list);
    if (s != SPRY_OK)
        sp_trees_free(out);
    sp_json_free(&d);
    return s;
}
