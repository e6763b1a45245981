/* lower_moves.c - operators that move elements: most become another view of
 * the same buffer. */
#include <string.h>

#include "graph/calls.h"
#include "graph/opcodes.h"
#include "graph/program.h"

/* The same elements in another shape. */
static spry_status reshape(sp_lowering *l, const sp_opnode *n)
{
    sp_strided v;
    spry_status s = sp_view_as_rows(&v, l, n->input[0]);

    if (s == SPRY_OK) {
        l->view[n->output[0]] =
            sp_view_rows(v.buffer, &sp_lowered_value(l, n->output[0])->shape);
        l->view[n->output[0]].first = v.first;
    }
    return s;
}

static spry_status same(sp_lowering *l, const sp_opnode *n)
{
    sp_strided v;
    spry_status s = sp_view_of(&v, l, n->input[0]);

    if (s == SPRY_OK)
        l->view[n->output[0]] = v;
    return s;
}

static spry_status transpose(sp_lowering *l, const sp_opnode *n)
{
    const sp_attr *perm = sp_attr_find(n, "perm");
    sp_strided v, out;
    spry_status s = sp_view_of(&v, l, n->input[0]);

    out = v;
    for (int i = 0; s == SPRY_OK && i < v.shape.dims; i++) {
        int from = perm ? (int)perm->ints[i] : v.shape.dims - 1 - i;

        out.shape.dim[i] = v.shape.dim[from];
        out.step[i] = v.step[from];
    }
    if (s == SPRY_OK)
        l->view[n->output[0]] = out;
    return s;
}

static spry_status expand(sp_lowering *l, const sp_opnode *n)
{
    const sp_extent *to = &sp_lowered_value(l, n->output[0])->shape;
    sp_strided v, out = {.shape = *to};
    spry_status s = sp_view_of(&v, l, n->input[0]);

    if (s != SPRY_OK)
        return s;
    out.buffer = v.buffer;
    out.first = v.first;
    for (int i = 1; i <= v.shape.dims; i++)
        if (v.shape.dim[v.shape.dims - i] != 1)
            out.step[to->dims - i] = v.step[v.shape.dims - i];
    l->view[n->output[0]] = out;
    return s;
}

/* The parts lie one behind the other along the axis. */
static spry_status split(sp_lowering *l, const sp_opnode *n)
{
    int64_t axis = sp_attr_int(n, "axis", 0), at = 0;
    sp_strided v;
    spry_status s = sp_view_of(&v, l, n->input[0]);

    axis += axis < 0 ? v.shape.dims : 0;
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++) {
        const sp_extent *part = &sp_lowered_value(l, n->output[i])->shape;

        l->view[n->output[i]] = v;
        l->view[n->output[i]].shape = *part;
        l->view[n->output[i]].first += at * v.step[axis];
        at += part->dim[axis];
    }
    return s;
}

/* Inputs that were not computed in their place are moved there. */
static spry_status concat(sp_lowering *l, const sp_opnode *n)
{
    const sp_opvalue *value = sp_lowered_value(l, n->output[0]);
    size_t size = value->whole ? 8 : 4;
    int64_t axis = sp_attr_int(n, "axis", 1), at = 0;
    int joined = l->joined[n - l->node];
    sp_strided all;
    spry_status s = SPRY_OK;

    axis += axis < 0 ? value->shape.dims : 0;
    if (joined >= 0)
        all = l->view[n->output[0]] =
            sp_view_images(joined, &value->shape, value->shape.dim[1]);
    else
        s = sp_place_rows(&all, l, n->output[0]);
    for (int i = 0; s == SPRY_OK && i < n->inputs; i++) {
        sp_strided from, to = all;

        s = sp_view_of(&from, l, n->input[i]);
        if (s != SPRY_OK)
            break;
        to.shape = from.shape;
        to.first += at * all.step[axis];
        at += from.shape.dim[axis];
        if (from.buffer != all.buffer || from.first != to.first ||
            !sp_view_alike(&from, &to))
            s = sp_move_to(to, l, from, size, n->input[i]);
    }
    return s;
}

/* A call of the node with its lists, which are constants; to be closed. */
static spry_status open_call(sp_node_call *x, const sp_lowering *l,
                             const sp_opnode *n)
{
    spry_status s = sp_call_open(x, l->g, n);

    return s == SPRY_OK ? sp_call_load(x, l->g, n) : s;
}

static spry_status cut_out(sp_lowering *l, const sp_opnode *n)
{
    sp_node_call x;
    sp_strided v;
    sp_sliced p = {0};
    spry_status s = open_call(&x, l, n);

    if (s == SPRY_OK)
        s = sp_sliced_of(&p, &x.call);
    sp_call_close(&x, n);
    if (s == SPRY_OK)
        s = sp_view_of(&v, l, n->input[0]);
    for (int i = 0; s == SPRY_OK && i < v.shape.dims; i++) {
        v.first += p.start[i] * v.step[i];
        v.step[i] *= p.step[i];
        v.shape.dim[i] = p.len[i];
    }
    if (s == SPRY_OK)
        l->view[n->output[0]] = v;
    return s;
}

/* The value everywhere, then the input in the midst. */
static spry_status pad(sp_lowering *l, const sp_opnode *n, int *known)
{
    int in = n->input[0], out = n->output[0];
    size_t size = sp_lowered_value(l, in)->whole ? 8 : 4;
    sp_strided from, all, value;
    sp_node_call x;
    sp_padding p = {0};
    void *number = NULL;
    spry_status s = open_call(&x, l, n);

    if (s == SPRY_OK)
        s = sp_padding_of(&p, &x.call);
    sp_call_close(&x, n);
    if (s != SPRY_OK || p.mode != SP_PAD_VALUE)
        return s;
    *known = 1;
    s = sp_view_of(&from, l, in);
    if (s == SPRY_OK)
        s = sp_place_rows(&all, l, out);
    if (s == SPRY_OK) {
        number = sp_pool_get(&l->p->pool, 1, 8);
        s = number ? sp_constant_buffer(&value.buffer, l, number, 8)
                   : sp_fail_memory(8);
    }
    if (s != SPRY_OK || !number)
        return s;
    if (size == 8)
        *(int64_t *)number = (int64_t)p.value;
    else
        *(float *)number = (float)p.value;
    value = (sp_strided){.buffer = value.buffer, .shape = all.shape};
    s = sp_move_to(all, l, value, size, out);
    all.shape = from.shape;
    for (int i = 0; i < all.shape.dims; i++)
        all.first += p.before[i] * all.step[i];
    return s == SPRY_OK ? sp_move_to(all, l, from, size, out) : s;
}

/* One known index is a slice. */
static spry_status slice(sp_lowering *l, const sp_opnode *n, double at,
                         int *known)
{
    int64_t axis = sp_attr_int(n, "axis", 0);
    int dims = sp_lowered_value(l, n->input[1])->shape.dims;
    sp_strided v;
    spry_status s = sp_view_of(&v, l, n->input[0]);

    if (s != SPRY_OK || dims > 1)
        return s;
    axis += axis < 0 ? v.shape.dims : 0;
    at += at < 0 ? (double)v.shape.dim[axis] : 0;
    if (!(at >= 0 && at < (double)v.shape.dim[axis]))
        return sp_refuse(n, "index %.0f", at);
    v.first += (int64_t)at * v.step[axis];
    v.shape.dim[axis] = 1;
    if (dims == 0) {
        v.shape.dims--;
        for (int i = (int)axis; i < v.shape.dims; i++) {
            v.shape.dim[i] = v.shape.dim[i + 1];
            v.step[i] = v.step[i + 1];
        }
    }
    *known = 1;
    l->view[n->output[0]] = v;
    return s;
}

static spry_status gather(sp_lowering *l, const sp_opnode *n, int *known)
{
    const sp_opvalue *table = sp_lowered_value(l, n->input[0]);
    sp_strided from, which, to;
    sp_stage *stage;
    double at;
    spry_status s;

    if (sp_single(l, n->input[1], &at))
        return slice(l, n, at, known);
    if (sp_attr_int(n, "axis", 0) != 0 || table->whole ||
        table->shape.dims != 2)
        return SPRY_OK;
    *known = 1;
    s = sp_view_as_rows(&from, l, n->input[0]);
    if (s == SPRY_OK)
        s = sp_view_as_rows(&which, l, n->input[1]);
    if (s == SPRY_OK)
        s = sp_place_rows(&to, l, n->output[0]);
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_GATHER, n->output[0]);
    if (s != SPRY_OK)
        return s;
    stage->in = from;
    stage->b = which;
    stage->out = to;
    stage->size = 4;
    stage->node = n;
    return s;
}

/* The size of a result without a name is known to the reference only. */
static int names_all(const sp_opnode *n)
{
    for (int i = 0; i < n->outputs; i++)
        if (n->output[i] < 0)
            return 0;
    return 1;
}

spry_status sp_lower_moves(sp_lowering *l, sp_opnode *n, int *known)
{
    static const struct {
        const char *name;
        spry_status (*lower)(sp_lowering *l, const sp_opnode *n);
    } moves[] = {
        {"Reshape", reshape},     {"Flatten", reshape}, {"Squeeze", reshape},
        {"Unsqueeze", reshape},   {"Identity", same},   {"Dropout", same},
        {"Transpose", transpose}, {"Expand", expand},   {"Split", split},
        {"Concat", concat},       {"Slice", cut_out}};

    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (sp_called(n, moves[i].name) && names_all(n)) {
            *known = 1;
            return moves[i].lower(l, n);
        }
    return sp_called(n, "Gather") ? gather(l, n, known)
           : sp_called(n, "Pad")  ? pad(l, n, known)
                                  : SPRY_OK;
}
