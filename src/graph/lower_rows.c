/* lower_rows.c - pools, and what is computed row by row: softmax, layer norm,
 * reductions. */
#include "graph/opcodes.h"
#include "graph/program.h"

/* A stage of this operator from in to out. */
static spry_status add_stage(sp_lowering *l, int value, const spry_operator *op,
                             const sp_strided *in, const sp_strided *out)
{
    sp_stage *stage;
    spry_status s = sp_new_stage(&stage, l, SP_STAGE_DENSE, value);

    if (s == SPRY_OK) {
        stage->op = *op;
        stage->in = *in;
        stage->out = *out;
    }
    return s;
}

/* ---- pools ---- */

/* Rounding up lets the last window hang over: padding behind the image, which
 * means of padding would count. */
static int hang_over(spry_operator *op, const sp_window *w)
{
    int64_t *pad[2] = {&op->pad_bottom, &op->pad_right};

    for (int i = 0; i < 2; i++) {
        int64_t span = (w->kernel[i] - 1) * w->dilate[i] + 1;
        int64_t needed =
            (w->out[i] - 1) * w->stride[i] + span - w->in[i] - w->pad[i];

        if (needed > *pad[i] && op->by == SPRY_BY_MEAN && op->counts_pad)
            return 0;
        *pad[i] = needed > *pad[i] ? needed : *pad[i];
        if (*pad[i] >= w->kernel[i] * w->dilate[i])
            return 0;
    }
    return 1;
}

static spry_status lower_window(sp_lowering *l, int in_value, int out_value,
                                spry_operator *op)
{
    sp_strided in, out;
    spry_status s = sp_view_as_images(&in, l, in_value, &op->pitch_in);

    if (s == SPRY_OK)
        s = sp_place_images(&out, l, out_value, 0);
    if (s != SPRY_OK)
        return s;
    sp_view_is_images(&out, &op->pitch_out);
    return add_stage(l, out_value, op, &in, &out);
}

static void image_sizes(spry_operator *op, const sp_extent *in)
{
    spry_operator_init(op, SPRY_POOL);
    op->n = in->dim[0];
    op->c = op->k = in->dim[1];
    op->h = in->dim[2];
    op->w = in->dim[3];
}

static spry_status lower_pool(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_extent *in = &sp_lowered_value(l, n->input[0])->shape;
    spry_operator op;
    sp_window w;
    spry_status s = sp_window_of(&w, n, in, NULL);

    if (s != SPRY_OK)
        return s;
    image_sizes(&op, in);
    op.by = sp_called(n, "MaxPool") ? SPRY_BY_MAX : SPRY_BY_MEAN;
    op.counts_pad = sp_attr_int(n, "count_include_pad", 0) != 0;
    op.r = w.kernel[0];
    op.s = w.kernel[1];
    op.stride_h = w.stride[0];
    op.stride_w = w.stride[1];
    op.dilate_h = w.dilate[0];
    op.dilate_w = w.dilate[1];
    op.pad_top = w.pad[0];
    op.pad_left = w.pad[1];
    op.pad_bottom = w.pad[2];
    op.pad_right = w.pad[3];
    if (!hang_over(&op, &w))
        return SPRY_OK;
    *known = 1;
    return lower_window(l, n->input[0], n->output[0], &op);
}

/* One window over the whole image. */
static spry_status lower_global(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_extent *in = &sp_lowered_value(l, n->input[0])->shape;
    const sp_opvalue *out = sp_lowered_value(l, n->output[0]);
    spry_operator op;
    sp_strided from, to;
    int b;
    spry_status s;

    if (in->dims != 4 || out->count != in->dim[0] * in->dim[1] ||
        out->count == 0)
        return SPRY_OK;
    *known = 1;
    image_sizes(&op, in);
    op.by = sp_called(n, "GlobalMaxPool") ? SPRY_BY_MAX : SPRY_BY_MEAN;
    op.r = op.h;
    op.s = op.w;
    s = sp_view_as_images(&from, l, n->input[0], &op.pitch_in);
    if (s == SPRY_OK)
        s = sp_new_buffer(&b, l, out->count * 4);
    if (s != SPRY_OK)
        return s;
    to = l->view[n->output[0]] = sp_view_rows(b, &out->shape);
    return add_stage(l, n->output[0], &op, &from, &to);
}

/* The mean over height and width of images is a pool, too. */
static spry_status lower_reduce(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *in = sp_lowered_value(l, n->input[0]);
    const sp_opvalue *out = sp_lowered_value(l, n->output[0]);
    int dims = in->shape.dims;
    const sp_attr *axes = sp_attr_find(n, "axes");
    const int64_t *list = axes ? axes->ints : NULL;
    int count = axes ? axes->count : 0;
    spry_operator op;
    sp_strided from, to;
    spry_status s;

    if (n->inputs > 1 && n->input[1] >= 0 &&
        sp_lowered_value(l, n->input[1])->data) {
        list = sp_lowered_value(l, n->input[1])->data;
        count = (int)sp_lowered_value(l, n->input[1])->count;
    }
    if (in->whole || in->count == 0)
        return SPRY_OK;
    if (sp_called(n, "ReduceMean") && dims == 4 && count == 2 &&
        ((list[0] + 4) % 4) + ((list[1] + 4) % 4) == 5 &&
        (list[0] + 4) % 4 >= 2)
        return lower_global(l, n, known);
    if (count != 1 || (list[0] != -1 && list[0] != dims - 1) ||
        !sp_rows_fit(in))
        return SPRY_OK;
    *known = 1;
    s = sp_view_as_rows(&from, l, n->input[0]);
    if (s == SPRY_OK)
        s = sp_place_rows(&to, l, n->output[0]);
    if (s != SPRY_OK)
        return s;
    spry_operator_init(&op, SPRY_REDUCE);
    op.by = sp_called(n, "ReduceMean")  ? SPRY_BY_MEAN
            : sp_called(n, "ReduceSum") ? SPRY_BY_SUM
                                        : SPRY_BY_MAX;
    op.n = in->shape.dim[dims - 1];
    op.m = out->count;
    return add_stage(l, n->output[0], &op, &from, &to);
}

/* ---- rows ---- */

static spry_status lower_softmax(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *in = sp_lowered_value(l, n->input[0]);
    int dims = in->shape.dims;
    int64_t axis = sp_attr_int(n, "axis", l->g->opset < 13 ? 1 : -1);
    spry_operator op;
    sp_strided from, to;
    spry_status s;

    axis += axis < 0 ? dims : 0;
    if (axis != dims - 1 || in->count == 0 || !sp_rows_fit(in))
        return SPRY_OK;
    *known = 1;
    s = sp_view_as_rows(&from, l, n->input[0]);
    if (s == SPRY_OK)
        s = sp_place_rows(&to, l, n->output[0]);
    if (s != SPRY_OK)
        return s;
    spry_operator_init(&op, SPRY_SOFTMAX);
    op.n = in->shape.dim[dims - 1];
    op.m = in->count / op.n;
    return add_stage(l, n->output[0], &op, &from, &to);
}

/* A number that scores are scaled by before their softmax belongs to it. */
static spry_status lower_scaled(sp_lowering *l, sp_opnode *n, int *known)
{
    sp_opnode *next = sp_sole_user(l, n->output[0]);
    double scale = 1;
    int turn = sp_called(n, "Mul") && sp_single(l, n->input[0], &scale);
    int stages = l->p->stages;
    sp_opnode together;
    int input;
    spry_status s;

    if (!next || !sp_called(next, "Softmax") ||
        (!turn && !sp_single(l, n->input[1], &scale)) || scale == 0)
        return SPRY_OK;
    input = n->input[turn ? 1 : 0];
    together = *next;
    together.input = &input;
    if (!sp_extent_equal(&sp_lowered_value(l, input)->shape,
                         &sp_lowered_value(l, n->output[0])->shape))
        return SPRY_OK;
    s = lower_softmax(l, &together, known);
    if (s != SPRY_OK || !*known)
        return s;
    l->done[next - l->node] = 1;
    for (int i = stages; i < l->p->stages; i++)
        if (l->p->stage[i].kind == SP_STAGE_DENSE)
            l->p->stage[i].op.scale =
                (float)(sp_called(n, "Div") ? 1 / scale : scale);
    return s;
}

static spry_status lower_norm(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *in = sp_lowered_value(l, n->input[0]);
    const sp_opvalue *scale = sp_lowered_value(l, n->input[1]);
    const sp_opvalue *bias = n->inputs > 2 && n->input[2] >= 0
                                 ? sp_lowered_value(l, n->input[2])
                                 : NULL;
    int64_t axis = sp_attr_int(n, "axis", -1);
    const float *move = bias ? bias->data : NULL;
    spry_operator op;
    sp_strided from, to;
    spry_status s;

    axis += axis < 0 ? in->shape.dims : 0;
    if (axis != in->shape.dims - 1 || !scale->data || (bias && !bias->data) ||
        in->count == 0 || !sp_rows_fit(in))
        return SPRY_OK;
    *known = 1;
    spry_operator_init(&op, SPRY_LAYERNORM);
    op.n = in->shape.dim[axis];
    op.m = in->count / op.n;
    op.eps = (float)sp_attr_real(n, "epsilon", 1e-5);
    op.weights = scale->data;
    if (!move) /* none is zeros */
        move = sp_pool_get(&l->p->pool, op.n, sizeof(float));
    if (!move)
        return sp_fail_memory((size_t)op.n * sizeof(float));
    op.bias = move;
    s = sp_view_as_rows(&from, l, n->input[0]);
    if (s == SPRY_OK)
        s = sp_place_rows(&to, l, n->output[0]);
    return s == SPRY_OK ? add_stage(l, n->output[0], &op, &from, &to) : s;
}

spry_status sp_lower_rows(sp_lowering *l, sp_opnode *n, int *known)
{
    if (sp_called(n, "MaxPool") || sp_called(n, "AveragePool"))
        return lower_pool(l, n, known);
    if (sp_called(n, "GlobalAveragePool") || sp_called(n, "GlobalMaxPool"))
        return lower_global(l, n, known);
    if (sp_called(n, "ReduceMean") || sp_called(n, "ReduceSum") ||
        sp_called(n, "ReduceMax"))
        return lower_reduce(l, n, known);
    if (sp_called(n, "Softmax"))
        return lower_softmax(l, n, known);
    if (sp_called(n, "LayerNormalization"))
        return lower_norm(l, n, known);
    if (sp_called(n, "Mul") || sp_called(n, "Div"))
        return lower_scaled(l, n, known);
    return SPRY_OK;
}
