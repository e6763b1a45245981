/* op_pad.c - more elements around a tensor. */
#include <string.h>

#include "graph/opcodes.h"

/* The lists of a Pad, with zeros for axes that it does not name. */
static spry_status widths(sp_padding *p, const sp_call *c)
{
    int dims = c->in[0]->shape.dims, count;
    sp_whole_list l, axes;
    spry_status s = c->node->inputs > 1 ? sp_list_input(&l, c, 1, "pads")
                                        : sp_list_attr(&l, c, "pads");

    if (s == SPRY_OK)
        s = sp_list_input(&axes, c, 3, "axes");
    if (s != SPRY_OK)
        return s;
    count = axes.count < 0 ? dims : axes.count;
    if (l.count != 2 * count || count > dims)
        return sp_refuse(c->node, "pads do not fit");
    memset(p->before, 0, sizeof p->before);
    memset(p->behind, 0, sizeof p->behind);
    for (int i = 0, axis; s == SPRY_OK && i < count; i++) {
        s = sp_op_axis(&axis, c->node, axes.count < 0 ? i : axes.at[i], dims);
        if (s == SPRY_OK) {
            p->before[axis] = l.at[i];
            p->behind[axis] = l.at[i + count];
        }
    }
    return s;
}

spry_status sp_padding_of(sp_padding *p, const sp_call *c)
{
    static const char *const modes[] = {"constant", "reflect", "edge", NULL};
    const sp_extent *in = &c->in[0]->shape;
    const sp_array *v = c->node->inputs > 2 ? c->in[2] : NULL;
    int mode = sp_attr_choice(c->node, "mode", modes, SP_PAD_VALUE);
    spry_status s = widths(p, c);

    if (s != SPRY_OK)
        return s;
    if (mode < 0)
        return sp_refuse(c->node, "this mode is not known");
    p->mode = (sp_pad_mode)mode;
    if (v && (v->count != 1 || !v->data))
        return sp_refuse(c->node, "pads do not fit");
    p->value = v ? v->data[0] : sp_attr_real(c->node, "value", 0);
    for (int i = 0; i < in->dims; i++) {
        int64_t before = p->before[i], behind = p->behind[i];
        int64_t most = p->mode == SP_PAD_REFLECT && in->dim[i] > 0
                           ? in->dim[i] - 1
                           : SP_GRAPH_ELEMENTS;

        if (before < 0 || behind < 0 || before > most || behind > most)
            return sp_refuse(c->node, "a padding of %lld and %lld",
                             (long long)before, (long long)behind);
        if (p->mode != SP_PAD_VALUE && in->dim[i] == 0 && before + behind)
            return sp_refuse(c->node, "nothing to repeat");
    }
    return SPRY_OK;
}

spry_status sp_pad_infer(sp_call *c)
{
    sp_extent *out = &c->out[0].shape;
    sp_padding p;
    spry_status s = sp_padding_of(&p, c);

    *out = c->in[0]->shape;
    for (int i = 0; s == SPRY_OK && i < out->dims; i++)
        out->dim[i] += p.before[i] + p.behind[i];
    c->out[0].whole = c->in[0]->whole;
    return s;
}

/* Which of n elements stands at x, which may lie outside; -1: none. */
static int64_t source(int64_t x, int64_t n, sp_pad_mode mode)
{
    if (x >= 0 && x < n)
        return x;
    if (mode == SP_PAD_VALUE)
        return -1;
    if (mode == SP_PAD_EDGE)
        return x < 0 ? 0 : n - 1;
    return x < 0 ? -x : 2 * (n - 1) - x;
}

spry_status sp_pad_compute(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape, *out = &c->out[0].shape;
    sp_padding p;
    spry_status s = sp_padding_of(&p, c);

    for (int64_t i = 0; s == SPRY_OK && i < c->out[0].count; i++) {
        int64_t rest = i, at = 0, size = 1;
        int inside = 1;

        for (int d = out->dims - 1; d >= 0; d--) {
            int64_t x = rest % out->dim[d] - p.before[d];

            x = source(x, in->dim[d], p.mode);
            inside &= x >= 0;
            at += x * size;
            size *= in->dim[d];
            rest /= out->dim[d];
        }
        c->out[0].data[i] = inside ? c->in[0]->data[at] : p.value;
    }
    return s;
}
