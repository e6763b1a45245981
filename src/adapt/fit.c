/* fit.c - which way of adapting is best here, if any.
 *
 * Every way is fitted without some of the problems and judged on those; the
 * source is judged beside it. The best is fitted again to everything and
 * kept, unless the source did as well. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

/* ---- one way, fitted ---- */

typedef struct {
    sp_pretrained source; /* with networks of its own, or borrowed whole */
    int own_nets;
    sp_trees trees;
    int has_trees;
    sp_linear add;
    int linear;
} fitted;

static void fitted_free(fitted *f)
{
    if (f->own_nets)
        sp_pretrained_free(&f->source);
    sp_trees_free(&f->trees);
    memset(f, 0, sizeof *f);
}

/* Few problems are gone over often, many seldom: as many steps. */
static int epochs_of(const sp_dataset *t)
{
    enum { STEPS = 640, MOST = 20, LEAST = 5 };
    int64_t epochs = STEPS / (t->e->subjects > 0 ? t->e->subjects : 1);

    return (int)(epochs > MOST ? MOST : epochs < LEAST ? LEAST : epochs);
}

void sp_linear_row(float out[SP_LOCAL_WIDTH], const sp_scaler *all,
                   const float row[SP_FEATURES])
{
    float x[SP_FEATURES];

    sp_scaler_apply(x, all, row, 1, SP_FEATURES);
    memcpy(out, x + SP_PATTERN + SP_MACHINE, SP_LOCAL_WIDTH * sizeof *out);
}

static spry_status fit_bayes(fitted *f, const sp_dataset *t)
{
    sp_bayes b;
    spry_status s = sp_bayes_fit(&b, &f->source, t);

    if (s != SPRY_OK)
        return s;
    s = sp_bayes_parts(&f->trees, &f->add, &b);
    f->linear = s == SPRY_OK;
    f->has_trees = f->trees.trees > 0;
    sp_bayes_free(&b);
    return s;
}

static spry_status fit_way(fitted *f, const sp_pretrained *source,
                           const sp_dataset *t, const sp_adapting *how,
                           sp_correction way)
{
    sp_inner inner = {epochs_of(t), 3e-4, 1, how->seed};
    sp_residual small = {60, 4, 0.1, 4, how->threads, how->seed};
    float *margin = sp_alloc(t->rows + 1, sizeof *margin);
    spry_status s =
        margin ? SPRY_OK : sp_fail_memory((size_t)t->rows * sizeof *margin);

    memset(f, 0, sizeof *f);
    f->source = *source;
    if (s == SPRY_OK && (way & SP_CORRECT_INNER) && source->nets) {
        s = sp_pretrained_copy(&f->source, source);
        f->own_nets = s == SPRY_OK;
        if (s == SPRY_OK)
            s = sp_inner_learn(&f->source, t, &inner);
    }
    if (s == SPRY_OK)
        s = sp_pretrained_score(margin, &f->source, t);
    if (s == SPRY_OK && (way & SP_CORRECT_LINEAR))
        s = fit_bayes(f, t);
    if (s == SPRY_OK && (way & SP_CORRECT_TREES)) {
        s = sp_residual_grow(&f->trees, t, margin, &small);
        f->has_trees = s == SPRY_OK;
    }
    sp_free(margin);
    if (s != SPRY_OK)
        fitted_free(f);
    return s;
}

/* What a linear correction says of a row. */
static double linear_of(const fitted *f, const float *row, const float *elastic,
                        const double opinion[2])
{
    const sp_linear *a = &f->add;
    double sum = a->opinion[0] * opinion[0] + a->opinion[1] * opinion[1] +
                 a->opinion[2] * (double)sp_row_bound(row) + a->opinion[3];
    float x[SP_LOCAL_WIDTH];

    for (int k = 0; k < SP_ELASTICITIES; k++)
        sum += a->elastic[k] * (double)elastic[k];

    if (!f->source.nets)
        return sum;
    sp_linear_row(x, &f->source.net[0].scaler, row);
    for (int k = 0; k < SP_LOCAL_WIDTH; k++)
        sum += a->weight[k] * (double)x[k];
    return sum;
}

static spry_status score(float *out, const fitted *f, const sp_dataset *t)
{
    float *nets = sp_alloc(t->rows + 1, sizeof *nets);
    spry_status s = nets ? sp_pretrained_opinions(out, nets, &f->source, t)
                         : sp_fail_memory((size_t)t->rows * sizeof *nets);

    for (int64_t i = 0; nets && i < t->rows && s == SPRY_OK; i++) {
        const float *row = t->x + i * SP_FEATURES;
        double told[2] = {(double)out[i], (double)nets[i]};
        double sum = (told[0] + told[1]) / 2;

        if (f->has_trees)
            sum += sp_trees_sum(&f->trees, row);
        if (f->linear)
            sum += linear_of(f, row, sp_row_elastic(t, i), told);
        out[i] = (float)sum;
    }
    sp_free(nets);
    return s;
}

spry_status sp_adapt_score(float *out, const sp_pretrained *source,
                           const sp_dataset *learn, const sp_dataset *t,
                           const sp_adapting *how, sp_correction way)
{
    fitted f;
    spry_status s = fit_way(&f, source, learn, how, way);

    if (s != SPRY_OK)
        return s;
    s = score(out, &f, t);
    fitted_free(&f);
    return s;
}

/* ---- judging ---- */

double sp_wrong_order(const sp_dataset *t, const float *score, int64_t subject)
{
    int64_t from = t->start[subject], to = t->start[subject + 1];
    double wrong = 0, all = 0, best = HUGE_VAL;

    for (int64_t i = from; i < to; i++)
        best = fmin(best, (double)t->slower[i]);
    for (int64_t i = from; i < to; i++)
        for (int64_t j = i + 1; j < to; j++) {
            double apart = (double)t->slower[i] - (double)t->slower[j];
            double told = (double)score[i] - (double)score[j];
            double first =
                fmin((double)t->slower[i], (double)t->slower[j]) - best;
            double weight = fmin(fabs(apart), 0.5) * (0.2 + exp2(-2 * first));

            all += weight;
            wrong += told == 0 ? weight / 2 : apart * told < 0 ? weight : 0;
        }
    return all > 0 ? wrong / all : nan("");
}

double sp_wrong_time(const sp_dataset *t, const float *score, int64_t subject)
{
    int64_t from = t->start[subject], to = t->start[subject + 1];
    double sum = 0, best = HUGE_VAL;

    for (int64_t i = from; i < to; i++)
        best = fmin(best, (double)t->slower[i]);
    for (int64_t i = from; i < to; i++) {
        double off = (double)t->slower[i] - (double)score[i];

        sum += fmin(off * off, 1) / sp_record_variance(t, i, best);
    }
    return sum;
}

/* Ways that are tried, the cheapest first. */
static const struct {
    sp_correction way;
    const char *name;
} ways[] = {{SP_CORRECT_LINEAR, "bayes"},
            {SP_CORRECT_TREES, "residual"},
            {SP_CORRECT_INNER, "inner"},
            {SP_CORRECT_INNER | SP_CORRECT_TREES, "inner+residual"}};
enum { WAYS = sizeof ways / sizeof *ways };

const char *sp_correction_name(sp_correction way)
{
    for (int i = 0; i < WAYS; i++)
        if (ways[i].way == way)
            return ways[i].name;
    return "none";
}

spry_status sp_correction_named(sp_correction *out, const char *name)
{
    for (int i = 0; i < WAYS; i++)
        if (!strcmp(ways[i].name, name)) {
            *out = ways[i].way;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "there is no way of adapting '%s'; there are bayes, "
                   "residual, inner and inner+residual",
                   name);
}

typedef struct {
    const sp_pretrained *source;
    const sp_dataset *t;
    const sp_adapting *how;
    const int64_t *group; /* [subjects] 0, 1 ... */
    int64_t groups;
    int folds, judged; /* parts, and how many of them are held back in turn */
    /* [subjects] order and times that are wrong: of the way at hand, and of
     * what is kept so far */
    double *wrong, *off, *wrong_before, *off_before;
    double begin;
} trial;

enum { MANY = 24 };

static int fold_of(const trial *w, int64_t subject)
{
    return (int)(w->group[subject] % w->folds);
}

/* Rows of the fold, or of all the others. */
static spry_status take_fold(sp_slice *out, const trial *w, int fold, int held)
{
    const sp_dataset *t = w->t;
    uint8_t *keep = sp_alloc(t->rows + 1, 1);
    spry_status s;

    if (!keep)
        return sp_fail_memory((size_t)t->rows);
    for (int64_t k = 0; k < t->e->subjects; k++)
        memset(keep + t->start[k], (fold_of(w, k) == fold) == held,
               (size_t)(t->start[k + 1] - t->start[k]));
    s = sp_slice_new(out, t, keep);
    sp_free(keep);
    return s;
}

/* What the way gets wrong of every subject, not having seen its group. */
static spry_status judge_fold(trial *w, sp_correction way, int fold)
{
    sp_slice learn = {0}, held = {0};
    spry_status s = take_fold(&learn, w, fold, 0);
    float *out = NULL;
    int64_t at = 0;

    if (s == SPRY_OK)
        s = take_fold(&held, w, fold, 1);
    if (s == SPRY_OK) {
        out = sp_alloc(held.t.rows + 1, sizeof *out);
        s = !out ? sp_fail_memory((size_t)held.t.rows)
            : way
                ? sp_adapt_score(out, w->source, &learn.t, &held.t, w->how, way)
                : sp_pretrained_score(out, w->source, &held.t);
    }
    for (int64_t k = 0;
         s == SPRY_OK && out && held.t.start && k < w->t->e->subjects; k++)
        if (fold_of(w, k) == fold && w->t->start[k + 1] > w->t->start[k]) {
            w->wrong[k] = sp_wrong_order(&held.t, out, at);
            w->off[k] = sp_wrong_time(&held.t, out, at++);
        }
    sp_free(out);
    sp_slice_free(&learn);
    sp_slice_free(&held);
    return s;
}

static spry_status judge(trial *w, sp_correction way)
{
    spry_status s = SPRY_OK;

    for (int64_t k = 0; k < w->t->e->subjects; k++)
        w->wrong[k] = w->off[k] = nan("");
    for (int fold = 0; fold < w->judged && s == SPRY_OK; fold++)
        s = judge_fold(w, way, fold);
    return s;
}

/* How many standard errors a mean of n numbers may be off: Student's t, nine
 * times of ten in one direction. */
static double errors_of(double n)
{
    static const double t[] = {3.08, 1.89, 1.64, 1.53, 1.48, 1.44, 1.41};
    int freedom = (int)n - 1;

    return freedom < 1 ? HUGE_VAL : freedom <= 7 ? t[freedom - 1] : 1.3;
}

typedef struct {
    double mean, count; /* of what is wrong */
    double gain, error; /* less than before, and that one's standard error */
} verdict;

static verdict sum_up(const double *now, const double *before, int64_t subjects)
{
    double sum = 0, gain = 0, square = 0, n = 0;

    for (int64_t k = 0; k < subjects; k++) {
        double d = before[k] - now[k];

        if (!isfinite(d))
            continue;
        sum += now[k];
        gain += d;
        square += d * d;
        n++;
    }
    gain /= fmax(1, n);
    square = n > 1 ? (square / n - gain * gain) / (n - 1) : HUGE_VAL;
    return (verdict){n > 0 ? sum / n : nan(""), n, gain, sqrt(fmax(0, square))};
}

static int in_time(const trial *w, double share)
{
    return w->how->seconds <= 0 ||
           sp_seconds() - w->begin < share * w->how->seconds;
}

static int worth_trying(const trial *w, int i)
{
    enum { FEWEST_RECORDS = 24 };

    if (w->t->rows < FEWEST_RECORDS ||
        (w->how->way && w->how->way != ways[i].way))
        return 0;
    if ((ways[i].way & SP_CORRECT_TREES) && !sp_boost_ready())
        return 0;
    if ((ways[i].way & (SP_CORRECT_INNER | SP_CORRECT_LINEAR)) &&
        !w->source->nets)
        return 0;
    if (w->how->seconds > 0 && (ways[i].way & SP_CORRECT_INNER))
        return 0; /* in a hurry: only what takes milliseconds */
    return in_time(w, 0.4);
}

/* A correction of times is kept when times are told better, which every record
 * says something of, unless order is surely worse; one of order when that is
 * surely better, and better than the model's own, which is wrong by `source`. */
static int is_better(const trial *w, sp_correction way, const verdict *order,
                     double source)
{
    verdict times = sum_up(w->off, w->off_before, w->t->e->subjects);
    double surely = errors_of(order->count) * order->error;

    return way == SP_CORRECT_LINEAR
               ? times.gain > times.error / 2 && !(order->gain < -surely)
               : order->gain > surely && order->mean < source;
}

/* The way at hand is what others have to be better than. */
static void settle(trial *w)
{
    size_t bytes = (size_t)w->t->e->subjects * sizeof *w->wrong;

    memcpy(w->wrong_before, w->wrong, bytes);
    memcpy(w->off_before, w->off, bytes);
}

static spry_status choose(sp_adapted_way *out, trial *w)
{
    int64_t n = w->t->e->subjects;
    spry_status s = judge(w, 0);

    out->way = 0;
    settle(w);
    out->after = out->before = sum_up(w->wrong, w->wrong, n).mean;
    for (int i = 0; i < WAYS && s == SPRY_OK; i++) {
        verdict order;

        if (!worth_trying(w, i))
            continue;
        s = judge(w, ways[i].way);
        order = sum_up(w->wrong, w->wrong_before, n);
        if (s == SPRY_OK && is_better(w, ways[i].way, &order, out->before)) {
            settle(w);
            out->way = ways[i].way;
            out->after = order.mean;
        }
    }
    return s;
}

spry_status sp_adapt_choose(sp_adapted_way *out, const sp_pretrained *source,
                            const sp_dataset *t, const int64_t *group,
                            const sp_adapting *how)
{
    trial w = {.source = source,
               .t = t,
               .how = how,
               .group = group,
               .begin = sp_seconds()};
    spry_status s;

    memset(out, 0, sizeof *out);
    for (int64_t k = 0; k < t->e->subjects; k++)
        w.groups = group[k] >= w.groups ? group[k] + 1 : w.groups;
    if (w.groups < 2)
        return sp_fail(SPRY_USAGE, "the records are all of one matrix: to hold "
                                   "some back takes two at least");
    w.folds = w.groups < 3 ? (int)w.groups : 3;
    w.judged = w.groups < MANY ? w.folds : 1; /* a third of many says enough */
    w.wrong = sp_alloc(4 * (t->e->subjects + 1), sizeof *w.wrong);
    if (!w.wrong)
        return sp_fail_memory((size_t)t->e->subjects * sizeof *w.wrong);
    w.off = w.wrong + t->e->subjects + 1;
    w.wrong_before = w.off + t->e->subjects + 1;
    w.off_before = w.wrong_before + t->e->subjects + 1;
    s = choose(out, &w);
    sp_free(w.wrong);
    return s;
}

/* ---- kept ---- */

spry_status sp_adapt_make(sp_local **out, const sp_pretrained *source,
                          const sp_dataset *t, const sp_adapting *how,
                          const sp_adapted_way *chosen,
                          const sp_local_card *about)
{
    sp_local_card card = *about;
    fitted f = {0};
    spry_status s = SPRY_OK;

    *out = NULL;
    card.before = chosen->before;
    card.after = chosen->after;
    card.records = t->rows;
    card.problems = t->e->subjects;
    snprintf(card.method, sizeof card.method, "%s",
             sp_correction_name(chosen->way));
    if (chosen->way)
        s = fit_way(&f, source, t, how, chosen->way);
    if (s == SPRY_OK)
        s = sp_local_new(out, &card);
    if (s == SPRY_OK && f.own_nets)
        s = sp_local_set_nets(*out, f.source.nn);
    if (s == SPRY_OK && f.has_trees)
        s = sp_local_set_trees(*out, &f.trees);
    if (s == SPRY_OK && f.linear)
        s = sp_local_set_linear(*out, &source->net[0].scaler, &f.add);
    if (s == SPRY_OK)
        s = sp_local_set_seen(*out, t);
    fitted_free(&f);
    if (s != SPRY_OK) {
        sp_local_free(*out);
        *out = NULL;
    }
    return s;
}
