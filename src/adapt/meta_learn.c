/* meta_learn.c - the outer loop over machines. */
#include <math.h>
#include <string.h>

#include "adapt/meta.h"
#include "nn/losses.h"

enum { BATCH = 64, VALIDATED = 4, EVERY = 10 };

typedef struct {
    sp_pretrained *s;
    const sp_meta_task *task;
    int tasks;
    const sp_meta *how;
    int net; /* that learns now */
    sp_rng rng;
    float *x; /* [BATCH, SP_FEATURES] */
    float target[BATCH], seconds[BATCH];
    float *slope, *best; /* [weights] */
    sp_learner learner;
} work;

/* One group in VALIDATED is never learned from. */
static int validates(const work *w, int task, int64_t subject)
{
    return w->task[task].group[subject] % VALIDATED == 0;
}

static int usable(const work *w, int task, int64_t subject)
{
    const sp_dataset *t = w->task[task].t;

    return t->start[subject + 1] - t->start[subject] > 2;
}

/* ---- the loss ---- */

static sp_tensor *loss(sp_tape *tape, const void *net, int task,
                       int64_t subject, void *payload)
{
    work *w = payload;
    const sp_dataset *t = w->task[task].t;
    int64_t from = t->start[subject], n = t->start[subject + 1] - from;
    int64_t count = n < BATCH ? n : BATCH;
    sp_tensor *score;

    for (int64_t i = 0; i < count; i++) {
        int64_t row = from + i * n / count;

        memcpy(w->x + i * SP_FEATURES, t->x + row * SP_FEATURES,
               SP_FEATURES * sizeof *w->x);
        w->target[i] = t->slower[row];
        w->seconds[i] = expf(t->slower[row]);
    }
    score = sp_resnet_pass(tape, net, w->x, count);
    return sp_nn_add(tape, sp_loss_huber(tape, score, w->target, 1),
                     sp_loss_lambdarank(tape, score, w->seconds, 4));
}

/* ---- rounds ---- */

/* Subjects of other groups than those already there, by chance; 0: there are
 * not enough. */
static int draw(int64_t *out, int have, int want, work *w, int task,
                int validating)
{
    const sp_meta_task *m = &w->task[task];
    int64_t n = m->t->e->subjects;
    int count = have;

    for (int tries = 0; tries < 200 && count < have + want; tries++) {
        int64_t k = (int64_t)sp_rng_below(&w->rng, (uint64_t)n);
        int fresh = usable(w, task, k) && validates(w, task, k) == validating;

        for (int i = 0; i < count && fresh; i++)
            fresh = m->group[out[i]] != m->group[k];
        if (fresh)
            out[count++] = k;
    }
    return count == have + want;
}

static spry_status one_round(work *w, const sp_adam *adam)
{
    int64_t drawn[64];
    const sp_meta *how = w->how;
    spry_status s = SPRY_OK;
    double lost;

    for (int task = 0; task < w->tasks && s == SPRY_OK; task++) {
        int64_t at = 0;
        sp_tensor *t;

        if (!draw(drawn, 0, how->support, w, task, 0) ||
            !draw(drawn, how->support, how->query, w, task, 0))
            continue;
        s = sp_meta_slope(w->slope, &lost, &w->learner, how, task, drawn,
                          drawn + how->support);
        for (int i = 0; s == SPRY_OK && (t = sp_nn_at(w->s->nn, i, NULL)); i++)
            for (int64_t k = 0; t->grad && k < t->size; k++)
                t->grad[k] = w->slope[at++];
        if (s == SPRY_OK)
            sp_nn_adam(w->s->nn, adam, 1);
    }
    return s;
}

/* What is wrong on validating subjects after the inner loop on others. */
static spry_status validate(double *out, work *w, float *kept)
{
    sp_rng before = w->rng;
    int64_t drawn[64];
    double sum = 0, n = 0;
    spry_status s = SPRY_OK;

    w->rng = sp_rng_seed(7);
    sp_learner_get(kept, &w->learner);
    for (int task = 0; task < w->tasks && s == SPRY_OK; task++) {
        const sp_dataset *t = w->task[task].t;
        float *score = sp_alloc(t->rows + 1, sizeof *score);
        sp_meta probe = *w->how;
        double lost;

        probe.kind = SP_META_REPTILE; /* the slope is the way itself */
        probe.query = probe.support;
        if (!score)
            return sp_fail_memory((size_t)t->rows * sizeof *score);
        if (draw(drawn, 0, probe.support, w, task, 0)) {
            s = sp_meta_slope(w->slope, &lost, &w->learner, &probe, task, drawn,
                              drawn);
            for (int64_t i = 0, size = sp_learner_size(&w->learner); i < size;
                 i++)
                w->slope[i] = kept[i] - w->slope[i];
            sp_learner_set(&w->learner, w->slope);
            if (s == SPRY_OK)
                s = sp_net_table(score, t, w->learner.net, sp_resnet_pass, 1);
            for (int64_t k = 0; s == SPRY_OK && k < t->e->subjects; k++) {
                double wrong = usable(w, task, k) && validates(w, task, k)
                                   ? sp_wrong_order(t, score, k)
                                   : nan("");

                sum += isfinite(wrong) ? wrong : 0;
                n += isfinite(wrong);
            }
            sp_learner_set(&w->learner, kept);
        }
        sp_free(score);
    }
    w->rng = before;
    *out = n > 0 ? sum / n : 0;
    return s;
}

static spry_status learn_net(work *w, float *kept, double *gain, double until)
{
    sp_adam adam = SP_ADAM_DEFAULTS;
    double first, least, now;
    int best = 0;
    spry_status s = validate(&first, w, kept);

    adam.rate = w->how->outer_rate;
    adam.clip = 1;
    least = first;
    sp_learner_get(w->best, &w->learner);
    for (int r = 1; r <= w->how->rounds && s == SPRY_OK; r++) {
        s = one_round(w, &adam);
        if (s != SPRY_OK || r % EVERY)
            continue;
        s = validate(&now, w, kept);
        if (s == SPRY_OK && now < least) {
            least = now;
            best = r;
            sp_learner_get(w->best, &w->learner);
        }
        if (r - best >= w->how->patience || (until > 0 && sp_seconds() > until))
            break;
    }
    sp_learner_set(&w->learner, w->best);
    *gain += (first - least) / w->s->nets;
    return s;
}

spry_status sp_meta_learn(sp_pretrained *s, const sp_meta_task *task, int tasks,
                          const sp_meta *how, double *gain)
{
    work w = {.s = s,
              .task = task,
              .tasks = tasks,
              .how = how,
              .rng = sp_rng_seed(how->seed)};
    double until = how->seconds > 0 ? sp_seconds() + how->seconds : 0;
    spry_status status = SPRY_OK;
    float *kept = NULL;

    *gain = 0;
    w.x = sp_alloc(BATCH, SP_FEATURES * sizeof *w.x);
    for (int k = 0; k < s->nets && status == SPRY_OK; k++) {
        int64_t size;

        sp_pretrained_learns(s, k, 1);
        w.learner = (sp_learner){s->nn, &s->net[k], ".last", loss, &w};
        size = sp_learner_size(&w.learner);
        w.slope = sp_alloc(3 * size, sizeof *w.slope);
        w.best = w.slope + size;
        kept = w.best + size;
        status = w.slope && w.x ? learn_net(&w, kept, gain, until)
                                : sp_fail_memory((size_t)size * 12);
        sp_free(w.slope);
        sp_pretrained_learns(s, k, 0);
    }
    sp_free(w.x);
    return status;
}
