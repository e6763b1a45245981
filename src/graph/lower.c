/* lower.c - from a graph to stages over buffers. */
#include <math.h>
#include <string.h>

#include "dense/dense.h"
#include "graph/program.h"

/* ---- questions about the graph ---- */

const sp_opvalue *sp_lowered_value(const sp_lowering *l, int v)
{
    return &l->g->value[v];
}

int sp_called(const sp_opnode *n, const char *op)
{
    return strcmp(n->op->name, op) == 0;
}

sp_opnode *sp_sole_user(const sp_lowering *l, int v)
{
    sp_opnode *n = v >= 0 && l->uses[v] == 1 && l->user[v] >= 0
                       ? &l->node[l->user[v]]
                       : NULL;

    return n && n->output[0] >= 0 ? n : NULL;
}

int sp_single(const sp_lowering *l, int v, double *x)
{
    const sp_opvalue *c = v >= 0 ? sp_lowered_value(l, v) : NULL;

    if (!c || !c->data || c->count != 1)
        return 0;
    *x = c->whole ? (double)*(const int64_t *)c->data
                  : (double)*(const float *)c->data;
    return 1;
}

int sp_has_number(const sp_lowering *l, int v, double x)
{
    double y;

    return sp_single(l, v, &y) && fabs(x - y) <= 1e-6 * fabs(x);
}

void sp_lowering_count(sp_lowering *l)
{
    const spry_graph *g = l->g;

    for (int v = 0; v < g->values; v++) {
        l->uses[v] = 0;
        l->user[v] = -1;
    }
    for (int i = 0; i < g->nodes; i++)
        for (int k = 0; !l->done[i] && k < l->node[i].inputs; k++)
            if (l->node[i].input[k] >= 0) {
                l->uses[l->node[i].input[k]]++;
                l->user[l->node[i].input[k]] = i;
            }
    for (int i = 0; i < g->outputs; i++) {
        l->uses[g->output[i]]++;
        l->user[g->output[i]] = -1;
    }
}

/* ---- buffers and stages ---- */

spry_status sp_new_buffer(int *out, sp_lowering *l, int64_t bytes)
{
    sp_program *p = l->p;

    if (p->buffers == p->buffer_room) {
        int room = p->buffer_room ? 2 * p->buffer_room : 64;
        sp_buffer *more =
            sp_grow(p->buffer, p->buffers, room, sizeof *p->buffer);

        if (!more)
            return sp_fail_memory((size_t)room * sizeof *more);
        p->buffer = more;
        p->buffer_room = room;
    }
    p->buffer[p->buffers] = (sp_buffer){.bytes = bytes};
    *out = p->buffers++;
    return SPRY_OK;
}

spry_status sp_constant_buffer(int *out, sp_lowering *l, const void *data,
                               int64_t bytes)
{
    spry_status s = sp_new_buffer(out, l, bytes);

    if (s == SPRY_OK) {
        l->p->buffer[*out].home = SP_IN_CONSTANT;
        l->p->buffer[*out].data = data;
    }
    return s;
}

spry_status sp_new_stage(sp_stage **out, sp_lowering *l, sp_stage_kind kind,
                         int value)
{
    sp_program *p = l->p;
    sp_stage *s;

    if (p->stages == p->stage_room) {
        int room = p->stage_room ? 2 * p->stage_room : 64;
        sp_stage *more = sp_grow(p->stage, p->stages, room, sizeof *p->stage);

        if (!more)
            return sp_fail_memory((size_t)room * sizeof *more);
        p->stage = more;
        p->stage_room = room;
    }
    s = &p->stage[p->stages++];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->name = value < 0 ? "" : sp_lowered_value(l, value)->name;
    s->in.buffer = s->b.buffer = s->add.buffer = s->out.buffer = -1;
    for (int i = 0; i < SPRY_STEPS; i++)
        s->more[i].buffer = -1;
    *out = s;
    return SPRY_OK;
}

spry_status sp_view_of(sp_strided *out, sp_lowering *l, int v)
{
    const sp_opvalue *value = sp_lowered_value(l, v);
    int b;
    spry_status s = SPRY_OK;

    if (l->view[v].buffer < 0) {
        if (!value->data)
            return sp_fail(SPRY_FAIL, "'%s' is read before it is there",
                           value->name);
        s = sp_constant_buffer(&b, l, value->data,
                               value->count * (value->whole ? 8 : 4));
        if (s != SPRY_OK)
            return s;
        l->view[v] = sp_view_rows(b, &value->shape);
    }
    *out = l->view[v];
    return s;
}

spry_status sp_move_to(sp_strided to, sp_lowering *l, sp_strided from,
                       size_t size, int value)
{
    sp_stage *m;
    spry_status s = sp_new_stage(&m, l, SP_STAGE_MOVE, value);

    if (s == SPRY_OK) {
        m->in = from;
        m->out = to;
        m->size = size;
    }
    return s;
}

spry_status sp_move_rows(sp_strided *to, sp_lowering *l, sp_strided from,
                         size_t size, int value)
{
    int64_t count;
    int b;
    spry_status s = sp_extent_count(&count, &from.shape);

    if (s == SPRY_OK)
        s = sp_new_buffer(&b, l, count * (int64_t)size);
    if (s != SPRY_OK)
        return s;
    *to = sp_view_rows(b, &from.shape);
    return sp_move_to(*to, l, from, size, value);
}

spry_status sp_view_as_rows(sp_strided *out, sp_lowering *l, int v)
{
    size_t size = sp_lowered_value(l, v)->whole ? 8 : 4;
    spry_status s = sp_view_of(out, l, v);

    if (s != SPRY_OK || sp_view_is_rows(out))
        return s;
    return sp_move_rows(out, l, *out, size, v);
}

spry_status sp_view_as_images(sp_strided *out, sp_lowering *l, int v,
                              int64_t *pitch)
{
    const sp_opvalue *value = sp_lowered_value(l, v);
    sp_strided from;
    int b;
    spry_status s = sp_view_of(&from, l, v);

    *out = from;
    if (s != SPRY_OK || sp_view_is_images(&from, pitch))
        return s;
    s = sp_new_buffer(&b, l, value->count * 4);
    if (s != SPRY_OK)
        return s;
    *pitch = value->shape.dim[1];
    *out = sp_view_images(b, &value->shape, *pitch);
    l->view[v] = *out; /* the next one finds it as images */
    return sp_move_to(*out, l, from, 4, v);
}

/* ---- places for results ---- */

spry_status sp_place_rows(sp_strided *out, sp_lowering *l, int v)
{
    const sp_opvalue *value = sp_lowered_value(l, v);
    int b;
    spry_status s = sp_new_buffer(&b, l, value->count * (value->whole ? 8 : 4));

    if (s == SPRY_OK)
        *out = l->view[v] = sp_view_rows(b, &value->shape);
    return s;
}

/* The Concat of channels that reads v once, and v's first channel in it. */
static int join_of(const sp_lowering *l, int v, int64_t *channel)
{
    int n = l->user[v];
    int64_t at = 0, first = 0;
    int found = 0;

    if (n < 0 || !sp_called(&l->node[n], "Concat") ||
        sp_attr_int(&l->node[n], "axis", 1) != 1)
        return -1;
    for (int i = 0; i < l->node[n].inputs; i++) {
        if (l->node[n].input[i] == v) {
            first = at;
            found++;
        }
        at += sp_lowered_value(l, l->node[n].input[i])->shape.dim[1];
    }
    if (found != 1)
        return -1;
    *channel = first;
    return n;
}

spry_status sp_place_images(sp_strided *out, sp_lowering *l, int v, int alone)
{
    const sp_opvalue *value = sp_lowered_value(l, v);
    int64_t channel = 0, pitch = value->shape.dim[1];
    int join = alone ? -1 : join_of(l, v, &channel), b = -1;
    spry_status s = SPRY_OK;

    if (join >= 0) {
        const sp_opvalue *all = sp_lowered_value(l, l->node[join].output[0]);

        pitch = all->shape.dim[1];
        if (l->joined[join] < 0)
            s = sp_new_buffer(&l->joined[join], l, all->count * 4);
        b = l->joined[join];
    } else
        s = sp_new_buffer(&b, l, value->count * 4);
    if (s != SPRY_OK)
        return s;
    *out = sp_view_images(b, &value->shape, pitch);
    out->first = channel;
    l->view[v] = *out;
    return s;
}

/* ---- nodes ---- */

/* What has no stage of its own is computed by the reference. */
static spry_status lower_plain(sp_lowering *l, const sp_opnode *n)
{
    int operands = n->inputs + n->outputs;
    sp_strided *list = sp_pool_get(&l->p->pool, operands, sizeof *list);
    sp_stage *stage;
    spry_status s = list ? SPRY_OK : sp_fail_memory(sizeof *list);

    for (int i = 0; s == SPRY_OK && i < operands; i++) {
        int v = i < n->inputs ? n->input[i] : n->output[i - n->inputs];

        list[i].buffer = -1;
        if (v >= 0)
            s = i < n->inputs ? sp_view_as_rows(&list[i], l, v)
                              : sp_place_rows(&list[i], l, v);
    }
    if (s == SPRY_OK)
        s = sp_new_stage(&stage, l, SP_STAGE_PLAIN, n->output[0]);
    if (s != SPRY_OK)
        return s;
    stage->node = n;
    stage->list = list;
    return s;
}

/* Operators of the dense family have sizes from 1 to 2^24. */
static int has_odd_sizes(const sp_lowering *l, const sp_opnode *n)
{
    for (int i = 0; i < n->inputs + n->outputs; i++) {
        int v = i < n->inputs ? n->input[i] : n->output[i - n->inputs];
        const sp_extent *z = v < 0 ? NULL : &sp_lowered_value(l, v)->shape;

        for (int k = 0; z && k < z->dims; k++)
            if (z->dim[k] < 1 || z->dim[k] > SP_OPERATOR_SIZE)
                return 1;
    }
    return 0;
}

int sp_rows_fit(const sp_opvalue *v)
{
    return v->count / v->shape.dim[v->shape.dims - 1] <= SP_OPERATOR_SIZE;
}

static spry_status lower_node(sp_lowering *l, sp_opnode *n)
{
    static sp_lower_node *const ways[] = {sp_lower_moves, sp_lower_sums,
                                          sp_lower_rows, sp_lower_each};
    int known = 0;
    spry_status s = SPRY_OK;

    if (n->output[0] < 0 || has_odd_sizes(l, n))
        return lower_plain(l, n);
    for (size_t i = 0; s == SPRY_OK && !known && i < sizeof ways / sizeof *ways;
         i++)
        s = ways[i](l, n, &known);
    return s == SPRY_OK && !known ? lower_plain(l, n) : s;
}

static spry_status take_inputs(sp_lowering *l)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < l->g->inputs; i++) {
        int v = l->g->input[i], b;

        s = sp_new_buffer(&b, l, 0);
        if (s != SPRY_OK)
            break;
        l->p->buffer[b].home = SP_IN_INPUT;
        l->p->buffer[b].which = i;
        l->view[v] = sp_view_rows(b, &sp_lowered_value(l, v)->shape);
    }
    return s;
}

static spry_status give_outputs(sp_lowering *l)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < l->g->outputs; i++) {
        int v = l->g->output[i], b;
        const sp_opvalue *value = sp_lowered_value(l, v);
        sp_strided from;

        s = sp_view_of(&from, l, v);
        if (s == SPRY_OK)
            s = sp_new_buffer(&b, l, 0);
        if (s != SPRY_OK)
            break;
        l->p->buffer[b].home = SP_IN_OUTPUT;
        l->p->buffer[b].which = i;
        s = sp_move_to(sp_view_rows(b, &value->shape), l, from,
                       value->whole ? 8 : 4, v);
    }
    return s;
}

static spry_status lower(sp_lowering *l)
{
    const spry_graph *g = l->g;
    spry_status s;

    for (int v = 0; v < g->values; v++) {
        l->maker[v] = g->value[v].maker;
        l->view[v].buffer = -1;
    }
    for (int i = 0; i < g->nodes; i++) {
        l->node[i] = g->node[i];
        l->joined[i] = -1;
    }
    sp_lowering_count(l);
    s = sp_recognise(l);
    if (s == SPRY_OK)
        s = take_inputs(l);
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++)
        if (!l->done[i])
            s = lower_node(l, &l->node[i]);
    return s == SPRY_OK ? give_outputs(l) : s;
}

spry_status sp_program_make(sp_program **out, const spry_graph *g)
{
    sp_lowering l = {.g = g};
    spry_status s = SPRY_OK;

    *out = NULL;
    l.p = sp_alloc(1, sizeof *l.p);
    if (!l.p)
        return sp_fail_memory(sizeof *l.p);
    l.p->g = g;
    l.node = sp_pool_get(&l.p->pool, g->nodes, sizeof *l.node);
    l.done = sp_pool_get(&l.p->pool, g->nodes, 1);
    l.joined = sp_pool_get(&l.p->pool, g->nodes, sizeof *l.joined);
    l.uses = sp_alloc(g->values + 1, sizeof *l.uses);
    l.user = sp_alloc(g->values + 1, sizeof *l.user);
    l.maker = sp_alloc(g->values + 1, sizeof *l.maker);
    l.view = sp_alloc(g->values + 1, sizeof *l.view);
    l.p->slab = sp_slab_open();
    if (!l.p->slab || !l.node || !l.done || !l.joined || !l.uses || !l.user ||
        !l.maker || !l.view)
        s = sp_fail_memory((size_t)g->values * sizeof *l.view);
    if (s == SPRY_OK)
        s = lower(&l);
    if (s == SPRY_OK)
        s = sp_arena_plan(l.p);
    sp_free(l.uses);
    sp_free(l.user);
    sp_free(l.maker);
    sp_free(l.view);
    if (s == SPRY_OK)
        *out = l.p;
    else
        sp_program_free(l.p);
    return s;
}

void sp_program_free(sp_program *p)
{
    if (!p)
        return;
    sp_free(p->stage);
    sp_free(p->buffer);
    sp_pool_free(&p->pool);
    sp_slab_free(p->slab);
    sp_free(p);
}
