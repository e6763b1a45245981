/* net.c - the loop that fits a network to a dataset.
 *
 * A step takes one subject: ranks mean something only inside it. */
#include "model/net.h"

#include <math.h>
#include <string.h>

#include "nn/losses.h"

enum { BATCH = 128 }; /* rows of a subject in one step */

/* ---- scale ---- */

sp_scaler sp_scaler_make(sp_nn *nn, const char *name, int64_t width)
{
    char full[SP_NN_NAME];
    sp_scaler c;

    snprintf(full, sizeof full, "%s.mean", name);
    c.mean = sp_nn_weights(nn, full, SP_SHAPE(width), sp_init_constant(0));
    sp_nn_freeze(nn, full, 1);
    snprintf(full, sizeof full, "%s.scale", name);
    c.scale = sp_nn_weights(nn, full, SP_SHAPE(width), sp_init_constant(1));
    sp_nn_freeze(nn, full, 1);
    return c;
}

void sp_scaler_fit(const sp_scaler *c, const sp_dataset *t, int first)
{
    for (int64_t k = 0; k < c->mean->size; k++) {
        double sum = 0, square = 0, n = 0;

        for (int64_t i = 0; i < t->rows; i++) {
            double x = (double)t->x[i * SP_FEATURES + first + k];

            if (isfinite(x)) {
                sum += x;
                square += x * x;
                n++;
            }
        }
        sum /= fmax(1, n);
        square = sqrt(fmax(0, square / fmax(1, n) - sum * sum));
        if (square > 1e-6) /* what is the same everywhere teaches nothing */
            sp_machine_scale(&sum, &square, first + (int)k - SP_PATTERN);
        c->mean->value[k] = (float)sum;
        c->scale->value[k] = (float)(square > 1e-6 ? 1 / square : 0);
    }
}

void sp_scaler_apply(float *out, const sp_scaler *c, const float *x,
                     int64_t rows, int64_t stride)
{
    const float most = 6;
    int64_t width = c->mean->size;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < width; k++) {
            float y =
                (x[i * stride + k] - c->mean->value[k]) * c->scale->value[k];

            y = y == y ? y : 0; /* not known */
            out[i * width + k] = y > most ? most : y < -most ? -most : y;
        }
}

/* ---- weights aside ---- */

int64_t sp_weights_size(const sp_nn *nn)
{
    const char *name;
    int64_t size = 0;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(nn, i, &name)); i++)
        size += t->size;
    return size;
}

void sp_weights_copy(const sp_nn *nn, float *aside, int back)
{
    const char *name;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(nn, i, &name)); i++) {
        size_t bytes = (size_t)t->size * sizeof *aside;

        memcpy(back ? t->value : aside, back ? aside : t->value, bytes);
        aside += t->size;
    }
}

/* ---- learning ---- */

typedef struct {
    const sp_net_fitting *n;
    sp_tape *tape;
    sp_rng rng;
    int64_t *subject; /* [subjects] in the order of this epoch */
    float *x;         /* [BATCH, SP_FEATURES] */
    float target[BATCH], seconds[BATCH];
    float *score; /* [test rows] */
    float *best;  /* weights */
    int64_t steps, all_steps;
} learning;

/* A few rows of a subject, without repeats, in a random order. */
static int64_t draw(learning *w, int64_t subject)
{
    const sp_dataset *t = w->n->train;
    int64_t from = t->start[subject], n = t->start[subject + 1] - from;
    int64_t count = n < BATCH ? n : BATCH, seen = 0, drawn = 0;

    for (; drawn < count; seen++) {
        int64_t i = from + seen;

        if ((int64_t)sp_rng_below(&w->rng, (uint64_t)(n - seen)) >=
            count - drawn)
            continue;
        memcpy(w->x + drawn * SP_FEATURES, t->x + i * SP_FEATURES,
               SP_FEATURES * sizeof *w->x);
        w->target[drawn] = w->n->target[i];
        w->seconds[drawn++] = expf(t->slower[i]);
    }
    return count;
}

static spry_status step(learning *w, int64_t subject, double *loss)
{
    const sp_net_fitting *n = w->n;
    sp_adam adam = SP_ADAM_DEFAULTS;
    int64_t rows = draw(w, subject);
    sp_tensor *score, *both;
    spry_status s;

    sp_tape_begin(w->tape, 1);
    score = n->pass(w->tape, n->net, w->x, rows);
    both = sp_loss_huber(w->tape, score, w->target, 1);
    if (n->rank > 0)
        both = sp_nn_add(
            w->tape, both,
            sp_nn_scale(w->tape,
                        sp_loss_lambdarank(w->tape, score, w->seconds, 4),
                        n->rank));
    s = sp_tape_backward(w->tape, both);
    if (s != SPRY_OK)
        return s;
    *loss += (double)both->value[0];
    adam.rate = n->rate;
    adam.decay = n->decay;
    adam.clip = n->clip;
    sp_nn_adam(n->nn, &adam,
               sp_nn_share(w->steps++, w->all_steps / 20, w->all_steps, 0.02));
    return SPRY_OK;
}

static void shuffle(learning *w)
{
    for (int64_t i = w->n->train->e->subjects - 1; i > 0; i--) {
        int64_t j = (int64_t)sp_rng_below(&w->rng, (uint64_t)i + 1);
        int64_t s = w->subject[i];

        w->subject[i] = w->subject[j];
        w->subject[j] = s;
    }
}

static spry_status epoch(learning *w, sp_lap *lap)
{
    const sp_dataset *t = w->n->train;
    spry_status s = SPRY_OK;
    int64_t taken = 0;

    shuffle(w);
    lap->loss = 0;
    for (int64_t k = 0; k < t->e->subjects && s == SPRY_OK; k++)
        if (t->start[w->subject[k] + 1] - t->start[w->subject[k]] > 1) {
            s = step(w, w->subject[k], &lap->loss);
            taken++;
        }
    lap->loss /= (double)(taken ? taken : 1);
    return s;
}

spry_status sp_net_table(float *score, const sp_dataset *t, const void *net,
                         sp_net_pass *pass, int threads)
{
    sp_tape *tape = NULL;
    spry_status s = sp_tape_new(&tape, threads);

    for (int64_t k = 0; k < t->e->subjects && s == SPRY_OK; k++) {
        int64_t from = t->start[k], n = t->start[k + 1] - from;
        sp_tensor *y;

        if (n == 0)
            continue;
        sp_tape_begin(tape, 0);
        y = pass(tape, net, t->x + from * SP_FEATURES, n);
        s = sp_tape_status(tape);
        if (s == SPRY_OK)
            memcpy(score + from, y->value, (size_t)n * sizeof *score);
    }
    sp_tape_free(tape);
    return s;
}

static spry_status all_epochs(learning *w)
{
    const sp_net_fitting *n = w->n;
    double least = HUGE_VAL;
    int best = 0, stop = 0;
    spry_status s = SPRY_OK;

    for (int e = 1; e <= n->epochs && s == SPRY_OK && !stop; e++) {
        sp_lap lap = {.round = e, .regret = nan("")};
        double regret = 0;

        s = epoch(w, &lap);
        if (s == SPRY_OK && n->test->rows)
            s = sp_net_table(w->score, n->test, n->net, n->pass, n->l->threads);
        if (s == SPRY_OK && n->test->rows)
            regret = sp_dataset_regret(n->test, w->score, &lap.regret);
        if (s == SPRY_OK && (!n->test->rows || regret < least)) {
            least = regret;
            best = e;
            sp_weights_copy(n->nn, w->best, 0);
        }
        stop = sp_fitting_note(n->l, n->begin, &lap) || e - best >= n->patience;
    }
    if (best)
        sp_weights_copy(n->nn, w->best, 1);
    return s;
}

spry_status sp_net_learn(const sp_net_fitting *n)
{
    int64_t subjects = n->train->e->subjects;
    learning w = {.n = n,
                  .rng = sp_rng_seed(n->l->seed + 1),
                  .all_steps = subjects * n->epochs};
    spry_status s = sp_tape_new(&w.tape, n->l->threads);

    w.subject = sp_alloc(subjects + 1, sizeof *w.subject);
    w.x = sp_alloc(BATCH, SP_FEATURES * sizeof *w.x);
    w.score = sp_alloc(n->test->rows + 1, sizeof *w.score);
    w.best = sp_alloc(sp_weights_size(n->nn), sizeof *w.best);
    if (s == SPRY_OK && !(w.subject && w.x && w.score && w.best))
        s = sp_fail_memory((size_t)sp_weights_size(n->nn) * sizeof(float));
    for (int64_t i = 0; s == SPRY_OK && i < subjects; i++)
        w.subject[i] = i;
    if (s == SPRY_OK)
        s = all_epochs(&w);
    sp_tape_free(w.tape);
    sp_free(w.subject);
    sp_free(w.x);
    sp_free(w.score);
    sp_free(w.best);
    return s;
}

/* ---- views ---- */

spry_status sp_look_tape(sp_view *v)
{
    sp_tape *tape = NULL;
    spry_status s = sp_tape_new(&tape, 1);

    v->inner = tape;
    return s;
}

void sp_leave_tape(sp_view *v)
{
    sp_tape_free(v->inner);
}
