/* transfer.c - what is known of tasks of other networks, widths and machines:
 * how they are computed, and what tuning won them. The store is read once;
 * what this network's tuning finds is added as it comes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/tuning.h"

/* How far tasks may be apart: halving one size is 1. */
#define FAR 4.0

/* An answer of the store, or of this run. */
typedef struct {
    spry_operator op;
    char *key;
    char way[SPRY_SCHEDULE_TEXT];
    int here;  /* on this machine */
    int tried; /* other ways were, not the model's alone */
    int64_t when;
    double gain; /* the share of its time that tuning won; < 0: not known */
} known_task;

struct sp_transfer {
    const spry_executor *e;
    known_task *task;
    int count, room, failed;
};

/* ---- the store ---- */

/* The user's store, or the one that is named; *out NULL: none is wanted. */
static spry_status open_store(spry_records **out, const spry_executor *e)
{
    *out = NULL;
    if (e->o.store && strcmp(e->o.store, ":memory:") == 0)
        return SPRY_OK;
    return spry_records_open(out, e->o.store);
}

static void add(sp_transfer *t, const known_task *x, const char *key)
{
    if (t->count == t->room) {
        known_task *more =
            sp_grow(t->task, t->count, 2 * t->room + 64, sizeof *more);

        if (!more) {
            t->failed = 1;
            return;
        }
        t->task = more;
        t->room = 2 * t->room + 64;
    }
    t->task[t->count] = *x;
    t->task[t->count].key = sp_strdup(key);
    if (t->task[t->count].key)
        t->count++;
    else
        t->failed = 1;
}

/* Against a plain loop nothing is said of what the model would have taken. */
static double gain_of(const spry_answer *a)
{
    int plain = strncmp(a->baseline, "plain", 5) == 0;

    if (plain || !(a->tuning_seconds > 0) || !(a->baseline_seconds > 0))
        return -1;
    return fmax(0, 1 - a->seconds / a->baseline_seconds);
}

static int visit(const spry_answer *a, void *arg)
{
    sp_transfer *t = arg;
    known_task x;

    if (a->calls != 0 || strlen(a->schedule) >= sizeof x.way ||
        spry_operator_parse(&x.op, a->problem) != SPRY_OK)
        return 0;
    snprintf(x.way, sizeof x.way, "%s", a->schedule);
    x.here = strcmp(a->machine, t->e->m.fingerprint) == 0;
    x.tried = a->effort >= SPRY_MEASURE;
    x.when = a->when;
    x.gain = gain_of(a);
    add(t, &x, a->problem);
    return t->failed;
}

/* The machine as it was probed: what the model would take is to be what it
 * takes in a run that is not tuned. */
static spry_status read_machine(spry_executor *e, spry_records *db)
{
    spry_machine known;
    int found = 0;
    spry_status s =
        spry_records_get_machine(db, &known, &found, e->m.fingerprint);

    if (s == SPRY_OK && found && known.probed && !e->m.probed)
        e->m = known;
    return s;
}

spry_status sp_transfer_open(sp_transfer **out, spry_executor *e)
{
    sp_transfer *t = *out = sp_alloc(1, sizeof *t);
    spry_records *db = NULL;
    spry_status s = t ? SPRY_OK : sp_fail_memory(sizeof *t);

    if (t)
        t->e = e;
    if (s == SPRY_OK && e->o.transfer)
        (void)open_store(&db, e); /* whoever remembers says why not */
    if (s == SPRY_OK && db)
        s = read_machine(e, db);
    if (s == SPRY_OK && db)
        s = spry_records_each_answer(db, visit, t);
    if (s == SPRY_OK)
        sp_message_clear(); /* of keys that are no operators */
    spry_records_close(db);
    return t && t->failed ? sp_fail_memory(sizeof *t) : s;
}

void sp_transfer_close(sp_transfer *t)
{
    for (int i = 0; t && i < t->count; i++)
        sp_free(t->task[i].key);
    if (t)
        sp_free(t->task);
    sp_free(t);
}

int sp_transfer_known(const sp_transfer *t, const spry_problem *p)
{
    const known_task *newest = NULL;

    for (int i = 0; i < t->count; i++)
        if (t->task[i].here &&
            strcmp(t->task[i].key, spry_problem_key(p)) == 0 &&
            (!newest || t->task[i].when >= newest->when))
            newest = &t->task[i];
    return newest && newest->tried;
}

/* ---- how far apart ---- */

static double apart(int64_t a, int64_t b)
{
    return fabs(log2((double)(a > 0 ? a : 1) / (double)(b > 0 ? b : 1)));
}

/* Rows times a matrix of weights: such products and convolutions of one tap
 * run by the same loops. */
typedef struct {
    int64_t rows, cols, terms; /* rows 0: it is none */
} weighted_product;

static weighted_product product_of(const spry_operator *op)
{
    if (op->kind == SPRY_MATMUL && !op->given &&
        (op->batch <= 1 || op->shared_b))
        return (weighted_product){op->batch * op->m, op->n, op->k};
    if (op->kind == SPRY_CONV2D && op->r == 1 && op->s == 1 &&
        op->stride_h == 1 && op->stride_w == 1 && op->groups == 1)
        return (weighted_product){op->n * op->h * op->w, op->k, op->c};
    return (weighted_product){0, 0, 0};
}

/* Between operators of one kind; HUGE_VAL: they are not alike. */
static double distance_within(const spry_operator *a, const spry_operator *b)
{
    int deep_a = a->groups > 1, deep_b = b->groups > 1;

    if (a->r != b->r || a->s != b->s || a->stride_h != b->stride_h ||
        a->stride_w != b->stride_w || a->dilate_h != b->dilate_h ||
        deep_a != deep_b || a->given != b->given ||
        (a->given && a->transposed != b->transposed))
        return HUGE_VAL;
    if (a->kind == SPRY_CONV2D || a->kind == SPRY_POOL)
        return apart(a->n * a->h * a->w, b->n * b->h * b->w) / 2 +
               apart(a->c, b->c) + apart(a->k, b->k);
    return apart(a->m, b->m) + apart(a->n, b->n) + apart(a->k, b->k) +
           apart(a->batch, b->batch) / 2;
}

/* Of its weights; of all zeros next to none. */
static double density_of(const spry_operator *op)
{
    return fmax(1e-6, 1 - (double)op->sparsity);
}

/* HUGE_VAL: another kind of thing. */
static double distance(const spry_operator *a, const spry_operator *b)
{
    double zeros = fabs(log2(density_of(a) / density_of(b)));
    weighted_product x, y;

    if (a->kind == b->kind)
        return zeros + distance_within(a, b);
    x = product_of(a);
    y = product_of(b);
    return x.rows && y.rows
               ? zeros + apart(x.rows, y.rows) + apart(x.cols, y.cols) +
                     apart(x.terms, y.terms)
               : HUGE_VAL;
}

static double distance_to(const known_task *x, const spry_operator *op)
{
    return distance(&x->op, op) + !x->here;
}

/* ---- ways ---- */

typedef struct {
    double far;
    char text[SPRY_SCHEDULE_TEXT];
} neighbour;

/* Sorted, one text once, at its nearest. */
static void keep_nearest(neighbour *list, int *count, int most,
                         const neighbour *x)
{
    int i = 0;

    while (i < *count && strcmp(list[i].text, x->text) != 0)
        i++;
    if (i == most) /* in place of the farthest */
        i--;
    else if (i == *count)
        list[(*count)++].far = HUGE_VAL;
    if (i < 0 || x->far >= list[i].far)
        return;
    for (; i > 0 && list[i - 1].far > x->far; i--)
        list[i] = list[i - 1];
    list[i] = *x;
}

int sp_transfer_near(char (*text)[SPRY_SCHEDULE_TEXT], int most,
                     const sp_transfer *t, const spry_problem *p)
{
    enum { MOST = 16 };
    const spry_operator *op = spry_problem_operator(p);
    neighbour list[MOST] = {{0}}, x;
    int count = 0;

    most = most < MOST ? most : MOST;
    for (int i = 0; op && i < t->count; i++) {
        x.far = distance_to(&t->task[i], op);
        if (t->task[i].tried && x.far <= FAR &&
            sp_dense_adapt(x.text, p, t->task[i].way, &t->e->m,
                           t->e->threads) == SPRY_OK)
            keep_nearest(list, &count, most, &x);
    }
    sp_message_clear(); /* of ways that are none here */
    for (int i = 0; i < count; i++)
        memcpy(text[i], list[i].text, SPRY_SCHEDULE_TEXT);
    return count;
}

/* ---- gains ---- */

/* Of so many tasks like it, as near as can be, as much is learned as from all
 * others together. */
static const double AS_MANY = 1;

/* Fewer tasks say nothing of others; and what tuning usually wins counts as
 * much as some of them. */
enum { ENOUGH = 5 };
static const double USUAL_GAIN = 0.1, USUAL_TASKS = 2;

double sp_transfer_gain(const sp_transfer *t, const spry_problem *p)
{
    const spry_operator *op = spry_problem_operator(p);
    double sum = 0, weight = 0, all = 0, squares = 0;
    int count = 0;

    for (int i = 0; op && i < t->count; i++) {
        const known_task *x = &t->task[i];
        double by = exp2(-distance_to(x, op));

        if (x->gain < 0)
            continue;
        sum += by * x->gain;
        weight += by;
        all += x->gain;
        squares += x->gain * x->gain;
        count++;
    }
    if (count < ENOUGH)
        return -1;
    squares = squares / count - all / count * (all / count);
    all = (all + USUAL_TASKS * USUAL_GAIN) / (count + USUAL_TASKS);
    /* of what nobody knows, somewhat more than usual is hoped for */
    all += sqrt(fmax(0, squares));
    return (sum + AS_MANY * all) / (weight + AS_MANY);
}

/* ---- remembering ---- */

spry_status sp_transfer_add(sp_transfer *t, int task, double before,
                            double after)
{
    const sp_graph_task *g = &t->e->task[task];
    const spry_problem *p = t->e->stage[g->first].problem;
    known_task x = {.here = 1, .tried = 1, .when = (int64_t)time(NULL)};

    if (!spry_problem_operator(p) || !(before > 0))
        return SPRY_OK;
    x.op = *spry_problem_operator(p);
    snprintf(x.way, sizeof x.way, "%s", g->text);
    x.gain = fmax(0, 1 - after / before);
    add(t, &x, g->key);
    return t->failed ? sp_fail_memory(sizeof x) : SPRY_OK;
}

static spry_status remember_task(spry_records *db, const spry_executor *e,
                                 int task, const sp_task_state *state)
{
    const sp_graph_task *t = &e->task[task];
    const sp_ready_stage *x = &e->stage[t->first];
    double now = x->seconds, gain = 1;
    char mark[SP_KERNEL_MARK];
    spry_answer a = {.problem = t->key,
                     .machine = e->m.fingerprint,
                     .schedule = t->text,
                     .baseline = t->text,
                     .pack_seconds = x->plan->pack_seconds,
                     .effort = SPRY_PREDICT,
                     .when = (int64_t)time(NULL),
                     .kernel = mark};

    sp_kernel_mark(mark, x->plan);
    if (state->tried) {
        a.effort = SPRY_MEASURE;
        a.tuning_seconds = state->spent;
    }
    if (strcmp(t->text, state->usual) != 0 && state->now > 0) {
        a.baseline = state->usual;
        gain = state->before / state->now;
    }
    a.seconds = now;
    a.baseline_seconds = now * gain;
    a.speedup = gain;
    a.low = 1; /* a few runs prove no more */
    a.high = fmax(1, gain);
    return spry_records_answer(db, &a);
}

/* Does the store have it, as it is? */
static int is_as_known(const spry_executor *e, int task,
                       const sp_task_state *state)
{
    return state[task].known &&
           strcmp(e->task[task].text, state[task].usual) == 0;
}

spry_status sp_transfer_remember(const spry_executor *e,
                                 const sp_task_state *state)
{
    spry_records *db;
    spry_status s = open_store(&db, e);

    if (db && s == SPRY_OK)
        s = spry_records_batch(db);
    for (int i = 0; db && s == SPRY_OK && i < e->tasks; i++)
        if (e->stage[e->task[i].first].seconds > 0 && !is_as_known(e, i, state))
            s = remember_task(db, e, i, &state[i]);
    if (db && s == SPRY_OK)
        s = spry_records_commit(db);
    spry_records_close(db);
    return s;
}
