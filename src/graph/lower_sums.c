/* lower_sums.c - convolutions and products, with all that can be done to a
 * sum while it is still in a register: batch norm, bias, add, activation. */
#include <math.h>
#include <string.h>

#include "graph/opcodes.h"
#include "graph/program.h"

/* A sum of products and what was taken into it so far. */
typedef struct {
    spry_operator op;
    int value; /* what comes out */
    int added; /* the value that is added, -1: none */
    int64_t channels;
    float *bias;    /* a copy that may be changed; NULL: none yet */
    double *by;     /* that weights are scaled by, a channel each; NULL: not */
    int per_filter; /* weights of channel k lie together */
} sum;

/* ---- bias and batch norm ---- */

static spry_status own_bias(sp_lowering *l, sum *x)
{
    if (x->bias)
        return SPRY_OK;
    x->bias = sp_pool_get(&l->p->pool, x->channels, sizeof *x->bias);
    if (!x->bias)
        return sp_fail_memory((size_t)x->channels * sizeof *x->bias);
    if (x->op.with_bias)
        memcpy(x->bias, x->op.bias, (size_t)x->channels * sizeof *x->bias);
    x->op.bias = x->bias;
    x->op.with_bias = 1;
    return SPRY_OK;
}

/* Is v one number for each channel, at dimension `axis` of `dims`? */
static const float *per_channel(const sp_lowering *l, int v, int64_t channels,
                                int behind)
{
    const sp_opvalue *c = sp_lowered_value(l, v);
    int axis = c->shape.dims - 1 - behind;

    if (!c->data || c->whole || c->count != channels || axis < 0 ||
        c->shape.dim[axis] != channels)
        return NULL;
    return c->data;
}

static spry_status add_bias(sp_lowering *l, sum *x, const float *more)
{
    spry_status s = own_bias(l, x);

    for (int64_t i = 0; s == SPRY_OK && i < x->channels; i++)
        x->bias[i] += more[i];
    return s;
}

static const float *reals(const sp_lowering *l, int v)
{
    const sp_opvalue *c = v < 0 ? NULL : sp_lowered_value(l, v);

    return c && !c->whole ? c->data : NULL;
}

/* All by f, in double. */
static void scale(float *to, const float *from, int64_t count, double f)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)((double)from[i] * f);
}

spry_status sp_stage_fold(sp_program *p, sp_stage *s)
{
    const sp_fold *f = &s->fold;
    float *to;

    if (!f->from || f->done)
        return SPRY_OK;
    to = sp_slab_get(p->slab, f->filters * f->each, sizeof *to);
    if (!to)
        return sp_fail_memory((size_t)(f->filters * f->each) * sizeof *to);
    for (int64_t k = 0; k < f->filters; k++)
        scale(to + k * f->each, f->from + k * f->each, f->each, f->by[k]);
    s->op.weights = to;
    s->fold.done = 1;
    return SPRY_OK;
}

static spry_status fold_norm(sp_lowering *l, sum *x, const sp_opnode *n,
                             int *folded)
{
    double eps = sp_attr_real(n, "epsilon", 1e-5);
    const float *by = reals(l, n->input[1]), *move = reals(l, n->input[2]);
    const float *mean = reals(l, n->input[3]), *spread = reals(l, n->input[4]);
    spry_status s;

    *folded = 0;
    if (!by || !move || !mean || !spread || !x->per_filter)
        return SPRY_OK;
    s = own_bias(l, x);
    if (s == SPRY_OK && !x->by) {
        x->by = sp_pool_get(&l->p->pool, x->channels, sizeof *x->by);
        if (!x->by)
            return sp_fail_memory((size_t)x->channels * sizeof *x->by);
        for (int64_t k = 0; k < x->channels; k++)
            x->by[k] = 1;
    }
    for (int64_t k = 0; s == SPRY_OK && k < x->channels; k++) {
        double f = (double)by[k] / sqrt((double)spread[k] + eps);

        x->by[k] *= f;
        x->bias[k] = (float)(((double)x->bias[k] - (double)mean[k]) * f +
                             (double)move[k]);
    }
    *folded = 1;
    return s;
}

/* ---- what follows a sum ---- */

static int there(const sp_lowering *l, int v)
{
    return l->view[v].buffer >= 0;
}

static spry_status take_add(sp_lowering *l, sum *x, const sp_opnode *n,
                            int *taken)
{
    int other = n->input[0] == x->value ? n->input[1] : n->input[0];
    int behind = x->op.kind == SPRY_CONV2D ? 2 : 0;
    const float *bias = per_channel(l, other, x->channels, behind);
    const sp_opvalue *mine = sp_lowered_value(l, x->value);

    *taken = 1;
    if (bias && x->op.act == SPRY_ACT_NONE && x->op.add == SPRY_ADD_NONE)
        return add_bias(l, x, bias);
    *taken = !bias && other != x->value && x->op.add == SPRY_ADD_NONE &&
             there(l, other) && !sp_lowered_value(l, other)->whole &&
             sp_extent_equal(&mine->shape, &sp_lowered_value(l, other)->shape);
    if (*taken) {
        x->op.add =
            x->op.act == SPRY_ACT_NONE ? SPRY_ADD_BEFORE : SPRY_ADD_AFTER;
        x->added = other;
    }
    return SPRY_OK;
}

static spry_status take_next(sp_lowering *l, sum *x, const sp_opnode *n,
                             int *taken)
{
    spry_act act;
    float a, b;

    *taken = 0;
    if (x->op.add == SPRY_ADD_AFTER)
        return SPRY_OK;
    if (sp_called(n, "Add"))
        return take_add(l, x, n, taken);
    if (n->input[0] != x->value)
        return SPRY_OK;
    if (sp_called(n, "BatchNormalization") && x->op.act == SPRY_ACT_NONE &&
        x->op.add == SPRY_ADD_NONE)
        return fold_norm(l, x, n, taken);
    if (sp_called(n, "Identity") || sp_called(n, "Dropout")) {
        *taken = 1;
        return SPRY_OK;
    }
    if (x->op.act == SPRY_ACT_NONE && sp_act_of(l, n, &act, &a, &b) &&
        act != SPRY_ACT_EXP && act != SPRY_ACT_SQRT) {
        x->op.act = act;
        x->op.alpha = a;
        x->op.beta = b;
        *taken = 1;
    }
    return SPRY_OK;
}

/* Has the one result of n the shape of v? What is added, or a number beside
 * it, may have made it a larger one. */
static int keeps_shape(const sp_lowering *l, const sp_opnode *n, int v)
{
    return n->outputs == 1 &&
           sp_extent_equal(&sp_lowered_value(l, n->output[0])->shape,
                           &sp_lowered_value(l, v)->shape);
}

/* Take in all that follows and is read by nobody else. */
static spry_status follow(sp_lowering *l, sum *x)
{
    int taken = 1;
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && taken) {
        sp_opnode *n = sp_sole_user(l, x->value);

        taken = 0;
        if (!n || !keeps_shape(l, n, x->value))
            break;
        s = take_next(l, x, n, &taken);
        if (taken) {
            l->done[n - l->node] = 1;
            x->value = n->output[0];
        }
    }
    return s;
}

/* ---- convolutions ---- */

static void conv_sizes(sum *x, const sp_window *w, const sp_extent *in,
                       const sp_extent *weight, int64_t groups)
{
    spry_operator *op = &x->op;

    spry_operator_init(op, SPRY_CONV2D);
    op->n = in->dim[0];
    op->c = in->dim[1];
    op->h = in->dim[2];
    op->w = in->dim[3];
    op->k = weight->dim[0];
    op->r = weight->dim[2];
    op->s = weight->dim[3];
    op->groups = groups;
    op->stride_h = w->stride[0];
    op->stride_w = w->stride[1];
    op->dilate_h = w->dilate[0];
    op->dilate_w = w->dilate[1];
    op->pad_top = w->pad[0];
    op->pad_left = w->pad[1];
    op->pad_bottom = w->pad[2];
    op->pad_right = w->pad[3];
}

/* The added images must lie as the result does: of a slice a copy is made. */
static spry_status place_added(sp_strided *out, sp_lowering *l, const sum *x)
{
    int64_t pitch;
    spry_status s = sp_view_as_images(out, l, x->added, &pitch);

    if (s != SPRY_OK || pitch == x->op.k)
        return s;
    s = sp_move_rows(out, l, *out, 4, x->added);
    l->view[x->added] = *out;
    return s == SPRY_OK ? sp_view_as_images(out, l, x->added, &pitch) : s;
}

/* The convolution's stage, once it is known where everything lies. */
static void fill_stage(sp_stage *stage, sum *x, const sp_strided *to)
{
    sp_view_is_images(to, &x->op.pitch_out);
    if (x->by) {
        stage->fold =
            (sp_fold){.from = x->op.weights,
                      .by = x->by,
                      .filters = x->channels,
                      .each = x->op.c / x->op.groups * x->op.r * x->op.s};
        x->op.weights = NULL;
    }
    stage->op = x->op;
    stage->out = *to;
}

static spry_status lower_conv(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *in = sp_lowered_value(l, n->input[0]);
    const sp_opvalue *weight = sp_lowered_value(l, n->input[1]);
    int bias = n->inputs > 2 ? n->input[2] : -1;
    sum x = {.value = n->output[0], .added = -1, .per_filter = 1};
    sp_strided from, to, add = {.buffer = -1};
    sp_stage *stage;
    sp_window w;
    spry_status s;

    if (!weight->data || (bias >= 0 && !sp_lowered_value(l, bias)->data))
        return SPRY_OK;
    s = sp_window_of(&w, n, &in->shape, weight->shape.dim + 2);
    if (s != SPRY_OK)
        return s;
    *known = 1;
    conv_sizes(&x, &w, &in->shape, &weight->shape, sp_attr_int(n, "group", 1));
    x.channels = x.op.k;
    x.op.weights = weight->data;
    if (bias >= 0) {
        x.op.with_bias = 1;
        x.op.bias = sp_lowered_value(l, bias)->data;
    }
    s = follow(l, &x);
    if (s == SPRY_OK)
        s = sp_view_as_images(&from, l, n->input[0], &x.op.pitch_in);
    if (s == SPRY_OK && x.added >= 0)
        s = place_added(&add, l, &x);
    if (s == SPRY_OK)
        s = sp_place_images(&to, l, x.value, x.added >= 0);
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_DENSE, x.value);
    if (s != SPRY_OK)
        return s;
    fill_stage(stage, &x, &to);
    stage->in = from;
    stage->add = add;
    stage->macs = (double)sp_node_macs(l->g, n);
    return s;
}

/* ---- products with constant weights ---- */

static spry_status lower_product(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *in = sp_lowered_value(l, n->input[0]);
    const sp_opvalue *weight = sp_lowered_value(l, n->input[1]);
    int gemm = sp_called(n, "Gemm");
    int turned = gemm && sp_attr_int(n, "transB", 0);
    int bias = gemm && n->inputs > 2 ? n->input[2] : -1;
    sum x = {.value = n->output[0], .added = -1};
    sp_strided from, to, add = {.buffer = -1};
    sp_stage *stage;
    spry_status s;

    if (!weight->data || weight->shape.dims != 2 || in->shape.dims < 2 ||
        in->count == 0 || weight->count == 0 || !sp_rows_fit(in))
        return SPRY_OK;
    if (gemm &&
        (sp_attr_int(n, "transA", 0) || sp_attr_real(n, "alpha", 1) != 1 ||
         sp_attr_real(n, "beta", 1) != 1))
        return SPRY_OK;
    x.channels = weight->shape.dim[!turned];
    if (bias >= 0 && !per_channel(l, bias, x.channels, 0))
        return SPRY_OK;
    *known = 1;
    spry_operator_init(&x.op, SPRY_MATMUL);
    x.op.n = x.channels;
    x.op.k = weight->shape.dim[turned];
    x.op.m = in->count / x.op.k;
    x.op.transposed = turned;
    x.op.weights = weight->data;
    x.op.shared_b = 1;
    if (bias >= 0) {
        x.op.with_bias = 1;
        x.op.bias = sp_lowered_value(l, bias)->data;
    }
    s = follow(l, &x);
    if (s == SPRY_OK)
        s = sp_view_as_rows(&from, l, n->input[0]);
    if (s == SPRY_OK && x.added >= 0)
        s = sp_view_as_rows(&add, l, x.added);
    if (s == SPRY_OK)
        s = sp_place_rows(&to, l, x.value);
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_DENSE, x.value);
    if (s != SPRY_OK)
        return s;
    stage->op = x.op;
    stage->in = from;
    stage->add = add;
    stage->out = to;
    stage->macs = (double)sp_node_macs(l->g, n);
    return s;
}

/* ---- products of two values ---- */

/* One operand as a batch of matrices: how many and how far apart they are,
 * rows and how far apart they are; its columns are neighbours. */
typedef struct {
    int64_t batch, skip, rows, pitch;
} matrices;

static int as_matrices(matrices *out, const sp_strided *v)
{
    int d = v->shape.dims;

    if (v->step[d - 1] != 1 && v->shape.dim[d - 1] != 1)
        return 0;
    out->rows = v->shape.dim[d - 2];
    out->pitch = out->rows == 1 ? v->shape.dim[d - 1] : v->step[d - 2];
    return sp_view_one(v, 0, d - 2, &out->batch, &out->skip) &&
           out->pitch >= v->shape.dim[d - 1] &&
           (out->batch == 1 || out->skip > 0);
}

static sp_strided turned_view(sp_strided v)
{
    int d = v.shape.dims;
    int64_t n = v.shape.dim[d - 1], step = v.step[d - 1];

    v.shape.dim[d - 1] = v.shape.dim[d - 2];
    v.step[d - 1] = v.step[d - 2];
    v.shape.dim[d - 2] = n;
    v.step[d - 2] = step;
    return v;
}

/* The operand's matrices, moved if they must be; `turned` may become 1. */
static spry_status matrices_of(matrices *out, sp_strided *view, sp_lowering *l,
                               int v, int *turned)
{
    sp_strided across;
    spry_status s = sp_view_of(view, l, v);

    if (s != SPRY_OK || as_matrices(out, view))
        return s;
    across = turned_view(*view);
    if (turned && as_matrices(out, &across)) {
        *turned = 1;
        return s;
    }
    s = sp_view_as_rows(view, l, v);
    if (s == SPRY_OK)
        as_matrices(out, view);
    return s;
}

/* Where the result is read as [tokens][heads][each], it is written so. */
static spry_status place_products(sp_strided *out, sp_lowering *l, int v)
{
    const sp_extent *z = &sp_lowered_value(l, v)->shape;
    sp_opnode *n = sp_sole_user(l, v);
    const sp_attr *perm = n ? sp_attr_find(n, "perm") : NULL;
    spry_status s = sp_place_rows(out, l, v);

    if (s != SPRY_OK || !n || !sp_called(n, "Transpose") || !perm ||
        perm->count != 4 || z->dim[0] != 1 || perm->ints[0] != 0 ||
        perm->ints[1] != 2 || perm->ints[2] != 1 || perm->ints[3] != 3)
        return s;
    out->step[1] = z->dim[3];
    out->step[2] = z->dim[1] * z->dim[3];
    l->view[v] = *out;
    return s;
}

static spry_status lower_products(sp_lowering *l, const sp_opnode *n,
                                  int *known)
{
    const sp_extent *a = &sp_lowered_value(l, n->input[0])->shape;
    const sp_extent *b = &sp_lowered_value(l, n->input[1])->shape;
    int turned = 0;
    matrices x, y, z;
    sp_strided in, with, to;
    sp_stage *stage;
    spry_status s;

    if (!sp_called(n, "MatMul") || a->dims != b->dims || a->dims < 2 ||
        sp_lowered_value(l, n->output[0])->count == 0 ||
        a->dim[a->dims - 1] == 0)
        return SPRY_OK;
    for (int i = 0; i < a->dims - 2; i++)
        if (a->dim[i] != b->dim[i])
            return SPRY_OK;
    *known = 1;
    s = matrices_of(&x, &in, l, n->input[0], NULL);
    if (s == SPRY_OK)
        s = matrices_of(&y, &with, l, n->input[1], &turned);
    if (s == SPRY_OK)
        s = place_products(&to, l, n->output[0]);
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_DENSE, n->output[0]);
    if (s != SPRY_OK)
        return s;
    as_matrices(&z, &to);
    spry_operator_init(&stage->op, SPRY_MATMUL);
    stage->op.given = 1;
    stage->op.transposed = turned;
    stage->op.batch = x.batch;
    stage->op.m = a->dim[a->dims - 2];
    stage->op.k = a->dim[a->dims - 1];
    stage->op.n = b->dim[b->dims - 1];
    stage->op.pitch_in = x.pitch;
    stage->op.pitch_b = y.pitch;
    stage->op.pitch_out = z.pitch;
    stage->op.skip_in = x.batch > 1 ? x.skip : 0;
    stage->op.skip_b = x.batch > 1 ? y.skip : 0;
    stage->op.skip_out = x.batch > 1 ? z.skip : 0;
    stage->in = in;
    stage->b = with;
    stage->out = to;
    stage->macs = (double)sp_node_macs(l->g, n);
    return s;
}

spry_status sp_lower_sums(sp_lowering *l, sp_opnode *n, int *known)
{
    spry_status s = SPRY_OK;

    if (sp_called(n, "Conv"))
        return lower_conv(l, n, known);
    if (!sp_called(n, "MatMul") && !sp_called(n, "Gemm"))
        return SPRY_OK;
    s = lower_product(l, n, known);
    if (s == SPRY_OK && !*known)
        s = lower_products(l, n, known);
    return s;
}
