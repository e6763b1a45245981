/* compose_window.c - windows over lines are windows over images one pixel high;
 * a convolution the other way round is one over an image with zeros between
 * its pixels. */
#include "graph/compose.h"

#include <string.h>

/* ---- lines [n][c][w] ----
 *
 * They are images one pixel high, and stay so from operator to operator. */

static sp_extent image_shape(const sp_extent *line)
{
    return (sp_extent){4, {line->dim[0], line->dim[1], 1, line->dim[2]}};
}

/* The image that input 0, a line, was made from; -1: none. */
static int image_before(const sp_builder *b, const sp_call *c)
{
    const spry_graph *g = b->g;
    sp_extent image = image_shape(&c->in[0]->shape);
    int x = c->node->input[0], maker = g->value[x].maker;
    const sp_opnode *n =
        maker >= 0 && maker < g->nodes ? &g->node[maker] : NULL;

    if (!n || n->output[0] != x || strcmp(n->op->name, "Reshape") != 0 ||
        !sp_extent_equal(&g->value[n->input[0]].shape, &image))
        return -1;
    return n->input[0];
}

static int image_of(sp_builder *b, const sp_call *c)
{
    sp_extent image = image_shape(&c->in[0]->shape);
    int x = image_before(b, c);

    return x >= 0 ? x : sp_build_reshape(b, c->node->input[0], &image);
}

/* The result of the node made last, an image, as a line. */
static void line_of(sp_builder *b, const sp_call *c, int x)
{
    sp_compose_last(b, c);
    sp_build_binary(b, "Reshape", x,
                    sp_build_whole(b, 3, (int64_t[]){0, 0, -1}));
}

/* The operator with x instead of its first input. */
static int same_of(sp_builder *b, const sp_opnode *n, int x)
{
    int y = sp_build_unary(b, n->op->name, x);
    int *input = sp_pool_get(&b->g->pool, n->inputs, sizeof *input);
    sp_opnode *made;

    if (y < 0)
        return -1;
    if (!input) {
        b->status = sp_fail_memory((size_t)n->inputs * sizeof *input);
        return -1;
    }
    memcpy(input, n->input, (size_t)n->inputs * sizeof *input);
    input[0] = x;
    made = &b->g->node[b->g->nodes - 1];
    made->input = input;
    made->inputs = n->inputs;
    made->attr = n->attr;
    made->attrs = n->attrs;
    return y;
}

/* Batch norms, and activations of what was an image. */
void sp_compose_line(sp_builder *b, const sp_call *c)
{
    const sp_opnode *n = c->node;
    int norm = strcmp(n->op->name, "BatchNormalization") == 0;

    if (c->in[0]->shape.dims != 3 || c->in[0]->whole || c->in[0]->count < 1)
        return;
    if (norm || image_before(b, c) >= 0)
        line_of(b, c, same_of(b, n, image_of(b, c)));
}

/* ---- windows over them ---- */

/* A list of the line's, with `one` for the height before each of its numbers
 * that begin a side. */
static void copy_list(sp_builder *b, const sp_call *c, const char *name,
                      int sides, int64_t one)
{
    const sp_attr *a = sp_attr_find(c->node, name);
    int64_t list[4], *to = list;

    if (!a)
        return;
    if (a->count != sides) {
        sp_compose_refuse(b, c, "attributes are not those of a line");
        return;
    }
    for (int i = 0; i < sides; i++) {
        *to++ = one;
        *to++ = a->ints[i];
    }
    sp_build_ints(b, name, 2 * sides, list);
}

static void copy_attributes(sp_builder *b, const sp_call *c)
{
    static const char *const whole[] = {"group", "ceil_mode",
                                        "count_include_pad", "storage_order"};
    const char *pad = sp_attr_word(c->node, "auto_pad", NULL);

    copy_list(b, c, "kernel_shape", 1, 1);
    copy_list(b, c, "strides", 1, 1);
    copy_list(b, c, "dilations", 1, 1);
    copy_list(b, c, "pads", 2, 0);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (sp_attr_find(c->node, whole[i]))
            sp_build_int(b, whole[i], sp_attr_int(c->node, whole[i], 0));
    if (pad)
        sp_build_text(b, "auto_pad", pad);
}

/* Images stay as they are. */
void sp_compose_window(sp_builder *b, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    const sp_opnode *n = c->node;
    int operand[4] = {-1, -1, -1, -1};

    if (in->dims != 3)
        return;
    operand[0] = image_of(b, c);
    if (n->inputs > 1) {
        const sp_extent *w = &c->in[1]->shape;

        if (w->dims != 3) {
            sp_compose_refuse(b, c, "the weights are not those of a line");
            return;
        }
        operand[1] = sp_build_reshape(
            b, n->input[1],
            &(sp_extent){4, {w->dim[0], w->dim[1], 1, w->dim[2]}});
        operand[2] = n->inputs > 2 ? n->input[2] : -1;
    }
    operand[0] = sp_build_node(b, n->op->name, operand);
    copy_attributes(b, c);
    line_of(b, c, operand[0]);
}

/* ---- ConvTranspose ---- */

/* Of height and width: [0] and [1]. */
typedef struct {
    int64_t in[2], kernel[2], stride[2], dilate[2];
    int64_t more[2];    /* output_padding */
    int64_t crop[2][2]; /* pads: what is left out before and behind */
    int64_t groups, filters;
} reverse;

enum { LARGEST = 1 << 20 }; /* of any of these numbers */

/* `count` numbers of an attribute that may be left out. */
static int take(int64_t *to, sp_builder *b, const sp_call *c, const char *name,
                int count, int64_t least)
{
    const sp_attr *a = sp_attr_find(c->node, name);

    if (!a)
        return 0;
    if (a->count != count) {
        sp_compose_refuse(b, c, "attributes are not those of an image");
        return 0;
    }
    for (int i = 0; i < count; i++) {
        if (a->ints[i] < least || a->ints[i] > LARGEST)
            sp_compose_refuse(b, c, "attributes that make no sense");
        to[i] = a->ints[i];
    }
    return 1;
}

/* What is left out where the size of the result is given, or is to be the
 * input's times the stride. */
static void crop_to(reverse *r, sp_builder *b, const sp_call *c,
                    const int64_t *size, int upper)
{
    for (int i = 0; i < 2; i++) {
        int64_t to = size ? size[i] : r->in[i] * r->stride[i];
        int64_t crop = r->stride[i] * (r->in[i] - 1) + r->more[i] +
                       (r->kernel[i] - 1) * r->dilate[i] + 1 - to;

        if (crop < 0) {
            sp_compose_refuse(b, c, "a result larger than what is computed");
            return;
        }
        r->crop[i][0] = upper ? crop / 2 : crop - crop / 2;
        r->crop[i][1] = crop - r->crop[i][0];
    }
}

static void crops(reverse *r, sp_builder *b, const sp_call *c)
{
    const char *pad = sp_attr_word(c->node, "auto_pad", "NOTSET");
    int upper = strcmp(pad, "SAME_UPPER") == 0;
    int64_t size[2], pads[4] = {0};

    if (take(size, b, c, "output_shape", 2, 1))
        crop_to(r, b, c, size, upper);
    else if (upper || strcmp(pad, "SAME_LOWER") == 0)
        crop_to(r, b, c, NULL, upper);
    else if (take(pads, b, c, "pads", 4, 0))
        for (int i = 0; i < 4; i++)
            r->crop[i % 2][i / 2] = pads[i];
}

static void reverse_of(reverse *r, sp_builder *b, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape, *w = &c->in[1]->shape;
    int64_t kernel[2];

    *r = (reverse){.stride = {1, 1}, .dilate = {1, 1}};
    r->groups = sp_attr_int(c->node, "group", 1);
    if (in->dims != 4 || w->dims != 4 || c->in[0]->whole || c->in[1]->whole)
        sp_compose_refuse(b, c, "only images of reals are known");
    else if (r->groups < 1 || r->groups > LARGEST || w->dim[0] != in->dim[1] ||
             in->dim[1] % r->groups || c->in[0]->count < 1 ||
             c->in[1]->count < 1)
        sp_compose_refuse(b, c, "channels do not fit the weights");
    else if (!b->g->value[c->node->input[1]].data)
        sp_compose_refuse(b, c, "weights that are computed are not known");
    if (b->status != SPRY_OK)
        return;
    r->filters = w->dim[1] * r->groups;
    for (int i = 0; i < 2; i++) {
        r->in[i] = in->dim[2 + i];
        r->kernel[i] = w->dim[2 + i];
        if (r->in[i] > LARGEST || r->kernel[i] > LARGEST)
            sp_compose_refuse(b, c, "too large an image or window");
    }
    take(r->stride, b, c, "strides", 2, 1);
    take(r->dilate, b, c, "dilations", 2, 1);
    take(r->more, b, c, "output_padding", 2, 0);
    if (take(kernel, b, c, "kernel_shape", 2, 1) &&
        (kernel[0] != r->kernel[0] || kernel[1] != r->kernel[1]))
        sp_compose_refuse(b, c, "kernel_shape is not that of the weights");
    for (int i = 0; i < 2; i++)
        if (r->more[i] >= r->stride[i] && r->more[i] >= r->dilate[i])
            sp_compose_refuse(b, c,
                              "output_padding is no less than the stride");
    if (b->status == SPRY_OK)
        crops(r, b, c);
}

/* Filters [k][c / groups][r][s] from [c][k / groups][r][s]: turned by half a
 * turn, or, when `apart`, [k][r][s][c] as they are. */
static int turned(sp_builder *b, const sp_call *c, const reverse *r, int apart)
{
    const float *from = b->g->value[c->node->input[1]].data;
    int64_t taps = r->kernel[0] * r->kernel[1];
    int64_t filters = r->filters / r->groups;
    int64_t channels = c->in[1]->shape.dim[0] / r->groups;
    sp_extent shape = {4, {r->filters, channels, r->kernel[0], r->kernel[1]}};
    float *to;
    int at;

    if (apart)
        shape = (sp_extent){4, {r->filters * taps, channels, 1, 1}};
    at = sp_build_reals(b, &to, &shape);
    for (int64_t g = 0; to && g < r->groups; g++)
        for (int64_t i = 0; i < channels; i++)
            for (int64_t k = 0; k < filters * taps; k++) {
                int64_t t = k % taps, f = g * filters + k / taps;
                float x = from[(g * channels + i) * filters * taps + k];

                if (apart)
                    to[(f * taps + t) * channels + i] = x;
                else
                    to[(f * channels + i) * taps + taps - 1 - t] = x;
            }
    return at;
}

/* Zeros between the pixels of x, and so many behind the last. */
static int spread(sp_builder *b, int x, const sp_extent *in, const reverse *r)
{
    int64_t pads[12] = {0};
    int64_t h = r->stride[0], w = r->stride[1];

    if (h == 1 && w == 1)
        return x;
    pads[6 + 3] = h - 1;
    pads[6 + 5] = w - 1;
    x = sp_build_reshape(
        b, x,
        &(sp_extent){6, {in->dim[0], in->dim[1], r->in[0], 1, r->in[1], 1}});
    x = sp_build_pad(b, x, 6, pads);
    return sp_build_reshape(
        b, x,
        &(sp_extent){4, {in->dim[0], in->dim[1], r->in[0] * h, r->in[1] * w}});
}

/* Lines and columns that no result sees are cut off; [i][0] of them in front,
 * [i][1] behind, of the size that `at` has. */
static int cut(sp_builder *b, int x, const int64_t at[2], int64_t off[2][2])
{
    if (!off[0][0] && !off[0][1] && !off[1][0] && !off[1][1])
        return x;
    return sp_build_slice(b, x, 2, (int64_t[]){2, 3},
                          (int64_t[]){off[0][0], off[1][0]},
                          (int64_t[]){at[0] - off[0][1], at[1] - off[1][1]});
}

static void over_zeros(sp_builder *b, const sp_call *c, const reverse *r)
{
    int64_t pads[4], off[2][2], at[2];
    int operand[4], bias = c->node->inputs > 2 ? c->node->input[2] : -1, x;

    for (int i = 0; i < 2; i++) {
        int64_t reach = r->dilate[i] * (r->kernel[i] - 1);
        int64_t before = reach - r->crop[i][0];
        int64_t behind =
            reach - r->crop[i][1] + r->more[i] - (r->stride[i] - 1);

        at[i] = r->in[i] * r->stride[i];
        pads[i] = before > 0 ? before : 0;
        pads[i + 2] = behind > 0 ? behind : 0;
        off[i][0] = pads[i] - before;
        off[i][1] = pads[i + 2] - behind;
        if (at[i] + before + behind < reach + 1)
            sp_compose_refuse(b, c, "nothing is left of the result");
    }
    x = spread(b, c->node->input[0], &c->in[0]->shape, r);
    x = cut(b, x, at, off);
    operand[0] = x;
    operand[1] = turned(b, c, r, 0);
    operand[2] = bias;
    operand[3] = -1;
    sp_compose_last(b, c);
    sp_build_node(b, "Conv", operand);
    sp_build_ints(b, "pads", 4, pads);
    sp_build_ints(b, "dilations", 2, r->dilate);
    sp_build_int(b, "group", r->groups);
}

/* Windows that lie side by side: every pixel becomes a block. */
static int side_by_side(const reverse *r)
{
    for (int i = 0; i < 2; i++)
        if (r->kernel[i] != r->stride[i] || r->dilate[i] != 1 || r->more[i] ||
            r->crop[i][0] || r->crop[i][1])
            return 0;
    return r->groups == 1;
}

static void blocks(sp_builder *b, const sp_call *c, const reverse *r)
{
    static const int64_t perm[] = {0, 1, 4, 2, 5, 3};
    int64_t n = c->in[0]->shape.dim[0], h = r->kernel[0], w = r->kernel[1];
    int bias = c->node->inputs > 2 && c->in[2];
    int x = sp_build_binary(b, "Conv", c->node->input[0], turned(b, c, r, 1));

    x = sp_build_reshape(
        b, x, &(sp_extent){6, {n, r->filters, h, w, r->in[0], r->in[1]}});
    x = sp_build_transpose(b, x, 6, perm);
    if (!bias)
        sp_compose_last(b, c);
    x = sp_build_reshape(
        b, x, &(sp_extent){4, {n, r->filters, r->in[0] * h, r->in[1] * w}});
    if (bias) {
        int row = sp_build_reshape(b, c->node->input[2],
                                   &(sp_extent){3, {r->filters, 1, 1}});

        sp_compose_last(b, c);
        sp_build_binary(b, "Add", x, row);
    }
}

void sp_compose_conv_transpose(sp_builder *b, const sp_call *c)
{
    reverse r;

    reverse_of(&r, b, c);
    if (b->status == SPRY_OK && c->node->inputs > 2 && c->in[2] &&
        c->in[2]->count != r.filters)
        sp_compose_refuse(b, c, "the bias does not fit the weights");
    if (b->status != SPRY_OK)
        return;
    if (side_by_side(&r))
        blocks(b, c, &r);
    else
        over_zeros(b, c, &r);
}
