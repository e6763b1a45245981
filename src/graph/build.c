/* build.c - the built-in networks, and what they are put together from. */
#include "graph/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void sp_network_builder(sp_builder *b, const sp_recipe *r);

static const struct {
    const char *name, *params;
    sp_network_builder *build;
} networks[] = {
    {"resnet50", "size=224 batch=1 seed=1 sparsity=0", sp_build_resnet50},
    {"mobilenetv3", "size=224 batch=1 seed=1 sparsity=0", sp_build_mobilenet},
    {"inceptionv3", "size=299 batch=1 seed=1 sparsity=0", sp_build_inception},
    {"bert", "tokens=128 layers=12 batch=1 seed=1 sparsity=0", sp_build_bert}};
enum { NETWORKS = sizeof networks / sizeof *networks };

const char *spry_graph_builtin(int i)
{
    return i >= 0 && i < NETWORKS ? networks[i].name : NULL;
}

spry_status sp_build(spry_graph *g, const char *text)
{
    const char *name[NETWORKS], *rest;
    sp_builder b = {.g = g, .status = SPRY_OK};
    int64_t seed = 1;
    sp_recipe r;
    int kind = 0;
    spry_status s;

    for (int i = 0; i < NETWORKS; i++)
        name[i] = networks[i].name;
    s = sp_recipe_kind(&kind, &rest, text, "built-in network", name, NETWORKS);
    if (s == SPRY_OK)
        s = sp_recipe_parse(&r, name[kind], networks[kind].params, rest);
    if (s == SPRY_OK)
        s = sp_recipe_count(&seed, &r, "seed", 0, INT64_MAX);
    if (s == SPRY_OK)
        s = sp_recipe_count(&b.batch, &r, "batch", 1, 4096);
    if (s == SPRY_OK)
        s = sp_recipe_real(&b.sparsity, &r, "sparsity", 0, 0.999);
    if (s == SPRY_OK && sp_recipe_find(&r, "size") >= 0)
        s = sp_recipe_count(&b.size, &r, "size", 75, 4096);
    if (s != SPRY_OK)
        return s;
    b.rng = sp_rng_seed((uint64_t)seed);
    g->opset = 13;
    networks[kind].build(&b, &r);
    s = b.status;
    if (s == SPRY_OK)
        s = sp_graph_count(g);
    return s == SPRY_OK ? sp_graph_infer(g) : s;
}

/* ---- values ---- */

static sp_opvalue *new_value(sp_builder *b, int *out, const char *stem)
{
    char name[64];

    if (b->status != SPRY_OK)
        return NULL;
    do
        snprintf(name, sizeof name, "%s_%d", stem, b->named++);
    while (sp_graph_find(b->g, name) >= 0);
    b->status = sp_graph_value(out, b->g, name);
    return b->status == SPRY_OK ? &b->g->value[*out] : NULL;
}

int sp_build_input(sp_builder *b, const char *name, int whole,
                   const sp_extent *shape)
{
    int at = -1;

    if (b->status == SPRY_OK)
        b->status = sp_graph_value(&at, b->g, name);
    if (b->status != SPRY_OK)
        return -1;
    b->g->value[at].shape = *shape;
    b->g->value[at].whole = whole;
    b->g->value[at].known = 1;
    b->status = sp_extent_count(&b->g->value[at].count, shape);
    if (b->status == SPRY_OK)
        b->status = sp_list_add(&b->g->input, &b->g->inputs, at);
    return at;
}

void sp_build_output(sp_builder *b, int value)
{
    if (b->status == SPRY_OK)
        b->status = sp_list_add(&b->g->output, &b->g->outputs, value);
}

/* A constant with room for its elements. */
static void *constant(sp_builder *b, int *out, const char *stem, int whole,
                      const sp_extent *shape)
{
    sp_opvalue *v = new_value(b, out, stem);
    void *data;

    if (!v)
        return NULL;
    v->shape = *shape;
    v->whole = whole;
    v->known = 1;
    b->status = sp_extent_count(&v->count, shape);
    if (b->status == SPRY_OK && b->spends &&
        !sp_graph_spend(b->g, v->count * (whole ? 8 : 4)))
        b->status = sp_fail(SPRY_INPUT, "what operators are put together from "
                                        "takes too much memory");
    if (b->status != SPRY_OK)
        return NULL;
    data = sp_pool_get(&b->g->pool, v->count, whole ? 8 : 4);
    v->data = data;
    if (!data)
        b->status = sp_fail_memory((size_t)v->count * 4);
    return data;
}

int sp_build_random(sp_builder *b, const sp_extent *shape, double low,
                    double high)
{
    int at = -1;
    float *data = constant(b, &at, "param", 0, shape);

    for (int64_t i = 0; data && i < b->g->value[at].count; i++)
        data[i] = (float)(low + (high - low) * sp_rng_unit(&b->rng));
    return at;
}

int sp_build_weights(sp_builder *b, const sp_extent *shape, int64_t terms,
                     int pruned)
{
    double most = sqrt(6.0 / (double)terms);
    double cut = pruned ? b->sparsity : 0;
    int at = -1;
    float *data = constant(b, &at, "weight", 0, shape);

    for (int64_t i = 0; data && i < b->g->value[at].count; i++) {
        double x = 2 * sp_rng_unit(&b->rng) - 1;

        data[i] = fabs(x) < cut ? 0 : (float)(x * most);
    }
    return at;
}

int sp_build_whole(sp_builder *b, int count, const int64_t *list)
{
    sp_extent shape = {1, {count}};
    int at = -1;
    int64_t *data = constant(b, &at, "list", 1, &shape);

    for (int i = 0; data && i < count; i++)
        data[i] = list[i];
    return at;
}

int sp_build_reals(sp_builder *b, float **data, const sp_extent *shape)
{
    int at = -1;

    *data = constant(b, &at, "table", 0, shape);
    return at;
}

int sp_build_number(sp_builder *b, double x)
{
    sp_extent shape = {0};
    int at = -1;
    float *data = constant(b, &at, "number", 0, &shape);

    if (data)
        data[0] = (float)x;
    return at;
}

/* ---- nodes ---- */

void sp_build_into(sp_builder *b, int value)
{
    b->into = value + 1;
}

/* Where the next node's result goes. */
static int result_of(sp_builder *b, const char *op)
{
    int out = b->into - 1;

    b->into = 0;
    if (out < 0)
        new_value(b, &out, op);
    return b->status == SPRY_OK ? out : -1;
}

int sp_build_node(sp_builder *b, const char *op, const int *in)
{
    int inputs = 0, out = result_of(b, op);
    sp_pool *pool = &b->g->pool;
    sp_opnode *n = NULL;

    while (in[inputs] >= 0)
        inputs++;
    if (out < 0)
        return -1;
    b->status = sp_graph_node(&n, b->g);
    if (b->status != SPRY_OK)
        return -1;
    n->op = sp_opcode_find(op);
    n->name = b->g->value[out].name;
    n->input = sp_pool_get(pool, inputs, sizeof *n->input);
    n->output = sp_pool_get(pool, 1, sizeof *n->output);
    n->attr = sp_pool_get(pool, 8, sizeof *n->attr);
    if (!n->input || !n->output || !n->attr) {
        b->status = sp_fail_memory(sizeof *n->attr);
        return -1;
    }
    for (int i = 0; i < inputs; i++)
        n->input[i] = in[i];
    n->inputs = inputs;
    n->outputs = 1;
    n->output[0] = out;
    b->g->value[out].maker = b->g->nodes - 1;
    return out;
}

static sp_attr *new_attr(sp_builder *b, const char *name, sp_attr_kind kind)
{
    sp_opnode *n;
    sp_attr *a;

    if (b->status != SPRY_OK)
        return NULL;
    n = &b->g->node[b->g->nodes - 1];
    a = &n->attr[n->attrs++];
    a->name = name;
    a->kind = kind;
    return a;
}

void sp_build_int(sp_builder *b, const char *name, int64_t x)
{
    sp_attr *a = new_attr(b, name, SP_ATTR_INT);

    if (a)
        a->whole = x;
}

void sp_build_real(sp_builder *b, const char *name, double x)
{
    sp_attr *a = new_attr(b, name, SP_ATTR_REAL);

    if (a)
        a->real = (double)(float)x;
}

void sp_build_text(sp_builder *b, const char *name, const char *text)
{
    sp_attr *a = new_attr(b, name, SP_ATTR_TEXT);

    if (a)
        a->text = text;
}

void sp_build_ints(sp_builder *b, const char *name, int count,
                   const int64_t *list)
{
    sp_attr *a = new_attr(b, name, SP_ATTR_INTS);

    if (!a)
        return;
    a->count = count;
    a->ints = sp_pool_get(&b->g->pool, count, sizeof *a->ints);
    if (a->ints)
        memcpy(a->ints, list, (size_t)count * sizeof *list);
    else
        b->status = sp_fail_memory((size_t)count * sizeof *list);
}
