/* op_move.c - operators that move elements and leave them as they are. */
#include <string.h>

#include "graph/opcodes.h"

spry_status sp_copy_compute(sp_call *c)
{
    if (c->out[0].count)
        memcpy(c->out[0].data, c->in[0]->data,
               (size_t)c->out[0].count * sizeof(double));
    return SPRY_OK;
}

/* ---- another shape of the same elements ---- */

spry_status sp_reshape_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    sp_extent *out = &c->out[0].shape;
    int zero = sp_attr_int(c->node, "allowzero", 0) != 0, open = -1;
    int64_t known = 1;
    sp_whole_list l;
    spry_status s = sp_list_input(&l, c, 1, "the new shape");

    if (s != SPRY_OK)
        return s;
    if (l.count < 0 || l.count > SP_GRAPH_DIMS)
        return sp_refuse(c->node, "a shape of %d dimensions", l.count);
    out->dims = l.count;
    for (int i = 0; i < l.count; i++) {
        int64_t n = l.at[i];

        if (n == 0 && !zero && i < in->dims)
            n = in->dim[i];
        if (n < -1 || n > SP_GRAPH_ELEMENTS || (n == -1 && open >= 0))
            return sp_refuse(c->node, "the new shape makes no sense");
        if (n == -1)
            open = i;
        else if (__builtin_mul_overflow(known, n, &known))
            return sp_refuse(c->node, "the new shape makes no sense");
        out->dim[i] = n;
    }
    if (open >= 0)
        out->dim[open] = known ? c->in[0]->count / known : 0;
    if (open >= 0 && known)
        known *= out->dim[open];
    c->out[0].whole = c->in[0]->whole;
    return known == c->in[0]->count
               ? SPRY_OK
               : sp_refuse(c->node, "the new shape has other elements");
}

spry_status sp_flatten_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int64_t axis = sp_attr_int(c->node, "axis", 1);
    sp_extent out = {2, {1, 1}};

    if (axis < -in->dims || axis > in->dims)
        return sp_refuse(c->node, "there is no axis %lld", (long long)axis);
    axis = axis < 0 ? axis + in->dims : axis;
    for (int i = 0; i < in->dims; i++)
        out.dim[i >= axis] *= in->dim[i];
    c->out[0].shape = out;
    c->out[0].whole = c->in[0]->whole;
    return SPRY_OK;
}

spry_status sp_squeeze_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    sp_extent *out = &c->out[0].shape;
    unsigned axes;
    spry_status s = sp_op_axes(&axes, c, c->node->inputs > 1);

    out->dims = 0;
    for (int i = 0; s == SPRY_OK && i < in->dims; i++) {
        int gone = axes ? axes >> i & 1 : in->dim[i] == 1;

        if (gone && in->dim[i] != 1)
            s = sp_refuse(c->node, "dimension %d is not 1", i);
        if (!gone)
            out->dim[out->dims++] = in->dim[i];
    }
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_unsqueeze_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    sp_extent *out = &c->out[0].shape;
    unsigned axes = 0;
    sp_whole_list l;
    spry_status s = c->node->inputs > 1 ? sp_list_input(&l, c, 1, "axes")
                                        : sp_list_attr(&l, c, "axes");

    if (s == SPRY_OK && (l.count < 1 || in->dims + l.count > SP_GRAPH_DIMS))
        s = sp_refuse(c->node, "%d more dimensions", l.count);
    for (int i = 0, axis; s == SPRY_OK && i < l.count; i++) {
        s = sp_op_axis(&axis, c->node, l.at[i], in->dims + l.count);
        if (s == SPRY_OK && axes >> axis & 1)
            s = sp_refuse(c->node, "the axis %d is given twice", axis);
        if (s == SPRY_OK)
            axes |= 1u << axis;
    }
    if (s != SPRY_OK)
        return s;
    out->dims = in->dims + l.count;
    for (int i = 0, k = 0; i < out->dims; i++)
        out->dim[i] = axes >> i & 1 ? 1 : in->dim[k++];
    c->out[0].whole = c->in[0]->whole;
    return SPRY_OK;
}

/* ---- elements at other places ----
 *
 * Every result i comes from first + the sum of its indices times a step. */

typedef struct {
    int64_t first, step[SP_GRAPH_DIMS];
} path;

static void move(sp_array *out, const double *from, const path *p)
{
    const sp_extent *s = &out->shape;

    for (int64_t i = 0; i < out->count; i++) {
        int64_t rest = i, at = p->first;

        for (int d = s->dims - 1; d >= 0; d--) {
            at += rest % s->dim[d] * p->step[d];
            rest /= s->dim[d];
        }
        out->data[i] = from[at];
    }
}

static void steps_of(int64_t step[SP_GRAPH_DIMS], const sp_extent *s)
{
    int64_t size = 1;

    for (int d = s->dims - 1; d >= 0; d--) {
        step[d] = size;
        size *= s->dim[d];
    }
}

static spry_status permutation(int perm[SP_GRAPH_DIMS], const sp_call *c)
{
    int dims = c->in[0]->shape.dims;
    const sp_attr *a = sp_attr_find(c->node, "perm");
    unsigned seen = 0;

    if (a && a->count != dims)
        return sp_refuse(c->node, "perm has %d numbers", a->count);
    for (int i = 0; i < dims; i++) {
        int64_t p = a ? a->ints[i] : dims - 1 - i;

        if (p < 0 || p >= dims || seen >> p & 1)
            return sp_refuse(c->node, "perm is no permutation");
        seen |= 1u << p;
        perm[i] = (int)p;
    }
    return SPRY_OK;
}

spry_status sp_transpose_infer(sp_call *c)
{
    int perm[SP_GRAPH_DIMS];
    spry_status s = permutation(perm, c);

    c->out[0].shape.dims = c->in[0]->shape.dims;
    for (int i = 0; s == SPRY_OK && i < c->out[0].shape.dims; i++)
        c->out[0].shape.dim[i] = c->in[0]->shape.dim[perm[i]];
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_transpose_compute(sp_call *c)
{
    int64_t step[SP_GRAPH_DIMS];
    int perm[SP_GRAPH_DIMS];
    path p = {0};
    spry_status s = permutation(perm, c);

    if (s != SPRY_OK)
        return s;
    steps_of(step, &c->in[0]->shape);
    for (int i = 0; i < c->out[0].shape.dims; i++)
        p.step[i] = step[perm[i]];
    move(&c->out[0], c->in[0]->data, &p);
    return SPRY_OK;
}

spry_status sp_expand_infer(sp_call *c)
{
    sp_extent to = {0};
    sp_whole_list l;
    spry_status s = sp_list_input(&l, c, 1, "the new shape");

    if (s != SPRY_OK)
        return s;
    if (l.count < 0 || l.count > SP_GRAPH_DIMS)
        return sp_refuse(c->node, "a shape of %d dimensions", l.count);
    for (to.dims = 0; to.dims < l.count; to.dims++) {
        if (l.at[to.dims] < 0)
            return sp_refuse(c->node, "a negative dimension");
        to.dim[to.dims] = l.at[to.dims];
    }
    c->out[0].whole = c->in[0]->whole;
    return sp_broadcast(&c->out[0].shape, &c->in[0]->shape, &to)
               ? SPRY_OK
               : sp_refuse(c->node, "the new shape does not fit");
}

spry_status sp_expand_compute(sp_call *c)
{
    path p = {0};

    sp_broadcast_steps(p.step, &c->in[0]->shape, &c->out[0].shape);
    move(&c->out[0], c->in[0]->data, &p);
    return SPRY_OK;
}

/* ---- a part ---- */

static int64_t within(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static spry_status slice_axis(sp_sliced *p, const sp_call *c, int axis,
                              int64_t start, int64_t end, int64_t step)
{
    int64_t n = c->in[0]->shape.dim[axis];

    if (step == 0 || step < -SP_GRAPH_ELEMENTS || step > SP_GRAPH_ELEMENTS)
        return sp_refuse(c->node, "a step of %lld", (long long)step);
    start = start < 0 && start >= -n ? start + n : start;
    end = end < 0 && end >= -n ? end + n : end;
    start = step > 0 ? within(start, 0, n) : within(start, -1, n - 1);
    end = step > 0 ? within(end, 0, n) : within(end, -1, n - 1);
    p->start[axis] = start;
    p->step[axis] = step;
    p->len[axis] = step > 0 ? (end - start + step - 1) / step
                            : (start - end - step - 1) / -step;
    if (p->len[axis] < 0)
        p->len[axis] = 0;
    return SPRY_OK;
}

static spry_status slice_lists(sp_whole_list l[4], const sp_call *c)
{
    static const char *const name[] = {"starts", "ends", "axes", "steps"};
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < 4; i++)
        s = c->node->inputs > 1 ? sp_list_input(&l[i], c, 1 + i, name[i])
                                : sp_list_attr(&l[i], c, name[i]);
    if (s == SPRY_OK && (l[0].count < 0 || l[1].count != l[0].count ||
                         (l[2].count >= 0 && l[2].count != l[0].count) ||
                         (l[3].count >= 0 && l[3].count != l[0].count)))
        s = sp_refuse(c->node, "starts, ends, axes and steps differ in length");
    return s;
}

spry_status sp_sliced_of(sp_sliced *p, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    sp_whole_list l[4]; /* starts, ends, axes, steps */
    unsigned seen = 0;
    spry_status s = slice_lists(l, c);

    for (int i = 0; i < in->dims; i++) {
        p->start[i] = 0;
        p->step[i] = 1;
        p->len[i] = in->dim[i];
    }
    for (int i = 0, axis; s == SPRY_OK && i < l[0].count; i++) {
        s = sp_op_axis(&axis, c->node, l[2].count < 0 ? i : l[2].at[i],
                       in->dims);
        if (s == SPRY_OK && seen >> axis & 1)
            s = sp_refuse(c->node, "the axis %d is given twice", axis);
        if (s != SPRY_OK)
            break;
        seen |= 1u << axis;
        s = slice_axis(p, c, axis, l[0].at[i], l[1].at[i],
                       l[3].count < 0 ? 1 : l[3].at[i]);
    }
    return s;
}

spry_status sp_slice_infer(sp_call *c)
{
    sp_sliced p;
    spry_status s = sp_sliced_of(&p, c);

    c->out[0].shape.dims = c->in[0]->shape.dims;
    for (int i = 0; s == SPRY_OK && i < c->out[0].shape.dims; i++)
        c->out[0].shape.dim[i] = p.len[i];
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_slice_compute(sp_call *c)
{
    int64_t step[SP_GRAPH_DIMS];
    path to = {0};
    sp_sliced p;
    spry_status s = sp_sliced_of(&p, c);

    if (s != SPRY_OK)
        return s;
    steps_of(step, &c->in[0]->shape);
    for (int i = 0; i < c->in[0]->shape.dims; i++) {
        to.first += p.start[i] * step[i];
        to.step[i] = p.step[i] * step[i];
    }
    move(&c->out[0], c->in[0]->data, &to);
    return SPRY_OK;
}
