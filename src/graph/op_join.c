/* op_join.c - tensors put together, cut apart and picked from; and
 * constants. */
#include <math.h>
#include <string.h>

#include "graph/onnx.h"
#include "graph/opcodes.h"

/* ---- Concat, Split ---- */

spry_status sp_concat_infer(sp_call *c)
{
    sp_extent *out = &c->out[0].shape;
    int axis;
    spry_status s;

    if (!c->in[0])
        return sp_refuse(c->node, "an input is left out");
    *out = c->in[0]->shape;
    s = sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 1), out->dims);
    for (int i = 1; s == SPRY_OK && i < c->node->inputs; i++) {
        sp_extent a;

        if (!c->in[i] || c->in[i]->whole != c->in[0]->whole ||
            c->in[i]->shape.dims != out->dims)
            return sp_refuse(c->node, "the inputs do not fit");
        a = c->in[i]->shape;
        if (__builtin_add_overflow(out->dim[axis], a.dim[axis],
                                   &out->dim[axis]))
            return sp_refuse(c->node, "the inputs do not fit");
        a.dim[axis] = out->dim[axis];
        if (!sp_extent_equal(&a, out))
            return sp_refuse(c->node, "the inputs do not fit");
    }
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_concat_compute(sp_call *c)
{
    int64_t outer, inner, part, at = 0, rows;
    int axis;
    spry_status s = sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 1),
                               c->out[0].shape.dims);

    if (s != SPRY_OK)
        return s;
    sp_op_around(&rows, &inner, &c->out[0].shape, axis);
    for (int i = 0; i < c->node->inputs; i++) {
        sp_op_around(&outer, &part, &c->in[i]->shape, axis);
        for (int64_t r = 0; r < rows && part; r++)
            memcpy(c->out[0].data + r * inner + at, c->in[i]->data + r * part,
                   (size_t)part * sizeof(double));
        at += part;
    }
    return SPRY_OK;
}

/* Sizes along the axis: an attribute up to opset 12, then an input; equal
 * ones when not said. */
static spry_status split_sizes(int *axis, int64_t *size, const sp_call *c)
{
    int outputs = c->node->outputs;
    sp_whole_list l;
    int64_t n, each;
    spry_status s = sp_op_axis(axis, c->node, sp_attr_int(c->node, "axis", 0),
                               c->in[0]->shape.dims);

    if (s == SPRY_OK)
        s = c->node->inputs > 1 ? sp_list_input(&l, c, 1, "split")
                                : sp_list_attr(&l, c, "split");
    if (s != SPRY_OK)
        return s;
    if (outputs > SP_LIST || (l.count >= 0 && l.count != outputs))
        return sp_refuse(c->node, "%d outputs", outputs);
    n = c->in[0]->shape.dim[*axis];
    each = (n + outputs - 1) / outputs;
    for (int i = 0; i < outputs; i++) {
        size[i] = l.count >= 0 ? l.at[i] : each < n ? each : n;
        if (size[i] < 0 || size[i] > n)
            return sp_refuse(c->node, "the parts do not fit");
        n -= size[i];
    }
    return n == 0 ? SPRY_OK : sp_refuse(c->node, "the parts do not fit");
}

spry_status sp_split_infer(sp_call *c)
{
    int64_t size[SP_LIST];
    int axis;
    spry_status s = split_sizes(&axis, size, c);

    for (int i = 0; s == SPRY_OK && i < c->node->outputs; i++) {
        c->out[i].shape = c->in[0]->shape;
        c->out[i].shape.dim[axis] = size[i];
        c->out[i].whole = c->in[0]->whole;
    }
    return s;
}

spry_status sp_split_compute(sp_call *c)
{
    int64_t size[SP_LIST], outer, inner, part, at = 0;
    int axis;
    spry_status s = split_sizes(&axis, size, c);

    if (s != SPRY_OK)
        return s;
    sp_op_around(&outer, &inner, &c->in[0]->shape, axis);
    for (int i = 0; i < c->node->outputs; i++) {
        part = size[i] ? inner / c->in[0]->shape.dim[axis] * size[i] : 0;
        for (int64_t r = 0; r < outer && part && c->out[i].data; r++)
            memcpy(c->out[i].data + r * part, c->in[0]->data + r * inner + at,
                   (size_t)part * sizeof(double));
        at += part;
    }
    return SPRY_OK;
}

/* ---- Gather ---- */

spry_status sp_gather_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape, *pick = &c->in[1]->shape;
    sp_extent *out = &c->out[0].shape;
    int axis;
    spry_status s =
        sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 0), in->dims);

    if (s != SPRY_OK)
        return s;
    if (!c->in[1]->whole || in->dims - 1 + pick->dims > SP_GRAPH_DIMS)
        return sp_refuse(c->node, "the indices do not fit");
    out->dims = 0;
    for (int i = 0; i < in->dims; i++)
        if (i != axis)
            out->dim[out->dims++] = in->dim[i];
        else
            for (int k = 0; k < pick->dims; k++)
                out->dim[out->dims++] = pick->dim[k];
    c->out[0].whole = c->in[0]->whole;
    return SPRY_OK;
}

spry_status sp_gather_compute(sp_call *c)
{
    const sp_array *in = c->in[0], *pick = c->in[1];
    int64_t outer, each, n;
    int axis;
    spry_status s = sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 0),
                               in->shape.dims);

    if (s != SPRY_OK)
        return s;
    n = in->shape.dim[axis];
    sp_op_around(&outer, &each, &in->shape, axis);
    each = n ? each / n : 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < pick->count; i++) {
            double at =
                pick->data[i] < 0 ? pick->data[i] + (double)n : pick->data[i];

            if (!(at >= 0 && at < (double)n))
                return sp_refuse(c->node, "index %.0f of %lld", pick->data[i],
                                 (long long)n);
            if (each)
                memcpy(c->out[0].data + (o * pick->count + i) * each,
                       in->data + (o * n + (int64_t)at) * each,
                       (size_t)each * sizeof(double));
        }
    return SPRY_OK;
}

/* ---- types and constants ---- */

spry_status sp_dropout_infer(sp_call *c)
{
    if (c->node->inputs > 1 && c->in[1] && c->in[1]->count != 1)
        return sp_refuse(c->node, "the ratio is not one number");
    if (c->node->inputs > 2 && c->in[2] &&
        !(c->in[2]->data && c->in[2]->data[0] == 0))
        return sp_refuse(c->node, "only inference is known");
    return sp_same_infer(c);
}

spry_status sp_cast_infer(sp_call *c)
{
    int64_t to = sp_attr_int(c->node, "to", 0);

    c->out[0].shape = c->in[0]->shape;
    c->out[0].whole = sp_onnx_whole((uint64_t)to);
    return c->out[0].whole < 0
               ? sp_refuse(c->node, "the type %lld is not known", (long long)to)
               : SPRY_OK;
}

spry_status sp_cast_compute(sp_call *c)
{
    int truth = sp_attr_int(c->node, "to", 0) == SP_ONNX_BOOL;

    for (int64_t i = 0; i < c->out[0].count; i++) {
        double x = c->in[0]->data[i];

        if (c->out[0].whole)
            x = truth       ? x != 0
                : x >= 9e18 ? 9e18
                : x > -9e18 ? (double)(int64_t)x
                            : -9e18;
        c->out[0].data[i] = x;
    }
    return SPRY_OK;
}

spry_status sp_shape_infer(sp_call *c)
{
    int dims = c->in[0]->shape.dims;
    int64_t from = sp_attr_int(c->node, "start", 0);
    int64_t to = sp_attr_int(c->node, "end", dims);

    from = from < -dims ? 0 : from < 0 ? from + dims : from;
    to = to < -dims ? 0 : to < 0 ? to + dims : to;
    to = to > dims ? dims : to;
    c->out[0].whole = 1;
    c->out[0].shape = (sp_extent){1, {to > from ? to - from : 0}};
    return SPRY_OK;
}

spry_status sp_shape_compute(sp_call *c)
{
    int dims = c->in[0]->shape.dims;
    int64_t from = sp_attr_int(c->node, "start", 0);

    from = from < -dims ? 0 : from < 0 ? from + dims : from;
    for (int64_t i = 0; i < c->out[0].count; i++)
        c->out[0].data[i] = (double)c->in[0]->shape.dim[from + i];
    return SPRY_OK;
}

/* Element i of a constant. */
static double element(const sp_opvalue *v, int64_t i)
{
    return v->whole ? (double)((const int64_t *)v->data)[i]
                    : (double)((const float *)v->data)[i];
}

spry_status sp_constant_infer(sp_call *c)
{
    const sp_attr *a = c->node->attr;

    if (c->node->attrs != 1)
        return sp_refuse(c->node, "%d values", c->node->attrs);
    c->out[0].whole = a->kind == SP_ATTR_INT || a->kind == SP_ATTR_INTS;
    if (a->kind == SP_ATTR_TENSOR) {
        c->out[0].whole = a->tensor->whole;
        c->out[0].shape = a->tensor->shape;
    } else if (a->kind >= SP_ATTR_REALS)
        c->out[0].shape = (sp_extent){1, {a->count}};
    return SPRY_OK;
}

spry_status sp_constant_compute(sp_call *c)
{
    const sp_attr *a = c->node->attr;

    for (int64_t i = 0; i < c->out[0].count; i++)
        c->out[0].data[i] = a->kind == SP_ATTR_TENSOR ? element(a->tensor, i)
                            : a->kind == SP_ATTR_REAL ? a->real
                            : a->kind == SP_ATTR_INT  ? (double)a->whole
                            : a->kind == SP_ATTR_INTS ? (double)a->ints[i]
                                                      : a->reals[i];
    return SPRY_OK;
}

/* ---- Range, Trilu ---- */

static spry_status range_of(double r[3], const sp_call *c)
{
    for (int i = 0; i < 3; i++) {
        const sp_array *a = c->in[i];

        if (!a->data || a->count != 1 || a->whole != c->in[0]->whole)
            return sp_refuse(c->node, "limits that are no constant numbers");
        r[i] = a->data[0];
    }
    return r[2] != 0 ? SPRY_OK : sp_refuse(c->node, "a step of 0");
}

spry_status sp_range_infer(sp_call *c)
{
    double r[3], count;
    spry_status s = range_of(r, c);

    if (s != SPRY_OK)
        return s;
    count = ceil((r[1] - r[0]) / r[2]);
    if (!(count <= (double)SP_GRAPH_ELEMENTS))
        return sp_refuse(c->node, "a result of more than 2^31 elements");
    c->out[0].shape = (sp_extent){1, {count > 0 ? (int64_t)count : 0}};
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_range_compute(sp_call *c)
{
    double r[3];
    spry_status s = range_of(r, c);

    for (int64_t i = 0; s == SPRY_OK && i < c->out[0].count; i++)
        c->out[0].data[i] = r[0] + (double)i * r[2];
    return s;
}

/* Which diagonal is the limit. */
static spry_status diagonal_of(int64_t *k, const sp_call *c)
{
    const sp_array *a = c->node->inputs > 1 ? c->in[1] : NULL;

    *k = 0;
    if (c->in[0]->shape.dims < 2)
        return sp_refuse(c->node, "the input is no matrix");
    if (a && (!a->data || a->count != 1 || !a->whole))
        return sp_refuse(c->node, "a diagonal that is no constant number");
    if (a && fabs(a->data[0]) < (double)SP_GRAPH_ELEMENTS)
        *k = (int64_t)a->data[0];
    else if (a)
        *k = a->data[0] > 0 ? SP_GRAPH_ELEMENTS : -SP_GRAPH_ELEMENTS;
    return SPRY_OK;
}

spry_status sp_trilu_infer(sp_call *c)
{
    int64_t k;

    c->out[0].shape = c->in[0]->shape;
    c->out[0].whole = c->in[0]->whole;
    return diagonal_of(&k, c);
}

spry_status sp_trilu_compute(sp_call *c)
{
    const sp_extent *s = &c->in[0]->shape;
    int64_t rows = s->dim[s->dims - 2], columns = s->dim[s->dims - 1], k;
    int upper = sp_attr_int(c->node, "upper", 1) != 0;
    spry_status status = diagonal_of(&k, c);

    for (int64_t i = 0; status == SPRY_OK && i < c->out[0].count; i++) {
        int64_t row = i / columns % rows, off = i % columns - row;

        c->out[0].data[i] =
            (upper ? off >= k : off <= k) ? c->in[0]->data[i] : 0;
    }
    return status;
}

/* ---- one number everywhere ---- */

spry_status sp_fill_infer(sp_call *c)
{
    const sp_attr *a = sp_attr_find(c->node, "value");
    sp_extent *out = &c->out[0].shape;
    sp_whole_list l;
    spry_status s = sp_list_input(&l, c, 0, "the shape");

    if (s != SPRY_OK)
        return s;
    if (l.count < 0 || l.count > SP_GRAPH_DIMS || (a && a->tensor->count != 1))
        return sp_refuse(c->node, "the shape or the value makes no sense");
    out->dims = l.count;
    for (int i = 0; i < l.count; i++)
        out->dim[i] = l.at[i];
    c->out[0].whole = a ? a->tensor->whole : 0;
    return SPRY_OK;
}

spry_status sp_fill_compute(sp_call *c)
{
    const sp_attr *a = sp_attr_find(c->node, "value");

    for (int64_t i = 0; i < c->out[0].count; i++)
        c->out[0].data[i] = a ? element(a->tensor, 0) : 0;
    return SPRY_OK;
}
