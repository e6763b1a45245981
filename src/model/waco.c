/* waco.c - WACO's network as a cost model.
 *
 * Learned as published: one step per matrix and epoch on 32 of its schedules,
 * all their pairs, hinge with margin 1, Adam at 1e-4, times of a second and
 * more left out. What is ours: the weights of the epoch that chose best are
 * the ones that are kept. It has words for SuperSchedules only. */
#include <math.h>
#include <string.h>

#include "model/kinds.h"
#include "model/waconet.h"
#include "nn/losses.h"

enum { BATCH = 32, FEW = SP_WACO_FEW, EPOCHS = 80, EVERY = 4 };

static spry_status open(sp_cost *c)
{
    c->inner = sp_alloc(1, sizeof(sp_waconet));
    return c->inner ? sp_waconet_make(c->inner, c->nn, c->op)
                    : sp_fail_memory(sizeof(sp_waconet));
}

static void close(sp_cost *c)
{
    sp_free(c->inner);
}

/* ---- learning ---- */

typedef struct {
    const sp_fitting *l;
    sp_cost *c;
    sp_tape *tape;
    sp_rng rng;
    double begin;
} learning;

static int teaches(const sp_example *row, sp_waco_words *words,
                   const sp_waconet *w)
{
    return row->log_seconds < 0 && sp_waconet_words(words, w, &row->x);
}

/* Up to BATCH schedules of a subject by chance. */
static int draw(sp_waco_words words[BATCH], float seconds[BATCH], learning *g,
                int64_t subject)
{
    const sp_examples *e = g->l->train;
    int seen = 0;

    for (int64_t i = e->start[subject]; i < e->start[subject + 1]; i++) {
        sp_waco_words one;
        int64_t at = seen;

        if (!teaches(&e->row[i], &one, g->c->inner))
            continue;
        if (seen >= BATCH)
            at = (int64_t)sp_rng_below(&g->rng, (uint64_t)seen + 1);
        if (at < BATCH) {
            words[at] = one;
            seconds[at] = (float)exp(e->row[i].log_seconds);
        }
        seen++;
    }
    return seen < BATCH ? seen : BATCH;
}

static spry_status step(learning *g, int64_t subject, double *loss)
{
    const sp_subject *trained = &g->l->train->subject[subject];
    const sp_hinge hinge = {.margin = 1};
    sp_adam adam = SP_ADAM_DEFAULTS;
    sp_waco_words words[BATCH];
    float seconds[BATCH];
    int count = draw(words, seconds, g, subject);
    sp_waco_sites sites;
    sp_tensor *y;
    spry_status s;

    if (count < 2)
        return SPRY_OK;
    s = sp_waco_sites_new(&sites, trained->p->A);
    if (s != SPRY_OK)
        return s;
    sp_tape_begin(g->tape, 1);
    y = sp_waconet_head(
        g->tape, g->c->inner,
        sp_waconet_matrix(g->tape, g->c->inner, &sites, trained),
        sp_waconet_schedules(g->tape, g->c->inner, words, count));
    y = sp_loss_hinge(g->tape, y, seconds, &hinge);
    s = sp_tape_backward(g->tape, y);
    if (s == SPRY_OK) {
        *loss += (double)y->value[0];
        adam.rate = 1e-4;
        sp_nn_adam(g->c->nn, &adam, 1);
    }
    sp_waco_sites_free(&sites);
    return s;
}

/* Mean and deviation of rows, columns and entries. */
static void fit_scaler(const sp_waconet *w, const sp_examples *e)
{
    for (int k = 0; k < 3; k++) {
        double sum = 0, square = 0, n = fmax(1, (double)e->subjects);

        for (int64_t i = 0; i < e->subjects; i++) {
            const sp_problem_shape *t = &e->subject[i].task;
            double x = (double)(k == 0 ? t->rows : k == 1 ? t->cols : t->nnz);

            sum += x;
            square += x * x;
        }
        sum /= n;
        square = sqrt(fmax(0, square / n - sum * sum));
        w->scaler.mean->value[k] = (float)sum;
        w->scaler.scale->value[k] = (float)(square > 0 ? 1 / square : 0);
    }
}

/* Scores of all rows of the test, and what they are worth. */
static spry_status test(learning *g, double *regret, double *first)
{
    const sp_examples *e = g->l->test;
    double *score = sp_alloc(e->rows + 1, sizeof *score);
    spry_status s = SPRY_OK;

    if (!score)
        return sp_fail_memory((size_t)e->rows * sizeof *score);
    for (int64_t k = 0; k < e->subjects && s == SPRY_OK; k++) {
        sp_view *v = NULL;

        for (int64_t i = e->start[k]; i < e->start[k + 1]; i++)
            score[i] = HUGE_VAL;
        if (!e->subject[k].p)
            continue;
        s = sp_cost_look(&v, g->c, &e->subject[k]);
        for (int64_t i = e->start[k]; i < e->start[k + 1] && s == SPRY_OK; i++)
            s = sp_view_score(&score[i], v, &e->row[i].x, 1);
        sp_view_free(v);
    }
    if (s == SPRY_OK) {
        *first = sp_examples_regret(e, score, 1);
        *regret = sp_examples_mean_regret(e, score);
    }
    sp_free(score);
    return s;
}

static spry_status epoch(learning *g, int round, int *stop, double *regret)
{
    const sp_examples *e = g->l->train;
    sp_lap lap = {.round = round, .regret = nan("")};
    int64_t steps = 0;
    spry_status s = SPRY_OK;

    for (int64_t k = 0; k < e->subjects && s == SPRY_OK && !*stop; k++) {
        if (!e->subject[k].p)
            continue;
        s = step(g, k, &lap.loss);
        steps++;
        *stop = g->l->seconds > 0 && sp_seconds() - g->begin > g->l->seconds;
    }
    lap.loss /= (double)(steps ? steps : 1);
    *regret = HUGE_VAL;
    if (s == SPRY_OK && g->l->test && (round % EVERY == 0 || *stop))
        s = test(g, regret, &lap.regret);
    *stop |= sp_fitting_note(g->l, g->begin, &lap);
    return s;
}

static spry_status learn(learning *g)
{
    int rounds = g->l->rounds ? g->l->rounds : EPOCHS, stop = 0;
    float *best = sp_alloc(sp_weights_size(g->c->nn), sizeof *best);
    double least = HUGE_VAL, regret;
    spry_status s =
        best ? SPRY_OK : sp_fail_memory((size_t)sp_weights_size(g->c->nn) * 4);

    for (int round = 1; round <= rounds && s == SPRY_OK && !stop; round++) {
        s = epoch(g, round, &stop, &regret);
        if (s == SPRY_OK && regret < least) {
            least = regret;
            sp_weights_copy(g->c->nn, best, 0);
        }
    }
    if (s == SPRY_OK && least < HUGE_VAL)
        sp_weights_copy(g->c->nn, best, 1);
    sp_free(best);
    return s;
}

static spry_status fit(sp_cost *c, const sp_fitting *l)
{
    learning g = {
        .l = l, .c = c, .rng = sp_rng_seed(l->seed + 2), .begin = sp_seconds()};
    spry_status s = open(c);

    if (s == SPRY_OK)
        s = sp_tape_new(&g.tape, l->threads);
    if (s == SPRY_OK) {
        fit_scaler(c->inner, l->train);
        s = learn(&g);
    }
    sp_tape_free(g.tape);
    return s;
}

/* ---- use ---- */

static void leave(sp_view *v)
{
    sp_waco_view *own = v->inner;

    if (own)
        sp_tape_free(own->tape);
    sp_free(own);
}

/* The matrix's half of the head's first layer, the bias with it. */
static void half_of_matrix(sp_waco_view *own, const sp_waconet *w)
{
    const sp_dense *d = &w->head[0];

    for (int o = 0; o < SP_WACO_WIDTH; o++) {
        const float *row = d->weight->value + (ptrdiff_t)o * 2 * SP_WACO_WIDTH;
        double sum = (double)d->bias->value[o];

        for (int i = 0; i < SP_WACO_WIDTH; i++)
            sum += (double)(row[i] * own->matrix[i]);
        own->first[o] = (float)sum;
    }
}

static spry_status look(sp_view *v)
{
    const sp_waconet *w = v->cost->inner;
    sp_waco_view *own = sp_alloc(1, sizeof *own);
    sp_waco_sites sites;
    sp_tensor *y;
    spry_status s;

    if (!own)
        return sp_fail_memory(sizeof *own);
    v->inner = own;
    s = sp_tape_new(&own->tape, 1);
    if (s == SPRY_OK)
        s = sp_waco_sites_new(&sites, v->subject->p->A);
    if (s != SPRY_OK)
        return s;
    sp_tape_begin(own->tape, 0);
    y = sp_waconet_matrix(own->tape, w, &sites, v->subject);
    s = sp_tape_status(own->tape);
    if (s == SPRY_OK) {
        memcpy(own->matrix, y->value, sizeof own->matrix);
        half_of_matrix(own, w);
    }
    sp_waco_sites_free(&sites);
    return s;
}

static spry_status score_few(double *out, sp_view *v, const spry_schedule *x,
                             int64_t count)
{
    const sp_waconet *w = v->cost->inner;
    sp_waco_view *own = v->inner;
    sp_waco_words words[FEW];
    int64_t at[FEW], n = 0;
    sp_tensor *y;

    for (int64_t i = 0; i < count; i++) {
        out[i] = HUGE_VAL;
        at[n] = i;
        n += sp_waconet_words(&words[n], w, &x[i]);
    }
    if (n == 0)
        return SPRY_OK;
    sp_tape_begin(own->tape, 0);
    y = sp_waconet_head(
        own->tape, w,
        sp_nn_input(own->tape, SP_SHAPE(1, SP_WACO_WIDTH), own->matrix),
        sp_waconet_schedules(own->tape, w, words, n));
    for (int64_t i = 0; y && i < n; i++)
        out[at[i]] = (double)y->value[i];
    return sp_tape_status(own->tape);
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < count && s == SPRY_OK; at += FEW)
        s = score_few(out + at, v, x + at, count - at < FEW ? count - at : FEW);
    return s;
}

const sp_cost_kind sp_cost_waconet = {
    .name = "waconet",
    .about = "WACO's sparse convolutions over the pattern itself",
    .matrix = 1,
    .nests = 1,
    .fit = fit,
    .open = open,
    .close = close,
    .look = look,
    .leave = leave,
    .score = score,
    .width = sp_waco_width,
    .halves = sp_waco_halves,
    .join = sp_waco_join,
};
