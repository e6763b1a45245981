/* op_shape.c - what operators ask about shapes, axes and lists. */
#include <math.h>
#include <string.h>

#include "graph/opcodes.h"

int sp_broadcast(sp_extent *out, const sp_extent *a, const sp_extent *b)
{
    sp_extent o = {.dims = a->dims > b->dims ? a->dims : b->dims};

    for (int i = 1; i <= o.dims; i++) {
        int64_t x = i <= a->dims ? a->dim[a->dims - i] : 1;
        int64_t y = i <= b->dims ? b->dim[b->dims - i] : 1;

        if (x != y && x != 1 && y != 1)
            return 0;
        o.dim[o.dims - i] = x == 1 ? y : x;
    }
    *out = o;
    return 1;
}

void sp_broadcast_steps(int64_t step[SP_GRAPH_DIMS], const sp_extent *a,
                        const sp_extent *out)
{
    int64_t size = 1;

    memset(step, 0, SP_GRAPH_DIMS * sizeof *step);
    for (int i = 1; i <= a->dims; i++) {
        int64_t n = a->dim[a->dims - i];

        step[out->dims - i] = n == 1 ? 0 : size;
        size *= n;
    }
}

void sp_op_around(int64_t *outer, int64_t *inner, const sp_extent *s, int axis)
{
    *outer = *inner = 1;
    for (int i = 0; i < s->dims; i++)
        *(i < axis ? outer : inner) *= s->dim[i];
}

spry_status sp_op_axis(int *out, const sp_opnode *n, int64_t axis, int dims)
{
    if (axis < -dims || axis >= dims)
        return sp_refuse(n, "there is no axis %lld of %d", (long long)axis,
                         dims);
    *out = (int)(axis < 0 ? axis + dims : axis);
    return SPRY_OK;
}

/* Whole numbers travel as double; those beyond mean "to the end". */
static int64_t whole(double x)
{
    return x >= 9e18 ? INT64_MAX : x <= -9e18 ? INT64_MIN : (int64_t)x;
}

spry_status sp_list_input(sp_whole_list *out, const sp_call *c, int input,
                          const char *what)
{
    const sp_array *a = input < c->node->inputs ? c->in[input] : NULL;

    out->count = -1;
    if (!a)
        return SPRY_OK;
    if (!a->data || !a->whole)
        return sp_refuse(c->node,
                         "%s is computed while the network runs; only "
                         "constants are taken",
                         what);
    if (a->count > SP_LIST || a->shape.dims > 1)
        return sp_refuse(c->node, "%s is not a short list", what);
    out->count = (int)a->count;
    for (int i = 0; i < out->count; i++)
        out->at[i] = whole(a->data[i]);
    return SPRY_OK;
}

spry_status sp_list_attr(sp_whole_list *out, const sp_call *c, const char *name)
{
    const sp_attr *a = sp_attr_find(c->node, name);

    out->count = -1;
    if (!a)
        return SPRY_OK;
    if (a->count > SP_LIST)
        return sp_refuse(c->node, "%s is too long", name);
    out->count = a->count;
    for (int i = 0; i < a->count; i++)
        out->at[i] = a->ints[i];
    return SPRY_OK;
}

spry_status sp_op_axes(unsigned *out, const sp_call *c, int in_input)
{
    int dims = c->in[0]->shape.dims;
    sp_whole_list l;
    spry_status s = in_input ? sp_list_input(&l, c, 1, "axes")
                             : sp_list_attr(&l, c, "axes");

    *out = 0;
    for (int i = 0, axis; s == SPRY_OK && i < l.count; i++) {
        s = sp_op_axis(&axis, c->node, l.at[i], dims);
        if (s == SPRY_OK && *out >> axis & 1)
            s = sp_refuse(c->node, "the axis %d is given twice", axis);
        if (s == SPRY_OK)
            *out |= 1u << axis;
    }
    return s;
}
