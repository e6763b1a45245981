/* table.c - models fitted without a third of the groups rank the schedules
 * of that third; then the next third. */
#include "learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kinds[KINDS] = {"spry",      "waconet",  "mlp",   "gbdt",
                                  "gbdt-leaf", "analytic", "random"};

/* Of the time for all fits, of one operation and fold. */
static const double SHARE[KINDS] = {0.45, 0.35, 0.1, 0.05, 0.05, 0, 0};

/* ---- fitting and scoring ---- */

static int laps; /* rounds of all fits of a kind */

static int count_lap(const sp_lap *lap, void *payload)
{
    (void)payload;
    laps += lap->round > 0;
    return 0;
}

static spry_status fit(sp_cost **out, const field *f, int fold, int kind,
                       double seconds)
{
    sp_fitting l = {
        .seed = 1, .threads = 2, .seconds = seconds, .note = count_lap};
    sp_examples train = {0}, test = {0};
    spry_status s = gather(&train, f, fold, LESSON);

    *out = NULL;
    if (s == SPRY_OK)
        s = gather(&test, f, fold, STOP);
    l.train = &train;
    l.test = test.rows ? &test : NULL;
    if (s == SPRY_OK)
        s = sp_cost_fit(out, sp_cost_kind_find(kinds[kind]), f->op, &l);
    free_examples(&train);
    free_examples(&test);
    return s;
}

static spry_status score_task(task *t, const sp_cost *c, int kind)
{
    spry_schedule *x = sp_alloc_raw(t->sampled + 1, sizeof *x);
    double *score = sp_alloc(t->sampled + 1, sizeof *score);
    sp_view *v = NULL;
    spry_status s =
        x && score ? SPRY_OK : sp_fail_memory((size_t)t->sampled * sizeof *x);

    for (int i = 0; s == SPRY_OK && i < t->sampled; i++)
        x[i] = t->row[i].x;
    if (s == SPRY_OK)
        s = sp_cost_look(&v, c, &t->subject);
    if (s == SPRY_OK)
        s = sp_view_score(score, v, x, t->sampled);
    sp_view_free(v);
    sp_free(x);
    if (s == SPRY_OK)
        t->score[kind] = score;
    else
        sp_free(score);
    return s;
}

static void score_by_chance(task *t, int kind)
{
    sp_rng r = sp_rng_seed((uint64_t)t->A->nnz);

    t->score[kind] = sp_alloc(t->sampled + 1, sizeof *t->score[kind]);
    for (int i = 0; t->score[kind] && i < t->sampled; i++)
        t->score[kind][i] = sp_rng_unit(&r);
}

static void one_fold(field *f, int fold, int kind, double seconds)
{
    sp_cost *c = NULL;
    spry_status s = SPRY_OK;
    int chance = kind == KINDS - 1;

    if (!chance)
        s = fit(&c, f, fold, kind, seconds);
    for (int i = 0; s == SPRY_OK && i < f->count; i++) {
        task *t = f->at[i];

        if (t->fold != fold || t->sampled < 2)
            continue;
        if (chance)
            score_by_chance(t, kind);
        else
            s = score_task(t, c, kind);
    }
    if (s != SPRY_OK)
        printf("%s of %s: %s\n", kinds[kind], spry_op_name(f->op),
               spry_message());
    if (kind == 0 && s == SPRY_OK)
        f->model[fold] = c;
    else
        sp_cost_free(c);
}

void fit_all(bench *b, double until)
{
    double begun = elapsed(b), each = (until - begun) / OPS / FOLDS;

    for (int k = 0; k < KINDS; k++) {
        double since = elapsed(b);

        laps = 0;
        for (int o = 0; o < OPS; o++)
            for (int fold = 0; fold < FOLDS; fold++)
                one_fold(&b->f[o], fold, k, fmax(1, each * SHARE[k]));
        printf("fitted %-9s %d times, %.1f s, %d rounds on average\n", kinds[k],
               OPS * FOLDS, elapsed(b) - since, laps / (OPS * FOLDS));
        fflush(stdout);
    }
}

/* ---- how well ---- */

typedef struct {
    double pairs, clear, top1, top5, spearman; /* shares, sums over problems */
} quality;

/* Timed, and the model has words for it: waconet knows nests only. */
static int counts(const task *t, const double *score, int i)
{
    return !isnan(t->row[i].log_seconds) && isfinite(score[i]);
}

/* Of all pairs of timed rows, and of those whose difference is beyond their
 * noise, the share in the right order; equal scores are half right. */
static void count_pairs(quality *q, const task *t, const double *score)
{
    double all = 0, right = 0, clear = 0, clearly = 0;

    for (int i = 0; i < t->sampled; i++)
        for (int k = 0; k < i; k++) {
            double d = t->row[i].log_seconds - t->row[k].log_seconds;
            double by = score[i] == score[k]               ? 0.5
                        : (score[i] > score[k]) == (d > 0) ? 1
                                                           : 0;

            if (!counts(t, score, i) || !counts(t, score, k) || d == 0)
                continue;
            all++;
            right += by;
            if (fabs(d) > fmax(0.02, t->row[i].noise + t->row[k].noise)) {
                clear++;
                clearly += by;
            }
        }
    q->pairs += all > 0 ? right / all : 1;
    q->clear += clear > 0 ? clearly / clear : 1;
}

/* best true time over that of the best of the k best scored. */
static double top(const task *t, const double *score, int k)
{
    double best = HUGE_VAL, found = HUGE_VAL;
    char taken[4096] = {0};

    for (int i = 0; i < t->sampled; i++)
        if (counts(t, score, i))
            best = fmin(best, t->row[i].log_seconds);
    for (; k > 0; k--) {
        int at = -1;

        for (int i = 0; i < t->sampled && i < 4096; i++)
            if (!taken[i] && counts(t, score, i) &&
                (at < 0 || score[i] < score[at]))
                at = i;
        if (at < 0)
            break;
        taken[at] = 1;
        found = fmin(found, t->row[at].log_seconds);
    }
    return found < HUGE_VAL ? exp(best - found) : 1;
}

typedef struct {
    double a, b, rank;
} ranked;

static int by_a(const void *x, const void *y)
{
    const ranked *p = x, *q = y;

    return (p->a > q->a) - (p->a < q->a);
}

static int by_b(const void *x, const void *y)
{
    const ranked *p = x, *q = y;

    return (p->b > q->b) - (p->b < q->b);
}

static double spearman(const task *t, const double *score)
{
    ranked *r = sp_alloc(t->sampled + 1, sizeof *r);
    double sum = 0, n = 0;
    int count = 0;

    for (int i = 0; r && i < t->sampled; i++)
        if (counts(t, score, i))
            r[count++] = (ranked){score[i], t->row[i].log_seconds, 0};
    if (count < 2) {
        sp_free(r);
        return 1;
    }
    qsort(r, (size_t)count, sizeof *r, by_a);
    for (int i = 0; i < count; i++)
        r[i].rank = i;
    qsort(r, (size_t)count, sizeof *r, by_b);
    for (int i = 0; i < count; i++)
        sum += (r[i].rank - i) * (r[i].rank - i);
    n = count;
    sp_free(r);
    return 1 - 6 * sum / (n * (n * n - 1));
}

static int judge(quality *q, sp_interval *first, const field *f, int kind)
{
    static double top1[MOST_TASKS];
    int n = 0;

    *q = (quality){0};
    for (int i = 0; i < f->count; i++) {
        const task *t = f->at[i];

        if (!t->score[kind])
            continue;
        count_pairs(q, t, t->score[kind]);
        top1[n] = top(t, t->score[kind], 1);
        q->top1 += top1[n++];
        q->top5 += top(t, t->score[kind], 5);
        q->spearman += spearman(t, t->score[kind]);
    }
    if (n > 0) {
        q->pairs /= n;
        q->clear /= n;
        q->top1 /= n;
        q->top5 /= n;
        q->spearman /= n;
        *first = sp_geomean(top1, n);
    }
    return n;
}

void print_tables(bench *b)
{
    for (int o = 0; o < OPS; o++) {
        printf("\n%s, held-out groups; waconet on nests only\n"
               "model      problems   pairs  clear pairs   top-1  "
               "[geomean, 95 %%]       top-5  Spearman\n",
               spry_op_name(b->f[o].op));
        for (int k = 0; k < KINDS; k++) {
            quality q;
            sp_interval first;
            int n = judge(&q, &first, &b->f[o], k);

            if (k == 0) {
                b->outcome[o].pairs = q.pairs;
                b->outcome[o].top1 = q.top1;
                b->outcome[o].top5 = q.top5;
            }
            if (n)
                printf("%-10s %8d   %.3f        %.3f   %.3f  [%.3f, %.3f .. "
                       "%.3f]  %.3f     %.3f\n",
                       kinds[k], n, q.pairs, q.clear, q.top1, first.mid,
                       first.low, first.high, q.top5, q.spearman);
            else
                printf("%-10s could not be fitted\n", kinds[k]);
        }
    }
    fflush(stdout);
}
