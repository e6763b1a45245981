/* coreset.c - rows that stand for others: leverage scores and k-means, both
 * over the features that matter most, each on the scale of what it matters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/sample.h"

enum { WIDE = SP_SAMPLE_WIDE };

/* ---- leverage ---- */

/* G = Z'Z + r I, as its Cholesky factor below the diagonal. */
static void factor(double g[WIDE][WIDE], const sp_sampling *s)
{
    double trace = 0;

    memset(g, 0, WIDE * sizeof *g);
    for (int64_t i = 0; i < s->t.rows; i++) {
        const float *z = s->z + i * WIDE;

        for (int a = 0; a < WIDE; a++)
            for (int b = 0; b <= a; b++)
                g[a][b] += (double)z[a] * (double)z[b];
    }
    for (int a = 0; a < WIDE; a++)
        trace += g[a][a];
    for (int a = 0; a < WIDE; a++)
        g[a][a] += 1e-6 * trace / WIDE + 1e-12;
    for (int a = 0; a < WIDE; a++) {
        for (int b = 0; b <= a; b++) {
            double sum = g[a][b];

            for (int k = 0; k < b; k++)
                sum -= g[a][k] * g[b][k];
            g[a][b] = a == b ? sqrt(fmax(sum, 1e-15)) : sum / g[b][b];
        }
    }
}

/* z' G^-1 z: the length of L^-1 z, squared. */
static double score_of(double g[WIDE][WIDE], const float *z)
{
    double y[WIDE], sum = 0;

    for (int a = 0; a < WIDE; a++) {
        y[a] = (double)z[a];
        for (int k = 0; k < a; k++)
            y[a] -= g[a][k] * y[k];
        y[a] /= g[a][a];
        sum += y[a] * y[a];
    }
    return sum;
}

typedef struct {
    double key;
    int64_t row;
} drawn;

static int by_key(const void *a, const void *b)
{
    const drawn *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Without replacement, in proportion to the scores: the smallest of
 * exponential draws. */
spry_status sp_sample_leverage(sp_sampling *s)
{
    double g[WIDE][WIDE];
    drawn *list = sp_alloc(s->t.rows + 1, sizeof *list);

    if (!list)
        return sp_fail_memory((size_t)s->t.rows * sizeof *list);
    factor(g, s);
    for (int64_t k = 0; k < s->e->subjects; k++) {
        int64_t from = s->t.start[k], n = s->t.start[k + 1] - from;

        for (int64_t i = 0; i < n; i++) {
            double score = score_of(g, s->z + (from + i) * WIDE);
            double unit = sp_rng_unit(&s->rng);

            list[i] = (drawn){-log(1 - unit) / fmax(score, 1e-300), from + i};
        }
        qsort(list, (size_t)n, sizeof *list, by_key);
        for (int64_t i = 0; i < n && i < s->quota[k]; i++)
            s->keep[list[i].row] = 1;
    }
    sp_free(list);
    return SPRY_OK;
}

/* ---- k-means ---- */

/* The features, and how long it took: rows alike in both are one. */
enum { WITH_TIME = WIDE + 1 };

static void point_of(float out[WITH_TIME], const sp_sampling *s, int64_t row)
{
    memcpy(out, s->z + row * WIDE, WIDE * sizeof *out);
    out[WIDE] = s->t.slower[row];
}

static double apart(const float *a, const float *b)
{
    double sum = 0;

    for (int k = 0; k < WITH_TIME; k++)
        sum += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    return sum;
}

typedef struct {
    float *point;  /* [n, WITH_TIME] */
    float *centre; /* [quota, WITH_TIME] */
    int *of;       /* [n] nearest centre */
    int64_t n, quota;
} clusters;

/* The first centre by chance, each next one where it is furthest away. */
static void begin_centres(const clusters *c, sp_rng *r)
{
    int64_t next = (int64_t)sp_rng_below(r, (uint64_t)c->n);

    for (int64_t k = 0; k < c->quota; k++) {
        double furthest = -1;

        memcpy(c->centre + k * WITH_TIME, c->point + next * WITH_TIME,
               WITH_TIME * sizeof *c->centre);
        for (int64_t i = 0; i < c->n; i++) {
            double least = HUGE_VAL;

            for (int64_t j = 0; j <= k; j++)
                least = fmin(least, apart(c->point + i * WITH_TIME,
                                          c->centre + j * WITH_TIME));
            if (least > furthest) {
                furthest = least;
                next = i;
            }
        }
    }
}

static void find_nearest(const clusters *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        double least = HUGE_VAL;

        for (int64_t k = 0; k < c->quota; k++) {
            double d =
                apart(c->point + i * WITH_TIME, c->centre + k * WITH_TIME);

            if (d < least) {
                least = d;
                c->of[i] = (int)k;
            }
        }
    }
}

static void move_centres(const clusters *c)
{
    for (int64_t k = 0; k < c->quota; k++) {
        double sum[WITH_TIME] = {0}, count = 0;

        for (int64_t i = 0; i < c->n; i++) {
            if (c->of[i] != k)
                continue;
            count++;
            for (int a = 0; a < WITH_TIME; a++)
                sum[a] += (double)c->point[i * WITH_TIME + a];
        }
        for (int a = 0; a < WITH_TIME && count > 0; a++)
            c->centre[k * WITH_TIME + a] = (float)(sum[a] / count);
    }
}

/* Of each cluster the row nearest to its middle. */
static void keep_middles(sp_sampling *s, const clusters *c, int64_t from)
{
    for (int64_t k = 0; k < c->quota; k++) {
        double least = HUGE_VAL;
        int64_t best = -1;

        for (int64_t i = 0; i < c->n; i++) {
            double d =
                apart(c->point + i * WITH_TIME, c->centre + k * WITH_TIME);

            if (c->of[i] == k && d < least) {
                least = d;
                best = i;
            }
        }
        if (best >= 0)
            s->keep[from + best] = 1;
    }
}

spry_status sp_sample_clusters(sp_sampling *s)
{
    enum { ROUNDS = 8 };
    clusters c = {0};
    int64_t most = 0;

    for (int64_t k = 0; k < s->e->subjects; k++)
        if (s->t.start[k + 1] - s->t.start[k] > most)
            most = s->t.start[k + 1] - s->t.start[k];
    c.point = sp_alloc(most + 1, WITH_TIME * sizeof *c.point);
    c.centre = sp_alloc(most + 1, WITH_TIME * sizeof *c.centre);
    c.of = sp_alloc(most + 1, sizeof *c.of);
    for (int64_t k = 0; c.point && c.centre && c.of && k < s->e->subjects;
         k++) {
        int64_t from = s->t.start[k];

        c.n = s->t.start[k + 1] - from;
        c.quota = s->quota[k];
        if (c.n == 0 || c.quota == 0)
            continue;
        for (int64_t i = 0; i < c.n; i++)
            point_of(c.point + i * WITH_TIME, s, from + i);
        begin_centres(&c, &s->rng);
        for (int round = 0; round < ROUNDS; round++) {
            find_nearest(&c);
            move_centres(&c);
        }
        find_nearest(&c);
        keep_middles(s, &c, from);
    }
    most = c.point && c.centre && c.of;
    sp_free(c.point);
    sp_free(c.centre);
    sp_free(c.of);
    return most ? SPRY_OK : sp_fail_memory(WITH_TIME * sizeof(float));
}
