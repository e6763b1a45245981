/* spry.c - the analytic bound, and what was learned about where it is wrong.
 *
 *   log seconds = log of the plain loop's bound + time(problem, machine)
 *               + the mean of two opinions on the time over the plain loop's:
 *                   its bound + trees(all features)
 *                   networks(all features), the mean of two small ones
 *
 * Both learn the order of the schedules of a problem and their time together,
 * so the score is worth something in both. Beside them lies the factored head,
 * which does without the bound. */
#include <math.h>
#include <string.h>

#include "model/distil.h"
#include "model/fast.h"
#include "model/kinds.h"
#include "model/member.h"
#include "model/plain.h"
#include "model/team.h"
#include "model/trees.h"

enum { PROBLEM = SP_PLAIN_FEATURES, NETS = 2, AT_ONCE = 256 };

typedef struct {
    sp_trees trees, time;
    sp_member net[NETS];
    int nets; /* 0: a file from before there were any */
    sp_fast fast;
} model;

typedef struct {
    double plain;   /* log seconds of the baseline */
    double known;   /* what the trees say of every schedule, and */
    sp_trees trees; /* the rest of them, for this problem and machine */
    sp_tape *tape;  /* of the networks */
    float (*row)[SP_FEATURES]; /* [AT_ONCE] */
    float fast[SP_FAST_WIDTH];
} sight;

/* ---- fitting ---- */

/* Shares of a limited time; the head has the rest. */
static const double TEAM_TIME = 0.5, NET_TIME = 0.1;

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
    quiet.seconds *= 1 - TEAM_TIME - NETS * NET_TIME;
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

static void make_net(model *m, sp_nn *nn, int k, char name[16])
{
    snprintf(name, 16, "net%d", k);
    sp_member_make(&m->net[k], nn, name);
}

/* One after another, each from other weights. */
static spry_status fit_nets(model *m, sp_nn *nn, const work *w)
{
    sp_lesson quiet = *w->l;
    char name[16];
    spry_status s = SPRY_OK;

    m->nets = NETS;
    quiet.note = NULL;
    quiet.rounds = 0;
    quiet.seconds *= NET_TIME;
    for (int k = 0; k < NETS && s == SPRY_OK; k++) {
        quiet.seed = w->l->seed + (uint64_t)k;
        make_net(m, nn, k, name);
        s = sp_nn_status(nn);
        if (s == SPRY_OK)
            s = sp_member_learn(&m->net[k], nn, &quiet, w->train, w->test);
        sp_nn_freeze(nn, name, 1);
    }
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
        s = sp_plain_grow(&m->time, w->l);
    if (s == SPRY_OK)
        s = sp_trees_keep(c->nn, "trees", &m->trees);
    if (s == SPRY_OK)
        s = sp_trees_keep(c->nn, "time", &m->time);
    sp_nn_freeze(c->nn, "t", 1); /* trees and time are no weights */
    if (s == SPRY_OK)
        s = fit_nets(m, c->nn, w);
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
    char name[16];
    spry_status s;

    if (!m)
        return sp_fail_memory(sizeof *m);
    c->inner = m;
    s = sp_trees_open(&m->trees, c->nn, "trees", SP_FEATURES);
    if (s == SPRY_OK)
        s = sp_trees_open(&m->time, c->nn, "time", PROBLEM);
    m->nets = sp_member_known(c->nn, "net0") ? NETS : 0;
    for (int k = 0; k < m->nets; k++)
        make_net(m, c->nn, k, name);
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
    is->plain = sp_plain_log(s) + sp_trees_sum(&m->time, row);
    status = sp_trees_settle(&is->trees, &is->known, &m->trees, row, PROBLEM);
    if (status == SPRY_OK)
        status = sp_tape_new(&is->tape, 1);
    is->row = sp_alloc_raw(AT_ONCE, sizeof *is->row);
    if (status == SPRY_OK && !is->row)
        status = sp_fail_memory(AT_ONCE * sizeof *is->row);
    return status == SPRY_OK ? sp_fast_problem(is->fast, &m->fast, s) : status;
}

static void leave(sp_view *v)
{
    sight *is = v->inner;

    if (is) {
        sp_trees_free(&is->trees);
        sp_tape_free(is->tape);
        sp_free(is->row);
    }
    sp_free(is);
}

/* So many at a time share the trees in the cache; so many are worth a second
 * thread. */
enum { FEW = 32, MANY = 128 };

/* Rows from `at` on, and what the trees say; HUGE_VAL: cannot be had. */
static void ask_trees(double *out, const sp_view *v, const spry_schedule *x,
                      int64_t at, int64_t count)
{
    const sight *is = v->inner;
    double sum[FEW] = {0};
    int had[FEW];

    for (int64_t i = 0; i < count; i++) {
        had[i] = sp_subject_row(is->row[at + i], v->subject, &x[at + i]);
        if (!had[i])
            memset(is->row[at + i], 0, sizeof *is->row);
    }
    sp_trees_add(sum, &is->trees, is->row[at], count);
    for (int64_t i = 0; i < count; i++)
        out[at + i] = had[i] ? is->plain + is->known + sum[i] +
                                   (double)sp_row_bound(is->row[at + i])
                             : HUGE_VAL;
}

/* What the networks say of the rows that are there; `out` holds what the
 * trees said. */
static spry_status ask_nets(double *out, const sp_view *v, int64_t count)
{
    const model *m = v->cost->inner;
    const sight *is = v->inner;

    for (int64_t i = 0; i < count && m->nets; i++)
        out[i] = is->plain;
    sp_tape_begin(is->tape, 0);
    for (int k = 0; k < m->nets; k++) {
        sp_tensor *y = sp_member_pass(is->tape, &m->net[k], is->row[0], count);

        for (int64_t i = 0; y && i < count; i++)
            out[i] += (double)y->value[i] / NETS;
    }
    return sp_tape_status(is->tape);
}

/* Both, of AT_ONCE schedules or fewer. */
static spry_status ask_both(double *trees, double *nets, const sp_view *v,
                            const spry_schedule *x, int64_t count)
{
#pragma omp parallel for schedule(dynamic, 1) if (count >= MANY)
    for (int64_t at = 0; at < count; at += FEW)
        ask_trees(trees, v, x, at, count - at < FEW ? count - at : FEW);
    memcpy(nets, trees, (size_t)count * sizeof *nets);
    return v->hasty ? SPRY_OK : ask_nets(nets, v, count);
}

static spry_status opinions(double (*out)[SP_OPINIONS], sp_view *v,
                            const spry_schedule *x, int64_t count)
{
    double trees[AT_ONCE], nets[AT_ONCE];
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < count && s == SPRY_OK; at += AT_ONCE) {
        int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;

        s = ask_both(trees, nets, v, x + at, n);
        for (int64_t i = 0; i < n; i++) {
            out[at + i][0] = trees[i];
            out[at + i][1] = isfinite(trees[i]) ? nets[i] : HUGE_VAL;
        }
    }
    return s;
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    double is[AT_ONCE][SP_OPINIONS];
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < count && s == SPRY_OK; at += AT_ONCE) {
        int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;

        s = opinions(is, v, x + at, n);
        for (int64_t i = 0; i < n; i++)
            out[at + i] = (is[i][0] + is[i][1]) / 2;
    }
    return s;
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
    .about = "the bound, corrected by trees and networks; a factored head",
    .absolute = 1,
    .fit = fit,
    .open = open,
    .close = close,
    .look = look,
    .leave = leave,
    .score = score,
    .opinions = opinions,
    .width = width,
    .halves = halves,
    .join = join,
};
