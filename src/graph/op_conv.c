/* op_conv.c - convolutions and pools over [n][c][h][w]. */
#include <math.h>
#include <string.h>

#include "dense/core.h"
#include "graph/opcodes.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Conv ---- */

static spry_status conv_window(sp_window *w, const sp_call *c)
{
    const sp_extent *weight = &c->in[1]->shape;

    if (weight->dims != 4)
        return sp_refuse(c->node,
                         "%d dimensions of weights; only images [n][c][h][w] "
                         "are known",
                         weight->dims);
    return sp_window_of(w, c->node, &c->in[0]->shape, weight->dim + 2);
}

spry_status sp_conv_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape, *weight = &c->in[1]->shape;
    int64_t groups = sp_attr_int(c->node, "group", 1);
    sp_window w;
    spry_status s = conv_window(&w, c);

    if (s != SPRY_OK)
        return s;
    if (c->in[0]->whole || c->in[1]->whole ||
        (c->node->inputs > 2 && c->in[2] && c->in[2]->whole))
        return sp_refuse(c->node, "whole numbers");
    if (groups < 1 || weight->dim[0] < 1 || weight->dim[1] < 1 ||
        in->dim[1] / groups != weight->dim[1] || in->dim[1] % groups ||
        weight->dim[0] % groups)
        return sp_refuse(c->node, "channels do not fit the weights");
    if (c->node->inputs > 2 && c->in[2] && c->in[2]->count != weight->dim[0])
        return sp_refuse(c->node, "the bias does not fit the weights");
    c->out[0].shape =
        (sp_extent){4, {in->dim[0], weight->dim[0], w.out[0], w.out[1]}};
    return SPRY_OK;
}

/* Where a window's row or column r lies inside of the image: [*from, *to) of
 * the results. */
static void inside(int64_t *from, int64_t *to, const sp_window *w, int i,
                   int64_t r)
{
    int64_t at = r * w->dilate[i] - w->pad[i], stride = w->stride[i];

    *from = at >= 0 ? 0 : (-at + stride - 1) / stride;
    *to =
        at >= w->in[i] ? 0 : least((w->in[i] - 1 - at) / stride + 1, w->out[i]);
}

/* One channel's share in one plane of results. */
static void conv_plane(double *out, const double *in, const double *weight,
                       const sp_window *w)
{
    for (int64_t r = 0; r < w->kernel[0]; r++)
        for (int64_t s = 0; s < w->kernel[1]; s++) {
            int64_t p0, p1, q0, q1;
            double x = weight[r * w->kernel[1] + s];

            inside(&p0, &p1, w, 0, r);
            inside(&q0, &q1, w, 1, s);
            for (int64_t p = p0; p < p1; p++) {
                const double *row =
                    in +
                    (p * w->stride[0] + r * w->dilate[0] - w->pad[0]) *
                        w->in[1] +
                    s * w->dilate[1] - w->pad[1];
                double *to = out + p * w->out[1];

                for (int64_t q = q0; q < q1; q++)
                    to[q] += x * row[q * w->stride[1]];
            }
        }
}

spry_status sp_conv_compute(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape, *weight = &c->in[1]->shape;
    int64_t K = weight->dim[0], C = weight->dim[1];
    int64_t groups = sp_attr_int(c->node, "group", 1), each = K / groups;
    const double *bias =
        c->node->inputs > 2 && c->in[2] ? c->in[2]->data : NULL;
    int64_t plane_in, plane_out, taps;
    sp_window w;
    spry_status s = conv_window(&w, c);

    if (s != SPRY_OK)
        return s;
    plane_in = w.in[0] * w.in[1];
    plane_out = w.out[0] * w.out[1];
    taps = w.kernel[0] * w.kernel[1];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < in->dim[0] * K; i++) {
        int64_t n = i / K, k = i % K, first = k / each * C;
        double *out = c->out[0].data + i * plane_out;

        for (int64_t q = 0; q < plane_out; q++)
            out[q] = bias ? bias[k] : 0;
        for (int64_t ch = 0; ch < C; ch++)
            conv_plane(
                out, c->in[0]->data + (n * in->dim[1] + first + ch) * plane_in,
                c->in[1]->data + (k * C + ch) * taps, &w);
    }
    return SPRY_OK;
}

/* ---- pools ---- */

spry_status sp_pool_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    sp_window w;
    spry_status s = sp_window_of(&w, c->node, in, NULL);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < 4; i++)
        if (w.pad[i] >= (w.kernel[i % 2] - 1) * w.dilate[i % 2] + 1)
            return sp_refuse(c->node, "a window that sees padding only");
    if (c->in[0]->whole)
        return sp_refuse(c->node, "whole numbers");
    if (sp_attr_int(c->node, "storage_order", 0))
        return sp_refuse(c->node, "storage_order 1 is not known");
    c->out[0].shape =
        (sp_extent){4, {in->dim[0], in->dim[1], w.out[0], w.out[1]}};
    return SPRY_OK;
}

/* One result: the maximum or the mean of what its window sees. */
static double pool_one(const double *in, const sp_window *w, int64_t p,
                       int64_t q, int mean, int count_pad)
{
    int64_t top = p * w->stride[0] - w->pad[0], seen = 0;
    int64_t left = q * w->stride[1] - w->pad[1];
    double sum = 0, most = -HUGE_VAL;

    for (int64_t r = 0; r < w->kernel[0]; r++)
        for (int64_t s = 0; s < w->kernel[1]; s++) {
            int64_t y = top + r * w->dilate[0], x = left + s * w->dilate[1];
            int in_image = y >= 0 && y < w->in[0] && x >= 0 && x < w->in[1];
            int in_pad = y < w->in[0] + w->pad[2] && x < w->in[1] + w->pad[3];

            seen += in_image || (count_pad && in_pad);
            if (in_image) {
                double v = in[y * w->in[1] + x];

                sum += v;
                most = sp_most(v, most);
            }
        }
    return mean ? sum / (double)(seen ? seen : 1) : most;
}

spry_status sp_pool_compute(sp_call *c)
{
    int mean = c->node->op->name[0] == 'A';
    int count_pad = sp_attr_int(c->node, "count_include_pad", 0) != 0;
    const sp_extent *in = &c->in[0]->shape;
    int64_t each;
    sp_window w;
    spry_status s = sp_window_of(&w, c->node, in, NULL);

    if (s != SPRY_OK)
        return s;
    each = w.out[0] * w.out[1];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < in->dim[0] * in->dim[1]; i++)
        for (int64_t q = 0; q < each; q++)
            c->out[0].data[i * each + q] =
                pool_one(c->in[0]->data + i * w.in[0] * w.in[1], &w,
                         q / w.out[1], q % w.out[1], mean, count_pad);
    return SPRY_OK;
}

spry_status sp_global_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;

    if (in->dims < 3)
        return sp_refuse(c->node, "the input is no image");
    if (c->in[0]->whole)
        return sp_refuse(c->node, "whole numbers");
    c->out[0].shape = *in;
    for (int i = 2; i < in->dims; i++)
        c->out[0].shape.dim[i] = 1;
    return SPRY_OK;
}

spry_status sp_global_compute(sp_call *c)
{
    int mean = c->node->op->name[6] == 'A';
    int64_t images = c->out[0].count;
    int64_t each = images ? c->in[0]->count / images : 0;

    for (int64_t i = 0; i < images; i++) {
        const double *in = c->in[0]->data + i * each;
        double sum = 0, most = -HUGE_VAL;

        for (int64_t q = 0; q < each; q++) {
            sum += in[q];
            most = sp_most(in[q], most);
        }
        c->out[0].data[i] = mean ? sum / (double)each : most;
    }
    return SPRY_OK;
}
