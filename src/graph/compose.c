/* compose.c - operators of elements, channels and shapes that are others put
 * together. */
#include "graph/compose.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    sp_op_composition *compose;
} compositions[] = {{"Conv", sp_compose_window},
                    {"MaxPool", sp_compose_window},
                    {"AveragePool", sp_compose_window},
                    {"BatchNormalization", sp_compose_line},
                    {"ConvTranspose", sp_compose_conv_transpose},
                    {"Sum", sp_compose_many},
                    {"Mean", sp_compose_many},
                    {"Max", sp_compose_many},
                    {"Min", sp_compose_many},
                    {"PRelu", sp_compose_prelu},
                    {"Gelu", sp_compose_gelu},
                    {"LRN", sp_compose_lrn},
                    {"InstanceNormalization", sp_compose_instance_norm},
                    {"GroupNormalization", sp_compose_group_norm},
                    {"Resize", sp_compose_resize},
                    {"Upsample", sp_compose_resize},
                    {"Pad", sp_compose_pad},
                    {"Tile", sp_compose_tile},
                    {"DepthToSpace", sp_compose_depth_to_space},
                    {"SpaceToDepth", sp_compose_space_to_depth}};

sp_op_composition *sp_composition_of(const sp_opcode *op)
{
    for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++)
        if (strcmp(op->name, compositions[i].name) == 0)
            return compositions[i].compose;
    return op->infer == sp_same_infer ? sp_compose_line : NULL;
}

/* What others put together has no shape of its own. */
spry_status sp_composed_infer(sp_call *c)
{
    return sp_refuse(c->node, "no way to compute it");
}

void sp_compose_refuse(sp_builder *b, const sp_call *c, const char *why)
{
    if (b->status == SPRY_OK)
        b->status = sp_refuse(c->node, "%s", why);
}

static int named(const sp_call *c, const char *op)
{
    return strcmp(c->node->op->name, op) == 0;
}

/* The operator's first input is the result. */
static void pass_on(sp_builder *b, const sp_call *c)
{
    sp_compose_last(b, c);
    sp_build_unary(b, "Identity", c->node->input[0]);
}

/* ---- of many ---- */

/* Sum, Mean, Max, Min of any number of inputs; two of Max and Min are an
 * operator of their own. */
void sp_compose_many(sp_builder *b, const sp_call *c)
{
    const sp_opnode *n = c->node;
    int mean = named(c, "Mean"), sum = mean || named(c, "Sum");
    int x = n->input[0];

    for (int i = 0; i < n->inputs; i++)
        if (!c->in[i] || (mean && c->in[i]->whole))
            sp_compose_refuse(b, c,
                              "an input is left out, or of whole numbers");
    if (n->inputs == 2 && !sum)
        return;
    if (n->inputs == 1)
        pass_on(b, c);
    for (int i = 1; i < n->inputs; i++) {
        if (i == n->inputs - 1 && !mean)
            sp_compose_last(b, c);
        x = sp_build_binary(b, sum ? "Add" : n->op->name, x, n->input[i]);
    }
    if (mean && n->inputs > 1) {
        sp_compose_last(b, c);
        sp_build_binary(b, "Mul", x, sp_build_number(b, 1.0 / n->inputs));
    }
}

/* ---- activations ---- */

/* max(x, 0) + slope min(x, 0) */
void sp_compose_prelu(sp_builder *b, const sp_call *c)
{
    int x = c->node->input[0], slope = c->node->input[1], below;

    if (c->in[0]->whole || c->in[1]->whole)
        sp_compose_refuse(b, c, "whole numbers");
    if (c->in[1]->count == 1 && c->in[1]->data) {
        sp_compose_last(b, c);
        sp_build_unary(b, "LeakyRelu", x);
        sp_build_real(b, "alpha", c->in[1]->data[0]);
        return;
    }
    below = sp_build_binary(b, "Min", x, sp_build_number(b, 0));
    below = sp_build_binary(b, "Mul", below, slope);
    x = sp_build_unary(b, "Relu", x);
    sp_compose_last(b, c);
    sp_build_binary(b, "Add", x, below);
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); the other Gelu is an
 * operator of its own. */
void sp_compose_gelu(sp_builder *b, const sp_call *c)
{
    const char *how = sp_attr_word(c->node, "approximate", "none");
    int x = c->node->input[0], y;
    double scale = sqrt(2 / acos(-1));

    if (strcmp(how, "none") == 0)
        return;
    if (strcmp(how, "tanh") != 0 || c->in[0]->whole)
        sp_compose_refuse(b, c, "this approximation is not known");
    y = sp_build_binary(b, "Mul", x, x);
    y = sp_build_binary(b, "Mul", y, sp_build_number(b, 0.044715 * scale));
    y = sp_build_binary(b, "Add", y, sp_build_number(b, scale));
    y = sp_build_unary(b, "Tanh", sp_build_binary(b, "Mul", y, x));
    y = sp_build_binary(b, "Mul", y, sp_build_number(b, 0.5));
    y = sp_build_binary(b, "Add", y, sp_build_number(b, 0.5));
    sp_compose_last(b, c);
    sp_build_binary(b, "Mul", y, x);
}

/* ---- norms ---- */

/* t to the power of beta, by square roots where these do. */
static int power(sp_builder *b, int t, double beta)
{
    int root;

    if (beta != 0.5 && beta != 0.75)
        return sp_build_binary(b, "Pow", t, sp_build_number(b, beta));
    root = sp_build_unary(b, "Sqrt", t);
    return beta == 0.5 ? root
                       : sp_build_binary(b, "Mul", root,
                                         sp_build_unary(b, "Sqrt", root));
}

/* The sum of squares in neighbouring channels is a convolution whose filters
 * are a band. */
static int band(sp_builder *b, int64_t channels, int64_t size, double weight)
{
    float *w;
    int at = sp_build_reals(b, &w, &(sp_extent){4, {channels, channels, 1, 1}});

    for (int64_t i = 0; w && i < channels; i++)
        for (int64_t k = i - (size - 1) / 2; k <= i + size / 2; k++)
            if (k >= 0 && k < channels)
                w[i * channels + k] = (float)weight;
    return at;
}

void sp_compose_lrn(sp_builder *b, const sp_call *c)
{
    enum { CHANNELS = 4096 };
    const sp_extent *in = &c->in[0]->shape;
    int64_t size = sp_attr_int(c->node, "size", 0);
    double alpha = sp_attr_real(c->node, "alpha", 1e-4);
    int x = c->node->input[0], t;

    if (in->dims != 4 || c->in[0]->whole || in->dim[1] > CHANNELS)
        sp_compose_refuse(b, c, "only images of up to 4096 channels are known");
    if (size < 1 || size > CHANNELS)
        sp_compose_refuse(b, c, "a window of that size");
    if (b->status != SPRY_OK)
        return;
    t = sp_build_binary(b, "Mul", x, x);
    t = sp_build_node(
        b, "Conv",
        (int[]){t, band(b, in->dim[1], size, alpha / (double)size), -1});
    t = sp_build_binary(b, "Add", t,
                        sp_build_number(b, sp_attr_real(c->node, "bias", 1)));
    t = power(b, t, sp_attr_real(c->node, "beta", 0.75));
    sp_compose_last(b, c);
    sp_build_binary(b, "Div", x, t);
}

/* As many numbers, all the same. */
static int repeated(sp_builder *b, double x, int64_t n)
{
    float *data;
    int value = sp_build_reals(b, &data, &(sp_extent){1, {n}});

    for (int64_t i = 0; data && i < n; i++)
        data[i] = (float)x;
    return value;
}

static int mean_of_rows(sp_builder *b, int x)
{
    x = sp_build_unary(b, "ReduceMean", x);
    sp_build_ints(b, "axes", 1, (int64_t[]){1});
    return x;
}

/* As it is written where the opset has no name for it; recognise.c knows it. */
static int norm_in_parts(sp_builder *b, int x, int64_t n, double eps)
{
    int square;

    x = sp_build_binary(b, "Sub", x, mean_of_rows(b, x));
    square = mean_of_rows(b, sp_build_binary(b, "Mul", x, x));
    square = sp_build_binary(b, "Add", square, sp_build_number(b, eps));
    x = sp_build_binary(b, "Div", x, sp_build_unary(b, "Sqrt", square));
    x = sp_build_binary(b, "Mul", x, repeated(b, 1, n));
    return sp_build_binary(b, "Add", x, repeated(b, 0, n));
}

/* Rows of n numbers each, to mean 0 and variance 1. */
static int norm_rows(sp_builder *b, int x, int64_t rows, int64_t n, double eps)
{
    x = sp_build_reshape(b, x, &(sp_extent){2, {rows, n}});
    if (b->g->opset < 17)
        return norm_in_parts(b, x, n, eps);
    x = sp_build_binary(b, "LayerNormalization", x, repeated(b, 1, n));
    sp_build_int(b, "axis", 1);
    sp_build_real(b, "epsilon", eps);
    return x;
}

/* x scale + bias, of which there is one for each index of dimension 1. */
static int affine(sp_builder *b, const sp_call *c, int x, const sp_extent *to,
                  int last)
{
    sp_extent one = {to->dims - 1, {to->dim[1]}};
    int scale, bias;

    for (int i = 1; i < one.dims; i++)
        one.dim[i] = 1;
    scale = sp_build_reshape(b, c->node->input[1], &one);
    bias = sp_build_reshape(b, c->node->input[2], &one);
    x = sp_build_binary(b, "Mul", sp_build_reshape(b, x, to), scale);
    if (last)
        sp_compose_last(b, c);
    return sp_build_binary(b, "Add", x, bias);
}

/* Are input and scale of a shape that can be normed? Then the elements of one
 * channel in *each. */
static int can_norm(sp_builder *b, const sp_call *c, int64_t *each)
{
    const sp_extent *in = &c->in[0]->shape;

    if (in->dims < 3 || c->in[0]->whole || c->in[1]->whole || c->in[2]->whole)
        sp_compose_refuse(b, c, "the input is no image, or of whole numbers");
    if (c->in[1]->count != c->in[2]->count || c->in[0]->count < 1)
        sp_compose_refuse(b, c, "scale or bias does not fit the input");
    *each = 1;
    for (int i = 2; i < in->dims; i++)
        *each *= in->dim[i];
    return b->status == SPRY_OK;
}

void sp_compose_instance_norm(sp_builder *b, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    double eps = sp_attr_real(c->node, "epsilon", 1e-5);
    int64_t each;
    int x;

    if (!can_norm(b, c, &each))
        return;
    if (c->in[1]->count != in->dim[1]) {
        sp_compose_refuse(b, c, "scale or bias does not fit the input");
        return;
    }
    x = norm_rows(b, c->node->input[0], in->dim[0] * in->dim[1], each, eps);
    affine(b, c, x, in, 1);
}

/* Up to opset 20 scale and bias are one for each group, then for each
 * channel. */
void sp_compose_group_norm(sp_builder *b, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    double eps = sp_attr_real(c->node, "epsilon", 1e-5);
    int64_t groups = sp_attr_int(c->node, "num_groups", 0), each, scales;
    int x;

    if (!can_norm(b, c, &each))
        return;
    if (groups < 1 || in->dim[1] % groups) {
        sp_compose_refuse(b, c, "channels do not fit the groups");
        return;
    }
    scales = c->opset < 21 ? groups : in->dim[1];
    if (c->in[1]->count != scales) {
        sp_compose_refuse(b, c, "scale or bias does not fit the input");
        return;
    }
    each *= in->dim[1];
    x = norm_rows(b, c->node->input[0], in->dim[0] * groups, each / groups,
                  eps);
    x = affine(b, c, x, &(sp_extent){3, {in->dim[0], scales, each / scales}},
               0);
    sp_compose_last(b, c);
    sp_build_reshape(b, x, in);
}

/* ---- shapes ---- */

/* A border of nothing is none. */
void sp_compose_pad(sp_builder *b, const sp_call *c)
{
    sp_padding p;

    b->status = sp_padding_of(&p, c);
    for (int i = 0; b->status == SPRY_OK && i < c->in[0]->shape.dims; i++)
        if (p.before[i] || p.behind[i])
            return;
    pass_on(b, c);
}

/* One axis behind the other: [before][rest] stands r times in
 * [before][r][rest]. */
void sp_compose_tile(sp_builder *b, const sp_call *c)
{
    sp_extent shape = c->in[0]->shape;
    int x = c->node->input[0];
    sp_whole_list l;

    if (b->status == SPRY_OK)
        b->status = sp_list_input(&l, c, 1, "the repeats");
    if (b->status != SPRY_OK)
        return;
    if (l.count != shape.dims)
        sp_compose_refuse(b, c, "repeats do not fit the input");
    for (int i = 0; b->status == SPRY_OK && i < shape.dims; i++) {
        int64_t before, rest, count;

        if (l.at[i] < 1 || l.at[i] > SP_GRAPH_ELEMENTS)
            sp_compose_refuse(b, c, "repeats that make no sense");
        if (l.at[i] == 1 || b->status != SPRY_OK)
            continue;
        sp_op_around(&before, &rest, &shape, i);
        x = sp_build_reshape(b, x, &(sp_extent){3, {before, 1, rest}});
        x = sp_build_binary(
            b, "Expand", x,
            sp_build_whole(b, 3, (int64_t[]){before, l.at[i], rest}));
        shape.dim[i] *= l.at[i]; /* 2^62 at most */
        if (sp_extent_count(&count, &shape) != SPRY_OK)
            sp_compose_refuse(b, c, "a result of more than 2^31 elements");
        x = sp_build_reshape(b, x, &shape);
    }
    sp_compose_last(b, c);
    sp_build_unary(b, "Identity", x);
}

static int64_t block_of(sp_builder *b, const sp_call *c)
{
    int64_t block = sp_attr_int(c->node, "blocksize", 0);

    if (c->in[0]->shape.dims != 4)
        sp_compose_refuse(b, c, "the input is no image");
    if (block < 1 || block > 1024)
        sp_compose_refuse(b, c, "blocks of that size");
    return block;
}

void sp_compose_depth_to_space(sp_builder *b, const sp_call *c)
{
    static const int64_t depth_first[] = {0, 3, 4, 1, 5, 2};
    static const int64_t column_first[] = {0, 1, 4, 2, 5, 3};
    const int64_t *in = c->in[0]->shape.dim;
    const char *mode = sp_attr_word(c->node, "mode", "DCR");
    int64_t k = block_of(b, c), square = k * k;
    int crd = strcmp(mode, "CRD") == 0, x = c->node->input[0];

    if (b->status == SPRY_OK &&
        (in[1] % square || (!crd && strcmp(mode, "DCR") != 0)))
        sp_compose_refuse(b, c, "channels do not fit the blocks");
    if (b->status != SPRY_OK)
        return;
    x = sp_build_reshape(
        b, x,
        crd ? &(sp_extent){6, {in[0], in[1] / square, k, k, in[2], in[3]}}
            : &(sp_extent){6, {in[0], k, k, in[1] / square, in[2], in[3]}});
    x = sp_build_transpose(b, x, 6, crd ? column_first : depth_first);
    sp_compose_last(b, c);
    sp_build_reshape(
        b, x, &(sp_extent){4, {in[0], in[1] / square, in[2] * k, in[3] * k}});
}

void sp_compose_space_to_depth(sp_builder *b, const sp_call *c)
{
    static const int64_t perm[] = {0, 3, 5, 1, 2, 4};
    const int64_t *in = c->in[0]->shape.dim;
    int64_t k = block_of(b, c);
    int x = c->node->input[0];

    if (b->status == SPRY_OK && (in[2] % k || in[3] % k))
        sp_compose_refuse(b, c, "the image does not fit the blocks");
    if (b->status != SPRY_OK)
        return;
    x = sp_build_reshape(
        b, x, &(sp_extent){6, {in[0], in[1], in[2] / k, k, in[3] / k, k}});
    x = sp_build_transpose(b, x, 6, perm);
    sp_compose_last(b, c);
    sp_build_reshape(
        b, x, &(sp_extent){4, {in[0], in[1] * k * k, in[2] / k, in[3] / k}});
}
