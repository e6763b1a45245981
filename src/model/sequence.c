/* sequence.c - the transfer tuner of Verma et al. (Transfer Learning Across
 * Heterogeneous Features For Efficient Tensor Program Generation, 2023): a
 * schedule is read word by word, by three layers that go both ways, and asked
 * by attention.
 *
 * machine, problem, word, word ... -> bidirectional LSTM, 3 layers -> the
 * machine's place asks all others, 2 heads, twice -> share of the best speed.
 * Sizes that the paper leaves open are ours: 64 numbers a word. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/kinds.h"
#include "model/net.h"
#include "nn/losses.h"

enum {
    STEPS = 28,   /* of a sequence, machine and problem included */
    WORDS = 64,   /* in the table */
    LETTERS = 16, /* of them for loops */
    EMBED = 24,
    WIDTH = 64,
    HIDDEN = WIDTH / 2,
    LAYERS = 3,
    ASKED = 2, /* times, of attention */
    BATCH = 16
};

typedef struct {
    sp_scaler machine_scale, problem_scale;
    sp_dense machine, problem, word;
    sp_tensor *table; /* [WORDS, EMBED] */
    sp_lstm lstm[LAYERS][2];
    sp_attention attention[ASKED];
    sp_dense last;
} model;

/* A schedule as words with a number each. */
typedef struct {
    int32_t word[STEPS];
    float number[STEPS];
    int count;
} sentence;

/* ---- words ---- */

static void say(sentence *s, int32_t word, double number)
{
    if (s->count >= STEPS - 2)
        return;
    s->word[s->count] = word;
    s->number[s->count++] = (float)number;
}

/* Names of formats and parameters: a place in the table by their letters. */
static int32_t place_of(const char *name, size_t length)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, name, length);
    return LETTERS + (int32_t)(h.a % (WORDS - LETTERS));
}

/* "i1k1j1i0": a word for each loop, its number is where it stands. */
static void say_loops(sentence *s, const char *at, const char *end)
{
    static const char letters[] = "ikjl";

    for (int place = 1; at < end; place++) {
        const char *known = strchr(letters, *at++);
        int32_t word = known ? 1 + 3 * (int32_t)(known - letters) : 0;

        if (at < end && isdigit((unsigned char)*at))
            word += 1 + (*at++ == '1');
        say(s, word, place);
    }
}

static void say_schedule(sentence *s, const spry_schedule *x)
{
    char text[SPRY_SCHEDULE_TEXT];
    const char *at = text;

    s->count = 0;
    spry_schedule_text(text, x);
    while (*at) {
        size_t length = strcspn(at, " ");
        const char *end = at + length, *equal = memchr(at, '=', length);

        say(s, place_of(at, equal ? (size_t)(equal - at) : length),
            equal && isdigit((unsigned char)equal[1])
                ? log2(1 + atof(equal + 1))
                : 1);
        if (equal && !isdigit((unsigned char)equal[1]))
            say_loops(s, equal + 1, end);
        at = *end ? end + 1 : end;
    }
}

/* ---- the network ---- */

static spry_status make(model *m, sp_nn *nn)
{
    char name[24];

    m->machine_scale = sp_scaler_make(nn, "machine", SP_MACHINE);
    m->problem_scale = sp_scaler_make(nn, "problem", SP_PATTERN);
    m->machine = sp_dense_make(nn, "machine.in", SP_MACHINE, WIDTH, 1);
    m->problem = sp_dense_make(nn, "problem.in", SP_PATTERN, WIDTH, 1);
    m->table = sp_embedding_make(nn, "words", WORDS, EMBED);
    m->word = sp_dense_make(nn, "word.in", EMBED + 1, WIDTH, 1);
    for (int i = 0; i < LAYERS; i++)
        for (int way = 0; way < 2; way++) {
            snprintf(name, sizeof name, "lstm%d.%s", i, way ? "back" : "on");
            m->lstm[i][way] = sp_lstm_make(nn, name, WIDTH, HIDDEN);
        }
    for (int i = 0; i < ASKED; i++) {
        snprintf(name, sizeof name, "attention%d", i);
        m->attention[i] = sp_attention_make(nn, name, WIDTH, WIDTH, 2);
    }
    m->last = sp_dense_make(nn, "last", WIDTH, 1, 1);
    return sp_nn_status(nn);
}

/* What a batch is made of: rows of features for machine and problem, and what
 * their schedules say. */
typedef struct {
    const float *row[BATCH];
    sentence said[BATCH];
    int count;
} batch;

static sp_tensor *project(sp_tape *t, const sp_dense *d, const sp_scaler *c,
                          const batch *b, int first)
{
    int64_t width = c->mean->size;
    sp_tensor *x = sp_nn_input(t, SP_SHAPE(b->count, width), NULL);

    for (int i = 0; x && i < b->count; i++)
        sp_scaler_apply(x->value + i * width, c, b->row[i] + first, 1, width);
    return sp_nn_reshape(t, sp_nn_dense(t, d, x),
                         SP_SHAPE(1, b->count * WIDTH));
}

/* Words, step by step: [1, (steps - 2) * batch * WIDTH]. */
static sp_tensor *words(sp_tape *t, const model *m, const batch *b)
{
    int64_t rows = (int64_t)(STEPS - 2) * b->count;
    int32_t index[STEPS * BATCH];
    sp_tensor *both[2];

    both[1] = sp_nn_input(t, SP_SHAPE(rows, 1), NULL);
    for (int64_t i = 0; both[1] && i < rows; i++) {
        const sentence *s = &b->said[i % b->count];
        int64_t step = i / b->count;

        index[i] = step < s->count ? s->word[step] : 0;
        both[1]->value[i] = step < s->count ? s->number[step] / 8 : 0;
    }
    both[0] = both[1] ? sp_nn_rows(t, m->table, index, rows) : NULL;
    return sp_nn_reshape(t, sp_nn_dense(t, &m->word, sp_nn_join(t, both, 2)),
                         SP_SHAPE(1, rows * WIDTH));
}

/* From step by step to sequence by sequence, and the first place of each. */
static void turn(sp_tape *t, sp_tensor *h, int count, sp_tensor **keys,
                 sp_tensor **first)
{
    int32_t index[STEPS * BATCH];

    for (int b = 0; b < count; b++)
        for (int s = 0; s < STEPS; s++)
            index[b * STEPS + s] = s * count + b;
    h = sp_nn_reshape(t, h, SP_SHAPE((int64_t)STEPS * count, WIDTH));
    *keys = sp_nn_reshape(t, sp_nn_rows(t, h, index, (int64_t)STEPS * count),
                          SP_SHAPE(count, STEPS, WIDTH));
    for (int b = 0; b < count; b++)
        index[b] = b; /* step 0 */
    *first = sp_nn_reshape(t, sp_nn_rows(t, h, index, count),
                           SP_SHAPE(count, 1, WIDTH));
}

/* The share of the best speed, [batch, 1]. */
static sp_tensor *pass(sp_tape *t, const model *m, const batch *b)
{
    sp_tensor *part[3], *h, *keys, *asks;
    int32_t length[BATCH];
    uint8_t mask[STEPS * BATCH];

    part[0] = project(t, &m->machine, &m->machine_scale, b, SP_PATTERN);
    part[1] = project(t, &m->problem, &m->problem_scale, b, 0);
    part[2] = words(t, m, b);
    h = sp_nn_reshape(t, sp_nn_join(t, part, 3),
                      SP_SHAPE(STEPS, b->count, WIDTH));
    for (int i = 0; i < b->count; i++) {
        length[i] = 2 + b->said[i].count;
        for (int s = 0; s < STEPS; s++)
            mask[i * STEPS + s] = s < length[i];
    }
    for (int i = 0; i < LAYERS; i++)
        h = sp_nn_bilstm(t, m->lstm[i], h, length);
    turn(t, h, b->count, &keys, &asks);
    for (int i = 0; i < ASKED; i++)
        asks = sp_nn_add(
            t, asks, sp_nn_attention(t, &m->attention[i], asks, keys, mask));
    asks = sp_nn_reshape(t, asks, SP_SHAPE(b->count, WIDTH));
    return sp_nn_sigmoid(t, sp_nn_dense(t, &m->last, asks));
}

/* ---- fitting ---- */

typedef struct {
    const sp_fitting *l;
    sp_nn *nn;
    model *m;
    sp_dataset train, test;
    float *label, *score; /* best time over this one's; of the test */
    float *best;          /* weights */
    int64_t *order;       /* [train.rows] */
    sp_tape *tape;
    sp_rng rng;
    int rank;
    double begin;
} work;

static void take_row(batch *b, const sp_dataset *t, int64_t i)
{
    b->row[b->count] = t->x + i * SP_FEATURES;
    say_schedule(&b->said[b->count++], &t->e->row[t->from[i]].x);
}

static void label_rows(work *w)
{
    const sp_dataset *t = &w->train;

    for (int64_t s = 0; s < t->e->subjects; s++) {
        double best = HUGE_VAL;

        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            best = fmin(best, (double)t->slower[i]);
        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            w->label[i] = (float)exp(best - (double)t->slower[i]);
    }
}

/* Rows by chance; for ranks a batch is of one subject, so that rows stay
 * where they are and batches are drawn. */
static void shuffle(work *w)
{
    int64_t unit = w->rank ? BATCH : 1, n = w->train.rows / unit;

    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)sp_rng_below(&w->rng, (uint64_t)i + 1);

        for (int64_t k = 0; k < unit; k++) {
            int64_t x = w->order[i * unit + k];

            w->order[i * unit + k] = w->order[j * unit + k];
            w->order[j * unit + k] = x;
        }
    }
}

static spry_status step(work *w, int64_t at, int64_t count, double *loss)
{
    float target[BATCH], seconds[BATCH];
    sp_adam adam = SP_ADAM_DEFAULTS;
    batch b = {.count = 0};
    sp_tensor *y, *lost;
    spry_status s;

    for (int64_t i = 0; i < count; i++) {
        int64_t row = w->order[at + i];

        take_row(&b, &w->train, row);
        target[i] = w->label[row];
        seconds[i] = expf(w->train.slower[row]);
    }
    sp_tape_begin(w->tape, 1);
    y = pass(w->tape, w->m, &b);
    lost = sp_loss_mse(w->tape, y, target);
    if (w->rank) /* scores are costs */
        lost = sp_nn_add(w->tape, lost,
                         sp_loss_lambdarank(
                             w->tape, sp_nn_scale(w->tape, y, -4), seconds, 1));
    s = sp_tape_backward(w->tape, lost);
    if (s != SPRY_OK)
        return s;
    *loss += (double)lost->value[0] * (double)count;
    adam.clip = 1;
    sp_nn_adam(w->nn, &adam, 1);
    return SPRY_OK;
}

static spry_status score_table(float *out, work *w, const sp_dataset *t)
{
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < t->rows && s == SPRY_OK; at += BATCH) {
        batch b = {.count = 0};
        sp_tensor *y;

        for (int64_t i = at; i < t->rows && i < at + BATCH; i++)
            take_row(&b, t, i);
        sp_tape_begin(w->tape, 0);
        y = pass(w->tape, w->m, &b);
        for (int i = 0; y && i < b.count; i++)
            out[at + i] = -y->value[i];
        s = sp_tape_status(w->tape);
    }
    return s;
}

static spry_status epochs(work *w)
{
    int most = w->l->rounds ? w->l->rounds : 200, best = 0, stop = 0;
    double least = HUGE_VAL, regret = 0;
    spry_status s = SPRY_OK;

    for (int e = 1; e <= most && s == SPRY_OK && !stop; e++) {
        sp_lap lap = {.round = e, .regret = nan("")};

        shuffle(w);
        for (int64_t at = 0; at < w->train.rows && s == SPRY_OK && !stop;
             at += BATCH) {
            int64_t left = w->train.rows - at;

            s = step(w, at, left < BATCH ? left : BATCH, &lap.loss);
            stop = w->l->seconds > 0 && sp_seconds() - w->begin > w->l->seconds;
        }
        lap.loss = sqrt(lap.loss / (double)w->train.rows);
        if (s == SPRY_OK && w->test.rows) {
            s = score_table(w->score, w, &w->test);
            regret = sp_dataset_regret(&w->test, w->score, &lap.regret);
        }
        if (s == SPRY_OK && (!w->test.rows || regret < least)) {
            least = regret;
            best = e;
            sp_weights_copy(w->nn, w->best, 0);
        }
        stop |= sp_fitting_note(w->l, w->begin, &lap) || e - best >= 40;
    }
    if (best)
        sp_weights_copy(w->nn, w->best, 1);
    return s;
}

static spry_status learn(work *w)
{
    int64_t rows = w->train.rows;

    w->label = sp_alloc(rows + 1, sizeof *w->label);
    w->score = sp_alloc(w->test.rows + 1, sizeof *w->score);
    w->order = sp_alloc(rows + 1, sizeof *w->order);
    w->best = sp_alloc(sp_weights_size(w->nn), sizeof *w->best);
    if (!w->label || !w->score || !w->order || !w->best)
        return sp_fail_memory((size_t)rows * sizeof *w->order);
    for (int64_t i = 0; i < rows; i++)
        w->order[i] = i;
    label_rows(w);
    sp_scaler_fit(&w->m->machine_scale, &w->train, SP_PATTERN);
    sp_scaler_fit(&w->m->problem_scale, &w->train, 0);
    return epochs(w);
}

static spry_status open(sp_cost *c)
{
    c->inner = sp_alloc(1, sizeof(model));
    return c->inner ? make(c->inner, c->nn) : sp_fail_memory(sizeof(model));
}

static void close(sp_cost *c)
{
    sp_free(c->inner);
}

static spry_status fit(sp_cost *c, const sp_fitting *l, int rank)
{
    work w = {.l = l,
              .nn = c->nn,
              .rng = sp_rng_seed(l->seed),
              .rank = rank,
              .begin = sp_seconds()};
    spry_status s = open(c);

    w.m = c->inner;
    if (s == SPRY_OK)
        s = sp_datasets_new(&w.train, &w.test, l);
    if (s == SPRY_OK)
        s = sp_tape_new(&w.tape, l->threads);
    if (s == SPRY_OK)
        s = learn(&w);
    sp_tape_free(w.tape);
    sp_free(w.label);
    sp_free(w.score);
    sp_free(w.order);
    sp_free(w.best);
    sp_dataset_free(&w.train);
    sp_dataset_free(&w.test);
    return s;
}

static spry_status fit_value(sp_cost *c, const sp_fitting *l)
{
    return fit(c, l, 0);
}

static spry_status fit_rank(sp_cost *c, const sp_fitting *l)
{
    return fit(c, l, 1);
}

/* ---- use ---- */

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    float row[SP_FEATURES];
    spry_status s = SPRY_OK;

    memcpy(row, v->subject->pattern, sizeof v->subject->pattern);
    memcpy(row + SP_PATTERN, v->subject->machine, sizeof v->subject->machine);
    for (int64_t at = 0; at < count && s == SPRY_OK; at += BATCH) {
        batch b = {.count = 0};
        sp_tensor *y;

        for (int64_t i = at; i < count && i < at + BATCH; i++) {
            b.row[b.count] = row;
            say_schedule(&b.said[b.count++], &x[i]);
        }
        sp_tape_begin(v->inner, 0);
        y = pass(v->inner, v->cost->inner, &b);
        for (int i = 0; y && i < b.count; i++)
            out[at + i] = -log(fmax(1e-6, (double)y->value[i]));
        s = sp_tape_status(v->inner);
    }
    return s;
}

const sp_cost_kind sp_cost_sequence = {
    .name = "sequence",
    .about = "schedules word by word: BiLSTM and attention, squared error",
    .fit = fit_value,
    .open = open,
    .close = close,
    .look = sp_look_tape,
    .leave = sp_leave_tape,
    .score = score,
};

const sp_cost_kind sp_cost_sequence_rank = {
    .name = "sequence-rank",
    .about = "the same, and LambdaRank",
    .fit = fit_rank,
    .open = open,
    .close = close,
    .look = sp_look_tape,
    .leave = sp_leave_tape,
    .score = score,
};
