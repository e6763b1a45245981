/* choose.c - what would be worth measuring.
 *
 * A record tells of other rows as much as they are expected to be wrong
 * together. The one that takes most variance away is chosen, variances are
 * what is left, and so on. What a subject's rows share changes no order, so
 * only differences count. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

enum { MOST = 1536 };

/* Variance of a record, beside which variances count. */
static const double NOISE = 0.06;

typedef struct {
    sp_bayes b;
    float *left;   /* [rows, rows] covariance that is left */
    float *matter; /* [rows] how much a row's order matters */
    int64_t *used; /* [subjects] records chosen */
    uint8_t *chosen;
} field;

static void field_free(field *f)
{
    sp_free(f->left);
    sp_free(f->matter);
    sp_free(f->used);
    sp_free(f->chosen);
    sp_bayes_free(&f->b);
}

/* What seems to be far from the best of its subject will not be chosen by
 * anybody. */
static spry_status weigh(field *f, const sp_dataset *t)
{
    float *score = sp_alloc(t->rows + 1, sizeof *score);
    spry_status s = score ? sp_pretrained_score(score, f->b.source, t)
                          : sp_fail_memory((size_t)t->rows * sizeof *score);

    for (int64_t i = 0; i < f->b.rows && s == SPRY_OK; i++) {
        int64_t subject = f->b.subject[i];
        float best = HUGE_VALF;

        for (int64_t k = t->start[subject]; k < t->start[subject + 1]; k++)
            best = fminf(best, score[k]);
        f->matter[i] = 0.1F + exp2f(-2 * (score[f->b.from[i]] - best));
    }
    sp_free(score);
    return s;
}

static spry_status field_new(field *f, const sp_pretrained *source,
                             const sp_dataset *t)
{
    spry_status s = sp_bayes_look(&f->b, source, t, MOST);
    int64_t n = f->b.rows;

    if (s != SPRY_OK)
        return s;
    f->left = sp_alloc(n * n + 1, sizeof *f->left);
    f->matter = sp_alloc(n + 1, sizeof *f->matter);
    f->used = sp_alloc(t->e->subjects + 1, sizeof *f->used);
    f->chosen = sp_alloc(n + 1, 1);
    if (!f->left || !f->matter || !f->used || !f->chosen)
        return sp_fail_memory((size_t)(n * n) * sizeof *f->left);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= i; k++)
            f->left[i * n + k] = f->left[k * n + i] =
                (float)sp_bayes_covariance(&f->b, i, k);
    return weigh(f, t);
}

/* Variance that a record of row i would take away, of differences between the
 * rows of a subject. */
static double worth(const field *f, int64_t i)
{
    const float *row = f->left + i * f->b.rows, *w = f->matter;
    double sum = 0;

    for (int64_t from = 0, to; from < f->b.rows; from = to) {
        float mean = 0, square = 0, all = 0;

        for (to = from;
             to < f->b.rows && f->b.subject[to] == f->b.subject[from]; to++) {
            mean += w[to] * row[to];
            square += w[to] * row[to] * row[to];
            all += w[to];
        }
        sum += (double)(square - mean * mean / all);
    }
    return sum / ((double)row[i] + NOISE);
}

/* As if row i had been measured. */
static void measure(field *f, int64_t i, float *row)
{
    int64_t n = f->b.rows;

    memcpy(row, f->left + i * n, (size_t)n * sizeof *row);
    for (int64_t k = 0; k < n; k++) {
        float share = row[k] / (row[i] + (float)NOISE);

        for (int64_t j = 0; j < n; j++)
            f->left[k * n + j] -= share * row[j];
    }
    f->chosen[i] = 1;
    f->used[f->b.subject[i]]++;
}

static int64_t best_of(const field *f, const sp_choosing *how)
{
    double most = -1;
    int64_t best = -1;

    for (int64_t i = 0; i < f->b.rows; i++) {
        double now;

        if (f->chosen[i] || f->b.from[i] < how->known ||
            f->used[f->b.subject[i]] >= how->each)
            continue;
        now = worth(f, i);
        if (now > most) {
            most = now;
            best = i;
        }
    }
    return best;
}

/* What was measured already; of very much an even share. */
static void recall(field *f, int64_t known, float *row)
{
    enum { FEW = 256 };
    int64_t step = 1 + known / FEW;

    for (int64_t i = 0; i < f->b.rows && f->b.from[i] < known; i += step)
        measure(f, i, row);
    memset(f->used, 0,
           (size_t)(f->b.subject[f->b.rows - 1] + 1) * sizeof *f->used);
}

spry_status sp_bayes_choose(uint8_t *keep, const sp_pretrained *source,
                            const sp_dataset *t, const sp_choosing *how)
{
    field f = {.left = NULL};
    spry_status s = field_new(&f, source, t);
    float *row = NULL;

    memset(keep, 0, (size_t)t->rows);
    if (s == SPRY_OK && !(row = sp_alloc(f.b.rows + 1, sizeof *row)))
        s = sp_fail_memory((size_t)f.b.rows * sizeof *row);
    if (s == SPRY_OK && f.b.rows > 0)
        recall(&f, how->known, row);
    for (int64_t i = 0; s == SPRY_OK && i < how->count; i++) {
        int64_t best = best_of(&f, how);

        if (best < 0)
            break;
        measure(&f, best, row);
        keep[f.b.from[best]] = 1;
    }
    sp_free(row);
    field_free(&f);
    return s;
}
