/* dataset.c - examples become tables of features. */
#include "model/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT = 3 }; /* SPRY_VERDICT_TIMEOUT */

int sp_subject_row(float out[SP_FEATURES], const sp_subject *s,
                   const spry_schedule *x)
{
    sp_joint_of j = {s->p, s->m, s->plain};
    float *at = out;

    memcpy(at, s->pattern, sizeof s->pattern);
    at += SP_PATTERN;
    memcpy(at, s->machine, sizeof s->machine);
    at += SP_MACHINE;
    sp_features_schedule(at, x, s->task.op);
    return sp_features_joint(at + SP_SCHEDULE, &j, x);
}

/* ---- labels ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of log seconds, or of the baseline's as each race saw them. */
static double median(const sp_examples *e, int64_t subject, int of_baseline)
{
    enum { MOST = 256 };
    double seen[MOST] = {0};
    int count = 0;

    for (int64_t i = e->start[subject];
         i < e->start[subject + 1] && count < MOST; i++) {
        const sp_example *row = &e->row[i];
        double seconds =
            row->log_seconds + (of_baseline ? row->log_speedup : 0);

        if (isfinite(seconds))
            seen[count++] = seconds;
    }
    qsort(seen, (size_t)count, sizeof *seen, ascending);
    return count ? seen[count / 2] : nan("");
}

double sp_baseline_of(const sp_examples *e, int64_t subject)
{
    return median(e, subject, 1);
}

static double slower_than(const sp_example *row, double baseline)
{
    return isfinite(row->log_speedup) ? -row->log_speedup
                                      : row->log_seconds - baseline;
}

/* ---- tables ---- */

static spry_status table_alloc(sp_dataset *t, const sp_examples *e)
{
    *t = (sp_dataset){.e = e};
    t->start = sp_alloc(e->subjects + 1, sizeof *t->start);
    t->from = sp_alloc(e->rows + 1, sizeof *t->from);
    t->x = sp_alloc_raw(e->rows + 1, SP_FEATURES * sizeof *t->x);
    t->slower = sp_alloc(e->rows + 1, sizeof *t->slower);
    t->bound = sp_alloc(e->rows + 1, sizeof *t->bound);
    t->noise = sp_alloc(e->rows + 1, sizeof *t->noise);
    t->elastic = sp_alloc(e->rows + 1, SP_ELASTICITIES * sizeof *t->elastic);
    if (t->start && t->from && t->x && t->slower && t->bound && t->noise &&
        t->elastic)
        return SPRY_OK;
    sp_dataset_free(t);
    return sp_fail_memory((size_t)e->rows * SP_FEATURES * sizeof(float));
}

void sp_dataset_free(sp_dataset *t)
{
    sp_free(t->start);
    sp_free(t->from);
    sp_free(t->x);
    sp_free(t->slower);
    sp_free(t->bound);
    sp_free(t->noise);
    sp_free(t->elastic);
    *t = (sp_dataset){0};
}

/* The rows of one subject, from its own start on; returns how many. What took
 * too long is taken for twice as slow as the slowest. */
static int64_t fill_subject(sp_dataset *t, int64_t subject)
{
    const sp_examples *e = t->e;
    double baseline = sp_baseline_of(e, subject), slowest = 0;
    int64_t at = e->start[subject], used = at;

    if (!isfinite(baseline)) /* none was measured: what is in the middle */
        baseline = median(e, subject, 0);
    for (int64_t i = at; i < e->start[subject + 1]; i++)
        if (isfinite(e->row[i].log_seconds))
            slowest = fmax(slowest, slower_than(&e->row[i], baseline));
    for (int64_t i = at; i < e->start[subject + 1]; i++) {
        const sp_example *row = &e->row[i];
        float *x = t->x + used * SP_FEATURES;
        int timed = isfinite(row->log_seconds);

        if ((!timed && row->verdict != TIMEOUT) ||
            !sp_subject_row(x, &e->subject[subject], &row->x))
            continue;
        t->slower[used] =
            (float)(timed ? slower_than(row, baseline) : slowest + log(2));
        t->bound[used] = sp_row_bound(x);
        t->noise[used] = (float)row->noise;
        sp_elasticities(t->elastic + used * SP_ELASTICITIES,
                        e->subject[subject].p, &row->x, e->subject[subject].m);
        t->from[used++] = i;
    }
    return used - at;
}

/* Subjects are filled side by side where their examples are, then moved
 * together. */
static void close_gaps(sp_dataset *t, const int64_t *used)
{
    for (int64_t s = 0; s < t->e->subjects; s++) {
        int64_t from = t->e->start[s], to = t->start[s];
        size_t n = (size_t)used[s];

        memmove(t->x + to * SP_FEATURES, t->x + from * SP_FEATURES,
                n * SP_FEATURES * sizeof *t->x);
        memmove(t->from + to, t->from + from, n * sizeof *t->from);
        memmove(t->slower + to, t->slower + from, n * sizeof *t->slower);
        memmove(t->bound + to, t->bound + from, n * sizeof *t->bound);
        memmove(t->noise + to, t->noise + from, n * sizeof *t->noise);
        memmove(t->elastic + to * SP_ELASTICITIES,
                t->elastic + from * SP_ELASTICITIES,
                n * SP_ELASTICITIES * sizeof *t->elastic);
        t->start[s + 1] = to + used[s];
    }
    t->rows = t->start[t->e->subjects];
}

spry_status sp_dataset_new(sp_dataset *out, const sp_examples *e, int threads)
{
    static int64_t nowhere;
    static const sp_examples none = {.start = &nowhere};
    spry_status s = table_alloc(out, e ? e : &none);
    int64_t *used =
        s == SPRY_OK ? sp_alloc(out->e->subjects + 1, sizeof *used) : NULL;

    if (s != SPRY_OK)
        return s;
    e = out->e;
    if (!used) {
        sp_dataset_free(out);
        return sp_fail_memory((size_t)e->subjects * sizeof *used);
    }
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < e->subjects; k++)
        used[k] = fill_subject(out, k);
    close_gaps(out, used);
    sp_free(used);
    return SPRY_OK;
}

spry_status sp_datasets_new(sp_dataset *train, sp_dataset *test,
                            const sp_fitting *l)
{
    spry_status s = sp_dataset_new(train, l->train, l->threads);

    if (s == SPRY_OK)
        s = sp_dataset_new(test, l->test, l->threads);
    if (s == SPRY_OK && train->rows < 2)
        s = sp_fail(SPRY_USAGE, "there is nothing to learn from");
    return s;
}

void sp_dataset_weigh(float *weight, const sp_dataset *t)
{
    for (int64_t s = 0; s < t->e->subjects; s++) {
        double best = HUGE_VAL;

        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            best = fmin(best, (double)t->slower[i]);
        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            weight[i] =
                (float)((0.3 + 0.7 * exp2(best - (double)t->slower[i])) /
                        (1 + pow((double)t->noise[i] / 0.1, 2)));
    }
}

/* ---- when to stop ---- */

double sp_dataset_regret(const sp_dataset *t, const float *score, double *first)
{
    double *all = sp_alloc_raw(t->e->rows + 1, sizeof *all), regret;

    *first = nan("");
    if (!all)
        return HUGE_VAL;
    for (int64_t i = 0; i < t->e->rows; i++)
        all[i] = HUGE_VAL;
    for (int64_t i = 0; i < t->rows; i++)
        all[t->from[i]] = (double)score[i];
    *first = sp_examples_regret(t->e, all, 1);
    regret = sp_examples_mean_regret(t->e, all);
    sp_free(all);
    return isfinite(regret) ? regret : HUGE_VAL;
}

int sp_fitting_note(const sp_fitting *l, double begin, const sp_lap *lap)
{
    sp_lap now = *lap;

    now.seconds = sp_seconds() - begin;
    if (l->quiet)
        now.round = 0;
    if (l->note && l->note(&now, l->payload))
        return 1;
    return l->seconds > 0 && now.seconds > l->seconds;
}
