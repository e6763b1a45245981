/* random_windows.h - operators of random graphs over images:
 * convolutions, pools, batch norms. */
#ifndef SPRY_RANDOM_WINDOWS_H
#define SPRY_RANDOM_WINDOWS_H

#include <math.h>

#include "random_graph.h"

typedef struct {
    int64_t kernel[2], stride[2], dilate[2], pad[4], out[2];
} random_window;

/* 0: the window does not fit. */
static inline int fit_window(random_window *w, const sp_extent *in, int upward)
{
    for (int i = 0; i < 2; i++) {
        int64_t n = in->dim[2 + i] + w->pad[i];
        int64_t span = (w->kernel[i] - 1) * w->dilate[i] + 1;
        int64_t rest = n + w->pad[i + 2] - span;

        if (rest < 0)
            return 0;
        w->out[i] = (rest + (upward ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
        if (upward && (w->out[i] - 1) * w->stride[i] >= n)
            w->out[i]--; /* a window that begins behind the image */
    }
    return 1;
}

static inline void put_window(random_graph *g, const random_window *w)
{
    put_list(g, "kernel_shape", 2, w->kernel);
    put_list(g, "strides", 2, w->stride);
    put_list(g, "pads", 4, w->pad);
    if (w->dilate[0] > 1 || w->dilate[1] > 1 || chance(g, 20))
        put_list(g, "dilations", 2, w->dilate);
}

static inline random_window window_of_one_size(int64_t k)
{
    int64_t p = k / 2;

    return (random_window){{k, k}, {1, 1}, {1, 1}, {p, p, p, p}, {0}};
}

static inline random_window conv_window(random_graph *g)
{
    int64_t k = digit_of(g, "11235"), s = digit_of(g, "1123");
    int64_t d = digit_of(g, "1112"), p = chance(g, 60) ? k / 2 : 0;
    random_window w = {{k, k}, {s, s}, {d, d}, {p, p, p, p}, {0}};

    if (g->one_size)
        return window_of_one_size(digit_of(g, "1135"));
    if (chance(g, 25))
        w.kernel[1] = digit_of(g, "123");
    if (chance(g, 20))
        w.stride[1] = digit_of(g, "12");
    for (int i = 0; i < 4 && chance(g, 30); i++)
        w.pad[i] = below(g, 4);
    return w;
}

static inline int batch_norm(random_graph *g, int x)
{
    sp_extent c, shape = g->shape[x];
    int in[] = {x, 0, 0, 0, 0, -1};

    if (!is_image(g, x))
        return -1;
    c = vector_of(shape.dim[1]);
    for (int i = 1; i < 4; i++)
        in[i] = random_constant(g, &c, -1, 1, 0);
    in[4] = random_constant(g, &c, 0.1, 2, 0);
    if (chance(g, 50))
        put_real(g, "epsilon", 1e-3F);
    return add_node(g, "BatchNormalization", in, &shape);
}

static inline int64_t random_groups(random_graph *g, int64_t channels)
{
    int64_t groups = chance(g, 50) ? 1 : between(g, 1, channels);

    if (chance(g, 30))
        groups = channels;
    while (channels % groups)
        groups--;
    return groups;
}

static inline int convolution(random_graph *g, int x)
{
    const sp_extent *s = &g->shape[x];
    random_window w = conv_window(g);
    int64_t groups, out, terms;
    sp_extent shape, filter, bias;
    int in[] = {x, -1, -1, -1};
    double scale;

    if (!is_image(g, x) || !fit_window(&w, s, 0))
        return -1;
    groups = random_groups(g, s->dim[1]);
    out =
        groups * (groups < s->dim[1] ? between(g, 1, 8) : digit_of(g, "1112"));
    shape = (sp_extent){4, {s->dim[0], out, w.out[0], w.out[1]}};
    if (elements(&shape) > RANDOM_ELEMENTS)
        return -1;
    filter =
        (sp_extent){4, {out, s->dim[1] / groups, w.kernel[0], w.kernel[1]}};
    terms = elements(&filter) / out;
    scale = 1 / sqrt((double)terms);
    in[1] = random_constant(g, &filter, -scale, scale, chance(g, 30) ? 90 : 0);
    bias = vector_of(out);
    if (chance(g, 50))
        in[2] = random_constant(g, &bias, -1, 1, 0);
    put_window(g, &w);
    if (groups > 1 || chance(g, 20))
        put_whole(g, "group", groups);
    x = add_node(g, "Conv", in, &shape);
    return chance(g, 40) ? batch_norm(g, x) : x;
}

/* A convolution the other way round. */
static inline int reversed(random_graph *g, int x)
{
    const sp_extent *s = &g->shape[x];
    int64_t groups, each, stride[2], dilate[2], kernel[2], pads[4], more[2];
    sp_extent shape, filter, bias;
    int in[] = {x, -1, -1, -1};

    if (!is_image(g, x) || elements(s) > RANDOM_ELEMENTS / 16)
        return -1;
    groups = random_groups(g, s->dim[1]);
    each = between(g, 1, 4);
    shape = (sp_extent){4, {s->dim[0], groups * each}};
    for (int i = 0; i < 2; i++) {
        kernel[i] = between(g, 1, 4);
        stride[i] = chance(g, 40) ? kernel[i] : between(g, 1, 3);
        dilate[i] = digit_of(g, "1112");
        more[i] = chance(g, 20) ? below(g, stride[i]) : 0;
        shape.dim[2 + i] = stride[i] * (s->dim[2 + i] - 1) + more[i] +
                           (kernel[i] - 1) * dilate[i] + 1;
        for (int k = 0; k < 2; k++) {
            pads[i + 2 * k] = chance(g, 40) ? below(g, 4) : 0;
            shape.dim[2 + i] -= pads[i + 2 * k];
        }
        if (shape.dim[2 + i] < 1)
            return -1;
    }
    filter = (sp_extent){4, {s->dim[1], each, kernel[0], kernel[1]}};
    in[1] = random_constant(g, &filter, -0.5, 0.5, 0);
    bias = vector_of(shape.dim[1]);
    if (chance(g, 50))
        in[2] = random_constant(g, &bias, -1, 1, 0);
    put_list(g, "strides", 2, stride);
    put_list(g, "dilations", 2, dilate);
    put_list(g, "pads", 4, pads);
    put_list(g, "output_padding", 2, more);
    put_whole(g, "group", groups);
    return add_node(g, "ConvTranspose", in, &shape);
}

static inline random_window pool_window(random_graph *g, int max)
{
    random_window w = {{0}, {1, 1}, {1, 1}, {0}, {0}};

    for (int i = 0; i < 2; i++)
        w.kernel[i] = digit_of(g, "123");
    w.stride[0] = digit_of(g, "123");
    w.stride[1] = digit_of(g, "12");
    if (max)
        w.dilate[0] = digit_of(g, "1112");
    for (int i = 0; i < 4 && chance(g, 60); i++)
        w.pad[i] = below(g, w.kernel[i % 2]);
    return w;
}

static inline int pool(random_graph *g, int x)
{
    int max = chance(g, 50), upward = chance(g, 40);
    random_window w = window_of_one_size(3);
    const int in[] = {x, -1};
    sp_extent shape = g->shape[x];

    if (g->one_size)
        upward = 0;
    else
        w = pool_window(g, max);
    if (!is_image(g, x) || !fit_window(&w, &shape, upward))
        return -1;
    put_window(g, &w);
    if (upward)
        put_whole(g, "ceil_mode", 1);
    if (!max)
        put_whole(g, "count_include_pad", below(g, 2));
    shape.dim[2] = w.out[0];
    shape.dim[3] = w.out[1];
    return add_node(g, max ? "MaxPool" : "AveragePool", in, &shape);
}

static inline int global_pool(random_graph *g, int x)
{
    const int in[] = {x, -1};
    sp_extent shape = g->shape[x];

    if (!is_image(g, x))
        return -1;
    shape.dim[2] = shape.dim[3] = 1;
    return add_node(g, chance(g, 70) ? "GlobalAveragePool" : "GlobalMaxPool",
                    in, &shape);
}

/* Each channel times a number that all its pixels make. */
static inline int excitation(random_graph *g, int x)
{
    sp_extent shape = g->shape[x];
    int gate = global_pool(g, x);

    if (gate < 0)
        return -1;
    gate = one_input(g, chance(g, 50) ? "Sigmoid" : "HardSigmoid", gate);
    return either_way(g, "Mul", x, gate, &shape);
}

#endif
