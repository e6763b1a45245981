/* build_inception.c - Inception-v3 without its second head. */
#include "graph/build.h"

#define EPS 1e-3

/* A convolution and its relu; windows of stride 1 are padded to the same size
 * unless `bare`. */
static int conv_full(sp_builder *b, int x, int64_t in, int64_t out, int64_t r,
                     int64_t s, int64_t stride, int bare)
{
    sp_build_conv_shape z = {in, out, r, s, stride, 1, 0, 0, EPS};

    if (!bare) {
        z.pad_h = r / 2;
        z.pad_w = s / 2;
    }
    return sp_build_unary(b, "Relu", sp_build_conv(b, x, &z));
}

static int conv(sp_builder *b, int x, int64_t in, int64_t out, int64_t r,
                int64_t s)
{
    return conv_full(b, x, in, out, r, s, 1, 0);
}

static int half(sp_builder *b, int x, int64_t in, int64_t out)
{
    return conv_full(b, x, in, out, 3, 3, 2, 1);
}

static int join(sp_builder *b, const int *branch)
{
    int x = sp_build_node(b, "Concat", branch);

    sp_build_int(b, "axis", 1);
    return x;
}

static int averaged(sp_builder *b, int x)
{
    x = sp_build_pool(b, "AveragePool", x, 3, 1, 1);
    sp_build_int(b, "count_include_pad", 1);
    return x;
}

static int block_a(sp_builder *b, int x, int64_t in, int64_t pooled)
{
    int p = conv(b, x, in, 64, 1, 1), q, r, s;

    q = conv(b, conv(b, x, in, 48, 1, 1), 48, 64, 5, 5);
    r = conv(b, x, in, 64, 1, 1);
    r = conv(b, conv(b, r, 64, 96, 3, 3), 96, 96, 3, 3);
    s = conv(b, averaged(b, x), in, pooled, 1, 1);
    return join(b, (int[]){p, q, r, s, -1});
}

static int block_b(sp_builder *b, int x)
{
    int p = half(b, x, 288, 384), q;

    q = conv(b, conv(b, x, 288, 64, 1, 1), 64, 96, 3, 3);
    q = half(b, q, 96, 96);
    return join(b, (int[]){p, q, sp_build_pool(b, "MaxPool", x, 3, 2, 0), -1});
}

static int block_c(sp_builder *b, int x, int64_t c)
{
    int p = conv(b, x, 768, 192, 1, 1), q, r, s;

    q = conv(b, x, 768, c, 1, 1);
    q = conv(b, conv(b, q, c, c, 1, 7), c, 192, 7, 1);
    r = conv(b, x, 768, c, 1, 1);
    r = conv(b, conv(b, r, c, c, 7, 1), c, c, 1, 7);
    r = conv(b, conv(b, r, c, c, 7, 1), c, 192, 1, 7);
    s = conv(b, averaged(b, x), 768, 192, 1, 1);
    return join(b, (int[]){p, q, r, s, -1});
}

static int block_d(sp_builder *b, int x)
{
    int p = half(b, conv(b, x, 768, 192, 1, 1), 192, 320), q;

    q = conv(b, conv(b, x, 768, 192, 1, 1), 192, 192, 1, 7);
    q = half(b, conv(b, q, 192, 192, 7, 1), 192, 192);
    return join(b, (int[]){p, q, sp_build_pool(b, "MaxPool", x, 3, 2, 0), -1});
}

static int crossed(sp_builder *b, int x)
{
    int p = conv(b, x, 384, 384, 1, 3), q = conv(b, x, 384, 384, 3, 1);

    return join(b, (int[]){p, q, -1});
}

static int block_e(sp_builder *b, int x, int64_t in)
{
    int p = conv(b, x, in, 320, 1, 1), q, r, s;

    q = crossed(b, conv(b, x, in, 384, 1, 1));
    r = conv(b, conv(b, x, in, 448, 1, 1), 448, 384, 3, 3);
    r = crossed(b, r);
    s = conv(b, averaged(b, x), in, 192, 1, 1);
    return join(b, (int[]){p, q, r, s, -1});
}

void sp_build_inception(sp_builder *b, const sp_recipe *recipe)
{
    static const int64_t wide[] = {128, 160, 160, 192};
    sp_extent image = {4, {b->batch, 3, b->size, b->size}};
    int x = sp_build_input(b, "input", 0, &image);

    (void)recipe;
    x = half(b, x, 3, 32);
    x = conv_full(b, x, 32, 32, 3, 3, 1, 1);
    x = conv(b, x, 32, 64, 3, 3);
    x = sp_build_pool(b, "MaxPool", x, 3, 2, 0);
    x = conv(b, x, 64, 80, 1, 1);
    x = conv_full(b, x, 80, 192, 3, 3, 1, 1);
    x = sp_build_pool(b, "MaxPool", x, 3, 2, 0);
    x = block_a(b, x, 192, 32);
    x = block_a(b, x, 256, 64);
    x = block_a(b, x, 288, 64);
    x = block_b(b, x);
    for (int i = 0; i < 4; i++)
        x = block_c(b, x, wide[i]);
    x = block_d(b, x);
    x = block_e(b, x, 1280);
    x = block_e(b, x, 2048);
    sp_build_output(b, sp_build_dense(b, sp_build_mean(b, x), 2048, 1000));
}
