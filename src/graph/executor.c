/* executor.c - a list of plans over one arena: made, freed, asked. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "graph/executor.h"
#include "graph/kept.h"

enum { MOVE_ALONE = 1 << 15 }; /* elements that one thread moves faster */

static spry_status take_options(spry_executor *e,
                                const spry_executor_options *o)
{
    static const spry_executor_options usual = SPRY_EXECUTOR_DEFAULTS;

    e->o = usual;
    if (SP_TAKE_OPTIONS(&e->o, o) != SPRY_OK)
        return SPRY_USAGE;
    if (e->o.threads < 0 || !(e->o.seconds >= 0) ||
        !*spry_tuning_order_name(e->o.order))
        return sp_fail(SPRY_USAGE, "the options of an executor make no sense");
    return SPRY_OK;
}

/* Something that is done while something else is, each of some milliseconds. */
typedef struct {
    void (*act)(spry_executor *e);
    spry_executor *e;
    pthread_t thread;
    int beside;
} aside;

static void *begin(void *arg)
{
    aside *a = arg;

    a->act(a->e);
    return NULL;
}

static void start(aside *a)
{
    a->beside = pthread_create(&a->thread, NULL, begin, a) == 0;
}

static void finish(aside *a)
{
    if (a->beside)
        pthread_join(a->thread, NULL);
    else
        a->act(a->e);
}

static void detect(spry_executor *e)
{
    if (e->o.machine)
        e->m = *e->o.machine;
    else if (spry_machine_detect(&e->m) != SPRY_OK)
        e->m.threads = 0;
}

static void open_answers(spry_executor *e)
{
    e->known = sp_answers_open(sp_executor_store(e), e->note, sizeof e->note);
}

static spry_status lower_graph(spry_executor *e)
{
    aside asked = {.act = detect, .e = e};
    spry_status s;

    start(&asked);
    s = sp_program_make(&e->p, e->g);
    finish(&asked);
    if (s == SPRY_OK && e->m.threads < 1) /* once more, for the sentence */
        s = spry_machine_detect(&e->m);
    if (s != SPRY_OK)
        return s;
    e->threads = e->o.threads && e->o.threads < e->m.threads ? e->o.threads
                                                             : e->m.threads;
    /* The machine that plans are for has these threads, and is stored so. */
    return spry_machine_limit(&e->m, e->threads, e->m.isa);
}

spry_status sp_executor_room(spry_executor *e)
{
    int64_t most = 0;

    for (int i = 0; i < e->p->stages; i++)
        most = e->stage[i].scratch > most ? e->stage[i].scratch : most;
    most = sp_round_up(most, 64);
    if (most <= e->scratch_bytes)
        return SPRY_OK;
    sp_free(e->scratch);
    e->scratch_bytes = 0;
    e->scratch = sp_alloc(most * e->threads, 1);
    if (!e->scratch)
        return sp_fail_memory((size_t)(most * e->threads));
    e->scratch_bytes = most;
    return SPRY_OK;
}

static spry_status make_room(spry_executor *e)
{
    e->arena = sp_alloc(e->p->arena ? e->p->arena : 1, 1);
    return e->arena ? sp_executor_room(e) : sp_fail_memory((size_t)e->p->arena);
}

static void set_moves(spry_executor *e)
{
    for (int i = 0; i < e->p->stages; i++) {
        const sp_stage *s = &e->p->stage[i];
        int64_t count = 1;

        if (s->kind != SP_STAGE_MOVE)
            continue;
        for (int d = 0; d < s->in.shape.dims; d++)
            count *= s->in.shape.dim[d];
        e->stage[i].shares = count < MOVE_ALONE ? 1 : e->threads;
        e->stage[i].move = sp_move_of(&s->out, &s->in, s->size);
    }
}

/* Are packed weights of another time looked for, and these left to others? */
static int keeps(const spry_executor *e)
{
    return !e->o.store || strcmp(e->o.store, ":memory:") != 0;
}

/* A plan for every stage; where they are of use, with packed weights of
 * another time. */
static spry_status make_plans(spry_executor *e)
{
    aside store = {.act = open_answers, .e = e};
    spry_status s;

    start(&store);
    s = lower_graph(e);
    if (s == SPRY_OK)
        s = sp_executor_open_team(e);
    if (s == SPRY_OK && keeps(e) && e->o.effort < SPRY_MEASURE)
        e->kept = sp_kept_open(e);
    finish(&store);
    if (keeps(e))
        sp_kept_note_limit(e);
    if (s == SPRY_OK)
        s = sp_executor_choose(e);
    sp_answers_close(e->known);
    e->known = NULL;
    return s;
}

spry_status spry_executor_make(spry_executor **out, const spry_graph *g,
                               const spry_executor_options *options)
{
    spry_executor *e;
    spry_status s;

    if (out)
        *out = NULL;
    if (!out || !g)
        return sp_fail(SPRY_USAGE, "an executor needs a graph");
    e = sp_alloc(1, sizeof *e);
    if (!e)
        return sp_fail_memory(sizeof *e);
    e->g = g;
    e->begun = sp_seconds();
    s = take_options(e, options);
    if (s == SPRY_OK)
        s = make_plans(e);
    if (s == SPRY_OK)
        s = make_room(e);
    if (s == SPRY_OK)
        set_moves(e);
    if (s == SPRY_OK && e->o.effort >= SPRY_MEASURE)
        s = sp_executor_tune(e);
    if (s == SPRY_OK && keeps(e))
        sp_kept_write(e);
    if (s == SPRY_OK)
        *out = e;
    else
        spry_executor_free(e);
    return s;
}

spry_status spry_network_onnx(spry_executor **out, const char *source,
                              const spry_executor_options *options)
{
    SP_NEED_NEW(out, source);

    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_graph *g = NULL;
    spry_status s = SP_TAKE_OPTIONS(&o, options);

    if (s == SPRY_OK)
        s = spry_graph_read(&g, source, NULL);
    if (s == SPRY_OK)
        s = spry_executor_make(out, g, &o);
    if (s == SPRY_OK && *out)
        (*out)->own = g;
    else
        spry_graph_free(g);
    return s;
}

const spry_graph *spry_executor_graph(const spry_executor *e)
{
    return e ? e->g : NULL;
}

void spry_executor_free(spry_executor *e)
{
    if (!e)
        return;
    sp_executor_close_team(e);
    for (int i = 0; e->stage && i < e->p->stages; i++) {
        spry_plan_free(e->stage[i].plan);
        spry_problem_free(e->stage[i].problem);
    }
    sp_kept_close(e->kept);
    sp_free(e->stage);
    sp_free(e->task);
    sp_free(e->arena);
    sp_free(e->scratch);
    sp_program_free(e->p);
    spry_graph_free(e->own);
    sp_free(e);
}

/* ---- questions ---- */

int spry_executor_stages(const spry_executor *e)
{
    return e ? e->p->stages : 0;
}

const char *spry_executor_note(const spry_executor *e)
{
    return e ? e->note : "";
}

int64_t spry_executor_arena(const spry_executor *e)
{
    return e ? e->p->arena : 0;
}

int64_t spry_executor_live(const spry_executor *e)
{
    return e ? e->p->live : 0;
}

spry_status spry_executor_gain_of(const spry_executor *e,
                                  spry_executor_gain *out)
{
    SP_NEED(e, out);
    SP_ROOM(out);
    SP_GIVE(out, &e->gain);
    return SPRY_OK;
}

spry_status spry_executor_stage_of(const spry_executor *e, int i,
                                   spry_executor_stage *out)
{
    static const char *const words[] = {"", "move", "gather", "plain"};
    const sp_ready_stage *x;
    spry_executor_stage t;

    if (!e || !out || i < 0 || i >= e->p->stages)
        return sp_fail(SPRY_USAGE, "there is no such stage");
    SP_ROOM(out);
    x = &e->stage[i];
    t = (spry_executor_stage){.name = x->stage->name,
                              .way = x->plan ? x->plan->text : "",
                              .density = x->density,
                              .macs = x->stage->macs,
                              .seconds = x->seconds};
    if (x->stage->kind == SP_STAGE_DENSE)
        spry_operator_text(t.task, sizeof t.task,
                           x->problem ? spry_problem_operator(x->problem)
                                      : &x->stage->op);
    else
        snprintf(t.task, sizeof t.task, "%s%s%s", words[x->stage->kind],
                 x->stage->kind == SP_STAGE_PLAIN ? " " : "",
                 x->stage->kind == SP_STAGE_PLAIN ? x->stage->node->op->name
                                                  : "");
    SP_GIVE(out, &t);
    return SPRY_OK;
}
