/* compose_resize.c - images of another size: elements that are repeated or
 * picked, or sums of neighbours by weights, one axis behind the other. */
#include "graph/compose.h"

#include <math.h>
#include <string.h>

typedef enum { NEAREST, LINEAR, CUBIC } resize_mode;

/* Where an element of the result lies among those of the input. */
typedef enum {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    TF_HALF_PIXEL_FOR_NN
} coordinates;
static const char *const coordinate_names[] = {"half_pixel",
                                               "half_pixel_symmetric",
                                               "pytorch_half_pixel",
                                               "align_corners",
                                               "asymmetric",
                                               "tf_half_pixel_for_nn",
                                               NULL};

typedef enum {
    ROUND_PREFER_FLOOR,
    ROUND_PREFER_CEIL,
    ROUND_DOWN,
    ROUND_UP
} rounding;
static const char *const rounding_names[] = {
    "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};

typedef struct {
    resize_mode mode;
    coordinates where;
    rounding round;
    double slope; /* of cubic weights */
    int outside;  /* exclude_outside */
    double scale[SP_GRAPH_DIMS];
    int64_t to[SP_GRAPH_DIMS];
} resizing;

/* The place in n elements of element i of `to`. */
static double place(const resizing *r, int64_t i, int64_t n, int64_t to,
                    double scale)
{
    double x = (double)i, half = (x + 0.5) / scale - 0.5;

    switch (r->where) {
    case ASYMMETRIC: return x / scale;
    case ALIGN_CORNERS:
        return to > 1 ? x * (double)(n - 1) / (double)(to - 1) : 0;
    case PYTORCH_HALF_PIXEL: return to > 1 ? half : 0;
    case TF_HALF_PIXEL_FOR_NN: return (x + 0.5) / scale;
    case HALF_PIXEL_SYMMETRIC:
        return (double)n / 2 * (1 - (double)to / (scale * (double)n)) + half;
    case HALF_PIXEL: break;
    }
    return half;
}

static int64_t within(double x, int64_t n)
{
    return x <= 0 ? 0 : x >= (double)(n - 1) ? n - 1 : (int64_t)x;
}

static int64_t nearest(const resizing *r, double x, int64_t n)
{
    switch (r->round) {
    case ROUND_DOWN: return within(floor(x), n);
    case ROUND_UP: return within(ceil(x), n);
    case ROUND_PREFER_CEIL: return within(floor(x + 0.5), n);
    case ROUND_PREFER_FLOOR: break;
    }
    return within(ceil(x - 0.5), n);
}

/* ---- nearest ---- */

/* Is every element repeated as often as the others, in order? */
static int64_t repeats(const int64_t *pick, int64_t n, int64_t to)
{
    int64_t times = to / n;

    if (times < 1 || times * n != to)
        return 0;
    for (int64_t i = 0; i < to; i++)
        if (pick[i] != i / times)
            return 0;
    return times;
}

static int repeat(sp_builder *b, int x, const sp_extent *s, int axis,
                  int64_t times)
{
    sp_extent flat = {4, {1, s->dim[axis], 1, 1}}, wide, out = *s;

    for (int i = 0; i < s->dims; i++)
        if (i != axis)
            flat.dim[i < axis ? 0 : 3] *= s->dim[i];
    wide = flat;
    wide.dim[2] = times;
    out.dim[axis] *= times;
    x = sp_build_reshape(b, x, &flat);
    x = sp_build_binary(b, "Expand", x, sp_build_whole(b, 4, wide.dim));
    return sp_build_reshape(b, x, &out);
}

static int pick(sp_builder *b, int x, const sp_extent *s, int axis,
                const resizing *r)
{
    int64_t n = s->dim[axis], to = r->to[axis], times;
    int64_t *list = sp_alloc(to, sizeof *list);

    if (!list) {
        b->status = sp_fail_memory((size_t)to * sizeof *list);
        return -1;
    }
    for (int64_t i = 0; i < to; i++)
        list[i] = nearest(r, place(r, i, n, to, r->scale[axis]), n);
    times = repeats(list, n, to);
    if (times)
        x = repeat(b, x, s, axis, times);
    else {
        x = sp_build_binary(b, "Gather", x, sp_build_whole(b, (int)to, list));
        sp_build_int(b, "axis", axis);
    }
    sp_free(list);
    return x;
}

/* ---- sums of neighbours ---- */

static double cubic(double a, double d)
{
    d = fabs(d);
    return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
           : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                   : 0;
}

/* Weights of the n elements in the one at x; w[k * step] of element k. */
static void neighbours(float *w, int64_t step, const resizing *r, double x,
                       int64_t n)
{
    int reach = r->mode == CUBIC ? 2 : 1;
    double weight[4], sum = 0, first = floor(x) - reach + 1;

    for (int k = 0; k < 2 * reach; k++) {
        double at = first + k, d = x - at;
        int out = at < 0 || at > (double)(n - 1);

        weight[k] = r->mode == CUBIC ? cubic(r->slope, d) : 1 - fabs(d);
        if (out && r->outside)
            weight[k] = 0;
        sum += weight[k];
    }
    for (int k = 0; k < 2 * reach; k++)
        w[within(first + k, n) * step] +=
            (float)(r->outside ? weight[k] / sum : weight[k]);
}

/* The axis as columns of a product. */
static int weigh(sp_builder *b, int x, const sp_extent *s, int axis,
                 const resizing *r)
{
    int64_t n = s->dim[axis], to = r->to[axis];
    int64_t perm[SP_GRAPH_DIMS];
    float *w;
    int table = sp_build_reals(b, &w, &(sp_extent){2, {n, to}});

    for (int64_t i = 0; w && i < to; i++)
        neighbours(w + i, to, r, place(r, i, n, to, r->scale[axis]), n);
    for (int i = 0; i < s->dims; i++)
        perm[i] = i;
    perm[axis] = s->dims - 1;
    perm[s->dims - 1] = axis; /* the same way back */
    if (axis != s->dims - 1)
        x = sp_build_transpose(b, x, s->dims, perm);
    x = sp_build_binary(b, "MatMul", x, table);
    return axis == s->dims - 1 ? x : sp_build_transpose(b, x, s->dims, perm);
}

/* ---- what is asked for ---- */

/* Which of the names an attribute holds. */
static int name_of(sp_builder *b, const sp_call *c, const char *attribute,
                   const char *const *names, int otherwise)
{
    int which = sp_attr_choice(c->node, attribute, names, otherwise);

    if (which < 0 && b->status == SPRY_OK)
        b->status = sp_refuse(c->node, "this %s is not known", attribute);
    return which < 0 ? otherwise : which;
}

static void take_mode(resizing *r, sp_builder *b, const sp_call *c)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    const sp_opnode *n = c->node;
    int old = c->opset < 11;

    *r = (resizing){
        .mode = (resize_mode)name_of(b, c, "mode", modes, NEAREST),
        .where = (coordinates)name_of(b, c, "coordinate_transformation_mode",
                                      coordinate_names,
                                      old ? ASYMMETRIC : HALF_PIXEL),
        .round = (rounding)name_of(b, c, "nearest_mode", rounding_names,
                                   old ? ROUND_DOWN : ROUND_PREFER_FLOOR),
        .slope = sp_attr_real(n, "cubic_coeff_a", -0.75),
        .outside = sp_attr_int(n, "exclude_outside", 0) != 0};
    if (sp_attr_int(n, "antialias", 0))
        sp_compose_refuse(b, c, "antialias is not known");
    if (strcmp(sp_attr_word(n, "keep_aspect_ratio_policy", "stretch"),
               "stretch") != 0)
        sp_compose_refuse(b, c, "sizes that keep the aspect are not known");
    if (r->mode != NEAREST && c->in[0]->whole)
        sp_compose_refuse(b, c, "whole numbers");
}

/* Input i, where it is given and has numbers. */
static const sp_array *given(const sp_call *c, int i)
{
    return i < c->node->inputs && c->in[i] && c->in[i]->count ? c->in[i] : NULL;
}

static void set_axis(resizing *r, sp_builder *b, const sp_call *c, int axis,
                     double scale, double size)
{
    double n = (double)c->in[0]->shape.dim[axis];

    if (size < 0) /* as floats, like those who wrote the scale: 9 * 13 / 9 */
        size = (double)floorf((float)n * (float)scale);
    else
        scale = n > 0 ? size / n : 1;
    if (!(scale > 0 && size >= 1 && size <= (double)SP_GRAPH_ELEMENTS)) {
        sp_compose_refuse(b, c, "a size that makes no sense");
        return;
    }
    r->scale[axis] = scale;
    r->to[axis] = (int64_t)size;
}

/* Scales, or sizes, of all axes or of those that are named. */
static void take_sizes(resizing *r, sp_builder *b, const sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    const sp_attr *old = sp_attr_find(c->node, "scales");
    int upsample = c->node->op->name[0] == 'U' || c->opset < 11;
    const sp_array *scales = given(c, upsample ? 1 : 2);
    const sp_array *sizes = upsample ? NULL : given(c, 3);
    const sp_array *list = sizes ? sizes : scales;
    const sp_attr *axes = sp_attr_find(c->node, "axes");
    const double *number = old ? old->reals : list ? list->data : NULL;
    int count = old ? old->count : list ? (int)list->count : 0;

    for (int i = 0; i < in->dims; i++) {
        r->scale[i] = 1;
        r->to[i] = in->dim[i];
    }
    if (!number || count != (axes ? axes->count : in->dims)) {
        sp_compose_refuse(b, c, "scales or sizes do not fit the input");
        return;
    }
    for (int i = 0; b->status == SPRY_OK && i < count; i++) {
        double x = number[i];
        int axis = i;

        if (axes)
            b->status = sp_op_axis(&axis, c->node, axes->ints[i], in->dims);
        if (b->status == SPRY_OK)
            set_axis(r, b, c, axis, sizes ? 0 : x, sizes ? x : -1);
    }
}

/* No axis is longer than images are, so that a small file cannot take long, or
 * so long that its weights would not fit. */
static int is_small(const resizing *r, const sp_extent *s)
{
    enum { WEIGHTS = 1 << 24, LIST = 1 << 16 };

    for (int i = 0; i < s->dims; i++)
        if (r->to[i] > LIST || (r->mode != NEAREST && r->to[i] != s->dim[i] &&
                                (double)r->to[i] * (double)s->dim[i] > WEIGHTS))
            return 0;
    return 1;
}

void sp_compose_resize(sp_builder *b, const sp_call *c)
{
    sp_extent shape = c->in[0]->shape;
    int x = c->node->input[0];
    resizing r;

    take_mode(&r, b, c);
    take_sizes(&r, b, c);
    if (c->in[0]->count < 1 || !is_small(&r, &shape))
        sp_compose_refuse(b, c, "too large an image, or none");
    for (int i = 0; b->status == SPRY_OK && i < shape.dims; i++) {
        if (r.to[i] == shape.dim[i] && r.scale[i] == 1)
            continue;
        x = r.mode == NEAREST ? pick(b, x, &shape, i, &r)
                              : weigh(b, x, &shape, i, &r);
        shape.dim[i] = r.to[i];
    }
    sp_compose_last(b, c);
    sp_build_unary(b, "Identity", x);
}
