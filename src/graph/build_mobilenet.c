/* build_mobilenet.c - MobileNet-v3, the large one. */
#include "graph/build.h"

#define EPS 1e-3

static const struct {
    int kernel, expand, out, squeeze, hard, stride;
} rows[] = {{3, 16, 16, 0, 0, 1},     {3, 64, 24, 0, 0, 2},
            {3, 72, 24, 0, 0, 1},     {5, 72, 40, 24, 0, 2},
            {5, 120, 40, 32, 0, 1},   {5, 120, 40, 32, 0, 1},
            {3, 240, 80, 0, 1, 2},    {3, 200, 80, 0, 1, 1},
            {3, 184, 80, 0, 1, 1},    {3, 184, 80, 0, 1, 1},
            {3, 480, 112, 120, 1, 1}, {3, 672, 112, 168, 1, 1},
            {5, 672, 160, 168, 1, 2}, {5, 960, 160, 240, 1, 1},
            {5, 960, 160, 240, 1, 1}};

static int act(sp_builder *b, int x, int hard)
{
    return hard ? sp_build_hardswish(b, x) : sp_build_unary(b, "Relu", x);
}

static int point(sp_builder *b, int x, int64_t in, int64_t out, double eps)
{
    return sp_build_conv(
        b, x, &(sp_build_conv_shape){in, out, 1, 1, 1, 1, 0, 0, eps});
}

/* Channels are weighed by what their means say. */
static int squeeze_excite(sp_builder *b, int x, int64_t channels,
                          int64_t squeezed)
{
    int y = sp_build_unary(b, "GlobalAveragePool", x);

    y = sp_build_unary(b, "Relu", point(b, y, channels, squeezed, 0));
    y = sp_build_unary(b, "HardSigmoid", point(b, y, squeezed, channels, 0));
    sp_build_real(b, "alpha", 1.0 / 6);
    sp_build_real(b, "beta", 0.5);
    return sp_build_binary(b, "Mul", y, x);
}

void sp_build_mobilenet(sp_builder *b, const sp_recipe *r)
{
    sp_extent image = {4, {b->batch, 3, b->size, b->size}};
    int x = sp_build_input(b, "input", 0, &image);
    int64_t in = 16;

    (void)r;
    x = sp_build_conv(b, x,
                      &(sp_build_conv_shape){3, 16, 3, 3, 2, 1, 1, 1, EPS});
    x = act(b, x, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t k = rows[i].kernel, wide = rows[i].expand;
        int y =
            wide == in ? x : act(b, point(b, x, in, wide, EPS), rows[i].hard);

        y = sp_build_conv(b, y,
                          &(sp_build_conv_shape){wide, wide, k, k,
                                                 rows[i].stride, wide, k / 2,
                                                 k / 2, EPS});
        y = act(b, y, rows[i].hard);
        if (rows[i].squeeze)
            y = squeeze_excite(b, y, wide, rows[i].squeeze);
        y = point(b, y, wide, rows[i].out, EPS);
        x = rows[i].stride == 1 && rows[i].out == in
                ? sp_build_binary(b, "Add", y, x)
                : y;
        in = rows[i].out;
    }
    x = sp_build_mean(b, act(b, point(b, x, 160, 960, EPS), 1));
    x = sp_build_hardswish(b, sp_build_dense(b, x, 960, 1280));
    sp_build_output(b, sp_build_dense(b, x, 1280, 1000));
}
