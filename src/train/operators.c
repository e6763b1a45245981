/* operators.c - models of dense operators: fitted to their records, graded on
 * operators that were held out, and kept. */
#include "train/operators.h"

#include <stdio.h>
#include <string.h>

/* ---- parts ---- */

enum { PARTS = 21, HELD_PARTS = 3, TURNS = PARTS / HELD_PARTS };

static uint64_t lot_of(const sp_operator_records *o, int64_t s)
{
    const char *name = o->subject[o->of[s]].problem;
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, name, strlen(name));
    sp_hash_add(&h, &o->opt->seed, sizeof o->opt->seed);
    return h.a;
}

/* By the operator, so that it is on one side on all machines; operators are
 * counted out in an order that chance gave them, so that few suffice. */
static sp_part_of part_of(const sp_operator_records *o, int64_t s, int turn)
{
    uint64_t lot = lot_of(o, s);
    int64_t before = 0, n = o->all.e.subjects, at;

    for (int64_t k = 0; k < n; k++)
        before += lot_of(o, k) < lot;
    at = (before * PARTS / n + (int64_t)turn * HELD_PARTS) % PARTS;
    return at < PARTS - 2 * HELD_PARTS ? SP_TEACH
           : at < PARTS - HELD_PARTS   ? SP_STOP
                                       : SP_HELD;
}

static spry_status take_part(sp_slice *out, const sp_operator_records *o,
                             unsigned parts, int turn)
{
    const sp_dataset *t = &o->all.t;
    uint8_t *keep = sp_alloc(t->rows + 1, 1);
    spry_status s;

    if (!keep)
        return sp_fail_memory((size_t)t->rows);
    for (int64_t k = 0; k < o->all.e.subjects; k++)
        memset(keep + t->start[k], (int)(parts >> part_of(o, k, turn) & 1),
               (size_t)(t->start[k + 1] - t->start[k]));
    s = sp_slice_new(out, t, keep);
    sp_free(keep);
    return s;
}

static spry_status check_parts(const sp_operator_records *o,
                               const sp_slice *part)
{
    if (part[SP_TEACH].t.rows >= 20 && part[SP_HELD].t.rows > 0)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE,
                   "%lld records of %lld operators are too few to learn %s "
                   "from and to hold some out; see spry collect",
                   (long long)o->all.t.rows, (long long)o->all.e.subjects,
                   o->opt->operators);
}

/* ---- fitting and grading ---- */

typedef struct {
    const spry_train_options *opt;
    spry_lap last;
    int stopped;
} listener;

static int tell(const sp_lap *lap, void *payload)
{
    listener *l = payload;

    if (lap->round > 0) /* else it only asks whether to go on */
        l->last = (spry_lap){lap->round, lap->loss, lap->regret, lap->seconds};
    if (l->opt->progress && l->opt->progress(&l->last, l->opt->payload))
        l->stopped = 1;
    return l->stopped;
}

static spry_status fit(sp_pretrained *out, int *rounds,
                       const sp_operator_records *o, const sp_slice *teach,
                       const sp_slice *stop)
{
    listener ears = {.opt = o->opt};
    sp_fitting l = {.train = &teach->e,
                    .test = &stop->e,
                    .seed = o->opt->seed,
                    .threads = sp_train_threads(o->opt),
                    .rounds = o->opt->rounds,
                    .seconds = o->opt->seconds / 3,
                    .note = tell,
                    .payload = &ears};
    spry_status s;

    if (!sp_boost_ready())
        return sp_fail(SPRY_SYSTEM,
                       "fitting trees needs XGBoost, which is not here "
                       "(Debian: libxgboost0)");
    s = sp_pretrained_fit(out, &teach->t, &stop->t, &l);
    *rounds = ears.last.round;
    if (s == SPRY_OK && ears.stopped) {
        sp_pretrained_free(out);
        s = sp_fail(SPRY_STOPPED,
                    "stopped while %s was learned: nothing is written",
                    o->opt->operators);
    }
    return s;
}

/* model NULL: arithmetic alone. */
static spry_status grade(sp_grading *g, const sp_pretrained *model,
                         const sp_slice *held)
{
    int64_t rows = held->t.rows;
    float *score = sp_alloc(rows + 1, sizeof *score);
    double *all = sp_alloc(rows + 1, sizeof *all);
    spry_status s = score && all ? SPRY_OK : sp_fail_memory((size_t)rows * 12);

    if (s == SPRY_OK && model)
        s = sp_pretrained_score(score, model, &held->t);
    for (int64_t i = 0; i < rows && s == SPRY_OK; i++)
        all[i] = (double)(model ? score[i] : held->t.bound[i]);
    if (s == SPRY_OK)
        s = sp_grading_add(g, &held->e, all, 1);
    sp_free(score);
    sp_free(all);
    return s;
}

/* ---- the file ---- */

static int64_t different(const sp_operator_records *o, int machines)
{
    char **text = sp_alloc(o->all.e.subjects + 1, sizeof(char *));
    int64_t count;

    if (!text)
        return 0;
    for (int64_t i = 0; i < o->all.e.subjects; i++)
        text[i] = machines ? o->subject[o->of[i]].machine
                           : o->subject[o->of[i]].problem;
    count = sp_data_different(text, o->all.e.subjects);
    sp_free(text);
    return count;
}

static void count_data(spry_trained *t, const sp_operator_records *o,
                       const sp_slice *e)
{
    t->records = e->t.rows;
    t->problems = e->e.subjects;
    t->groups = different(o, 0);
    t->machines = different(o, 1);
    t->left_out = o->left_out;
}

/* A hash of all rows, so that a card tells which records it is of. */
static void hash_rows(char out[33], const sp_operator_records *o)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, o->all.t.x,
                (size_t)(o->all.t.rows * SP_FEATURES) * sizeof(float));
    sp_hash_add(&h, o->all.t.slower,
                (size_t)o->all.t.rows * sizeof *o->all.t.slower);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.a,
             (unsigned long long)h.b);
}

static void write_data(sp_json *j, const sp_operator_records *o)
{
    char hash[33];

    hash_rows(hash, o);
    sp_json_open(j, "data", '{');
    sp_json_text(j, "hash", hash);
    sp_json_open(j, "groups", '[');
    for (int64_t i = 0; i < o->all.e.subjects; i++) {
        const char *name = o->subject[o->of[i]].problem;
        int again = 0;

        for (int64_t k = 0; k < i && !again; k++)
            again = !strcmp(o->subject[o->of[k]].problem, name);
        if (!again)
            sp_json_text(j, NULL, name);
    }
    sp_json_close(j, ']');
    sp_json_close(j, '}');
}

static spry_status save(const sp_pretrained *model,
                        const sp_operator_records *o, const spry_trained *t,
                        const char *path)
{
    sp_buf b = {0};
    sp_json j = {.out = &b, .first = 1};
    const char *machine = o->all.e.subjects ? o->subject[o->of[0]].m->name : "";
    spry_status s;

    sp_card_begin(&j, t, o->opt, o->newest, machine);
    write_data(&j, o);
    sp_card_end(&j, &t->grades);
    s = b.failed ? sp_fail_memory(b.len)
                 : sp_dense_model_save(model, o->class, b.data, path);
    sp_buf_free(&b);
    return s;
}

/* ---- doors ---- */

/* Learn, grade, and, if asked to, learn again from all but what stops. */
static spry_status train(spry_trained *out, const sp_operator_records *o,
                         const sp_slice *part, const char *path)
{
    sp_pretrained model = {0};
    sp_grading *g = NULL;
    sp_slice all = {0};
    spry_status s =
        fit(&model, &out->rounds, o, &part[SP_TEACH], &part[SP_STOP]);

    if (s == SPRY_OK)
        s = sp_grading_new(&g, SPRY_SPMM);
    if (s == SPRY_OK)
        s = grade(g, &model, &part[SP_HELD]);
    if (s == SPRY_OK)
        s = sp_grading_end(&out->grades, g, "operators", 0);
    sp_grading_free(g);
    count_data(out, o, &part[SP_TEACH]);
    if (s == SPRY_OK && o->opt->whole) {
        sp_pretrained_free(&model);
        s = take_part(&all, o, 1U << SP_TEACH | 1U << SP_HELD, 0);
        if (s == SPRY_OK)
            s = fit(&model, &out->rounds, o, &all, &part[SP_STOP]);
        count_data(out, o, &all);
        sp_slice_free(&all);
    }
    if (s == SPRY_OK)
        s = save(&model, o, out, path);
    sp_pretrained_free(&model);
    return s;
}

static spry_status take_parts(sp_slice part[SP_PARTS],
                              const sp_operator_records *o, int turn)
{
    spry_status s = SPRY_OK;

    for (int k = 0; k < SP_PARTS && s == SPRY_OK; k++)
        s = take_part(&part[k], o, 1U << k, turn);
    return s == SPRY_OK ? check_parts(o, part) : s;
}

static void free_parts(sp_slice part[SP_PARTS])
{
    for (int k = 0; k < SP_PARTS; k++)
        sp_slice_free(&part[k]);
}

spry_status sp_train_operators(spry_trained *out, spry_records *db,
                               const char *path, const spry_train_options *opt)
{
    double begin = sp_seconds();
    sp_slice part[SP_PARTS] = {{{0}, {0}}};
    sp_operator_records o;
    spry_status s = sp_operator_records_open(&o, db, opt);

    if (s != SPRY_OK)
        return s;
    s = take_parts(part, &o, 0);
    out->data_seconds = sp_seconds() - begin;
    begin = sp_seconds();
    if (s == SPRY_OK)
        s = train(out, &o, part, path);
    out->seconds = sp_seconds() - begin;
    free_parts(part);
    sp_operator_records_close(&o);
    return s;
}

/* One name: a file, "operators" that is fitted in every turn, "analytic" or
 * "random". */
static spry_status evaluate(spry_grades *out, const char *name, int number,
                            const sp_operator_records *o)
{
    sp_pretrained model = {0};
    sp_grading *g = NULL;
    sp_dense_class class = o->class;
    int file = strpbrk(name, "/.") != NULL, rounds;
    int fitted = !strcmp(name, "operators") || !strcmp(name, "spry");
    int chance = !strcmp(name, "random");
    spry_status s = SPRY_OK;

    if (!file && !fitted && !chance && strcmp(name, "analytic") != 0)
        return sp_fail(SPRY_USAGE,
                       "models of operators are files, operators, analytic "
                       "and random, not '%s'",
                       name);
    if (file)
        s = sp_dense_model_load(&model, &class, name);
    if (s == SPRY_OK && class != o->class)
        s = sp_fail(SPRY_USAGE, "%s is a model of %s", name,
                    sp_dense_class_name(class));
    if (s == SPRY_OK)
        s = sp_grading_new(&g, SPRY_SPMM);
    if (s == SPRY_OK)
        sp_grading_watch(g, o->opt, number);
    for (int turn = 0; turn < (o->opt->whole ? TURNS : 1) && s == SPRY_OK;
         turn++) {
        sp_slice part[SP_PARTS] = {{{0}, {0}}};

        s = take_parts(part, o, turn);
        if (s == SPRY_OK && fitted)
            s = fit(&model, &rounds, o, &part[SP_TEACH], &part[SP_STOP]);
        if (s == SPRY_OK)
            s = chance
                    ? sp_grade_chance(g, &part[SP_HELD].e, o->opt->seed)
                    : grade(g, file || fitted ? &model : NULL, &part[SP_HELD]);
        if (fitted)
            sp_pretrained_free(&model);
        free_parts(part);
    }
    if (s == SPRY_OK)
        s = sp_grading_end(out, g, name, 0);
    sp_grading_free(g);
    sp_pretrained_free(&model);
    return s;
}

spry_status sp_evaluate_operators(spry_grades *out, const char *const *name,
                                  int count, spry_records *db,
                                  const spry_train_options *opt)
{
    sp_operator_records o;
    spry_status s = sp_operator_records_open(&o, db, opt);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < count && s == SPRY_OK; i++)
        s = evaluate(&out[i], name[i], i, &o);
    sp_operator_records_close(&o);
    return s;
}
