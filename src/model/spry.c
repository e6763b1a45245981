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
#include "model/ensemble.h"
#include "model/fast.h"
#include "model/kinds.h"
#include "model/local.h"
#include "model/plain.h"
#include "model/resnet.h"
#include "model/trees.h"

enum { PROBLEM = SP_PLAIN_FEATURES, NETS = 2, AT_ONCE = 256 };

typedef struct {
    sp_trees trees, time;
    sp_resnet net[NETS];
    int nets; /* 0: a file from before there were any */
    sp_fast fast;
} model;

typedef struct {
    double plain;   /* log seconds of the baseline */
    double known;   /* what the trees say of every schedule, and */
    double locally; /* those of this machine, and */
    sp_trees trees; /* the rest of them, for this problem and machine */
    sp_trees local; /* the same of what was learned on this machine */
    sp_tape *tape;  /* of the networks */
    float (*row)[SP_FEATURES];         /* [AT_ONCE] */
    float (*elastic)[SP_ELASTICITIES]; /* the same; NULL: nobody asks */
    float fast[SP_FAST_WIDTH];
} view;

/* ---- fitting ---- */

/* Shares of a limited time; the head has the rest. */
static const double TEAM_TIME = 0.5, NET_TIME = 0.1;

typedef struct {
    const sp_fitting *l;
    const sp_dataset *train, *test;
} work;

/* The head learns from the trees, on points that nobody measured too. */
static spry_status fit_fast(model *m, sp_nn *nn, const work *w)
{
    sp_fitting quiet = *w->l;
    sp_dataset taught;
    sp_net_fitting fitting = {
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

    quiet.quiet = 1;
    quiet.seconds *= 1 - TEAM_TIME - NETS * NET_TIME;
    if (s == SPRY_OK)
        s = sp_distil(&taught, w->train, &m->trees, w->l->seed, w->l->threads);
    if (s != SPRY_OK)
        return s;
    fitting.target = taught.slower;
    sp_scaler_fit(&m->fast.problem_scale, &taught, 0);
    sp_scaler_fit(&m->fast.schedule_scale, &taught, PROBLEM);
    s = sp_net_learn(&fitting);
    sp_dataset_free(&taught);
    return s;
}

static void make_net(model *m, sp_nn *nn, int k, char name[16])
{
    snprintf(name, 16, "net%d", k);
    sp_resnet_make(&m->net[k], nn, name);
}

/* One after another, each from other weights. */
static spry_status fit_nets(model *m, sp_nn *nn, const work *w)
{
    sp_fitting quiet = *w->l;
    char name[16];
    spry_status s = SPRY_OK;

    m->nets = NETS;
    quiet.quiet = 1;
    quiet.rounds = 0;
    quiet.seconds *= NET_TIME;
    for (int k = 0; k < NETS && s == SPRY_OK; k++) {
        quiet.seed = w->l->seed + (uint64_t)k;
        make_net(m, nn, k, name);
        s = sp_nn_status(nn);
        if (s == SPRY_OK)
            s = sp_resnet_learn(&m->net[k], nn, &quiet, w->train, w->test);
        sp_nn_freeze(nn, name, 1);
    }
    return s;
}

static spry_status fit_all(sp_cost *c, work *w)
{
    model *m = c->inner;
    sp_fitting l = *w->l;
    spry_status s;

    l.seconds *= TEAM_TIME;
    s = sp_ensemble_grow(&m->trees, w->train, w->test, &l);

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

static spry_status fit(sp_cost *c, const sp_fitting *l)
{
    sp_dataset train = {0}, test = {0};
    work w = {l, &train, &test};
    spry_status s = SPRY_OK;

    c->inner = sp_alloc(1, sizeof(model));
    if (!c->inner)
        return sp_fail_memory(sizeof(model));
    s = sp_datasets_new(&train, &test, l);
    if (s == SPRY_OK)
        s = fit_all(c, &w);
    sp_dataset_free(&train);
    sp_dataset_free(&test);
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
    m->nets = sp_resnet_known(c->nn, "net0") ? NETS : 0;
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
    const sp_local *local = v->cost->local;
    const sp_subject *s = v->subject;
    view *own = sp_alloc(1, sizeof *own);
    float row[PROBLEM];
    spry_status status;

    if (!own)
        return sp_fail_memory(sizeof *own);
    v->inner = own;
    memcpy(row, s->pattern, sizeof s->pattern);
    memcpy(row + SP_PATTERN, s->machine, sizeof s->machine);
    own->plain = sp_plain_log(s) + sp_trees_sum(&m->time, row);
    status = sp_trees_settle(&own->trees, &own->known, &m->trees, row, PROBLEM);
    if (status == SPRY_OK && local && local->trees_in)
        status = sp_trees_settle(&own->local, &own->locally, &local->trees, row,
                                 PROBLEM);
    if (status == SPRY_OK)
        status = sp_tape_new(&own->tape, 1);
    own->row = sp_alloc_raw(AT_ONCE, sizeof *own->row);
    if (local && local->elastic)
        own->elastic = sp_alloc_raw(AT_ONCE, sizeof *own->elastic);
    if (status == SPRY_OK &&
        (!own->row || (local && local->elastic && !own->elastic)))
        status = sp_fail_memory(AT_ONCE * sizeof *own->row);
    return status == SPRY_OK ? sp_fast_problem(own->fast, &m->fast, s) : status;
}

static void leave(sp_view *v)
{
    view *own = v->inner;

    if (own) {
        sp_trees_free(&own->trees);
        sp_trees_free(&own->local);
        sp_tape_free(own->tape);
        sp_free(own->row);
        sp_free(own->elastic);
    }
    sp_free(own);
}

/* So many at a time share the trees in the cache; so many are worth a second
 * thread. */
enum { FEW = 32, MANY = 128 };

/* Rows from `at` on, and what the trees say; HUGE_VAL: cannot be had. */
static void ask_trees(double *out, const sp_view *v, const spry_schedule *x,
                      int64_t at, int64_t count)
{
    const view *own = v->inner;
    double sum[FEW] = {0};
    int had[FEW];

    for (int64_t i = 0; i < count; i++) {
        had[i] = sp_subject_row(own->row[at + i], v->subject, &x[at + i]);
        if (!had[i])
            memset(own->row[at + i], 0, sizeof *own->row);
        if (own->elastic)
            sp_elasticities(own->elastic[at + i], v->subject->p, &x[at + i],
                            v->subject->m);
    }
    sp_trees_add(sum, &own->trees, own->row[at], count);
    for (int64_t i = 0; i < count; i++)
        out[at + i] = had[i] ? own->plain + own->known + sum[i] +
                                   (double)sp_row_bound(own->row[at + i])
                             : HUGE_VAL;
}

/* What the networks say of the rows that are there; `out` holds what the
 * trees said. */
static spry_status ask_nets(double *out, const sp_view *v, int64_t count)
{
    const model *m = v->cost->inner;
    const sp_local *local = v->cost->local;
    const view *own = v->inner;

    for (int64_t i = 0; i < count && m->nets; i++)
        out[i] = own->plain;
    sp_tape_begin(own->tape, 0);
    for (int k = 0; k < m->nets; k++) {
        const sp_resnet *net = local && local->nets ? local->net : m->net;
        sp_tensor *y = sp_resnet_pass(own->tape, &net[k], own->row[0], count);

        for (int64_t i = 0; y && i < count; i++)
            out[i] += (double)y->value[i] / NETS;
    }
    return sp_tape_status(own->tape);
}

/* What was learned on this machine counts for both. What cannot be had has no
 * opinions. */
static void add_local(double *trees, double *nets, const sp_view *v,
                      int64_t count)
{
    const view *own = v->inner;
    const sp_local *local = v->cost->local;
    sp_local_table rows = {own->row[0], own->elastic ? own->elastic[0] : NULL,
                           count};
    double a[AT_ONCE], b[AT_ONCE];

    for (int64_t i = 0; i < count; i++) {
        a[i] = isfinite(trees[i]) ? trees[i] - own->plain : 0;
        b[i] = isfinite(trees[i]) ? nets[i] - own->plain : 0;
    }
    sp_local_add(a, b, local, local->trees_in ? &own->local : NULL, &rows);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(trees[i]))
            continue;
        trees[i] = own->plain + own->locally + a[i];
        nets[i] = own->plain + own->locally + b[i];
    }
}

/* Both, of AT_ONCE schedules or fewer. */
static spry_status ask_both(double *trees, double *nets, const sp_view *v,
                            const spry_schedule *x, int64_t count)
{
    spry_status s = SPRY_OK;

#pragma omp parallel for schedule(dynamic, 1) if (count >= MANY)
    for (int64_t at = 0; at < count; at += FEW)
        ask_trees(trees, v, x, at, count - at < FEW ? count - at : FEW);
    memcpy(nets, trees, (size_t)count * sizeof *nets);
    if (!v->hasty)
        s = ask_nets(nets, v, count);
    if (s == SPRY_OK && v->cost->local)
        add_local(trees, nets, v, count);
    return s;
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
    double opinion[AT_ONCE][SP_OPINIONS];
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < count && s == SPRY_OK; at += AT_ONCE) {
        int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;

        s = opinions(opinion, v, x + at, n);
        for (int64_t i = 0; i < n; i++)
            out[at + i] = (opinion[i][0] + opinion[i][1]) / 2;
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
    const view *own = v->inner;

    sp_fast_join(out, &m->fast, own->fast, half, count);
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
