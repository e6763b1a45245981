/* grades.c - how well scores choose among measured schedules.
 *
 * Every number is first one per problem, then a mean over problems, with an
 * interval from drawing the problems again a thousand times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"
#include "train/internal.h"

enum {
    PAIRWISE,
    TOP1,
    TOP5,
    SPEARMAN,
    SQUARE,
    REGRET1,
    REGRET5,
    REGRET20,
    SPEEDUP1,
    SPEEDUP20,
    CSR1,
    CSR20,
    SLOWER,
    VALUES
};

struct sp_grading {
    spry_op op;
    double (*value)[VALUES]; /* [problems] */
    int64_t problems, room, records;
    const spry_train_options *watch; /* NULL: nobody is told */
    int model;
};

typedef struct {
    double score, time, speedup;
} choice;

spry_status sp_grading_new(sp_grading **out, spry_op op)
{
    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->op = op;
    return SPRY_OK;
}

void sp_grading_watch(sp_grading *g, const spry_train_options *opt, int model)
{
    g->watch = opt->judged ? opt : NULL;
    g->model = model;
}

void sp_grading_free(sp_grading *g)
{
    if (g)
        sp_free(g->value);
    sp_free(g);
}

/* ---- one problem ---- */

/* Equal scores: the slower comes first, nothing is won by not choosing. */
static int by_score(const void *a, const void *b)
{
    const choice *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->time < y->time) - (x->time > y->time);
}

/* Pairs in the right order; what cannot be told apart is half right. */
static double pairwise(const choice *c, int64_t n)
{
    double right = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            int told = (c[i].score < c[j].score) - (c[i].score > c[j].score);
            int order = (c[i].time < c[j].time) - (c[i].time > c[j].time);

            right += told == 0 || order == 0 ? 0.5 : told == order;
        }
    return right / ((double)n * (double)(n - 1) / 2);
}

/* The mean rank of each among the times, ties sharing theirs. */
static double rank_of(const choice *c, int64_t n, int64_t i, int of_score)
{
    double below = 0, equal = 0, value = of_score ? c[i].score : c[i].time;

    for (int64_t j = 0; j < n; j++) {
        double other = of_score ? c[j].score : c[j].time;

        below += other < value;
        equal += other == value;
    }
    return below + (equal - 1) / 2;
}

static double spearman(const choice *c, int64_t n)
{
    double mean = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;

    for (int64_t i = 0; i < n; i++) {
        double x = rank_of(c, n, i, 1) - mean, y = rank_of(c, n, i, 0) - mean;

        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static double best_of(const choice *c, int64_t n, int64_t k)
{
    double best = HUGE_VAL;

    for (int64_t i = 0; i < n && i < k; i++)
        best = fmin(best, c[i].time);
    return best;
}

/* Log seconds of the baseline: what the races of these rows saw. */
static double baseline_of(const choice *c, int64_t n)
{
    double sum = 0, count = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(c[i].speedup)) {
            sum += c[i].time + c[i].speedup;
            count++;
        }
    return count > 0 ? sum / count : nan("");
}

/* Log seconds of WACO's fixed CSR, the fastest of those measured. */
static double csr_of(const sp_examples *e, int64_t subject, spry_op op)
{
    double best = nan("");

    for (int64_t i = e->start[subject]; i < e->start[subject + 1]; i++) {
        const spry_schedule *x = &e->row[i].x;
        spry_schedule csr;
        char text[48];

        snprintf(text, sizeof text, "fixed-csr threads=%d", (int)x->threads);
        if (x->format == SPRY_SUPER && isfinite(e->row[i].log_seconds) &&
            spry_schedule_parse_for(&csr, text, op) == SPRY_OK &&
            sp_schedule_equal(x, &csr))
            best = fmin(best, e->row[i].log_seconds);
    }
    return best;
}

static double square_error(const choice *c, int64_t n)
{
    double sum = 0, count = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(c[i].score)) {
            sum += (c[i].score - c[i].time) * (c[i].score - c[i].time);
            count++;
        }
    return count > 0 ? sum / count : nan("");
}

/* Add to v what this order of a problem's schedules is worth. */
static void grade_order(double v[VALUES], choice *c, int64_t n, double csr)
{
    double best = best_of(c, n, n), base = baseline_of(c, n);
    double first, five, twenty, speedup;

    v[PAIRWISE] += pairwise(c, n);
    v[SPEARMAN] += spearman(c, n);
    v[SQUARE] += square_error(c, n);
    qsort(c, (size_t)n, sizeof *c, by_score);
    first = c[0].time;
    five = best_of(c, n, 5);
    twenty = best_of(c, n, 20);
    speedup = isfinite(c[0].speedup) ? c[0].speedup : base - first;
    v[TOP1] += exp(best - first);
    v[TOP5] += exp(best - five);
    v[REGRET1] += first - best;
    v[REGRET5] += five - best;
    v[REGRET20] += twenty - best;
    v[SPEEDUP1] += speedup;
    v[SPEEDUP20] += base - twenty;
    v[CSR1] += csr - first;
    v[CSR20] += csr - twenty;
    v[SLOWER] += isfinite(speedup) ? speedup < -log(1.05) : nan("");
}

/* c[n] is in the order of the scores. */
static spry_status tell(const sp_grading *g, const sp_examples *e,
                        int64_t subject, const choice *c, int64_t n)
{
    const char *name = e->subject ? e->subject[subject].name : NULL;
    double *v = sp_alloc(2 * n + 1, sizeof *v);
    spry_judged now = {.model = g->model,
                       .problem = name ? name : "",
                       .choices = n,
                       .baseline = exp(baseline_of(c, n))};

    if (!v)
        return sp_fail_memory(2 * (size_t)n * sizeof *v);
    now.score = v;
    now.seconds = v + n;
    for (int64_t i = 0; i < n; i++) {
        v[i] = c[i].score;
        v[n + i] = exp(c[i].time);
    }
    g->watch->judged(&now, g->watch->judged_payload);
    sp_free(v);
    return SPRY_OK;
}

/* The timed rows of a subject that the model was asked about; how many. */
static int64_t take_rows(choice *c, const sp_examples *e, int64_t subject,
                         const double *score)
{
    int64_t n = 0;

    for (int64_t i = e->start[subject]; i < e->start[subject + 1]; i++)
        if (isfinite(e->row[i].log_seconds) && score[i] != SP_NOT_ASKED)
            c[n++] = (choice){isnan(score[i]) ? HUGE_VAL : score[i],
                              e->row[i].log_seconds, e->row[i].log_speedup};
    return n;
}

static spry_status one_more(sp_grading *g)
{
    int64_t room = g->room ? 2 * g->room : 64;
    void *more;

    if (g->problems < g->room)
        return SPRY_OK;
    more = sp_grow(g->value, g->problems, room, sizeof *g->value);
    if (!more)
        return sp_fail_memory((size_t)room * sizeof *g->value);
    g->value = more;
    g->room = room;
    return SPRY_OK;
}

/* One row of values for a problem with enough schedules to choose from. */
static spry_status grade_subject(sp_grading *g, const sp_examples *e,
                                 int64_t subject, const double *score,
                                 int times, choice *c)
{
    enum { FEWEST = 5 };
    double csr = csr_of(e, subject, g->op), *v;
    int64_t rows = take_rows(c, e, subject, score);
    spry_status s;

    if (rows < FEWEST)
        return SPRY_OK;
    s = one_more(g);
    if (s != SPRY_OK)
        return s;
    v = g->value[g->problems++];
    memset(v, 0, sizeof *g->value);
    for (int t = 0; t < times && s == SPRY_OK; t++, score += e->rows) {
        grade_order(v, c, take_rows(c, e, subject, score), csr);
        if (g->watch)
            s = tell(g, e, subject, c, rows);
    }
    for (int k = 0; k < VALUES; k++)
        v[k] /= times;
    g->records += rows;
    return s;
}

spry_status sp_grading_add(sp_grading *g, const sp_examples *e,
                           const double *score, int times)
{
    choice *c = sp_alloc_raw(e->rows + 1, sizeof *c);
    spry_status s = SPRY_OK;

    if (!c)
        return sp_fail_memory((size_t)e->rows * sizeof *c);
    for (int64_t k = 0; k < e->subjects && s == SPRY_OK; k++)
        s = grade_subject(g, e, k, score, times, c);
    sp_free(c);
    return s;
}

/* ---- all problems ---- */

typedef struct {
    double mean, low, high;
} interval;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double draw_again(const double *v, int64_t n, sp_rng *r)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += v[sp_rng_below(r, (uint64_t)n)];
    return sum / (double)n;
}

/* Of the problems for which the value is known. */
static interval mean_of(const sp_grading *g, int which, double *v)
{
    enum { AGAIN = 1000, TAIL = AGAIN / 40 };
    double mean[AGAIN], sum = 0;
    sp_rng r = sp_rng_seed(1);
    int64_t n = 0;

    for (int64_t i = 0; i < g->problems; i++)
        if (isfinite(g->value[i][which])) {
            v[n] = g->value[i][which];
            sum += v[n++];
        }
    if (n == 0)
        return (interval){nan(""), nan(""), nan("")};
    for (int i = 0; i < AGAIN; i++)
        mean[i] = draw_again(v, n, &r);
    qsort(mean, AGAIN, sizeof *mean, ascending);
    return (interval){sum / (double)n, mean[TAIL], mean[AGAIN - 1 - TAIL]};
}

static void fill(spry_grades *out, const sp_grading *g, int absolute, double *v)
{
    interval pairs = mean_of(g, PAIRWISE, v), top1 = mean_of(g, TOP1, v);
    interval top5 = mean_of(g, TOP5, v), regret = mean_of(g, REGRET20, v);

    out->pairwise = pairs.mean;
    out->pairwise_low = pairs.low;
    out->pairwise_high = pairs.high;
    out->top1 = top1.mean;
    out->top1_low = top1.low;
    out->top1_high = top1.high;
    out->top5 = top5.mean;
    out->top5_low = top5.low;
    out->top5_high = top5.high;
    out->spearman = mean_of(g, SPEARMAN, v).mean;
    out->rmse = absolute ? sqrt(mean_of(g, SQUARE, v).mean) : nan("");
    out->regret1 = expm1(mean_of(g, REGRET1, v).mean);
    out->regret5 = expm1(mean_of(g, REGRET5, v).mean);
    out->regret20 = expm1(regret.mean);
    out->regret20_low = expm1(regret.low);
    out->regret20_high = expm1(regret.high);
    out->speedup1 = exp(mean_of(g, SPEEDUP1, v).mean);
    out->speedup20 = exp(mean_of(g, SPEEDUP20, v).mean);
    out->csr1 = exp(mean_of(g, CSR1, v).mean);
    out->csr20 = exp(mean_of(g, CSR20, v).mean);
    out->slower = mean_of(g, SLOWER, v).mean;
}

spry_status sp_grading_end(spry_grades *out, const sp_grading *g,
                           const char *model, int absolute)
{
    double *v = sp_alloc(g->problems + 1, sizeof *v);

    sp_grades_clear(out, model);
    if (!v)
        return sp_fail_memory((size_t)g->problems * sizeof *v);
    out->problems = g->problems;
    out->records = g->records;
    fill(out, g, absolute, v);
    sp_free(v);
    return SPRY_OK;
}
