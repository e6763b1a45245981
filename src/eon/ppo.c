/* ppo.c - proximal policy optimisation (Schulman et al., 2017): a few
 * episodes are played with chance, their advantages estimated by GAE, and the
 * policy learns from each step a few times, never going far at once. */
#include "eon/ppo.h"

#include <math.h>
#include <string.h>

#include "eon/rollout.h"
#include "nn/losses.h"

enum { EPISODES = 4, EPOCHS = 4, BATCH = 64 };
static const double DISCOUNT = 0.99, LAMBDA = 0.95;
static const double CLIP = 0.2, ENTROPY = 0.01, VALUE = 0.5;
static const sp_adam LEARNING = {1e-3, 0.9, 0.999, 1e-8, 0, 1, 0.5};

/* ---- environments ---- */

spry_status sp_environment_open(sp_environment *g, const spry_network *n,
                                int64_t memory, spry_embedding embedding)
{
    spry_status s;

    *g = (sp_environment){0};
    s = sp_order_io(&g->plain, n, NULL, memory);
    if (s == SPRY_OK)
        s = sp_episode_open(&g->episode, n, memory);
    if (s == SPRY_OK)
        s = sp_vertex_view_open(&g->view, n, embedding);
    if (s != SPRY_OK)
        sp_environment_close(g);
    return s;
}

void sp_environment_close(sp_environment *g)
{
    sp_episode_close(&g->episode);
    sp_vertex_view_close(&g->view);
    *g = (sp_environment){0};
}

spry_status sp_environment_order(sp_environment *g, const sp_policy *p,
                                 sp_rng *chance, int32_t *edge,
                                 const spry_order_options *progress)
{
    sp_rollout rollout = {0};
    sp_tape *tape;
    spry_status s = sp_tape_new(&tape, 1);

    if (s == SPRY_OK)
        s = sp_rollout_episode(&rollout, g, p, tape, chance, 0, edge, progress);
    sp_rollout_free(&rollout);
    sp_tape_free(tape);
    return s;
}

/* ---- learning ---- */

typedef struct {
    sp_policy *policy;
    const sp_ppo_run *run;
    sp_tape *tape;
    sp_rollout rollout;
    sp_rng chance;
    float *kept; /* [weights] of the best so far */
    double least;
    int64_t episodes;
    double begin, reward;
    /* Of a batch. */
    int64_t *order, room; /* [steps] */
    int32_t action[BATCH];
    float log_p[BATCH], advantage[BATCH], value[BATCH], returns[BATCH];
} learning;

static void copy_weights(float *kept, const sp_nn *n, int back)
{
    const char *name;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(n, i, &name)) != NULL; i++) {
        if (back)
            memcpy(t->value, kept, (size_t)t->size * sizeof *kept);
        else
            memcpy(kept, t->value, (size_t)t->size * sizeof *kept);
        kept += t->size;
    }
}

/* Advantages of the steps from `first` on, which are one episode. */
static spry_status estimate(sp_rollout *p, int64_t first)
{
    int64_t steps = p->steps - first;
    float *all = sp_alloc_raw(4 * steps, sizeof *all);
    float *reward = all, *value, *advantage, *returns;

    if (!all)
        return sp_fail_memory((size_t)(4 * steps) * sizeof *all);
    value = all + steps;
    advantage = all + 2 * steps;
    returns = all + 3 * steps;
    for (int64_t i = 0; i < steps; i++) {
        reward[i] = p->step[first + i].reward;
        value[i] = p->step[first + i].value;
    }
    sp_gae(advantage, returns, reward, value, steps, DISCOUNT, LAMBDA);
    for (int64_t i = 0; i < steps; i++) {
        p->step[first + i].advantage = advantage[i];
        p->step[first + i].returns = returns[i];
    }
    sp_free(all);
    return SPRY_OK;
}

/* To mean 0 and deviation 1. */
static void normalise(sp_rollout *p)
{
    double sum = 0, squares = 0, mean, deviation;

    for (int64_t i = 0; i < p->steps; i++)
        sum += (double)p->step[i].advantage;
    mean = sum / (double)p->steps;
    for (int64_t i = 0; i < p->steps; i++) {
        double d = (double)p->step[i].advantage - mean;

        squares += d * d;
    }
    deviation = sqrt(squares / (double)p->steps) + 1e-6;
    for (int64_t i = 0; i < p->steps; i++)
        p->step[i].advantage =
            (float)(((double)p->step[i].advantage - mean) / deviation);
}

static spry_status roll_out(learning *l, sp_environment *g)
{
    spry_status s = SPRY_OK;
    int64_t io = 0;

    l->rollout.steps = l->rollout.edges = l->rollout.held = 0;
    for (int i = 0; s == SPRY_OK && i < EPISODES; i++) {
        int64_t first = l->rollout.steps;

        s = sp_rollout_episode(&l->rollout, g, l->policy, l->tape, &l->chance,
                               1, NULL, NULL);
        io += g->episode.io;
        l->episodes++;
        if (s == SPRY_OK)
            s = estimate(&l->rollout, first);
    }
    l->reward = -(double)io / EPISODES;
    if (s == SPRY_OK)
        normalise(&l->rollout);
    return s;
}

static spry_status learn_batch(learning *l, const sp_environment *g,
                               const int64_t *which, int64_t count)
{
    spry_status s = sp_rollout_states(&l->rollout, &g->episode, which, count);
    sp_ppo o = {l->rollout.states.may, l->action, l->log_p,
                l->advantage,          CLIP,      ENTROPY};
    sp_tensor *logits, *value, *loss;

    for (int64_t i = 0; i < count; i++) {
        const sp_step *now = &l->rollout.step[which[i]];

        l->action[i] = now->action;
        l->log_p[i] = now->log_p;
        l->advantage[i] = now->advantage;
        l->value[i] = now->value;
        l->returns[i] = now->returns;
    }
    if (s != SPRY_OK)
        return s;
    sp_tape_begin(l->tape, 1);
    logits = sp_policy_run(l->tape, l->policy,
                           sp_policy_embed(l->tape, l->policy, &g->view),
                           &l->rollout.states, &value);
    loss = sp_nn_add(
        l->tape, sp_loss_ppo(l->tape, logits, &o),
        sp_nn_scale(l->tape,
                    sp_loss_value(l->tape, value, l->value, l->returns, 0),
                    VALUE));
    s = sp_tape_backward(l->tape, loss);
    if (s == SPRY_OK)
        sp_nn_adam(l->policy->weights, &LEARNING, 1);
    return s;
}

static void shuffle(learning *l)
{
    for (int64_t i = 0; i < l->rollout.steps; i++) {
        int64_t j = (int64_t)sp_rng_below(&l->chance, (uint64_t)i + 1);

        l->order[i] = l->order[j];
        l->order[j] = i;
    }
}

static spry_status learn_epochs(learning *l, const sp_environment *g)
{
    int64_t steps = l->rollout.steps;
    spry_status s = SPRY_OK;

    if (steps > l->room) {
        sp_free(l->order);
        l->room = steps;
        l->order = sp_alloc_raw(steps, sizeof *l->order);
        if (!l->order) {
            l->room = 0;
            return sp_fail_memory((size_t)steps * sizeof *l->order);
        }
    }
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        shuffle(l);
        for (int64_t i = 0; s == SPRY_OK && i < steps; i += BATCH)
            s = learn_batch(l, g, l->order + i,
                            steps - i < BATCH ? steps - i : BATCH);
    }
    return s;
}

/* ---- how good it is, and the whole ---- */

/* The likeliest edges of every environment; before the first episode their
 * reward is all that is known. */
static spry_status judge(learning *l, double *share)
{
    double sum = 0, io = 0;
    spry_status s = SPRY_OK;

    for (int64_t i = 0; s == SPRY_OK && i < l->run->environments; i++) {
        sp_environment *g = &l->run->environment[i];

        s = sp_rollout_episode(&l->rollout, g, l->policy, l->tape, NULL, 0,
                               NULL, NULL);
        sum += log((double)g->episode.io / (double)g->plain);
        io += (double)g->episode.io;
    }
    if (l->episodes == 0)
        l->reward = -io / (double)l->run->environments;
    *share = exp(sum / (double)l->run->environments);
    if (s == SPRY_OK && *share < l->least) {
        l->least = *share;
        copy_weights(l->kept, l->policy->weights, 0);
    }
    return s;
}

/* Is it time to end? */
static int tell(const learning *l, double share)
{
    const spry_eon_options *o = l->run->options;
    double elapsed = sp_seconds() - l->begin;
    spry_eon_progress now = {l->episodes, elapsed, l->reward, share, l->least};

    if (o->progress && o->progress(&now, o->payload))
        return 1;
    return o->episodes > 0 ? l->episodes >= o->episodes : elapsed >= o->seconds;
}

static spry_status learn(learning *l)
{
    double share;
    spry_status s;

    l->begin = sp_seconds();
    s = judge(l, &share);
    if (s == SPRY_OK && tell(l, share))
        return SPRY_OK;
    for (int64_t i = 0; s == SPRY_OK; i++) {
        sp_environment *g = &l->run->environment[i % l->run->environments];

        s = roll_out(l, g);
        if (s == SPRY_OK)
            s = learn_epochs(l, g);
        if (s == SPRY_OK)
            s = judge(l, &share);
        if (s == SPRY_OK && tell(l, share))
            break;
    }
    copy_weights(l->kept, l->policy->weights, 1);
    return s;
}

spry_status sp_ppo_learn(sp_policy *p, const sp_ppo_run *r, double *best)
{
    learning l = {.policy = p, .run = r, .least = HUGE_VAL};
    spry_status s = sp_tape_new(&l.tape, 1);

    l.chance = sp_rng_seed(r->options->seed);
    l.kept = sp_alloc(sp_nn_count(p->weights), sizeof *l.kept);
    if (s == SPRY_OK && l.kept) {
        copy_weights(l.kept, p->weights, 0);
        s = learn(&l);
    } else if (s == SPRY_OK) {
        s = sp_fail_memory((size_t)sp_nn_count(p->weights) * sizeof *l.kept);
    }
    *best = l.least;
    sp_rollout_free(&l.rollout);
    sp_tape_free(l.tape);
    sp_free(l.kept);
    sp_free(l.order);
    return s;
}
