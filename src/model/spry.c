/* spry.c - the analytic bound, and what was learned about where it is wrong.
 *
 *   log seconds = log of the plain loop's bound + time(problem, machine)
 *               + log of the bound over the plain loop's + trees(all features)
 *
 * The trees are grown for the order of the schedules of a problem and for
 * their time together, so the score is worth something in both. They are of a
 * few members, and the score is their mean. Beside them lies the factored head,
 * which does without the bound. */
#include <math.h>
#include <string.h>

#include "model/distil.h"
#include "model/fast.h"
#include "model/kinds.h"
#include "model/team.h"
#include "model/trees.h"

enum { PROBLEM = SP_PATTERN + SP_MACHINE };

typedef struct {
    sp_trees trees, time;
    sp_fast fast;
} model;

typedef struct {
    double offset;  /* log seconds of the baseline */
    sp_trees trees; /* the model's, for this problem and machine */
    float fast[SP_FAST_WIDTH];
} sight;

/* ---- the baseline's time ---- */

/* Where the bound is not known, for want of the matrix, a nanosecond for each
 * product: what the trees make of that is at least seconds. */
static double log_plain(const sp_subject *s)
{
    double products = (double)s->task.nnz * fmax(1, (double)s->task.n);

    return isfinite(s->plain)
               ? log(s->plain)
               : log(1e-9 * (products + (double)s->task.rows + 1));
}

typedef struct {
    float *x, *label;
    int64_t rows;
} baselines;

static double baseline_slopes(float *slope, float *curve, const float *sum,
                              void *at)
{
    const baselines *b = at;

    for (int64_t i = 0; i < b->rows; i++) {
        slope[i] = sum[i] - b->label[i];
        curve[i] = 1;
    }
    return 0;
}

static double no_judge(const float *sum, int round, double loss, int *stop,
                       void *at)
{
    (void)sum;
    (void)round;
    (void)loss;
    (void)stop;
    (void)at;
    return 0;
}

static void list_baselines(baselines *b, const sp_examples *e)
{
    for (int64_t i = 0; i < e->subjects; i++) {
        const sp_subject *s = &e->subject[i];
        double log_seconds = sp_baseline_of(e, i);
        float *x = b->x + b->rows * PROBLEM;

        if (!isfinite(log_seconds))
            continue;
        memcpy(x, s->pattern, sizeof s->pattern);
        memcpy(x + SP_PATTERN, s->machine, sizeof s->machine);
        b->label[b->rows++] = (float)(log_seconds - log_plain(s));
    }
}

/* One leaf that adds nothing. */
static spry_status no_tree(sp_trees *out)
{
    spry_status s = sp_trees_new(out, PROBLEM, 1, 1);

    if (s == SPRY_OK) {
        out->start[1] = 1;
        out->node[0].feature = -1;
    }
    return s;
}

/* How wrong the bound of the plain loop is; nothing where no baseline was
 * measured. */
static spry_status grow_time(sp_trees *out, const sp_lesson *l)
{
    static const char *const setting[][2] = {
        {"tree_method", "hist"},   {"max_depth", "3"},   {"eta", "0.1"},
        {"min_child_weight", "3"}, {"subsample", "0.8"}, {NULL, NULL}};
    int64_t most = l->train->subjects + 1;
    baselines b = {sp_alloc(most, PROBLEM * sizeof(float)),
                   sp_alloc(most, sizeof(float)), 0};
    sp_growing g = {.features = PROBLEM,
                    .setting = setting,
                    .rounds = 60,
                    .threads = l->threads,
                    .seed = l->seed,
                    .slopes = baseline_slopes,
                    .judge = no_judge,
                    .payload = &b};
    spry_status s;

    if (b.x && b.label) {
        list_baselines(&b, l->train);
        g.train = (sp_field){b.x, NULL, b.rows};
        s = b.rows >= 4 ? sp_trees_grow(out, &g) : no_tree(out);
    } else
        s = sp_fail_memory((size_t)most * PROBLEM * sizeof(float));
    sp_free(b.x);
    sp_free(b.label);
    return s;
}

/* ---- fitting ---- */

/* Share of a limited time that the trees have; the head has the rest. */
static const double TEAM_TIME = 0.7;

typedef struct {
    const sp_lesson *l;
    const sp_lesson_table *train, *test;
} work;

/* The head learns from the trees, on points that nobody measured too. */
static spry_status fit_fast(model *m, sp_nn *nn, const work *w)
{
    sp_lesson quiet = *w->l;
    sp_lesson_table taught;
    sp_net_lesson is = {
        .l = &quiet,
        .train = &taught,
        .test = w->test,
        .nn = nn,
        .net = &m->fast,
        .pass = sp_fast_pass,
        .epochs = 80,
        .patience = 30,
        .rate = 2e-3,
        .decay = 1e-4,
        .clip = 1,
        .rank = 1,
        .begin = sp_seconds(),
    };
    spry_status s = sp_fast_make(&m->fast, nn);

    quiet.note = NULL;
    quiet.seconds *= 1 - TEAM_TIME;
    if (s == SPRY_OK)
        s = sp_distil(&taught, w->train, &m->trees, w->l->seed, w->l->threads);
    if (s != SPRY_OK)
        return s;
    is.target = taught.slower;
    sp_scaler_fit(&m->fast.problem_scale, &taught, 0);
    sp_scaler_fit(&m->fast.schedule_scale, &taught, PROBLEM);
    s = sp_net_learn(&is);
    sp_table_free(&taught);
    return s;
}

static spry_status fit_all(sp_cost *c, work *w)
{
    model *m = c->inner;
    sp_lesson l = *w->l;
    spry_status s;

    l.seconds *= TEAM_TIME;
    s = sp_team_grow(&m->trees, w->train, w->test, &l);

    if (s == SPRY_OK)
        s = grow_time(&m->time, w->l);
    if (s == SPRY_OK)
        s = sp_trees_keep(c->nn, "trees", &m->trees);
    if (s == SPRY_OK)
        s = sp_trees_keep(c->nn, "time", &m->time);
    sp_nn_freeze(c->nn, "t", 1); /* trees and time are no weights */
    return s == SPRY_OK ? fit_fast(m, c->nn, w) : s;
}

static spry_status fit(sp_cost *c, const sp_lesson *l)
{
    sp_lesson_table train = {0}, test = {0};
    work w = {l, &train, &test};
    spry_status s = SPRY_OK;

    c->inner = sp_alloc(1, sizeof(model));
    if (!c->inner)
        return sp_fail_memory(sizeof(model));
    s = sp_table_new(&train, l->train, l->threads);
    if (s == SPRY_OK)
        s = sp_table_new(&test, l->test, l->threads);
    if (s == SPRY_OK && train.rows < 2)
        s = sp_fail(SPRY_USAGE, "there is nothing to learn from");
    if (s == SPRY_OK)
        s = fit_all(c, &w);
    sp_table_free(&train);
    sp_table_free(&test);
    return s;
}

static spry_status open(sp_cost *c)
{
    model *m = sp_alloc(1, sizeof *m);
    spry_status s;

    if (!m)
        return sp_fail_memory(sizeof *m);
    c->inner = m;
    s = sp_trees_open(&m->trees, c->nn, "trees", SP_FEATURES);
    if (s == SPRY_OK)
        s = sp_trees_open(&m->time, c->nn, "time", PROBLEM);
    return s == SPRY_OK ? sp_fast_make(&m->fast, c->nn) : s;
}

static void close(sp_cost *c)
{
    model *m = c->inner;

    if (m) {
        sp_trees_free(&m->trees);
        sp_trees_free(&m->time);
    }
    sp_free(m);
}

/* ---- use ---- */

static spry_status look(sp_view *v)
{
    const model *m = v->cost->inner;
    const sp_subject *s = v->subject;
    sight *is = sp_alloc(1, sizeof *is);
    float row[PROBLEM];
    spry_status status;

    if (!is)
        return sp_fail_memory(sizeof *is);
    v->inner = is;
    memcpy(row, s->pattern, sizeof s->pattern);
    memcpy(row + SP_PATTERN, s->machine, sizeof s->machine);
    is->offset = log_plain(s) + sp_trees_sum(&m->time, row);
    status = sp_trees_settle(&is->trees, &is->offset, &m->trees, row, PROBLEM);
    return status == SPRY_OK ? sp_fast_problem(is->fast, &m->fast, s) : status;
}

static void leave(sp_view *v)
{
    sight *is = v->inner;

    if (is)
        sp_trees_free(&is->trees);
    sp_free(is);
}

/* So many at a time share the trees in the cache; so many are worth a second
 * thread. */
enum { FEW = 32, MANY = 128 };

static void score_few(double *out, const sp_view *v, const spry_schedule *x,
                      int64_t count)
{
    const sight *is = v->inner;
    float row[FEW][SP_FEATURES];
    double sum[FEW] = {0};
    int64_t who[FEW], n = 0;

    for (int64_t i = 0; i < count; i++) {
        out[i] = HUGE_VAL;
        if (sp_subject_row(row[n], v->subject, &x[i]))
            who[n++] = i;
    }
    if (n)
        sp_trees_add(sum, &is->trees, row[0], n);
    for (int64_t k = 0; k < n; k++)
        out[who[k]] = is->offset + (double)sp_row_bound(row[k]) + sum[k];
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
#pragma omp parallel for schedule(dynamic, 1) if (count >= MANY)
    for (int64_t at = 0; at < count; at += FEW)
        score_few(out + at, v, x + at, count - at < FEW ? count - at : FEW);
    return SPRY_OK;
}

static int width(const sp_cost *c)
{
    (void)c;
    return SP_FAST_WIDTH;
}

static spry_status halves(float *out, const sp_cost *c, const spry_schedule *x,
                          int64_t count)
{
    const model *m = c->inner;

    return sp_fast_schedules(out, &m->fast, x, count, c->op);
}

static void join(float *out, const sp_view *v, const float *half, int64_t count)
{
    const model *m = v->cost->inner;
    const sight *is = v->inner;

    sp_fast_join(out, &m->fast, is->fast, half, count);
}

const sp_cost_kind sp_cost_spry = {
    .name = "spry",
    .about = "the bound, corrected by trees; and a factored head",
    .absolute = 1,
    .fit = fit,
    .open = open,
    .close = close,
    .look = look,
    .leave = leave,
    .score = score,
    .width = width,
    .halves = halves,
    .join = join,
};
