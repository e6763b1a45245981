/* executor_run.c - a list of plans, one stage behind the other. */
#include <math.h>
#include <string.h>

#include "base/unconst.h"
#include "graph/calls.h"
#include "graph/executor.h"
#include "machine/isa.h"

/* ---- one stage ---- */

static void *address(const spry_executor *e, const sp_strided *v, size_t size)
{
    const sp_buffer *b;
    char *base;

    if (v->buffer < 0)
        return NULL;
    b = &e->p->buffer[v->buffer];
    switch (b->home) {
    case SP_IN_ARENA:
        SP_ASSERT(b->place + v->first * (int64_t)size <= e->p->arena);
        base = e->arena + b->place;
        break;
    case SP_IN_CONSTANT: base = sp_unconst(b->data); break;
    case SP_IN_INPUT: base = sp_unconst(e->input[b->which]); break;
    case SP_IN_OUTPUT:
    default: base = e->output[b->which]; break;
    }
    return base + v->first * (int64_t)size;
}

typedef struct {
    const spry_executor *e;
    const sp_ready_stage *x;
    spry_tensors t;
} share_job;

static void run_share(void *arg, int i)
{
    share_job *j = arg;

    sp_dense_share(j->x->dense, &j->t, i,
                   j->e->scratch ? j->e->scratch + i * j->e->scratch_bytes
                                 : NULL);
}

static void tensors_of(spry_tensors *t, const spry_executor *e,
                       const sp_stage *s)
{
    memset(t, 0, sizeof *t);
    t->in = address(e, &s->in, 4);
    t->b = address(e, &s->b, 4);
    t->add = address(e, &s->add, 4);
    t->out = address(e, &s->out, 4);
    for (int i = 0; i < SPRY_STEPS; i++)
        t->more[i] = address(e, &s->more[i], 4);
}

static spry_status run_dense(const spry_executor *e, const sp_ready_stage *x)
{
    share_job j = {.e = e, .x = x};

    tensors_of(&j.t, e, x->stage);
    sp_team_run(e->team, run_share, &j, x->shares);
    return SPRY_OK;
}

static void move_share(void *arg, int i)
{
    share_job *j = arg;
    const sp_stage *s = j->x->stage;

    sp_move_part(&j->x->move, address(j->e, &s->out, s->size),
                 address(j->e, &s->in, s->size), i, j->x->shares);
}

static spry_status run_move(const spry_executor *e, const sp_ready_stage *x)
{
    share_job j = {.e = e, .x = x};

    sp_team_run(e->team, move_share, &j, x->shares);
    return SPRY_OK;
}

static spry_status run_gather(const spry_executor *e, const sp_stage *s)
{
    const float *table = address(e, &s->in, 4);
    const int64_t *which = address(e, &s->b, 8);
    float *out = address(e, &s->out, 4);
    int64_t rows = s->in.shape.dim[0], each = s->in.shape.dim[1], count;
    int64_t bad;
    spry_status status = sp_extent_count(&count, &s->b.shape);

    bad = status == SPRY_OK ? sp_gather(out, table, rows, each, which, count)
                            : -1;
    if (bad >= 0)
        return sp_refuse(s->node, "index %lld of %lld", (long long)which[bad],
                         (long long)rows);
    return status;
}

static spry_status plain_arrays(sp_node_call *x, const spry_executor *e,
                                const sp_stage *s)
{
    const sp_opnode *n = s->node;

    for (int i = 0; i < n->inputs + n->outputs; i++) {
        int in = i < n->inputs;
        int v = in ? n->input[i] : n->output[i - n->inputs];
        sp_array *a = in ? &x->in[i] : &x->out[i - n->inputs];
        const sp_opvalue *value = &e->g->value[v < 0 ? 0 : v];

        if (v < 0)
            continue;
        *a = (sp_array){value->whole, value->shape, value->count, NULL};
        a->data = sp_alloc_raw(a->count ? a->count : 1, sizeof *a->data);
        if (!a->data)
            return sp_fail_memory((size_t)a->count * sizeof *a->data);
        if (in)
            sp_array_load(a->data, value,
                          address(e, &s->list[i], value->whole ? 8 : 4));
    }
    return SPRY_OK;
}

static spry_status run_plain(const spry_executor *e, const sp_stage *s)
{
    const sp_opnode *n = s->node;
    sp_node_call x;
    spry_status status = sp_call_open(&x, e->g, n);

    if (status == SPRY_OK)
        status = plain_arrays(&x, e, s);
    if (status == SPRY_OK)
        status = n->op->compute(&x.call);
    for (int i = 0; status == SPRY_OK && i < n->outputs; i++)
        if (n->output[i] >= 0)
            sp_array_store(
                address(e, &s->list[n->inputs + i], x.out[i].whole ? 8 : 4),
                &x.out[i]);
    sp_call_close(&x, n);
    return status;
}

static spry_status run_stage(const spry_executor *e, const sp_ready_stage *x)
{
    switch (x->stage->kind) {
    case SP_STAGE_DENSE: return run_dense(e, x);
    case SP_STAGE_MOVE: return run_move(e, x);
    case SP_STAGE_GATHER: return run_gather(e, x->stage);
    case SP_STAGE_PLAIN: break;
    }
    return run_plain(e, x->stage);
}

/* ---- runs ---- */

spry_status sp_executor_open_team(spry_executor *e)
{
    e->forks = sp_team_forks();
    return sp_team_open(&e->team, e->threads);
}

void sp_executor_close_team(spry_executor *e)
{
    if (e->forks == sp_team_forks())
        sp_team_close(e->team);
    else
        sp_team_forget(e->team);
    e->team = NULL;
}

static spry_status begin_run(spry_executor *e, const void *const *input,
                             void *const *output)
{
    spry_status s = sp_graph_check_operands(e->g, input, output);

    if (!sp_isa_runs_here(e->m.isa))
        return sp_fail(SPRY_USAGE,
                       "a network for %s cannot run on this machine",
                       spry_isa_name(e->m.isa));
    if (s == SPRY_OK && e->forks != sp_team_forks()) {
        sp_executor_close_team(e);
        s = sp_executor_open_team(e);
    }
    e->input = input;
    e->output = output;
    return s;
}

spry_status spry_executor_run(spry_executor *e, const void *const *input,
                              void *const *output)
{
    spry_status s;

    if (!e)
        return sp_fail(SPRY_USAGE, "there is no executor");
    s = begin_run(e, input, output);
    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        s = run_stage(e, &e->stage[i]);
    return s;
}

spry_status spry_executor_profile(spry_executor *e, const void *const *input,
                                  void *const *output, int runs)
{
    spry_status s;

    if (!e || runs < 1)
        return sp_fail(SPRY_USAGE, "a profile needs an executor and runs");
    s = begin_run(e, input, output);
    for (int r = 0; r < runs; r++)
        for (int i = 0; s == SPRY_OK && i < e->p->stages; i++) {
            double begun = sp_seconds(), took;

            s = run_stage(e, &e->stage[i]);
            took = sp_seconds() - begun;
            if (r == 0 || took < e->stage[i].seconds)
                e->stage[i].seconds = took;
        }
    return s;
}

spry_status sp_executor_time(double *seconds, spry_executor *e, int i,
                             const void *const *input, void *const *output,
                             int runs)
{
    spry_status s = begin_run(e, input, output);

    *seconds = HUGE_VAL;
    for (int r = 0; s == SPRY_OK && r < runs; r++) {
        double begun;

        if (i > 0)
            s = run_stage(e, &e->stage[i - 1]);
        begun = sp_seconds();
        if (s == SPRY_OK)
            s = run_stage(e, &e->stage[i]);
        *seconds = fmin(*seconds, sp_seconds() - begun);
    }
    return s;
}
