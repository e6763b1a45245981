/* op_norm.c - norms, softmax and reductions. */
#include <math.h>
#include <string.h>

#include "dense/core.h"
#include "graph/opcodes.h"

/* outer x len x inner elements, `len` along what is normed. */
typedef struct {
    int64_t outer, len, inner;
} cut;

static cut cut_at(const sp_extent *s, int from, int to)
{
    cut k = {1, 1, 1};

    for (int i = 0; i < s->dims; i++)
        *(i < from ? &k.outer : i < to ? &k.len : &k.inner) *= s->dim[i];
    return k;
}

/* ---- norms ---- */

spry_status sp_norm_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int batch = c->node->op->name[0] == 'B', axis = 1;
    int64_t len = 1;
    spry_status s = SPRY_OK;

    if (in->dims < 2 || c->in[0]->whole)
        return sp_refuse(c->node, "an input of %d dimensions", in->dims);
    if (sp_attr_int(c->node, "training_mode", 0) ||
        !sp_attr_int(c->node, "spatial", 1))
        return sp_refuse(c->node, "only inference, per channel, is known");
    if (!batch)
        s = sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", -1),
                       in->dims);
    for (int i = axis; i < (batch ? axis + 1 : in->dims); i++)
        len *= in->dim[i];
    for (int i = 1; s == SPRY_OK && i < c->node->inputs; i++)
        if ((!c->in[i] && batch) ||
            (c->in[i] && (c->in[i]->count != len || c->in[i]->whole)))
            s = sp_refuse(c->node, "scale or bias does not fit the input");
    c->out[0].shape = *in;
    return s;
}

spry_status sp_batchnorm_compute(sp_call *c)
{
    double eps = sp_attr_real(c->node, "epsilon", 1e-5);
    cut k = cut_at(&c->in[0]->shape, 1, 2);

    for (int64_t i = 0; i < k.outer * k.len; i++) {
        int64_t ch = i % k.len;
        double scale = c->in[1]->data[ch] / sqrt(c->in[4]->data[ch] + eps);
        double move = c->in[2]->data[ch] - c->in[3]->data[ch] * scale;

        for (int64_t q = i * k.inner; q < (i + 1) * k.inner; q++)
            c->out[0].data[q] = c->in[0]->data[q] * scale + move;
    }
    return SPRY_OK;
}

spry_status sp_layernorm_compute(sp_call *c)
{
    double eps = sp_attr_real(c->node, "epsilon", 1e-5);
    const sp_extent *in = &c->in[0]->shape;
    const double *bias =
        c->node->inputs > 2 && c->in[2] ? c->in[2]->data : NULL;
    int axis;
    spry_status s =
        sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", -1), in->dims);
    cut k = cut_at(in, s == SPRY_OK ? axis : 0, in->dims);

    for (int64_t i = 0; s == SPRY_OK && i < k.outer; i++) {
        const double *x = c->in[0]->data + i * k.len;
        double *y = c->out[0].data + i * k.len, mean = 0, spread = 0;

        for (int64_t j = 0; j < k.len; j++)
            mean += x[j] / (double)k.len;
        for (int64_t j = 0; j < k.len; j++)
            spread += (x[j] - mean) * (x[j] - mean) / (double)k.len;
        for (int64_t j = 0; j < k.len; j++)
            y[j] = (x[j] - mean) / sqrt(spread + eps) * c->in[1]->data[j] +
                   (bias ? bias[j] : 0);
    }
    return s;
}

/* ---- softmax ---- */

static spry_status softmax_cut(cut *k, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int old = c->opset < 13, axis;
    spry_status s = sp_op_axis(
        &axis, c->node, sp_attr_int(c->node, "axis", old ? 1 : -1), in->dims);

    /* Up to opset 12 all dimensions from the axis on were one. */
    if (s == SPRY_OK)
        *k = cut_at(in, axis, old ? in->dims : axis + 1);
    return s;
}

spry_status sp_softmax_infer(sp_call *c)
{
    cut k;

    c->out[0].shape = c->in[0]->shape;
    if (c->in[0]->whole)
        return sp_refuse(c->node, "whole numbers");
    return softmax_cut(&k, c);
}

spry_status sp_softmax_compute(sp_call *c)
{
    cut k;
    spry_status s = softmax_cut(&k, c);

    for (int64_t i = 0; s == SPRY_OK && i < k.outer * k.inner; i++) {
        int64_t at = i / k.inner * k.len * k.inner + i % k.inner;
        const double *x = c->in[0]->data + at;
        double *y = c->out[0].data + at, most = -HUGE_VAL, sum = 0;

        for (int64_t j = 0; j < k.len; j++)
            most = x[j * k.inner] > most ? x[j * k.inner] : most;
        for (int64_t j = 0; j < k.len; j++)
            sum += y[j * k.inner] = exp(x[j * k.inner] - most);
        for (int64_t j = 0; j < k.len; j++)
            y[j * k.inner] /= sum;
    }
    return s;
}

/* ---- reductions ---- */

/* Axes became an input: of sums at opset 13, of the others at 18. */
static spry_status reduced(unsigned *axes, const sp_call *c)
{
    int input =
        c->opset >= (strcmp(c->node->op->name, "ReduceSum") == 0 ? 13 : 18);
    spry_status s;

    if (!input && c->node->inputs > 1)
        return sp_refuse(c->node, "axes are no input in this opset");
    if (input && sp_attr_find(c->node, "axes"))
        return sp_refuse(c->node, "axes are no attribute in this opset");
    s = sp_op_axes(axes, c, input);
    if (s == SPRY_OK && *axes == 0 &&
        !sp_attr_int(c->node, "noop_with_empty_axes", 0))
        *axes = (1u << c->in[0]->shape.dims) - 1;
    return s;
}

spry_status sp_reduce_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int keep = sp_attr_int(c->node, "keepdims", 1) != 0;
    sp_extent *out = &c->out[0].shape;
    unsigned axes;
    spry_status s = reduced(&axes, c);

    out->dims = 0;
    for (int i = 0; s == SPRY_OK && i < in->dims; i++)
        if (!(axes >> i & 1))
            out->dim[out->dims++] = in->dim[i];
        else if (keep)
            out->dim[out->dims++] = 1;
    c->out[0].whole = c->in[0]->whole;
    return s;
}

spry_status sp_reduce_compute(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    const char kind = c->node->op->name[7]; /* e a u: mean, max, sum */
    int most = kind == 'a';
    int64_t step[SP_GRAPH_DIMS] = {0}, size = 1, terms = 1;
    double *out = c->out[0].data;
    unsigned axes;
    spry_status s = reduced(&axes, c);

    for (int d = in->dims - 1; s == SPRY_OK && d >= 0; d--)
        if (axes >> d & 1)
            terms *= in->dim[d];
        else {
            step[d] = size;
            size *= in->dim[d];
        }
    for (int64_t i = 0; s == SPRY_OK && i < c->out[0].count; i++)
        out[i] = most ? -HUGE_VAL : 0;
    for (int64_t i = 0; s == SPRY_OK && i < c->in[0]->count; i++) {
        int64_t rest = i, at = 0;
        double x = c->in[0]->data[i];

        for (int d = in->dims - 1; d >= 0; d--) {
            at += rest % in->dim[d] * step[d];
            rest /= in->dim[d];
        }
        out[at] = most ? sp_most(x, out[at]) : out[at] + x;
    }
    for (int64_t i = 0; s == SPRY_OK && kind == 'e' && i < c->out[0].count; i++)
        out[i] /= (double)terms;
    return s;
}
