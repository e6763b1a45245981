/* train.c - learning to order: networks and memories in, a model out. */
#include <math.h>
#include <string.h>

#include "eon/internal.h"
#include "nn/eigen.h"

static const int64_t usual_memory = 128;

const char *spry_eigen(void)
{
    return sp_eigen_by();
}

/* Networks and memories: each pair of them is learned from. */
typedef struct {
    const spry_network *const *nets;
    const spry_eon_options *options;
    int64_t pairs;
} training;

static const spry_network *net_of(const training *l, int64_t i)
{
    return l->nets[i / l->options->memories];
}

static int64_t memory_of(const training *l, int64_t i)
{
    return l->options->memory[i % l->options->memories];
}

/* ---- the two forms ---- */

static spry_status train_moves(sp_eon *m, const training *l, double *best)
{
    sp_eon_task *task = sp_alloc(l->pairs, sizeof *task);
    sp_evolution e = {task, l->pairs, l->options};
    spry_status s =
        task ? SPRY_OK : sp_fail_memory((size_t)l->pairs * sizeof *task);

    for (int64_t i = 0; s == SPRY_OK && i < l->pairs; i++)
        s = sp_eon_task_open(&task[i], net_of(l, i), memory_of(l, i));
    if (s == SPRY_OK)
        s = sp_evolve(&m->scorer, &e, best);
    for (int64_t i = 0; task && i < l->pairs; i++)
        sp_eon_task_close(&task[i]);
    sp_free(task);
    return s;
}

static spry_status train_attention(sp_eon *m, const training *l, double *best)
{
    sp_environment *environment = sp_alloc(l->pairs, sizeof *environment);
    sp_ppo_run r = {environment, l->pairs, l->options};
    spry_status s =
        environment ? SPRY_OK
                    : sp_fail_memory((size_t)l->pairs * sizeof *environment);

    for (int64_t i = 0; s == SPRY_OK && i < l->pairs; i++)
        s = sp_environment_open(&environment[i], net_of(l, i), memory_of(l, i),
                                m->policy.embedding);
    if (s == SPRY_OK)
        s = sp_ppo_learn(&m->policy, &r, best);
    for (int64_t i = 0; environment && i < l->pairs; i++)
        sp_environment_close(&environment[i]);
    sp_free(environment);
    return s;
}

/* ---- from beginning to end ---- */

static spry_status check(const training *l, int64_t count)
{
    const spry_eon_options *o = l->options;

    if (count < 1 || o->memories < 1 || !spry_eon_name(o->form) ||
        !spry_embedding_name(o->embedding) || o->episodes < 0 ||
        !(o->seconds >= 0))
        return sp_fail(SPRY_USAGE, "learning needs a network, a memory, a "
                                   "form, and no negative time");
    for (int64_t i = 0; i < o->memories; i++)
        if (o->memory[i] < 3)
            return sp_fail(SPRY_USAGE,
                           "a memory to learn for holds 3 neurons "
                           "at least, not %lld",
                           (long long)o->memory[i]);
    for (int64_t i = 0; i < count; i++)
        if (l->nets[i]->edges < 1)
            return sp_fail(SPRY_USAGE, "a network without edges has no order "
                                       "to learn");
    return SPRY_OK;
}

static spry_status begin(sp_eon *m, const spry_eon_options *o)
{
    spry_status s = o->model ? sp_eon_load(m, o->model)
                             : sp_eon_new(m, o->form, o->embedding, o->seed);

    if (s == SPRY_OK && m->form != o->form)
        s = sp_fail(SPRY_USAGE, "%s: holds a model of form %s, not %s",
                    o->model, spry_eon_name(m->form), spry_eon_name(o->form));
    return s;
}

static spry_status train(const char *path, const training *l, int64_t count)
{
    double best = HUGE_VAL;
    sp_eon m = {0};
    spry_status s = begin(&m, l->options);

    for (int64_t i = 0; s == SPRY_OK && i < count; i++)
        s = sp_eon_check_size(&m, l->nets[i]);
    if (s == SPRY_OK)
        s = m.form == SPRY_EON_MOVES ? train_moves(&m, l, &best)
                                     : train_attention(&m, l, &best);
    if (s == SPRY_OK)
        s = sp_eon_save(&m, path, count, best);
    sp_eon_free(&m);
    return s;
}

spry_status spry_eon_train(const char *path, const spry_network *const *nets,
                           int64_t count, const spry_eon_options *options)
{
    SP_NEED(path, nets);

    spry_eon_options o = SPRY_EON_DEFAULTS;
    training l = {nets, &o, 0};
    spry_status s = SP_TAKE_OPTIONS(&o, options);

    if (s != SPRY_OK)
        return s;
    if (!o.memory) {
        o.memory = &usual_memory;
        o.memories = 1;
    }
    l.pairs = count * o.memories;
    s = check(&l, count);
    if (s == SPRY_OK)
        s = sp_writer_try(path);
    return s == SPRY_OK ? train(path, &l, count) : s;
}
