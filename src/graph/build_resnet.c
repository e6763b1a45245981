/* build_resnet.c - ResNet-50, version 1.5: the stride is in the 3x3. */
#include "graph/build.h"

#define EPS 1e-5

static int conv(sp_builder *b, int x, int64_t in, int64_t out, int64_t r,
                int64_t stride)
{
    return sp_build_conv(
        b, x,
        &(sp_build_conv_shape){in, out, r, r, stride, 1, r / 2, r / 2, EPS});
}

static int bottleneck(sp_builder *b, int x, int64_t in, int64_t width,
                      int64_t stride, int first)
{
    int way = first ? conv(b, x, in, 4 * width, 1, stride) : x, y;

    y = sp_build_unary(b, "Relu", conv(b, x, in, width, 1, 1));
    y = sp_build_unary(b, "Relu", conv(b, y, width, width, 3, stride));
    y = conv(b, y, width, 4 * width, 1, 1);
    return sp_build_unary(b, "Relu", sp_build_binary(b, "Add", y, way));
}

void sp_build_resnet50(sp_builder *b, const sp_recipe *r)
{
    static const int blocks[] = {3, 4, 6, 3};
    sp_extent image = {4, {b->batch, 3, b->size, b->size}};
    int64_t channels = 64;
    int x = sp_build_input(b, "input", 0, &image);

    (void)r;
    x = sp_build_unary(b, "Relu", conv(b, x, 3, 64, 7, 2));
    x = sp_build_pool(b, "MaxPool", x, 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++) {
            int64_t width = 64 << stage;

            x = bottleneck(b, x, channels, width, stage && i == 0 ? 2 : 1,
                           i == 0);
            channels = 4 * width;
        }
    x = sp_build_dense(b, sp_build_mean(b, x), 2048, 1000);
    sp_build_output(b, x);
}
