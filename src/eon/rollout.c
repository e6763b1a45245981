/* rollout.c - a policy plays: states are noted down, batched and run. */
#include "eon/rollout.h"

#include <math.h>
#include <string.h>

#include "nn/losses.h"

enum { TELL_EVERY = 256 };
static const double REWARD = 0.1; /* of one read or write */

void sp_rollout_free(sp_rollout *p)
{
    sp_free(p->step);
    sp_free(p->edge);
    sp_free(p->cached);
    sp_free(p->states.source);
    sp_free(p->states.target);
    sp_free(p->states.may);
    sp_free(p->states.cached);
    sp_free(p->states.holds);
    *p = (sp_rollout){0};
}

/* Room for `count` in an array; grows by half at least. */
static spry_status grow(void *array, int64_t *room, int64_t count, size_t size)
{
    void *old, *more;
    int64_t wanted = count > *room + *room / 2 ? count : *room + *room / 2;

    if (count <= *room)
        return SPRY_OK;
    memcpy(&old, array, sizeof old);
    more = sp_grow(old, *room, wanted, size);
    if (!more)
        return sp_fail_memory((size_t)wanted * size);
    memcpy(array, &more, sizeof more);
    *room = wanted;
    return SPRY_OK;
}

/* Note the state of e down as one more step. */
static spry_status note_step(sp_rollout *p, const sp_episode *e)
{
    spry_status s =
        grow(&p->step, &p->step_room, p->steps + 1, sizeof *p->step);
    sp_step *now;

    if (s == SPRY_OK)
        s = grow(&p->edge, &p->edge_room, p->edges + e->count, sizeof *p->edge);
    if (s == SPRY_OK)
        s = grow(&p->cached, &p->held_room, p->held + e->memory.room,
                 sizeof *p->cached);
    if (s != SPRY_OK)
        return s;
    now = &p->step[p->steps++];
    *now = (sp_step){.edges_at = p->edges, .held_at = p->held};
    now->edges = (int32_t)e->count;
    memcpy(p->edge + p->edges, e->frontier, (size_t)e->count * sizeof *p->edge);
    p->edges += e->count;
    now->held = (int32_t)sp_episode_cache(p->cached + p->held, e);
    p->held += now->held;
    return SPRY_OK;
}

/* ---- batches ---- */

static spry_status reserve_states(sp_rollout *p)
{
    sp_states *s = &p->states;
    int64_t edges = s->count * s->edges, held = s->count * s->held;

    if (edges > p->states_room) {
        sp_free(s->source);
        sp_free(s->target);
        sp_free(s->may);
        p->states_room = edges;
        s->source = sp_alloc_raw(edges, sizeof *s->source);
        s->target = sp_alloc_raw(edges, sizeof *s->target);
        s->may = sp_alloc_raw(edges, 1);
    }
    if (held > p->cached_room) {
        sp_free(s->cached);
        sp_free(s->holds);
        p->cached_room = held;
        s->cached = sp_alloc_raw(held, sizeof *s->cached);
        s->holds = sp_alloc_raw(held, 1);
    }
    if (s->source && s->target && s->may && s->cached && s->holds)
        return SPRY_OK;
    p->states_room = p->cached_room = 0;
    return sp_fail_memory((size_t)edges * 9);
}

static void fill_state(sp_rollout *p, const sp_episode *e, const sp_step *now,
                       int64_t i)
{
    sp_states *s = &p->states;

    for (int64_t j = 0; j < s->edges; j++) {
        int64_t at = i * s->edges + j;
        int real = j < now->edges;
        int32_t k = real ? p->edge[now->edges_at + j] : 0;

        s->may[at] = (uint8_t)real;
        s->source[at] = e->net->source[k];
        s->target[at] = e->out.target[k];
    }
    for (int64_t j = 0; j < s->held; j++) {
        int real = j < now->held;

        s->holds[i * s->held + j] = (uint8_t)real;
        s->cached[i * s->held + j] = real ? p->cached[now->held_at + j] : 0;
    }
}

spry_status sp_rollout_states(sp_rollout *p, const sp_episode *e,
                              const int64_t *which, int64_t count)
{
    sp_states *s = &p->states;
    spry_status status;

    s->count = count;
    s->edges = s->held = 1;
    for (int64_t i = 0; i < count; i++) {
        const sp_step *now = &p->step[which[i]];

        s->edges = now->edges > s->edges ? now->edges : s->edges;
        s->held = now->held > s->held ? now->held : s->held;
    }
    status = reserve_states(p);
    for (int64_t i = 0; status == SPRY_OK && i < count; i++)
        fill_state(p, e, &p->step[which[i]], i);
    return status;
}

/* ---- one episode ---- */

static int32_t likeliest(const float *logit, int64_t count)
{
    int32_t best = 0;

    for (int32_t i = 1; i < count; i++)
        if (logit[i] > logit[best])
            best = i;
    return best;
}

static int32_t draw(const float *logit, int64_t count, sp_rng *chance)
{
    float top = logit[likeliest(logit, count)];
    double sum = 0, at;

    for (int64_t i = 0; i < count; i++)
        sum += exp((double)(logit[i] - top));
    at = sp_rng_unit(chance) * sum;
    for (int32_t i = 0; i < count; i++) {
        at -= exp((double)(logit[i] - top));
        if (at < 0)
            return i;
    }
    return (int32_t)count - 1;
}

/* What the neurons are does not change during an episode. */
static spry_status embed_once(float **out, sp_shape *shape,
                              const sp_environment *g, const sp_policy *policy,
                              sp_tape *tape)
{
    sp_tensor *x;

    *out = NULL;
    sp_tape_begin(tape, 0);
    x = sp_policy_embed(tape, policy, &g->view);
    if (sp_tape_status(tape) != SPRY_OK)
        return sp_tape_status(tape);
    *out = sp_alloc_raw(x->size, sizeof **out);
    if (!*out)
        return sp_fail_memory((size_t)x->size * sizeof **out);
    memcpy(*out, x->value, (size_t)x->size * sizeof **out);
    *shape = x->shape;
    return SPRY_OK;
}

static spry_status take_step(sp_rollout *p, sp_environment *g,
                             const sp_policy *policy, sp_tape *tape,
                             sp_rng *chance, sp_shape shape,
                             const float *neurons, int32_t *edge)
{
    sp_episode *e = &g->episode;
    int64_t last = p->steps;
    sp_tensor *logits, *value = NULL;
    sp_step *now;
    spry_status s = note_step(p, e);

    if (s == SPRY_OK)
        s = sp_rollout_states(p, e, &last, 1);
    if (s != SPRY_OK)
        return s;
    sp_tape_begin(tape, 0);
    logits = sp_policy_run(tape, policy, sp_nn_input(tape, shape, neurons),
                           &p->states, chance ? &value : NULL);
    s = sp_tape_status(tape);
    if (s != SPRY_OK)
        return s;
    now = &p->step[last];
    now->action = chance ? draw(logits->value, e->count, chance)
                         : likeliest(logits->value, e->count);
    sp_log_p(&now->log_p, logits, p->states.may, &now->action);
    now->value = value ? value->value[0] : 0;
    if (edge)
        edge[e->steps] = e->frontier[now->action];
    now->reward = (float)(-REWARD * sp_episode_step(e, now->action));
    return SPRY_OK;
}

spry_status sp_rollout_episode(sp_rollout *p, sp_environment *g,
                               const sp_policy *policy, sp_tape *tape,
                               sp_rng *chance, int keep, int32_t *edge,
                               const spry_order_options *progress)
{
    sp_episode *e = &g->episode;
    float *neurons;
    sp_shape shape;
    spry_status s = embed_once(&neurons, &shape, g, policy, tape);

    sp_episode_begin(e);
    while (s == SPRY_OK && e->steps < e->net->edges) {
        if (!keep)
            p->steps = p->edges = p->held = 0;
        s = take_step(p, g, policy, tape, chance, shape, neurons, edge);
        if (s == SPRY_OK && progress && e->steps % TELL_EVERY == 0)
            s = sp_order_progress(progress, e->steps, e->net->edges);
    }
    sp_free(neurons);
    return s;
}
