/* export.c - an executor as C that stands alone: its stages are steps. */
#include <string.h>

#include "dense/export.h"
#include "graph/executor.h"

/* ---- operands ---- */

static void set_operand(sp_export_operand *o, const sp_opvalue *v)
{
    size_t at = 0;

    o->name = v->name;
    o->count = v->count;
    o->whole = v->whole;
    snprintf(o->shape, sizeof o->shape, "a number");
    for (int i = 0; i < v->shape.dims && at < sizeof o->shape; i++)
        at += (size_t)snprintf(o->shape + at, sizeof o->shape - at, "%s%lld",
                               i ? " x " : "", (long long)v->shape.dim[i]);
}

static spry_status list_operands(sp_export_operand **out, const spry_graph *g,
                                 const int *which, int count)
{
    *out = sp_alloc(count + 1, sizeof **out);
    if (!*out)
        return sp_fail_memory((size_t)count * sizeof **out);
    for (int i = 0; i < count; i++)
        set_operand(&(*out)[i], &g->value[which[i]]);
    return SPRY_OK;
}

/* ---- steps ---- */

/* Where a view begins. Constants are numbered as buffers are. */
static sp_export_place place_of(const spry_executor *e, const sp_strided *v,
                                int64_t size)
{
    static const char homes[] = {[SP_IN_ARENA] = 'a',
                                 [SP_IN_CONSTANT] = 'w',
                                 [SP_IN_INPUT] = 'i',
                                 [SP_IN_OUTPUT] = 'o'};
    const sp_buffer *b;

    if (v->buffer < 0)
        return (sp_export_place){0};
    b = &e->p->buffer[v->buffer];
    return (sp_export_place){
        homes[b->home], b->home == SP_IN_CONSTANT ? v->buffer : b->which,
        v->first * size + (b->home == SP_IN_ARENA ? b->place : 0)};
}

static spry_status set_step(sp_export_step *to, const spry_executor *e,
                            const sp_ready_stage *x)
{
    const sp_stage *s = x->stage;
    int64_t size = s->kind == SP_STAGE_MOVE ? (int64_t)s->size : 4;

    to->shares = x->shares;
    to->in = place_of(e, &s->in, size);
    to->b = place_of(e, &s->b, s->kind == SP_STAGE_GATHER ? 8 : 4);
    to->add = place_of(e, &s->add, 4);
    to->out = place_of(e, &s->out, size);
    for (int i = 0; i < SPRY_STEPS; i++)
        to->more[i] = place_of(e, &s->more[i], 4);
    switch (s->kind) {
    case SP_STAGE_DENSE: to->plan = x->dense; break;
    case SP_STAGE_MOVE: to->move = &x->move; break;
    case SP_STAGE_GATHER:
        to->rows = s->in.shape.dim[0];
        to->each = s->in.shape.dim[1];
        return sp_extent_count(&to->count, &s->b.shape);
    case SP_STAGE_PLAIN:
        return sp_fail(SPRY_USAGE,
                       "%s has no kernel, only its reference, and cannot be "
                       "written as C",
                       sp_node_text(s->node));
    }
    if (s->kind == SP_STAGE_DENSE && !to->plan)
        return sp_fail(SPRY_USAGE, "%s as %s cannot be written as C", s->name,
                       x->plan ? x->plan->text : "it is");
    return SPRY_OK;
}

/* Constants that some stage reads, under their buffers' numbers. */
static void set_constants(sp_export_constant *to, const sp_program *p)
{
    for (int i = 0; i < p->buffers; i++) {
        const sp_buffer *b = &p->buffer[i];

        if (b->home == SP_IN_CONSTANT && b->first <= b->last)
            to[i] = (sp_export_constant){b->data, b->bytes};
    }
}

spry_status spry_executor_export(const spry_executor *e, const char *dir,
                                 const char *name)
{
    SP_NEED(e, dir, name);

    const spry_graph *g = e->g;
    sp_export_step *step = sp_alloc(e->p->stages + 1, sizeof *step);
    sp_export_constant *constant =
        sp_alloc(e->p->buffers + 1, sizeof *constant);
    sp_export_operand *in = NULL, *out = NULL;
    spry_status s = step && constant
                        ? list_operands(&in, g, g->input, g->inputs)
                        : sp_fail_memory(sizeof *step);

    if (s == SPRY_OK)
        s = list_operands(&out, g, g->output, g->outputs);
    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        s = set_step(&step[i], e, &e->stage[i]);
    if (s == SPRY_OK) {
        set_constants(constant, e->p);
        s = sp_export_write(&(sp_export){.about = g->source,
                                         .step = step,
                                         .input = in,
                                         .output = out,
                                         .constant = constant,
                                         .steps = e->p->stages,
                                         .inputs = g->inputs,
                                         .outputs = g->outputs,
                                         .constants = e->p->buffers,
                                         .threads = e->threads,
                                         .arena = e->p->arena,
                                         .isa = e->m.isa},
                            dir, name);
    }
    sp_free(step);
    sp_free(constant);
    sp_free(in);
    sp_free(out);
    return s;
}
