/* reference.c - the slow right answer: every node plainly, in double. */
#include "graph/calls.h"

#include <string.h>

/* A run under way: what is known of each value. */
typedef struct {
    const spry_graph *g;
    double **data; /* NULL: not there, or no longer */
    int *uses;     /* to come */
} sp_reference_run;

static spry_status room(double **out, int64_t count)
{
    *out = sp_alloc_raw(count ? count : 1, sizeof **out);
    return *out ? SPRY_OK : sp_fail_memory((size_t)count * sizeof **out);
}

/* The value's elements: computed, or those of a constant. */
static spry_status fetch(sp_reference_run *r, int value)
{
    const sp_opvalue *v = &r->g->value[value];
    spry_status s;

    if (r->data[value] || !v->data)
        return SPRY_OK;
    s = room(&r->data[value], v->count);
    if (s == SPRY_OK)
        sp_array_load(r->data[value], v, v->data);
    return s;
}

static void release(sp_reference_run *r, int value)
{
    if (value >= 0 && --r->uses[value] == 0) {
        sp_free(r->data[value]);
        r->data[value] = NULL;
    }
}

static spry_status compute(sp_reference_run *r, const sp_opnode *n)
{
    sp_node_call x;
    spry_status s = sp_call_open(&x, r->g, n);

    for (int i = 0; s == SPRY_OK && i < n->inputs; i++) {
        const sp_opvalue *v;

        if (n->input[i] < 0)
            continue;
        v = &r->g->value[n->input[i]];
        s = fetch(r, n->input[i]);
        x.in[i] =
            (sp_array){v->whole, v->shape, v->count, r->data[n->input[i]]};
    }
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++) {
        const sp_opvalue *v = &r->g->value[n->output[i] < 0 ? 0 : n->output[i]];

        if (n->output[i] < 0)
            continue;
        x.out[i] = (sp_array){v->whole, v->shape, v->count, NULL};
        s = room(&x.out[i].data, v->count);
    }
    if (s == SPRY_OK)
        s = n->op->compute(&x.call);
    for (int i = 0; x.in && i < n->inputs; i++)
        x.in[i].data = NULL; /* ours */
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++)
        if (n->output[i] >= 0) {
            r->data[n->output[i]] = x.out[i].data;
            x.out[i].data = NULL;
        }
    sp_call_close(&x, n);
    for (int i = 0; s == SPRY_OK && i < n->inputs; i++)
        release(r, n->input[i]);
    return s;
}

static spry_status take_inputs(sp_reference_run *r, const void *const *input)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < r->g->inputs; i++) {
        int v = r->g->input[i];

        s = room(&r->data[v], r->g->value[v].count);
        if (s == SPRY_OK)
            sp_array_load(r->data[v], &r->g->value[v], input[i]);
    }
    return s;
}

static spry_status give_outputs(sp_reference_run *r, void *const *output)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < r->g->outputs; i++) {
        const sp_opvalue *v = &r->g->value[r->g->output[i]];
        sp_array a = {v->whole, v->shape, v->count, NULL};

        s = fetch(r, r->g->output[i]);
        a.data = r->data[r->g->output[i]];
        if (s == SPRY_OK)
            sp_array_store(output[i], &a);
    }
    return s;
}

static spry_status run(sp_reference_run *r, const void *const *input,
                       void *const *output)
{
    const spry_graph *g = r->g;
    spry_status s;

    for (int i = 0; i < g->nodes; i++)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (g->node[i].input[k] >= 0)
                r->uses[g->node[i].input[k]]++;
    for (int i = 0; i < g->outputs; i++)
        r->uses[g->output[i]]++;
    s = take_inputs(r, input);
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++)
        s = compute(r, &g->node[i]);
    return s == SPRY_OK ? give_outputs(r, output) : s;
}

spry_status sp_graph_check_operands(const spry_graph *g,
                                    const void *const *input,
                                    void *const *output)
{
    if (!g || !output || (!input && g->inputs))
        return sp_fail(SPRY_USAGE, "a graph, its inputs or outputs are NULL");
    for (int i = 0; i < g->inputs; i++)
        if (!input[i])
            return sp_fail(SPRY_USAGE, "input %d is NULL", i);
    for (int i = 0; i < g->outputs; i++)
        if (!output[i])
            return sp_fail(SPRY_USAGE, "output %d is NULL", i);
    return SPRY_OK;
}

spry_status spry_graph_reference(const spry_graph *g, const void *const *input,
                                 void *const *output)
{
    SP_NEED(g, input, output);

    sp_reference_run r = {g, NULL, NULL};
    spry_status s = sp_graph_check_operands(g, input, output);

    if (s != SPRY_OK)
        return s;
    r.data = sp_alloc(g->values + 1, sizeof *r.data);
    r.uses = sp_alloc(g->values + 1, sizeof *r.uses);
    s = r.data && r.uses ? run(&r, input, output)
                         : sp_fail_memory((size_t)g->values * sizeof *r.data);
    for (int i = 0; r.data && i < g->values; i++)
        sp_free(r.data[i]);
    sp_free(r.data);
    sp_free(r.uses);
    return s;
}
