/* meta_loop.c - the outer loop over machines, whatever learns. */
#include <math.h>

#include "adapt/meta.h"

enum { VALIDATED = 4, EVERY = 10, MOST = 64 };

typedef struct {
    const sp_meta_field *f;
    const sp_meta *how;
    sp_rng rng;
    int64_t size;               /* weights */
    float *slope, *best, *kept; /* [size] */
} loop;

/* One group in VALIDATED is never learned from. */
static int validates(const loop *w, int task, int64_t subject)
{
    return w->f->task[task].group[subject] % VALIDATED == 0;
}

static int usable(const loop *w, int task, int64_t subject)
{
    return w->f->usable(task, subject, w->f->learner.payload);
}

/* Subjects that teach, of other groups than those already there, by chance; 0:
 * there are not enough. */
static int draw(int64_t *out, int have, int want, loop *w, int task)
{
    const sp_meta_pool *m = &w->f->task[task];
    int count = have;

    for (int tries = 0; tries < 200 && count < have + want; tries++) {
        int64_t k = (int64_t)sp_rng_below(&w->rng, (uint64_t)m->subjects);
        int fresh = usable(w, task, k) && !validates(w, task, k);

        for (int i = 0; i < count && fresh; i++)
            fresh = m->group[out[i]] != m->group[k];
        if (fresh)
            out[count++] = k;
    }
    return count == have + want;
}

static spry_status one_round(loop *w, const sp_adam *adam)
{
    const sp_meta *how = w->how;
    const sp_learner *l = &w->f->learner;
    int64_t drawn[MOST];
    spry_status s = SPRY_OK;
    double lost;

    for (int task = 0; task < w->f->tasks && s == SPRY_OK; task++) {
        int64_t at = 0;
        sp_tensor *t;

        if (!draw(drawn, 0, how->support, w, task) ||
            !draw(drawn, how->support, how->query, w, task))
            continue;
        s = sp_meta_slope(w->slope, &lost, l, how, task, drawn,
                          drawn + how->support);
        for (int i = 0; s == SPRY_OK && (t = sp_nn_at(l->nn, i, NULL)); i++)
            for (int64_t k = 0; t->grad && k < t->size; k++)
                t->grad[k] = w->slope[at++];
        if (s == SPRY_OK)
            sp_nn_adam(l->nn, adam, 1);
    }
    return s;
}

/* Weights after the inner loop on a few subjects of a task that teach; *done 0:
 * there are too few. */
static spry_status adapt(loop *w, int task, int *done)
{
    const sp_learner *l = &w->f->learner;
    sp_meta probe = *w->how;
    int64_t drawn[MOST];
    double lost;
    spry_status s;

    probe.kind = SP_META_REPTILE; /* the slope is the way itself */
    probe.query = probe.support;
    *done = draw(drawn, 0, probe.support, w, task);
    if (!*done)
        return SPRY_OK;
    s = sp_meta_slope(w->slope, &lost, l, &probe, task, drawn, drawn);
    for (int64_t i = 0; i < w->size; i++)
        w->slope[i] = w->kept[i] - w->slope[i];
    sp_learner_set(l, w->slope);
    return s;
}

/* What is wrong on validating subjects after the inner loop on others. */
static spry_status validate(double *out, loop *w)
{
    const sp_learner *l = &w->f->learner;
    sp_rng before = w->rng;
    double sum = 0, n = 0;
    spry_status s = SPRY_OK;

    w->rng = sp_rng_seed(7);
    sp_learner_get(w->kept, l);
    for (int task = 0; task < w->f->tasks && s == SPRY_OK; task++) {
        int done;

        s = adapt(w, task, &done);
        for (int64_t k = 0;
             s == SPRY_OK && done && k < w->f->task[task].subjects; k++) {
            double wrong = nan("");

            if (usable(w, task, k) && validates(w, task, k))
                s = w->f->wrong(&wrong, task, k, l->payload);
            sum += isfinite(wrong) ? wrong : 0;
            n += isfinite(wrong);
        }
        sp_learner_set(l, w->kept);
    }
    w->rng = before;
    *out = n > 0 ? sum / n : 0;
    return s;
}

static spry_status learn(loop *w, double until, double *gain)
{
    sp_adam adam = SP_ADAM_DEFAULTS;
    double first, least, now;
    int best = 0;
    spry_status s = validate(&first, w);

    adam.rate = w->how->outer_rate;
    adam.clip = 1;
    least = first;
    sp_learner_get(w->best, &w->f->learner);
    for (int r = 1; r <= w->how->rounds && s == SPRY_OK; r++) {
        int late = until > 0 && sp_seconds() > until;

        s = one_round(w, &adam);
        if (s != SPRY_OK || (r % EVERY && r < w->how->rounds && !late))
            continue;
        s = validate(&now, w);
        if (s == SPRY_OK && now < least) {
            least = now;
            best = r;
            sp_learner_get(w->best, &w->f->learner);
        }
        if (r - best >= w->how->patience || late)
            break;
    }
    sp_learner_set(&w->f->learner, w->best);
    *gain = first - least;
    return s;
}

spry_status sp_meta_loop(const sp_meta_field *f, const sp_meta *how,
                         double until, double *gain)
{
    loop w = {.f = f,
              .how = how,
              .rng = sp_rng_seed(how->seed),
              .size = sp_learner_size(&f->learner)};
    spry_status s;

    *gain = 0;
    w.slope = sp_alloc(3 * w.size + 1, sizeof *w.slope);
    if (!w.slope)
        return sp_fail_memory((size_t)w.size * 3 * sizeof *w.slope);
    w.best = w.slope + w.size;
    w.kept = w.best + w.size;
    s = learn(&w, until, gain);
    sp_free(w.slope);
    return s;
}
