/* bayes.c - what a source gets wrong here, as a normal function of rows.
 *
 * Rows are wrong alike as often as they end in the same leaves of the source's
 * trees, as far as the numbers of their schedules point the same way, as far
 * as the source's two opinions of them agree, and as far as the analytic model
 * has their times depend on the same numbers of a core, each of which may be
 * off by a factor of two. Given records the posterior
 * is exact: a weight for every record, from which new values of leaves and a
 * few linear weights follow, so that scoring costs little.
 *
 * Records of one subject share a part that is the subject's own (its plain
 * loop was slow that day); it is a normal number of its own.
 *
 * What is expected before any record is not quite the source: away from home
 * its networks are wrong more often than its trees, which then count for more.
 * And what few records say is not believed in full. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

/* Prior variances, chosen on generated matrices of one machine (docs/
 * learning.md): of what leaves, schedules' numbers and opinions say, of a
 * subject's own part, and of a record. */
static const double LEAF = 0.5, LINEAR = 0.1, OPINION = 0.3, OWN = 0.05,
                    NOISE = 0.06;

/* The same of the logarithm of a core's number: that of 2. */
static const double ELASTIC = 0.48;

/* How much more the trees' opinion counts than half, the networks' less. */
static const double TREES = 0.25;

/* What is further off is a measurement that went wrong, or a cliff. */
static const float FAR = 1;

enum { WIDTH = SP_LOCAL_WIDTH + SP_LOCAL_OPINIONS + SP_ELASTICITIES };

void sp_bayes_free(sp_bayes *b)
{
    sp_free(b->start);
    sp_free(b->leaf);
    sp_free(b->x);
    sp_free(b->factor);
    sp_free(b->subject);
    memset(b, 0, sizeof *b);
}

/* ---- rows ---- */

/* Every n-th tree, so that few enough are left. */
static int take_trees(sp_bayes *b)
{
    int all = b->source->has_trees ? b->source->trees.trees : 0;
    int step = (all + SP_BAYES_TREES - 1) / SP_BAYES_TREES;

    b->start = sp_alloc(SP_BAYES_TREES + 1, sizeof *b->start);
    for (int k = 0; b->start && k < all; k += step)
        b->start[b->trees++] = b->source->trees.start[k];
    return b->start != NULL;
}

static spry_status bayes_alloc(sp_bayes *b, int64_t rows)
{
    b->leaf = sp_alloc(rows * b->trees + 1, sizeof *b->leaf);
    b->x = sp_alloc(rows * WIDTH + 1, sizeof *b->x);
    b->factor = sp_alloc(rows * rows + 3 * rows + 1, sizeof *b->factor);
    b->subject = sp_alloc(2 * rows + 1, sizeof *b->subject);
    if (!b->leaf || !b->x || !b->factor || !b->subject)
        return sp_fail_memory((size_t)(rows * rows) * sizeof *b->factor);
    b->from = b->subject + rows;
    b->weight = b->factor + rows * rows;
    b->noise = b->weight + rows;
    b->wrong = b->noise + rows;
    return SPRY_OK;
}

/* The numbers by which two rows are compared, on a common scale. */
static void take_row(uint16_t *leaf, float *x, const sp_bayes *b,
                     const float *row, const float *elastic,
                     const float opinion[2])
{
    const float small = (float)sqrt(LINEAR / 64), wide = (float)sqrt(OPINION);
    const float core = (float)sqrt(ELASTIC);

    for (int k = 0; k < b->trees; k++)
        leaf[k] = sp_tree_leaf(b->source->trees.node + b->start[k], row);
    memset(x, 0, SP_LOCAL_WIDTH * sizeof *x);
    if (b->source->nets)
        sp_linear_row(x, &b->source->net[0].scaler, row);
    for (int k = 0; k < SP_LOCAL_WIDTH; k++)
        x[k] *= small;
    x += SP_LOCAL_WIDTH;
    *x++ = wide * opinion[0];
    *x++ = wide * opinion[1];
    *x++ = wide * sp_row_bound(row);
    *x++ = wide;
    for (int k = 0; k < SP_ELASTICITIES; k++)
        *x++ = core * elastic[k];
}

static double alike(const sp_bayes *b, const uint16_t *p, const float *x,
                    int64_t row)
{
    const uint16_t *q = b->leaf + row * b->trees;
    const float *y = b->x + row * WIDTH;
    int same = 0;
    float sum = 0;

#pragma omp simd reduction(+ : same)
    for (int k = 0; k < b->trees; k++)
        same += p[k] == q[k];
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < WIDTH; k++)
        sum += x[k] * y[k];
    return (double)sum + (b->trees ? LEAF * same / b->trees : 0);
}

double sp_bayes_covariance(const sp_bayes *b, int64_t i, int64_t k)
{
    return alike(b, b->leaf + i * b->trees, b->x + i * WIDTH, k) +
           (b->subject[i] == b->subject[k] ? OWN : 0);
}

/* ---- the posterior ---- */

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Row i of the covariance becomes row i of its Cholesky factor; 0: not
 * positive. */
static int factor_row(sp_bayes *b, int64_t i)
{
    int64_t wide = b->most;
    double *row = b->factor + i * wide;

    for (int64_t k = 0; k <= i; k++) {
        const double *other = b->factor + k * wide;
        double value = sp_bayes_covariance(b, i, k) - dot(row, other, k) +
                       (i == k ? b->noise[i] : 0);

        if (k < i)
            row[k] = value / other[k];
        else if (value > 0)
            row[k] = sqrt(value);
        else
            return 0;
    }
    return 1;
}

/* The share of the posterior that is believed: the prior is a guess, and its
 * rows are less alike than it says. Half of it before there are records, nine
 * tenths with 256. */
static double believed(int64_t rows)
{
    return ((double)rows + 32) / ((double)rows + 64);
}

static void solve(sp_bayes *b)
{
    int64_t n = b->rows, wide = b->most;

    for (int64_t i = 0; i < n; i++) {
        const double *row = b->factor + i * wide;

        b->weight[i] = (b->wrong[i] - dot(row, b->weight, i)) / row[i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const double *row = b->factor + i * wide;

        b->weight[i] /= row[i];
        for (int64_t k = 0; k < i; k++)
            b->weight[k] -= row[k] * b->weight[i];
    }
    for (int64_t i = 0; i < n; i++)
        b->weight[i] *= believed(n);
}

double sp_record_variance(const sp_dataset *t, int64_t row, double best)
{
    double behind = (double)t->slower[row] - best;

    return NOISE / (0.3 + 0.7 * exp2(-2 * behind)) +
           pow((double)t->noise[row], 2);
}

/* Rows of one subject. */
static void add_subject(sp_bayes *b, const sp_dataset *t, int64_t s,
                        const float *trees, const float *nets)
{
    int64_t from = t->start[s], to = t->start[s + 1];
    double best = HUGE_VAL;

    for (int64_t i = from; i < to; i++)
        best = fmin(best, (double)t->slower[i]);
    for (int64_t i = from; i < to; i++) {
        float told[2] = {trees[i], nets[i]}, off;
        int64_t at = b->rows;

        /* of all rows `most` are left, evenly */
        if (i * b->most / t->rows == (i + 1) * b->most / t->rows)
            continue;
        off = t->slower[i] - (told[0] + told[1]) / 2 -
              (float)TREES * (told[0] - told[1]);
        take_row(b->leaf + at * b->trees, b->x + at * WIDTH, b,
                 t->x + i * SP_FEATURES, sp_row_elastic(t, i), told);
        b->wrong[at] = (double)fmaxf(-FAR, fminf(FAR, off));
        b->noise[at] = sp_record_variance(t, i, best);
        b->from[at] = i;
        b->subject[at] = s;
        b->rows++;
    }
}

spry_status sp_bayes_look(sp_bayes *out, const sp_pretrained *source,
                          const sp_dataset *t, int64_t most)
{
    float *trees = sp_alloc(t->rows + 1, sizeof *trees);
    float *nets = sp_alloc(t->rows + 1, sizeof *nets);
    spry_status s;

    *out =
        (sp_bayes){.source = source, .most = t->rows < most ? t->rows : most};
    s = trees && nets && take_trees(out)
            ? bayes_alloc(out, out->most)
            : sp_fail_memory((size_t)t->rows * sizeof *trees);
    if (s == SPRY_OK)
        s = sp_pretrained_opinions(trees, nets, source, t);
    for (int64_t k = 0; trees && nets && k < t->e->subjects && s == SPRY_OK;
         k++)
        add_subject(out, t, k, trees, nets);
    if (s != SPRY_OK)
        sp_bayes_free(out);
    sp_free(trees);
    sp_free(nets);
    return s;
}

spry_status sp_bayes_fit(sp_bayes *out, const sp_pretrained *source,
                         const sp_dataset *t)
{
    spry_status s = sp_bayes_look(out, source, t, SP_BAYES_ROWS);
    int ok = 1;

    if (s != SPRY_OK)
        return s;
    for (int64_t i = 0; i < out->rows && ok; i++)
        ok = factor_row(out, i);
    if (ok) {
        solve(out);
        return SPRY_OK;
    }
    sp_bayes_free(out);
    return sp_fail(SPRY_FAIL, "the records' numbers are not finite");
}

/* ---- what it adds ---- */

/* The trees it looks at, with what their leaves add. */
static spry_status leaves_of(sp_trees *out, const sp_bayes *b)
{
    const sp_trees *all = &b->source->trees;
    int64_t step = (all->trees + SP_BAYES_TREES - 1) / SP_BAYES_TREES;
    int64_t nodes = 0;
    spry_status s;

    for (int k = 0; k < b->trees; k++)
        nodes += all->start[k * step + 1] - all->start[k * step];
    s = sp_trees_new(out, SP_FEATURES, b->trees, nodes);
    if (s != SPRY_OK)
        return s;
    for (int k = 0; k < b->trees; k++) {
        int64_t own = all->start[k * step + 1] - all->start[k * step];
        sp_node *to = out->node + out->start[k];

        out->start[k + 1] = out->start[k] + own;
        memcpy(to, all->node + b->start[k], (size_t)own * sizeof *to);
        for (int64_t i = 0; i < own; i++)
            if (to[i].feature < 0)
                to[i].value = 0;
        for (int64_t i = 0; i < b->rows; i++)
            to[b->leaf[i * b->trees + k]].value +=
                (float)(b->weight[i] * LEAF / b->trees);
    }
    return SPRY_OK;
}

spry_status sp_bayes_parts(sp_trees *trees, sp_linear *linear,
                           const sp_bayes *b)
{
    double sum[WIDTH] = {0}, *opinion = linear->opinion;

    for (int64_t i = 0; i < b->rows; i++)
        for (int k = 0; k < WIDTH; k++)
            sum[k] += b->weight[i] * (double)b->x[i * WIDTH + k];
    for (int k = 0; k < SP_LOCAL_WIDTH; k++)
        linear->weight[k] = sum[k] * sqrt(LINEAR / 64);
    for (int k = 0; k < SP_LOCAL_OPINIONS; k++)
        opinion[k] = sum[SP_LOCAL_WIDTH + k] * sqrt(OPINION);
    for (int k = 0; k < SP_ELASTICITIES; k++)
        linear->elastic[k] =
            sum[SP_LOCAL_WIDTH + SP_LOCAL_OPINIONS + k] * sqrt(ELASTIC);
    opinion[0] += TREES;
    opinion[1] -= TREES;
    *trees = (sp_trees){0};
    return b->trees ? leaves_of(trees, b) : SPRY_OK;
}
