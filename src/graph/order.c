/* order.c - nodes into an order in which they can be computed. */
#include "graph/internal.h"

#include <string.h>

/* What Kahn's algorithm keeps of a graph. */
typedef struct {
    int *waits;       /* inputs of each node that are not there yet */
    int *first, *use; /* nodes that read value v: use[first[v]] .. */
    int *ready;       /* a queue of nodes */
    sp_opnode *sorted;
} sorting;

static int waits_for(const spry_graph *g, int value)
{
    return value >= 0 && g->value[value].maker >= 0;
}

static void find_uses(const spry_graph *g, sorting *o)
{
    for (int i = 0; i < g->nodes; i++)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (waits_for(g, g->node[i].input[k])) {
                o->waits[i]++;
                o->first[g->node[i].input[k] + 1]++;
            }
    for (int v = 0; v < g->values; v++)
        o->first[v + 1] += o->first[v];
    for (int i = g->nodes - 1; i >= 0; i--)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (waits_for(g, g->node[i].input[k]))
                o->use[--o->first[g->node[i].input[k] + 1]] = i;
    /* first[v + 1] is now where v's uses begin */
}

/* How many could be sorted. */
static int sort(const spry_graph *g, sorting *o, int uses)
{
    int head = 0, tail = 0;

    for (int i = 0; i < g->nodes; i++)
        if (o->waits[i] == 0)
            o->ready[tail++] = i;
    while (head < tail) {
        const sp_opnode *n = &g->node[o->ready[head]];

        o->sorted[head++] = *n;
        for (int k = 0; k < n->outputs; k++) {
            int v = n->output[k];
            int end = v < 0 ? 0 : v + 2 <= g->values ? o->first[v + 2] : uses;

            for (int u = v < 0 ? 0 : o->first[v + 1]; u < end; u++)
                if (--o->waits[o->use[u]] == 0)
                    o->ready[tail++] = o->use[u];
        }
    }
    return head;
}

static spry_status check_inputs(const spry_graph *g)
{
    char *given = sp_alloc(g->values + 1, 1);
    spry_status s = given ? SPRY_OK : sp_fail_memory((size_t)g->values + 1);

    for (int i = 0; s == SPRY_OK && i < g->inputs; i++)
        given[g->input[i]] = 1;
    for (int v = 0; s == SPRY_OK && v < g->values; v++)
        if (!given[v] && !g->value[v].data && g->value[v].maker < 0)
            s = sp_fail(SPRY_INPUT, "nothing computes the value '%s'",
                        g->value[v].name);
    sp_free(given);
    return s;
}

spry_status sp_graph_sort(spry_graph *g)
{
    sorting o = {0};
    int uses = 0, sorted = 0;
    spry_status s = check_inputs(g);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < g->nodes; i++)
        uses += g->node[i].inputs;
    o.waits = sp_alloc(g->nodes + 1, sizeof *o.waits);
    o.first = sp_alloc(g->values + 2, sizeof *o.first);
    o.use = sp_alloc(uses + 1, sizeof *o.use);
    o.ready = sp_alloc(g->nodes + 1, sizeof *o.ready);
    o.sorted = sp_alloc(g->nodes + 1, sizeof *o.sorted);
    if (!o.waits || !o.first || !o.use || !o.ready || !o.sorted)
        s = sp_fail_memory((size_t)g->nodes * sizeof *o.sorted);
    if (s == SPRY_OK) {
        find_uses(g, &o);
        uses = 0;
        for (int i = 0; i < g->nodes; i++)
            uses += o.waits[i];
        sorted = sort(g, &o, uses);
    }
    if (s == SPRY_OK && sorted < g->nodes)
        s = sp_fail(SPRY_INPUT, "the nodes form a cycle");
    if (s == SPRY_OK && g->nodes)
        memcpy(g->node, o.sorted, (size_t)g->nodes * sizeof *g->node);
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++)
        for (int k = 0; k < g->node[i].outputs; k++)
            if (g->node[i].output[k] >= 0)
                g->value[g->node[i].output[k]].maker = i;
    sp_free(o.waits);
    sp_free(o.first);
    sp_free(o.use);
    sp_free(o.ready);
    sp_free(o.sorted);
    return s;
}
