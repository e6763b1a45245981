/* build_parts.c - layers that the built-in networks are made of. */
#include "graph/build.h"

int sp_build_unary(sp_builder *b, const char *op, int x)
{
    return sp_build_node(b, op, (int[]){x, -1});
}

int sp_build_binary(sp_builder *b, const char *op, int x, int y)
{
    return sp_build_node(b, op, (int[]){x, y, -1});
}

int sp_build_reshape(sp_builder *b, int x, const sp_extent *shape)
{
    int empty = 0;

    for (int i = 0; i < shape->dims; i++)
        empty |= shape->dim[i] == 0;
    x = sp_build_binary(b, "Reshape", x,
                        sp_build_whole(b, shape->dims, shape->dim));
    /* Where nothing is 0 it changes nothing, and opset 13 does not have it. */
    if (empty)
        sp_build_int(b, "allowzero", 1);
    return x;
}

int sp_build_pad(sp_builder *b, int x, int dims, const int64_t *pads)
{
    if (b->g->opset >= 11)
        return sp_build_binary(b, "Pad", x, sp_build_whole(b, 2 * dims, pads));
    x = sp_build_unary(b, "Pad", x);
    sp_build_ints(b, "pads", 2 * dims, pads);
    return x;
}

int sp_build_slice(sp_builder *b, int x, int count, const int64_t *axes,
                   const int64_t *from, const int64_t *to)
{
    if (b->g->opset >= 10)
        return sp_build_node(b, "Slice",
                             (int[]){x, sp_build_whole(b, count, from),
                                     sp_build_whole(b, count, to),
                                     sp_build_whole(b, count, axes), -1});
    x = sp_build_unary(b, "Slice", x);
    sp_build_ints(b, "axes", count, axes);
    sp_build_ints(b, "starts", count, from);
    sp_build_ints(b, "ends", count, to);
    return x;
}

int sp_build_transpose(sp_builder *b, int x, int dims, const int64_t *perm)
{
    x = sp_build_unary(b, "Transpose", x);
    sp_build_ints(b, "perm", dims, perm);
    return x;
}

static void window(sp_builder *b, int64_t r, int64_t s, int64_t stride,
                   int64_t pad_h, int64_t pad_w)
{
    sp_build_ints(b, "kernel_shape", 2, (int64_t[]){r, s});
    sp_build_ints(b, "strides", 2, (int64_t[]){stride, stride});
    sp_build_ints(b, "pads", 4, (int64_t[]){pad_h, pad_w, pad_h, pad_w});
}

static int batch_norm(sp_builder *b, int x, int64_t channels, double eps)
{
    sp_extent c = {1, {channels}};
    int scale = sp_build_random(b, &c, 0.5, 1);
    int bias = sp_build_random(b, &c, -0.1, 0.1);
    int mean = sp_build_random(b, &c, -0.1, 0.1);
    int spread = sp_build_random(b, &c, 0.5, 1.5);

    x = sp_build_node(b, "BatchNormalization",
                      (int[]){x, scale, bias, mean, spread, -1});
    sp_build_real(b, "epsilon", eps);
    return x;
}

int sp_build_conv(sp_builder *b, int x, const sp_build_conv_shape *z)
{
    int64_t groups = z->groups ? z->groups : 1, each = z->in / groups;
    int64_t stride = z->stride ? z->stride : 1;
    sp_extent w = {4, {z->out, each, z->r, z->s}}, c = {1, {z->out}};
    int weight =
        sp_build_weights(b, &w, each * z->r * z->s, z->in > 3 && groups == 1);

    if (z->eps > 0)
        x = sp_build_node(b, "Conv", (int[]){x, weight, -1});
    else {
        int bias = sp_build_random(b, &c, -0.1, 0.1);

        x = sp_build_node(b, "Conv", (int[]){x, weight, bias, -1});
    }
    window(b, z->r, z->s, stride, z->pad_h, z->pad_w);
    sp_build_int(b, "group", groups);
    return z->eps > 0 ? batch_norm(b, x, z->out, z->eps) : x;
}

int sp_build_pool(sp_builder *b, const char *op, int x, int64_t kernel,
                  int64_t stride, int64_t pad)
{
    x = sp_build_unary(b, op, x);
    window(b, kernel, kernel, stride, pad, pad);
    return x;
}

int sp_build_mean(sp_builder *b, int x)
{
    x = sp_build_unary(b, "GlobalAveragePool", x);
    x = sp_build_unary(b, "Flatten", x);
    sp_build_int(b, "axis", 1);
    return x;
}

int sp_build_dense(sp_builder *b, int x, int64_t in, int64_t out)
{
    int weight = sp_build_weights(b, &(sp_extent){2, {out, in}}, in, 1);
    int bias = sp_build_random(b, &(sp_extent){1, {out}}, -0.1, 0.1);

    x = sp_build_node(b, "Gemm", (int[]){x, weight, bias, -1});
    sp_build_int(b, "transB", 1);
    return x;
}

int sp_build_hardswish(sp_builder *b, int x)
{
    int gate = sp_build_unary(b, "HardSigmoid", x);

    sp_build_real(b, "alpha", 1.0 / 6);
    sp_build_real(b, "beta", 0.5);
    return sp_build_binary(b, "Mul", x, gate);
}
