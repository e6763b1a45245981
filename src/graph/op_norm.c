/* op_norm.c - norms and softmax. */
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
    int logarithm = c->node->op->name[0] == 'L';
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
            y[j * k.inner] = logarithm ? x[j * k.inner] - most - log(sum)
                                       : y[j * k.inner] / sum;
    }
    return s;
}
