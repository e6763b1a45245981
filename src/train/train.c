/* train.c - records in, a model file out; and grades for those who ask. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "train/internal.h"

/* A training under way. */
typedef struct {
    const spry_train_options *opt;
    sp_data d;
    sp_examples part[SP_PARTS];
    int threads, rounds;
    double begun, data_seconds;
    sp_lap *lap; /* [laps] of the fit at hand */
    int laps, lap_room;
    spry_lap last; /* that was told */
    int stopped;
} work;

int sp_train_threads(const spry_train_options *opt)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return opt->threads > 0 ? opt->threads : online > 0 ? (int)online : 1;
}

static void drop_parts(work *w)
{
    for (int k = 0; k < SP_PARTS; k++)
        sp_examples_free(&w->part[k]);
}

static void work_close(work *w)
{
    sp_free(w->lap);
    drop_parts(w);
    sp_data_close(&w->d);
}

/* Reading ends, as SPRY_BUDGET, at `until`; 0: whenever it is done. */
static spry_status work_open(work *w, spry_records *db,
                             const spry_train_options *opt, double until)
{
    double begin = sp_seconds();
    spry_status s;

    *w = (work){.opt = opt, .threads = sp_train_threads(opt), .begun = begin};
    s = sp_data_open_until(&w->d, db, opt->op, opt->machine, w->threads, until);
    if (s == SPRY_OK)
        s = sp_data_split(w->part, &w->d, opt->split, opt->seed, 0);
    if (s == SPRY_OK &&
        (w->part[SP_TEACH].rows < 2 || w->part[SP_HELD].rows == 0))
        s = sp_fail(SPRY_USAGE,
                    "%lld records of %lld problems are too few to learn %s "
                    "from and to hold some out; see spry collect",
                    (long long)w->d.e.rows, (long long)w->d.e.subjects,
                    spry_op_name(opt->op));
    w->data_seconds = sp_seconds() - begin;
    if (s != SPRY_OK)
        work_close(w);
    return s;
}

/* ---- fitting ---- */

static void keep_lap(work *w, const sp_lap *lap)
{
    if (w->laps == w->lap_room) {
        int room = w->lap_room ? 2 * w->lap_room : 256;
        sp_lap *more = sp_grow(w->lap, w->laps, room, sizeof *more);

        if (more) {
            w->lap = more;
            w->lap_room = room;
        }
    }
    if (w->laps < w->lap_room)
        w->lap[w->laps++] = *lap;
}

/* Parts of a model that tell no rounds tell the last one again, so that they
 * can be stopped, too. */
static int tell(const sp_lap *lap, void *payload)
{
    work *w = payload;

    if (lap->round > 0) {
        w->last = (spry_lap){lap->round, lap->loss, lap->regret, lap->seconds};
        w->rounds = lap->round;
        keep_lap(w, lap);
    }
    if (w->opt->progress && w->opt->progress(&w->last, w->opt->payload))
        w->stopped = 1;
    return w->stopped;
}

/* What a fit may take of a named budget when it is one of so many that are
 * left: reading counts, and a tenth is kept for grades and files. 0: the
 * budget is each fit's own. */
static double fitting_seconds(const work *w, int fits)
{
    double left = w->opt->seconds * 0.9 - (sp_seconds() - w->begun);

    return w->opt->seconds > 0 && fits > 0 ? fmax(left / fits, 1e-3)
                                           : w->opt->seconds;
}

static spry_status fit(sp_cost **out, work *w, const sp_cost_kind *kind,
                       const sp_examples *teach, int fits)
{
    sp_fitting l = {.train = teach,
                    .test = w->part[SP_STOP].rows ? &w->part[SP_STOP] : NULL,
                    .seed = w->opt->seed,
                    .threads = w->threads,
                    .rounds = w->opt->rounds,
                    .seconds = fitting_seconds(w, fits),
                    .note = tell,
                    .payload = w};
    spry_status s;

    w->laps = 0;
    s = sp_cost_fit(out, kind, w->opt->op, &l);
    if (s == SPRY_OK && w->stopped)
        s = sp_fail(SPRY_STOPPED,
                    "stopped while %s was learned: nothing is "
                    "written",
                    kind->name);
    if (s == SPRY_OK && w->opt->meta)
        s = sp_train_meta(*out, teach, w->opt, w->threads);
    return s;
}

static spry_status find_kind(const sp_cost_kind **out, const char *name)
{
    *out = sp_cost_kind_find(name);
    return *out ? SPRY_OK
                : sp_fail(SPRY_USAGE, "there is no kind of model '%s'", name);
}

/* ---- grading ---- */

/* What a model has no matrix to look at for comes last; a model of nests is
 * asked about nests only. */
static spry_status score_rows(double *score, const sp_cost *c,
                              const sp_examples *e)
{
    spry_status s = SPRY_OK;

    for (int64_t k = 0; k < e->subjects && s == SPRY_OK; k++) {
        sp_view *v = NULL;

        for (int64_t i = e->start[k]; i < e->start[k + 1]; i++)
            score[i] = HUGE_VAL;
        if (c->kind->matrix && !e->subject[k].p)
            continue;
        s = sp_cost_look(&v, c, &e->subject[k]);
        for (int64_t i = e->start[k]; i < e->start[k + 1] && s == SPRY_OK; i++)
            if (c->kind->nests && e->row[i].x.format != SPRY_SUPER)
                score[i] = SP_NOT_ASKED;
            else
                s = sp_view_score(&score[i], v, &e->row[i].x, 1);
        sp_view_free(v);
    }
    return s;
}

spry_status sp_grade_model(sp_grading *g, const sp_cost *c,
                           const sp_examples *e)
{
    double *score = sp_alloc(e->rows + 1, sizeof *score);
    spry_status s = score ? score_rows(score, c, e)
                          : sp_fail_memory((size_t)e->rows * sizeof *score);

    if (s == SPRY_OK)
        s = sp_grading_add(g, e, score, 1);
    sp_free(score);
    return s;
}

spry_status sp_grade_chance(sp_grading *g, const sp_examples *e, uint64_t seed)
{
    enum { TIMES = 50 };
    double *score = sp_alloc(TIMES * (e->rows + 1), sizeof *score);
    sp_rng r = sp_rng_seed(seed);
    spry_status s;

    if (!score)
        return sp_fail_memory(TIMES * (size_t)e->rows * sizeof *score);
    for (int64_t i = 0; i < TIMES * e->rows; i++)
        score[i] = sp_rng_unit(&r);
    s = sp_grading_add(g, e, score, TIMES);
    sp_free(score);
    return s;
}

/* ---- training ---- */

/* The machine most subjects were measured on, by name. */
static const char *machine_name(const sp_data *d)
{
    const char *name = "";
    int64_t most = 0;

    for (int64_t i = 0; i < d->e.subjects; i++) {
        int64_t same = 0;

        for (int64_t k = 0; k < d->e.subjects; k++)
            same += !strcmp(d->machine[i], d->machine[k]);
        if (same > most && d->m[i]) {
            most = same;
            name = d->m[i]->name;
        }
    }
    return name;
}

static spry_status write_model(const sp_cost *c, const work *w,
                               const spry_trained *t, const char *path)
{
    sp_buf card = {0};
    spry_status s;

    s = sp_card_write(&card, t, w->opt, &w->d, machine_name(&w->d));
    if (s == SPRY_OK)
        s = card.failed ? sp_fail_memory(card.len)
                        : sp_cost_save(c, card.data, path);
    sp_buf_free(&card);
    return s;
}

static void count_data(spry_trained *t, const work *w, const sp_examples *e)
{
    const sp_data *d = &w->d;

    t->records = e->rows;
    t->problems = e->subjects;
    t->groups = sp_data_different(d->group, d->e.subjects);
    t->machines = sp_data_different(d->machine, d->e.subjects);
    t->left_out = d->left_out;
    t->data_seconds = w->data_seconds;
    t->rounds = w->rounds;
}

/* A name that no other training has, in the same second neither. */
static void name_run(char out[64], const work *w, const sp_cost_kind *kind,
                     int64_t now)
{
    struct timespec t = {0, 0};
    int64_t own[3] = {getpid(), 0, 0};
    sp_hash h = sp_hash_begin();
    char hex[33];

    clock_gettime(CLOCK_REALTIME, &t);
    own[1] = t.tv_sec;
    own[2] = t.tv_nsec;
    sp_hash_add(&h, own, sizeof own);
    sp_hash_hex(hex, h);
    snprintf(out, 64, "%s %s %lld %.8s", kind->name, spry_op_name(w->opt->op),
             (long long)now, hex);
}

/* The learning curve goes into the store; one that may only be read, or that
 * is full, is no reason to lose the model. */
static void keep_curve(spry_records *db, const work *w,
                       const sp_cost_kind *kind)
{
    int64_t now = (int64_t)time(NULL);
    char run[64];
    spry_status s = spry_records_batch(db);

    name_run(run, w, kind, now);
    for (int i = 0; i < w->laps && s == SPRY_OK; i++) {
        const sp_lap *lap = &w->lap[i];
        int tested = isfinite(lap->regret);
        spry_round c = {.run = run,
                        .kind = kind->name,
                        .op = spry_op_name(w->opt->op),
                        .round = lap->round,
                        .loss = isfinite(lap->loss) ? fmax(0, lap->loss) : 0,
                        .tested = tested,
                        .regret = tested ? fmax(0, lap->regret) : 0,
                        .seconds = lap->seconds,
                        .when = now};

        s = spry_records_put_round(db, &c);
    }
    if (s == SPRY_OK)
        s = spry_records_commit(db);
    if (s != SPRY_OK)
        sp_message_clear();
}

/* Learn, grade, and, if asked to, learn again from all but what stops. */
static spry_status train_one(spry_trained *out, work *w,
                             const sp_cost_kind *kind, const char *path)
{
    double begin = sp_seconds();
    sp_examples all = {0};
    sp_grading *g = NULL;
    sp_cost *c = NULL;
    spry_status s = fit(&c, w, kind, &w->part[SP_TEACH], w->opt->whole ? 2 : 1);

    if (s == SPRY_OK)
        s = sp_grading_new(&g, w->opt->op);
    if (s == SPRY_OK)
        s = sp_grade_model(g, c, &w->part[SP_HELD]);
    if (s == SPRY_OK)
        s = sp_grading_end(&out->grades, g, kind->name, kind->absolute);
    sp_grading_free(g);
    count_data(out, w, &w->part[SP_TEACH]);
    if (s == SPRY_OK && w->opt->whole) {
        sp_cost_free(c);
        c = NULL;
        s = sp_examples_join(&all, &w->part[SP_TEACH], &w->part[SP_HELD]);
        if (s == SPRY_OK)
            s = fit(&c, w, kind, &all, 1);
        count_data(out, w, &all);
    }
    out->seconds = sp_seconds() - begin;
    if (s == SPRY_OK)
        s = write_model(c, w, out, path);
    sp_cost_free(c);
    sp_examples_free(&all);
    return s;
}

static spry_status take_options(spry_train_options *o,
                                const spry_train_options *given)
{
    static const spry_train_options defaults = SPRY_TRAIN_DEFAULTS;

    *o = defaults;
    if (SP_TAKE_OPTIONS(o, given) != SPRY_OK)
        return SPRY_USAGE;
    SP_REFUSE(!o->kind, "the kind of model to train is NULL");
    SP_REFUSE((unsigned)o->op >= SPRY_OPS, "%d is no operation", (int)o->op);
    SP_REFUSE((unsigned)o->split > SPRY_BY_MACHINE, "%d is no split",
              (int)o->split);
    SP_REFUSE(o->threads < 0 || o->rounds < 0 || !(o->seconds >= 0),
              "threads, rounds and seconds of a training are not negative");
    return SPRY_OK;
}

static spry_status train(spry_trained *out, spry_records *db, const char *path,
                         const spry_train_options *opt)
{
    spry_train_options o;
    const sp_cost_kind *kind;
    spry_status s = take_options(&o, opt);
    work w;

    if (s == SPRY_OK)
        s = sp_writer_try(path);
    if (s == SPRY_OK && o.operators)
        return sp_train_operators(out, db, path, &o);
    if (s == SPRY_OK)
        s = find_kind(&kind, o.kind);
    if (s != SPRY_OK)
        return s;
    sp_grades_clear(&out->grades, o.kind);
    s = work_open(&w, db, &o, o.seconds > 0 ? sp_seconds() + o.seconds : 0);
    if (s != SPRY_OK)
        return s;
    s = train_one(out, &w, kind, path);
    if (s == SPRY_OK)
        keep_curve(db, &w, kind);
    work_close(&w);
    return s;
}

spry_status spry_train(spry_trained *out, spry_records *db, const char *path,
                       const spry_train_options *opt)
{
    SP_NEED(out, db, path);
    SP_ROOM(out);

    spry_trained whole = {.records = 0};
    spry_status s = train(&whole, db, path, opt);

    SP_GIVE(out, &whole);
    return s;
}

/* ---- evaluating ---- */

/* What a model is made from: a file, read once, or a kind, fitted in every
 * turn; neither is chance. */
typedef struct {
    const char *name;
    const sp_cost_kind *kind;
    sp_cost *file;
    sp_grading *g;
} candidate;

static spry_status candidate_open(candidate *c, const char *name, spry_op op)
{
    spry_status s = SPRY_OK;

    *c = (candidate){.name = name};
    if (strpbrk(name, "/."))
        s = sp_cost_load(&c->file, name);
    else if (strcmp(name, "random") != 0)
        s = find_kind(&c->kind, name);
    if (s == SPRY_OK && c->file && c->file->op != op)
        s = sp_fail(SPRY_USAGE, "%s is a model of %s", name,
                    spry_op_name(c->file->op));
    return s == SPRY_OK ? sp_grading_new(&c->g, op) : s;
}

static void candidate_close(candidate *c)
{
    sp_cost_free(c->file);
    sp_grading_free(c->g);
}

static spry_status judge(candidate *c, work *w, int turn)
{
    const sp_examples *held = &w->part[SP_HELD];
    sp_cost *fitted = NULL;
    spry_status s;

    if (c->file)
        return sp_grade_model(c->g, c->file, held);
    if (!c->kind)
        return sp_grade_chance(c->g, held, w->opt->seed + (uint64_t)turn);
    s = fit(&fitted, w, c->kind, &w->part[SP_TEACH], 0);
    if (s == SPRY_OK)
        s = sp_grade_model(c->g, fitted, held);
    sp_cost_free(fitted);
    return s;
}

static spry_status judge_all(candidate *c, int count, work *w)
{
    int turns = w->opt->whole ? sp_data_turns(&w->d, w->opt->split) : 1;
    spry_status s = SPRY_OK;

    for (int turn = 0; turn < turns && s == SPRY_OK; turn++) {
        drop_parts(w);
        s = sp_data_split(w->part, &w->d, w->opt->split, w->opt->seed, turn);
        for (int i = 0; i < count && s == SPRY_OK; i++)
            s = judge(&c[i], w, turn);
    }
    return s;
}

static int is_absolute(const candidate *c)
{
    return c->file ? c->file->kind->absolute : c->kind && c->kind->absolute;
}

spry_status spry_evaluate(spry_grades *out, const char *const *model, int count,
                          spry_records *db, const spry_train_options *opt)
{
    SP_NEED(out, model, db);
    SP_REFUSE(count < 0, "there cannot be %d models", count);
    for (int i = 0; i < count; i++)
        SP_REFUSE(!model[i], "the name of model %d is NULL", i);

    spry_train_options o;
    spry_status s = take_options(&o, opt);
    candidate *c;
    work w = {0};

    if (s == SPRY_OK && o.operators)
        return sp_evaluate_operators(out, model, count, db, &o);
    if (s != SPRY_OK)
        return s;
    c = sp_alloc(count + 1, sizeof *c);
    if (!c)
        return sp_fail_memory((size_t)count * sizeof *c);
    for (int i = 0; i < count && s == SPRY_OK; i++) {
        s = candidate_open(&c[i], model[i], o.op);
        if (s == SPRY_OK)
            sp_grading_watch(c[i].g, &o, i);
    }
    if (s == SPRY_OK)
        s = work_open(&w, db, &o, 0);
    if (s == SPRY_OK) {
        s = judge_all(c, count, &w);
        work_close(&w);
    }
    for (int i = 0; i < count && s == SPRY_OK; i++)
        s = sp_grading_end(&out[i], c[i].g, model[i], is_absolute(&c[i]));
    for (int i = 0; i < count; i++)
        candidate_close(&c[i]);
    sp_free(c);
    return s;
}
