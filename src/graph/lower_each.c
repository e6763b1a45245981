/* lower_each.c - chains of operators on single elements. */
#include <math.h>
#include <string.h>

#include "dense/dense.h"
#include "graph/program.h"

int sp_act_of(const sp_lowering *l, const sp_opnode *n, spry_act *act,
              float *alpha, float *beta)
{
    static const struct {
        const char *name;
        spry_act act;
        double alpha, beta;
    } acts[] = {{"Relu", SPRY_ACT_RELU, 0, 0},
                {"LeakyRelu", SPRY_ACT_LEAKY, 0.01, 0},
                {"HardSigmoid", SPRY_ACT_HSIGMOID, 0.2, 0.5},
                {"HardSwish", SPRY_ACT_HSWISH, 0, 0},
                {"Sigmoid", SPRY_ACT_SIGMOID, 0, 0},
                {"Tanh", SPRY_ACT_TANH, 0, 0},
                {"Gelu", SPRY_ACT_GELU, 0, 0},
                {"Exp", SPRY_ACT_EXP, 0, 0},
                {"Sqrt", SPRY_ACT_SQRT, 0, 0}};
    double low = -HUGE_VAL, high = HUGE_VAL;

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (sp_called(n, acts[i].name)) {
            *act = acts[i].act;
            if (*act == SPRY_ACT_SIGMOID && sp_attr_find(n, "times_input"))
                *act = SPRY_ACT_SILU;
            *alpha = (float)sp_attr_real(n, "alpha", acts[i].alpha);
            *beta = (float)sp_attr_real(n, "beta", acts[i].beta);
            return 1;
        }
    if (!sp_called(n, "Clip"))
        return 0;
    low = sp_attr_real(n, "min", low);
    high = sp_attr_real(n, "max", high);
    if (n->inputs > 1 && n->input[1] >= 0 && !sp_single(l, n->input[1], &low))
        return 0;
    if (n->inputs > 2 && n->input[2] >= 0 && !sp_single(l, n->input[2], &high))
        return 0;
    *act = SPRY_ACT_CLIP;
    *alpha = (float)low;
    *beta = (float)high;
    return *alpha <= *beta;
}

/* A chain under way: rows of n numbers, `value` is what comes out. */
typedef struct {
    spry_operator op;
    sp_strided in, more[SPRY_STEPS];
    int value, images;
} chain;

/* How the elements of a view are rows of an elementwise operator. */
static int chain_rows(chain *c)
{
    const sp_strided *v = &c->in;
    int64_t pitch, count = 1, inner;

    for (int i = 0; i < v->shape.dims; i++)
        count *= v->shape.dim[i];
    spry_operator_init(&c->op, SPRY_ELEMENTWISE);
    c->images = sp_view_is_images(v, &pitch) && v->shape.dim[1] > 1 &&
                v->shape.dim[2] * v->shape.dim[3] <= SP_OPERATOR_SIZE;
    if (c->images) {
        c->op.batch = v->shape.dim[0];
        c->op.m = v->shape.dim[2] * v->shape.dim[3];
        c->op.n = v->shape.dim[1];
        c->op.pitch_in = pitch;
        return 1;
    }
    if (!sp_view_is_dense(v, &inner))
        return 0;
    c->op.n = sp_view_is_rows(v) && v->shape.dims
                  ? v->shape.dim[v->shape.dims - 1]
                  : inner;
    c->op.m = count / c->op.n;
    return c->op.m <= SP_OPERATOR_SIZE;
}

/* Are both the same rows, but for dimensions of 1 in front? */
static int same_rows(const sp_strided *a, const sp_strided *b)
{
    int lead = b->shape.dims - a->shape.dims;

    if (lead < 0 || !sp_view_is_rows(a) || !sp_view_is_rows(b))
        return 0;
    for (int i = 0; i < b->shape.dims; i++)
        if (b->shape.dim[i] != (i < lead ? 1 : a->shape.dim[i - lead]))
            return 0;
    return 1;
}

/* What `with` is beside a chain of this shape; 0: nothing that is known. */
static int beside(spry_step *step, sp_strided *view, const sp_lowering *l,
                  const chain *c, int with)
{
    const sp_opvalue *v = sp_lowered_value(l, with);
    const sp_extent *z = &v->shape, *mine = &c->in.shape;
    double x;

    if (v->whole)
        return 0;
    if (sp_single(l, with, &x) && z->dims <= mine->dims) {
        step->with = SPRY_WITH_VALUE;
        step->value = (float)x;
        return 1;
    }
    *view = l->view[with];
    if (view->buffer < 0)
        *view = sp_view_rows(-1, z);
    if (sp_extent_equal(z, mine)) {
        step->with = SPRY_WITH_SAME;
        return sp_view_alike(view, &c->in);
    }
    if (same_rows(view, &c->in)) {
        step->with = SPRY_WITH_SAME;
        return 1;
    }
    if (c->images) {
        int64_t channels = mine->dim[1];
        int last = z->dims - 3;

        if (last < 0 || z->dim[last] != channels || v->count % channels)
            return 0;
        if (v->count == channels && sp_view_is_rows(view)) {
            step->with = mine->dim[0] == 1 ? SPRY_WITH_IMAGE : SPRY_WITH_ROW;
            return 1;
        }
        step->with = SPRY_WITH_IMAGE;
        return z->dims == 4 && z->dim[0] == mine->dim[0] &&
               v->count == channels * z->dim[0] && sp_view_is_rows(view);
    }
    if (!sp_view_is_rows(&c->in) || !sp_view_is_rows(view) || !z->dims)
        return 0;
    if (v->count == c->op.n && z->dim[z->dims - 1] == c->op.n) {
        step->with = SPRY_WITH_ROW;
        return 1;
    }
    if (z->dims != mine->dims || z->dim[z->dims - 1] != 1)
        return 0;
    for (int i = 0; i < z->dims - 1; i++)
        if (z->dim[i] != mine->dim[i])
            return 0;
    step->with = SPRY_WITH_COLUMN;
    return 1;
}

static int binary_of(const sp_opnode *n, spry_step_op *op)
{
    static const char *const names[] = {"Add", "Sub", "Mul",
                                        "Div", "Max", "Min"};

    for (int i = 0; i < 6; i++)
        if (sp_called(n, names[i])) {
            *op = (spry_step_op)i;
            return 1;
        }
    return 0;
}

/* ---- batch norms that no convolution is in front of ---- */

/* Its scale, bias, mean and variance are constants? */
static int is_norm(const sp_lowering *l, const sp_opnode *n)
{
    if (!sp_called(n, "BatchNormalization"))
        return 0;
    for (int i = 1; i < 5; i++)
        if (!sp_lowered_value(l, n->input[i])->data)
            return 0;
    return 1;
}

/* What there is one of for each channel. */
static spry_with with_channels(const chain *c)
{
    return c->images && c->in.shape.dim[0] == 1 ? SPRY_WITH_IMAGE
                                                : SPRY_WITH_ROW;
}

/* Two steps: times a number of the channel, plus another. */
static int add_norm(chain *c)
{
    const sp_extent *mine = &c->in.shape;
    int rows =
        mine->dims == 2 && sp_view_is_rows(&c->in) && c->op.n == mine->dim[1];

    if (c->op.steps + 2 > SPRY_STEPS || !(c->images || rows))
        return 0;
    for (int i = 0; i < 2; i++) {
        c->op.step[c->op.steps + i] = (spry_step){
            .op = i ? SPRY_STEP_ADD : SPRY_STEP_MUL, .with = with_channels(c)};
        c->more[c->op.steps + i].buffer = -1;
    }
    return 1;
}

static spry_status settle_norm(sp_lowering *l, chain *c, const sp_opnode *n)
{
    const float *from[5] = {NULL}; /* scale, bias, mean, variance from 1 on */
    double eps = sp_attr_real(n, "epsilon", 1e-5);
    sp_extent channels = {1, {c->in.shape.dim[1]}};
    int64_t count = channels.dim[0];
    float *scale = sp_pool_get(&l->p->pool, 2 * count, sizeof *scale);
    int b[2];
    spry_status s =
        scale ? SPRY_OK : sp_fail_memory((size_t)count * sizeof *scale);

    for (int i = 1; i < 5; i++)
        from[i] = sp_lowered_value(l, n->input[i])->data;
    for (int64_t i = 0; s == SPRY_OK && i < count; i++) {
        double by = (double)from[1][i] / sqrt((double)from[4][i] + eps);

        scale[i] = (float)by;
        scale[count + i] =
            (float)((double)from[2][i] - (double)from[3][i] * by);
    }
    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        s = sp_constant_buffer(&b[i], l, scale + i * count,
                               count * (int64_t)sizeof *scale);
        c->more[c->op.steps + i] = sp_view_rows(b[i], &channels);
    }
    return s;
}

/* ---- chains ---- */

/* Is n, on the chain's value, one more step of it? */
static int add_step(chain *c, const sp_lowering *l, const sp_opnode *n)
{
    spry_step *step = &c->op.step[c->op.steps];
    sp_strided *view = &c->more[c->op.steps];
    const sp_opvalue *out = sp_lowered_value(l, n->output[0]);
    int turned, with;

    if (c->op.steps == SPRY_STEPS || out->whole || n->outputs != 1)
        return 0;
    memset(step, 0, sizeof *step);
    view->buffer = -1;
    if (!sp_extent_equal(&out->shape, &c->in.shape))
        return 0;
    if (n->input[0] == c->value &&
        sp_act_of(l, n, &step->act, &step->alpha, &step->beta)) {
        step->op = SPRY_STEP_ACT;
        return 1;
    }
    if (n->input[0] == c->value && is_norm(l, n))
        return add_norm(c);
    if (sp_called(n, "Neg")) {
        step->op = SPRY_STEP_MUL;
        step->with = SPRY_WITH_VALUE;
        step->value = -1;
        return 1;
    }
    if (!binary_of(n, &step->op))
        return 0;
    turned = n->input[0] != c->value;
    with = n->input[turned ? 0 : 1];
    if (turned && (step->op == SPRY_STEP_SUB || step->op == SPRY_STEP_DIV))
        return 0;
    return (l->view[with].buffer >= 0 || sp_lowered_value(l, with)->data) &&
           beside(step, view, l, c, with);
}

/* Constants that a step reads get their buffer. */
static spry_status settle(sp_lowering *l, chain *c, const sp_opnode *n)
{
    int k = c->op.steps;
    int with = n->inputs > 1 ? n->input[n->input[0] == c->value ? 1 : 0] : -1;

    if (c->op.step[k].op == SPRY_STEP_ACT ||
        c->op.step[k].with == SPRY_WITH_VALUE || with < 0)
        return SPRY_OK;
    return sp_view_of(&c->more[k], l, with);
}

static spry_status take_step(sp_lowering *l, chain *c, const sp_opnode *n)
{
    int norm = is_norm(l, n);
    spry_status s = norm ? settle_norm(l, c, n) : settle(l, c, n);

    c->op.steps += norm ? 2 : 1;
    c->value = n->output[0];
    l->done[n - l->node] = 1;
    return s;
}

/* Does n have a number for each channel of images? Then input i is moved to
 * where the channels are neighbours. */
static int wants_images(const sp_lowering *l, const sp_opnode *n, int i)
{
    const sp_extent *z = &sp_lowered_value(l, n->input[i])->shape;
    const sp_opvalue *v;
    spry_step_op op;

    if (z->dims != 4 || z->dim[1] < 2)
        return 0;
    if (is_norm(l, n))
        return 1;
    if (!binary_of(n, &op))
        return 0;
    v = sp_lowered_value(l, n->input[1 - i]);
    return v->shape.dims >= 3 && v->count == z->dim[1] &&
           v->shape.dim[v->shape.dims - 3] == z->dim[1];
}

/* Two tensors of one shape that lie in memory in other ways come to lie in one
 * way: as images if either does, else rows first. */
static spry_status bring_together(sp_lowering *l, const sp_opnode *n)
{
    int64_t pitch;
    int images = 0;
    sp_strided v[2];
    spry_step_op op;
    spry_status s = SPRY_OK;

    if (!binary_of(n, &op) ||
        !sp_extent_equal(&sp_lowered_value(l, n->input[0])->shape,
                         &sp_lowered_value(l, n->input[1])->shape))
        return s;
    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        const sp_opvalue *x = sp_lowered_value(l, n->input[i]);

        if (x->whole || (l->view[n->input[i]].buffer < 0 && !x->data))
            return s;
        s = sp_view_of(&v[i], l, n->input[i]);
        images |= s == SPRY_OK && sp_view_is_images(&v[i], &pitch);
    }
    if (s != SPRY_OK || sp_view_alike(&v[0], &v[1]))
        return s;
    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        s = images ? sp_view_as_images(&v[i], l, n->input[i], &pitch)
                   : sp_view_as_rows(&v[i], l, n->input[i]);
        if (s == SPRY_OK)
            l->view[n->input[i]] = v[i];
    }
    return s;
}

/* Begin with input i of n; 0 when the elements do not lie in rows. */
static spry_status begin(chain *c, sp_lowering *l, const sp_opnode *n, int i,
                         int *good)
{
    int v = n->input[i];
    int64_t pitch;
    spry_status s;

    memset(c, 0, sizeof *c);
    for (int k = 0; k < SPRY_STEPS; k++)
        c->more[k].buffer = -1;
    c->value = v;
    *good = 0;
    if (v < 0 || sp_lowered_value(l, v)->whole ||
        !sp_extent_equal(&sp_lowered_value(l, v)->shape,
                         &sp_lowered_value(l, n->output[0])->shape) ||
        (l->view[v].buffer < 0 && !sp_lowered_value(l, v)->data))
        return SPRY_OK;
    s = wants_images(l, n, i) ? sp_view_as_images(&c->in, l, v, &pitch)
                              : sp_view_of(&c->in, l, v);
    *good = s == SPRY_OK && chain_rows(c);
    if (s == SPRY_OK && !*good) {
        s = sp_view_as_rows(&c->in, l, v);
        *good = s == SPRY_OK && chain_rows(c);
    }
    *good = *good && add_step(c, l, n);
    return s;
}

spry_status sp_lower_each(sp_lowering *l, sp_opnode *n, int *known)
{
    sp_stage *stage;
    sp_opnode *next;
    sp_strided out;
    int good = 0, b;
    int64_t count;
    chain c;
    spry_status s = begin(&c, l, n, 0, &good);

    if (s == SPRY_OK && !good)
        s = bring_together(l, n);
    if (s == SPRY_OK && !good)
        s = begin(&c, l, n, 0, &good);
    if (s == SPRY_OK && !good && n->inputs == 2)
        s = begin(&c, l, n, 1, &good);
    if (s != SPRY_OK || !good)
        return s;
    *known = 1;
    s = take_step(l, &c, n);
    while (s == SPRY_OK && (next = sp_sole_user(l, c.value)) &&
           add_step(&c, l, next))
        s = take_step(l, &c, next);
    if (s == SPRY_OK)
        s = sp_extent_count(&count, &c.in.shape);
    if (s == SPRY_OK && c.images)
        s = sp_place_images(&out, l, c.value, 0);
    else if (s == SPRY_OK) {
        s = sp_new_buffer(&b, l, count * 4);
        out = c.in;
        out.buffer = b;
        out.first = 0;
        if (s == SPRY_OK)
            l->view[c.value] = out;
    }
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_DENSE, c.value);
    if (s != SPRY_OK)
        return s;
    if (c.images)
        sp_view_is_images(&out, &c.op.pitch_out);
    stage->op = c.op;
    stage->in = c.in;
    stage->out = out;
    memcpy(stage->more, c.more, sizeof c.more);
    return s;
}
