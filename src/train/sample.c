/* sample.c - the ways of choosing rows, and what all of them share.
 *
 * "spread" goes in steps: what is invalid or rare is dropped; a problem's
 * share grows with its operations and is the same for every machine; within a
 * problem a row weighs by its time, fast ones more, and by how often its
 * format is among the fast. "random" is the control: it drops by chance alone,
 * from all. */
#include "train/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- importance ---- */

static double square_of(const sp_dataset *t, int64_t from, int64_t to, int k)
{
    double n = (double)(to - from), x = 0, y = 0, xx = 0, yy = 0, xy = 0;

    for (int64_t i = from; i < to; i++) {
        double a = (double)t->x[i * SP_FEATURES + k], b = (double)t->slower[i];

        if (!isfinite(a))
            return 0;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    xx -= x * x / n;
    yy -= y * y / n;
    xy -= x * y / n;
    return xx > 1e-9 && yy > 1e-9 ? xy * xy / (xx * yy) : 0;
}

void sp_sample_importance(double *importance, const sp_dataset *t)
{
    enum { FEW = 4 };
    int64_t subjects = t->e->subjects, used = 0;

    memset(importance, 0, SP_FEATURES * sizeof *importance);
    for (int64_t s = 0; s < subjects; s++) {
        if (t->start[s + 1] - t->start[s] < FEW)
            continue;
        used++;
        for (int k = 0; k < SP_FEATURES; k++)
            importance[k] += square_of(t, t->start[s], t->start[s + 1], k);
    }
    for (int k = 0; k < SP_FEATURES && used; k++)
        importance[k] /= (double)used;
}

/* ---- one scale ---- */

static void find_best(sp_sampling *s)
{
    for (int n = 0; n < SP_SAMPLE_WIDE; n++) {
        int64_t best = -1;

        for (int k = 0; k < SP_FEATURES; k++) {
            int taken = 0;

            for (int j = 0; j < n; j++)
                taken |= s->best[j] == k;
            if (!taken && (best < 0 || s->importance[k] > s->importance[best]))
                best = k;
        }
        s->best[n] = best;
    }
}

/* Columns to mean 0 and deviation as important as they are. */
static void scale_column(sp_sampling *s, int n)
{
    const float *x = s->t.x + s->best[n];
    double sum = 0, square = 0, count = 0, scale;

    for (int64_t i = 0; i < s->t.rows; i++) {
        double a = (double)x[i * SP_FEATURES];

        if (isfinite(a)) {
            sum += a;
            square += a * a;
            count++;
        }
    }
    sum /= fmax(1, count);
    square = sqrt(fmax(0, square / fmax(1, count) - sum * sum));
    scale = square > 1e-9 ? sqrt(s->importance[s->best[n]]) / square : 0;
    for (int64_t i = 0; i < s->t.rows; i++) {
        double a = (double)x[i * SP_FEATURES];

        s->z[i * SP_SAMPLE_WIDE + n] =
            (float)(isfinite(a) ? (a - sum) * scale : 0);
    }
}

/* ---- quotas ---- */

static int is_valid(const sp_example *row)
{
    return isfinite(row->log_seconds);
}

/* Operations of a problem, as a logarithm. */
static double size_of(const sp_subject *s)
{
    return log2(2 + (double)s->task.nnz * (double)s->task.n);
}

/* Subjects measured on a machine like this one's. */
static double same_machine(const sp_examples *e, int64_t subject)
{
    double same = 0;

    for (int64_t s = 0; s < e->subjects; s++)
        same += memcmp(e->subject[s].machine, e->subject[subject].machine,
                       sizeof e->subject[s].machine) == 0;
    return same;
}

/* Rows by subject: in proportion to the weights, none more than it has; what
 * is left over is dealt out again. */
static spry_status deal(sp_sampling *s, int64_t budget)
{
    int64_t subjects = s->e->subjects, left = budget;
    double *weight = sp_alloc(subjects + 1, sizeof *weight);

    if (!weight)
        return sp_fail_memory((size_t)subjects * sizeof *weight);
    for (int64_t k = 0; k < subjects; k++)
        weight[k] = size_of(&s->e->subject[k]) / same_machine(s->e, k);
    for (int round = 0; round < 20 && left > 0; round++) {
        double sum = 0;
        int64_t begin = left;

        for (int64_t k = 0; k < subjects; k++)
            if (s->quota[k] < s->t.start[k + 1] - s->t.start[k])
                sum += weight[k];
        for (int64_t k = 0; k < subjects && sum > 0; k++) {
            int64_t has = s->t.start[k + 1] - s->t.start[k];
            int64_t more = (int64_t)ceil((double)begin * weight[k] / sum);

            if (more > has - s->quota[k])
                more = has - s->quota[k];
            if (more > left)
                more = left;
            s->quota[k] += more;
            left -= more;
        }
    }
    sp_free(weight);
    return SPRY_OK;
}

/* ---- spread ---- */

typedef struct {
    float slower;
    int64_t row;
} ranked;

static int by_time(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->slower != y->slower)
        return x->slower < y->slower ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static ranked *rank_rows(const sp_sampling *s, int64_t subject)
{
    int64_t from = s->t.start[subject], n = s->t.start[subject + 1] - from;
    ranked *list = sp_alloc(n + 1, sizeof *list);

    for (int64_t i = 0; list && i < n; i++)
        list[i] = (ranked){s->t.slower[from + i], from + i};
    if (list)
        qsort(list, (size_t)n, sizeof *list, by_time);
    return list;
}

/* How often each format is among the fastest fifth of a problem. */
static spry_status count_fast(double occurs[64], const sp_sampling *s)
{
    double most = 1;

    for (int f = 0; f < 64; f++)
        occurs[f] = 0;
    for (int64_t k = 0; k < s->e->subjects; k++) {
        int64_t n = s->t.start[k + 1] - s->t.start[k];
        ranked *list = rank_rows(s, k);

        if (!list)
            return sp_fail_memory((size_t)n * sizeof *list);
        for (int64_t i = 0; i < n / 5; i++) {
            const sp_example *row = &s->e->row[s->t.from[list[i].row]];

            occurs[(unsigned)row->x.format % 64]++;
        }
        sp_free(list);
    }
    for (int f = 0; f < 64; f++)
        most = fmax(most, occurs[f]);
    for (int f = 0; f < 64; f++)
        occurs[f] /= most;
    return SPRY_OK;
}

/* Points at equal distances along the sorted rows, each as long as it
 * weighs. */
static void spread_over(sp_sampling *s, const ranked *list, int64_t n,
                        int64_t quota, const double *occurs)
{
    double sum = 0, at, step;
    double *weight = sp_alloc(n + 1, sizeof *weight);

    for (int64_t i = 0; weight && i < n; i++) {
        const sp_example *row = &s->e->row[s->t.from[list[i].row]];
        double place = ((double)i + 0.5) / (double)n;

        weight[i] = (place < 0.3 ? 2 : 1) *
                    (0.5 + occurs[(unsigned)row->x.format % 64]);
        sum += weight[i];
    }
    if (weight && n > 0 && quota > 0) {
        int64_t taken = 0;

        step = sum / (double)quota;
        at = sp_rng_unit(&s->rng) * step;
        sum = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += weight[i];
            if (sum >= at && taken < quota) {
                s->keep[list[i].row] = 1;
                taken++;
                while (at <= sum)
                    at += step;
            }
        }
    }
    sp_free(weight);
}

static spry_status spread(sp_sampling *s)
{
    double occurs[64];
    spry_status status = count_fast(occurs, s);

    for (int64_t k = 0; k < s->e->subjects && status == SPRY_OK; k++) {
        int64_t n = s->t.start[k + 1] - s->t.start[k];
        ranked *list = rank_rows(s, k);

        if (!list)
            return sp_fail_memory((size_t)n * sizeof *list);
        spread_over(s, list, n, s->quota[k], occurs);
        sp_free(list);
    }
    return status;
}

/* ---- the table ---- */

const sp_sample_way sp_sample_ways[] = {
    {"spread",
     "over the times of each problem, more of the fast and of their formats",
     spread},
    {"leverage", "by how far a row is from what the others span",
     sp_sample_leverage},
    {"k-means", "the middle of each of as many clusters", sp_sample_clusters},
    {"random", "by chance alone, from all", NULL},
    {NULL, NULL, NULL}};

enum { WAYS = sizeof sp_sample_ways / sizeof *sp_sample_ways - 1 };

const char *spry_sample_way(int i)
{
    return i >= 0 && i < WAYS ? sp_sample_ways[i].name : NULL;
}

const char *spry_sample_about(int i)
{
    return i >= 0 && i < WAYS ? sp_sample_ways[i].about : NULL;
}

/* ---- all of it ---- */

static void by_chance(uint8_t *keep, int64_t rows, int64_t budget, sp_rng *r)
{
    int64_t left = budget;

    for (int64_t i = 0; i < rows; i++)
        if ((int64_t)sp_rng_below(r, (uint64_t)(rows - i)) < left) {
            keep[i] = 1;
            left--;
        }
}

static void sampling_close(sp_sampling *s)
{
    sp_dataset_free(&s->t);
    sp_free(s->importance);
    sp_free(s->best);
    sp_free(s->z);
    sp_free(s->quota);
    sp_free(s->keep);
}

static spry_status sampling_open(sp_sampling *s, const sp_examples *e,
                                 uint64_t seed, int threads)
{
    spry_status status;

    *s = (sp_sampling){.e = e, .rng = sp_rng_seed(seed)};
    status = sp_dataset_new(&s->t, e, threads);
    if (status != SPRY_OK)
        return status;
    s->importance = sp_alloc(SP_FEATURES, sizeof *s->importance);
    s->best = sp_alloc(SP_SAMPLE_WIDE, sizeof *s->best);
    s->z = sp_alloc(s->t.rows + 1, SP_SAMPLE_WIDE * sizeof *s->z);
    s->quota = sp_alloc(e->subjects + 1, sizeof *s->quota);
    s->keep = sp_alloc(s->t.rows + 1, 1);
    if (!s->importance || !s->best || !s->z || !s->quota || !s->keep) {
        sampling_close(s);
        return sp_fail_memory((size_t)s->t.rows * SP_SAMPLE_WIDE);
    }
    sp_sample_importance(s->importance, &s->t);
    find_best(s);
    for (int n = 0; n < SP_SAMPLE_WIDE; n++)
        scale_column(s, n);
    return SPRY_OK;
}

/* Rows of e that the ways choose from: timed, of problems with enough of
 * them. */
static spry_status take_valid(sp_examples *out, int64_t *from,
                              const sp_examples *e, spry_sampled *counts)
{
    *out = (sp_examples){0};
    out->subject = sp_alloc(e->subjects + 1, sizeof *out->subject);
    out->row = sp_alloc(e->rows + 1, sizeof *out->row);
    out->start = sp_alloc(e->subjects + 2, sizeof *out->start);
    if (!out->subject || !out->row || !out->start) {
        sp_examples_free(out);
        return sp_fail_memory((size_t)e->rows * sizeof *out->row);
    }
    for (int64_t s = 0; s < e->subjects; s++) {
        int64_t valid = 0;

        for (int64_t i = e->start[s]; i < e->start[s + 1]; i++)
            valid += is_valid(&e->row[i]);
        counts->invalid += e->start[s + 1] - e->start[s] - valid;
        counts->rare += valid < SP_SAMPLE_RARE ? valid : 0;
        out->subject[s] = e->subject[s];
        for (int64_t i = e->start[s];
             i < e->start[s + 1] && valid >= SP_SAMPLE_RARE; i++)
            if (is_valid(&e->row[i])) {
                from[out->rows] = i;
                out->row[out->rows++] = e->row[i];
            }
        out->start[s + 1] = out->rows;
        out->subjects++;
    }
    return SPRY_OK;
}

static spry_status choose(uint8_t *keep, const sp_sample_way *way,
                          const sp_examples *e, const int64_t *from,
                          int64_t budget, uint64_t seed, int threads)
{
    sp_sampling s;
    spry_status status = sampling_open(&s, e, seed, threads);

    if (status != SPRY_OK)
        return status;
    status = deal(&s, budget);
    if (status == SPRY_OK)
        status = way->choose(&s);
    for (int64_t i = 0; i < s.t.rows && status == SPRY_OK; i++)
        if (s.keep[i])
            keep[from[s.t.from[i]]] = 1;
    sampling_close(&s);
    return status;
}

spry_status sp_sample_rows(uint8_t *keep, const sp_examples *e, const char *way,
                           double share, uint64_t seed, int threads,
                           spry_sampled *counts)
{
    int64_t budget = (int64_t)ceil(share * (double)e->rows), *from;
    sp_rng r = sp_rng_seed(seed);
    spry_sampled ignored = {.size = sizeof ignored};
    sp_examples valid;
    spry_status s;
    int w = 0;

    while (sp_sample_ways[w].name && strcmp(sp_sample_ways[w].name, way) != 0)
        w++;
    if (!sp_sample_ways[w].name)
        return sp_fail(SPRY_USAGE, "there is no way to sample called '%s'",
                       way);
    if (!(share > 0 && share <= 1))
        return sp_fail(SPRY_USAGE, "a share to keep lies above 0 and is at "
                                   "most 1");
    memset(keep, 0, (size_t)e->rows);
    if (!sp_sample_ways[w].choose) {
        by_chance(keep, e->rows, budget, &r);
        return SPRY_OK;
    }
    from = sp_alloc(e->rows + 1, sizeof *from);
    if (!from)
        return sp_fail_memory((size_t)e->rows * sizeof *from);
    s = take_valid(&valid, from, e, counts ? counts : &ignored);
    if (s == SPRY_OK) {
        s = choose(keep, &sp_sample_ways[w], &valid, from, budget, seed,
                   threads);
        sp_examples_free(&valid);
    }
    sp_free(from);
    return s;
}
