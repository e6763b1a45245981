/* graph.c - values and nodes, by name and number. */
#include "base/unconst.h"
#include "graph/internal.h"

#include <string.h>
#include <sys/mman.h>

spry_status sp_graph_new(spry_graph **out, const char *source)
{
    spry_graph *g = sp_alloc(1, sizeof *g);

    *out = NULL;
    if (!g)
        return sp_fail_memory(sizeof *g);
    g->unknown = 1;
    g->source = sp_pool_text(&g->pool, source, strlen(source));
    if (!g->source) {
        sp_free(g);
        return sp_fail_memory(strlen(source));
    }
    *out = g;
    return SPRY_OK;
}

void spry_graph_free(spry_graph *g)
{
    if (!g)
        return;
    sp_free(g->node);
    sp_free(g->value);
    sp_free(g->input);
    sp_free(g->output);
    sp_free(g->slot);
    sp_pool_free(&g->pool);
    if (g->map)
        munmap(sp_unconst(g->map), g->map_len);
    sp_free(g);
}

/* ---- names ---- */

/* Where the name is, or could be. */
static int slot_of(const spry_graph *g, const char *name)
{
    sp_hash h = sp_hash_begin();
    int at;

    sp_hash_add(&h, name, strlen(name));
    at = (int)((h.a ^ h.b) & (uint64_t)(g->slots - 1));
    while (g->slot[at] && strcmp(g->value[g->slot[at] - 1].name, name) != 0)
        at = (at + 1) & (g->slots - 1);
    return at;
}

int sp_graph_find(const spry_graph *g, const char *name)
{
    return g->slots ? g->slot[slot_of(g, name)] - 1 : -1;
}

static spry_status more_slots(spry_graph *g)
{
    int slots = g->slots ? 2 * g->slots : 256;
    int *slot = sp_alloc(slots, sizeof *slot);

    if (!slot)
        return sp_fail_memory((size_t)slots * sizeof *slot);
    sp_free(g->slot);
    g->slot = slot;
    g->slots = slots;
    for (int i = 0; i < g->values; i++)
        g->slot[slot_of(g, g->value[i].name)] = i + 1;
    return SPRY_OK;
}

static spry_status grow(void **list, int *room, int count, size_t size)
{
    int more = *room ? 2 * *room : 64;
    void *bigger;

    if (count < *room)
        return SPRY_OK;
    bigger = sp_grow(*list, *room, more, size);
    if (!bigger)
        return sp_fail_memory((size_t)more * size);
    *list = bigger;
    *room = more;
    return SPRY_OK;
}

spry_status sp_graph_value(int *out, spry_graph *g, const char *name)
{
    void *list = g->value;
    spry_status s = grow(&list, &g->value_room, g->values, sizeof *g->value);
    sp_opvalue *v;

    g->value = list;
    if (s == SPRY_OK && 2 * (g->values + 1) > g->slots)
        s = more_slots(g);
    if (s != SPRY_OK)
        return s;
    if (sp_graph_find(g, name) >= 0)
        return sp_fail(SPRY_INPUT, "the name '%s' is given twice", name);
    v = &g->value[g->values];
    memset(v, 0, sizeof *v);
    v->name = sp_pool_text(&g->pool, name, strlen(name));
    if (!v->name)
        return sp_fail_memory(strlen(name));
    v->maker = -1;
    *out = g->values;
    g->slot[slot_of(g, name)] = ++g->values;
    return SPRY_OK;
}

spry_status sp_graph_node(sp_opnode **out, spry_graph *g)
{
    void *list = g->node;
    spry_status s;

    if (g->nodes >= SP_GRAPH_NODES)
        return sp_fail(SPRY_INPUT, "there are more than %d nodes",
                       SP_GRAPH_NODES);
    s = grow(&list, &g->node_room, g->nodes, sizeof *g->node);
    g->node = list;
    if (s != SPRY_OK)
        return s;
    *out = &g->node[g->nodes++];
    memset(*out, 0, sizeof **out);
    (*out)->name = "";
    return SPRY_OK;
}

spry_status sp_list_add(int **list, int *count, int x)
{
    int *bigger = sp_grow(*list, *count, *count + 1, sizeof **list);

    if (!bigger)
        return sp_fail_memory((size_t)(*count + 1) * sizeof **list);
    bigger[(*count)++] = x;
    *list = bigger;
    return SPRY_OK;
}

/* ---- shapes ---- */

/* The other dimensions of an empty tensor are limited, too: some of them are
 * multiplied by themselves. */
spry_status sp_extent_count(int64_t *out, const sp_extent *s)
{
    int64_t count = 1;
    int empty = 0;

    for (int i = 0; i < s->dims; i++) {
        int64_t n = s->dim[i];

        if (n == 0) {
            empty = 1;
            continue;
        }
        if (n < 0 || n > SP_GRAPH_ELEMENTS || count > SP_GRAPH_ELEMENTS / n)
            return sp_fail(SPRY_INPUT,
                           "a tensor of more than 2^31 elements, or of a "
                           "negative dimension");
        count *= n;
    }
    *out = empty ? 0 : count;
    return SPRY_OK;
}

int sp_extent_equal(const sp_extent *a, const sp_extent *b)
{
    for (int i = 0; i < a->dims && a->dims == b->dims; i++)
        if (a->dim[i] != b->dim[i])
            return 0;
    return a->dims == b->dims;
}

/* ---- questions ---- */

int spry_graph_inputs(const spry_graph *g)
{
    return g ? g->inputs : 0;
}

int spry_graph_outputs(const spry_graph *g)
{
    return g ? g->outputs : 0;
}

int spry_graph_nodes(const spry_graph *g)
{
    return g ? g->nodes : 0;
}

static spry_status tell(spry_graph_value *out, const spry_graph *g,
                        const int *list, int count, int i)
{
    const sp_opvalue *v;
    spry_graph_value t;

    if (!g || !out || i < 0 || i >= count)
        return sp_fail(SPRY_USAGE, "there is no such input or output");
    SP_ROOM(out);
    v = &g->value[list[i]];
    t = (spry_graph_value){.name = v->name,
                           .whole = v->whole,
                           .dims = v->shape.dims,
                           .count = v->count};
    memcpy(t.dim, v->shape.dim, sizeof t.dim);
    SP_GIVE(out, &t);
    return SPRY_OK;
}

spry_status spry_graph_input(const spry_graph *g, int i, spry_graph_value *out)
{
    return tell(out, g, g ? g->input : NULL, g ? g->inputs : 0, i);
}

spry_status spry_graph_output(const spry_graph *g, int i, spry_graph_value *out)
{
    return tell(out, g, g ? g->output : NULL, g ? g->outputs : 0, i);
}

int64_t spry_graph_macs(const spry_graph *g)
{
    int64_t macs = 0;

    for (int i = 0; g && i < g->nodes; i++)
        macs += sp_node_macs(g, &g->node[i]);
    return macs;
}

int64_t spry_graph_params(const spry_graph *g)
{
    return g ? g->params : 0;
}

/* A batch norm's mean and variance were counted, single numbers written down:
 * neither was learned. */
spry_status sp_graph_count(spry_graph *g)
{
    char *seen = sp_alloc(g->values + 1, 1);

    if (!seen)
        return sp_fail_memory((size_t)g->values + 1);
    for (int i = 0; i < g->nodes; i++) {
        const sp_opnode *n = &g->node[i];
        int norm = strcmp(n->op->name, "BatchNormalization") == 0;

        for (int k = 0; k < n->inputs && !(norm && k >= 3); k++) {
            const sp_opvalue *v = &g->value[n->input[k] < 0 ? 0 : n->input[k]];

            if (n->input[k] < 0 || seen[n->input[k]] || v->whole || !v->data ||
                v->shape.dims == 0)
                continue;
            seen[n->input[k]] = 1;
            g->params += v->count;
        }
    }
    sp_free(seen);
    return SPRY_OK;
}
