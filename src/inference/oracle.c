/* oracle.c - inputs and right answers of one problem, for many plans.
 *
 * Right answers are slow, so there are few of them: the inputs of a batch are
 * few different ones over and over, in no order, and every output of every
 * input is compared. So full tiles, tails and all threads are seen at the
 * price of a handful of answers. */
#include <math.h>
#include <string.h>

#include "base/guarded.h"
#include "inference/internal.h"

/* Edges that right answers may take, and how many of them there are. */
static const double ANSWER_EDGES = 6e7;
enum { DISTINCT_LEAST = 3, DISTINCT_MOST = 24 };

/* Inputs that are checked: two groups of the largest tiles for each thread,
 * where they fit into so much memory, and a tail; else two tiles. */
enum { GROUP = 4096, TILE = 64, TAIL = 37, CHECK_BYTES = 1 << 25 };

/* Runs shorter than this are repeated: threads that share what should be
 * their own may meet in one run and not in another. */
static const double SHORT_RUN = 2e-3;
enum { REPEATS = 2, GUARD = 64 };

typedef struct {
    const sp_inference *p;
    int64_t raced; /* inputs of x, outputs of y; 0: nothing to race */
    float *x, *y;
    int64_t checked;       /* inputs that are compared */
    int distinct;          /* different ones */
    int32_t *which;        /* [checked] */
    float *in, *out;       /* [checked][..], in before a guard page */
    double *right, *bound; /* [distinct][outputs] */
} question;

void sp_inference_forget(void *oracle)
{
    question *q = oracle;

    if (!q)
        return;
    sp_free(q->x);
    sp_free(q->y);
    sp_free(q->which);
    sp_guarded_free(q->in, q->checked * q->p->net->inputs, sizeof *q->in);
    sp_free(q->out);
    sp_free(q->right);
    sp_free(q->bound);
    sp_free(q);
}

/* ---- what to race with ---- */

static spry_status open_race(question *q, uint64_t seed)
{
    const spry_network *n = q->p->net;
    int64_t count = spry_problem_raced(&q->p->head);

    q->raced = count;
    q->x = sp_alloc_raw(count * n->inputs, sizeof *q->x);
    q->y = sp_alloc(count * n->outputs, sizeof *q->y);
    if (!q->x || !q->y)
        return sp_no_memory((size_t)(count * n->inputs) * sizeof *q->x);
    if (!q->p->x)
        return sp_inference_draw(q->x, q->p, seed);
    memcpy(q->x, q->p->x, (size_t)(count * n->inputs) * sizeof *q->x);
    return SPRY_OK;
}

/* ---- what to check with ---- */

/* Input i of the different ones: zeros, dots, small integers, reals between 0
 * and 1, reals of both signs; not the same in the first place of every tile,
 * where dots would hide what spills over from the one before. */
static void draw_input(float *x, int64_t width, int i, sp_rng *r)
{
    int kind = (i + i / 8) % 4;

    for (int64_t k = 0; k < width; k++) {
        double u = sp_rng_unit(r);
        int often = sp_rng_below(r, 10) < (kind == 1 ? 2 : 5);

        x[k] = i == 2      ? 0
               : kind == 0 ? (float)(u < 0.1)
               : !often    ? 0
               : kind == 1 ? (float)(1 + (int)(3 * u))
               : kind == 2 ? (float)u
                           : (float)(2 * u - 1);
    }
}

static int64_t inputs_to_check(const sp_inference *p, int threads, int brief,
                               int distinct)
{
    int64_t groups = 2 * (int64_t)threads * GROUP + TAIL;
    int64_t tiles = 2 * (int64_t)threads * TILE + TAIL;
    int64_t fit = CHECK_BYTES / (4 * (p->net->inputs + p->net->outputs) + 1);
    int64_t count = groups < fit ? groups : fit;

    if (brief || count < tiles)
        count = tiles;
    count = count < p->batch ? count : p->batch;
    return count < distinct ? distinct : count; /* each of them alone, too */
}

static void mix(question *q, const float *different, sp_rng *r)
{
    int64_t width = q->p->net->inputs;

    for (int64_t i = 0; i < q->checked; i++) {
        q->which[i] = i < q->distinct
                          ? (int32_t)i
                          : (int32_t)sp_rng_below(r, (uint64_t)q->distinct);
        memcpy(q->in + i * width, different + q->which[i] * width,
               (size_t)width * sizeof *q->in);
    }
}

static spry_status open_check(question *q, uint64_t seed, int threads,
                              int brief)
{
    const spry_network *n = q->p->net;
    double most = ANSWER_EDGES / (double)(n->edges + 1);
    sp_rng r = sp_rng_seed(seed);
    float *different;
    spry_status s = SPRY_OK;

    q->distinct = most > DISTINCT_MOST ? DISTINCT_MOST : (int)most;
    if (q->distinct < DISTINCT_LEAST || brief)
        q->distinct = DISTINCT_LEAST;
    q->checked = inputs_to_check(q->p, threads, brief, q->distinct);
    different = sp_alloc_raw(q->distinct * n->inputs, sizeof *different);
    q->which = sp_alloc_raw(q->checked, sizeof *q->which);
    q->in = sp_guarded_alloc(q->checked * n->inputs, sizeof *q->in);
    q->out = sp_alloc_raw(q->checked * n->outputs + 2 * GUARD, sizeof *q->out);
    q->right = sp_alloc_raw(q->distinct * n->outputs, sizeof *q->right);
    q->bound = sp_alloc_raw(q->distinct * n->outputs, sizeof *q->bound);
    if (!different || !q->which || !q->in || !q->out || !q->right || !q->bound)
        s = sp_no_memory((size_t)(q->checked * n->inputs) * sizeof *q->in);
    for (int i = 0; s == SPRY_OK && i < q->distinct; i++)
        draw_input(different + i * n->inputs, n->inputs, i, &r);
    if (s == SPRY_OK)
        s = sp_inference_answers(q->right, q->bound, n, different, q->distinct);
    if (s == SPRY_OK)
        mix(q, different, &r);
    sp_free(different);
    return s;
}

spry_status sp_inference_ask(void **oracle, const spry_problem *p,
                             uint64_t seed, sp_purpose purpose)
{
    question *q = sp_alloc(1, sizeof *q);
    spry_machine m;
    spry_status s = q ? spry_machine_detect(&m) : sp_no_memory(sizeof *q);

    *oracle = q;
    if (s == SPRY_OK) {
        q->p = sp_inference_of(p);
        if (purpose != SP_TO_GLANCE)
            s = open_race(q, seed);
    }
    if (s == SPRY_OK && purpose != SP_TO_RUN)
        s = open_check(q, seed, m.threads, purpose == SP_TO_GLANCE);
    if (s != SPRY_OK) {
        sp_inference_forget(q);
        *oracle = NULL;
    }
    return s;
}

/* ---- checking ---- */

static float *outputs_of(const question *q)
{
    return q->out + GUARD;
}

/* All bits set: no number, and no number that anybody computes. */
static void fill(const question *q, int64_t count)
{
    memset(q->out, -1,
           (size_t)(count * q->p->net->outputs + 2 * GUARD) * sizeof *q->out);
}

static spry_status say_wrong(const spry_plan *plan, int64_t input,
                             int64_t output, double got, double right)
{
    return sp_fail(SPRY_WRONG,
                   "%s: output %lld of input %lld is %.9g, but %.9g is right",
                   plan->text, (long long)output, (long long)input, got, right);
}

static spry_status guards_are_whole(const question *q, const spry_plan *plan,
                                    int64_t count)
{
    const float *behind = outputs_of(q) + count * q->p->net->outputs;
    static const float blank[GUARD];
    unsigned char whole[sizeof blank];

    memset(whole, -1, sizeof whole);
    if (memcmp(q->out, whole, sizeof whole) == 0 &&
        memcmp(behind, whole, sizeof whole) == 0)
        return SPRY_OK;
    return sp_fail(SPRY_WRONG, "%s: memory around the outputs was written",
                   plan->text);
}

static spry_status compare(const question *q, const spry_plan *plan,
                           int64_t first, int64_t count)
{
    int64_t width = q->p->net->outputs;

    for (int64_t i = 0; i < count; i++) {
        const float *y = outputs_of(q) + i * width;
        const double *right = q->right + q->which[first + i] * width;
        const double *bound = q->bound + q->which[first + i] * width;

        for (int64_t k = 0; k < width; k++)
            if (isfinite(right[k]) && isfinite(bound[k]) &&
                !(fabs((double)y[k] - right[k]) <= bound[k]))
                return say_wrong(plan, first + i, k, (double)y[k], right[k]);
    }
    return guards_are_whole(q, plan, count);
}

/* Inputs first .. first + count - 1, all outputs compared. */
static spry_status run_some(const question *q, const spry_plan *plan,
                            int64_t first, int64_t count, double (*clock)(void),
                            double *seconds)
{
    double begun;
    spry_status s;

    fill(q, count);
    begun = clock();
    s = spry_run_inputs(plan, q->in + first * q->p->net->inputs, outputs_of(q),
                        count);
    *seconds = clock() - begun;
    return s == SPRY_OK ? compare(q, plan, first, count) : s;
}

/* Rows that must have an output that is not 0, and rows that must have none;
 * what may be either is passed over. */
static spry_status compare_categories(const question *q, const spry_plan *plan,
                                      const uint8_t *any)
{
    int64_t width = q->p->net->outputs;

    for (int64_t i = 0; i < q->checked; i++) {
        const double *right = q->right + q->which[i] * width;
        const double *bound = q->bound + q->which[i] * width;
        int surely = 0, open = 0;

        for (int64_t k = 0; k < width; k++) {
            surely |= fabs(right[k]) > bound[k];
            open |= !(fabs(right[k]) > bound[k]) && bound[k] > 0;
        }
        if (surely ? any[i] != 1 : !open && any[i] != 0)
            return sp_fail(SPRY_WRONG, "%s: input %lld has a category of %d",
                           plan->text, (long long)i, any[i]);
    }
    return SPRY_OK;
}

/* The inputs that are checked, as rows of a matrix. */
static spry_status rows_of(spry_matrix **out, const question *q)
{
    int64_t width = q->p->net->inputs, count = q->distinct, nnz = 0;
    int64_t *row = sp_alloc_raw(count * width, sizeof *row);
    int64_t *col = sp_alloc_raw(count * width, sizeof *col);
    double *value = sp_alloc_raw(count * width, sizeof *value);
    spry_status s = row && col && value
                        ? SPRY_OK
                        : sp_no_memory((size_t)(count * width) * sizeof *row);

    for (int64_t i = 0; s == SPRY_OK && i < count * width; i++)
        if (q->in[i] != 0) {
            row[nnz] = i / width;
            col[nnz] = i % width;
            value[nnz++] = (double)q->in[i];
        }
    if (s == SPRY_OK)
        s = spry_matrix_triples(out, count, width, nnz, row, col, value,
                                SPRY_F64);
    sp_free(row);
    sp_free(col);
    sp_free(value);
    return s;
}

/* The first inputs are the different ones, so their rows are all there is;
 * asked one by one in the order of the batch. */
static spry_status check_categories(const question *q, const spry_plan *plan)
{
    spry_matrix *few = NULL, *rows = NULL;
    uint8_t *any = sp_alloc(q->checked, sizeof *any);
    question repeated = *q;
    spry_status s = any ? rows_of(&few, q) : sp_no_memory((size_t)q->checked);

    repeated.which = sp_alloc_raw(q->checked, sizeof *repeated.which);
    if (s == SPRY_OK && !repeated.which)
        s = sp_no_memory((size_t)q->checked);
    if (s == SPRY_OK)
        s = spry_inputs_repeat(&rows, few, q->checked);
    for (int64_t i = 0; s == SPRY_OK && i < q->checked; i++) {
        repeated.which[i] = (int32_t)(i % q->distinct);
        any[i] = 2;
    }
    if (s == SPRY_OK)
        s = spry_run_categories(plan, any, rows, 0, q->checked);
    if (s == SPRY_OK)
        s = compare_categories(&repeated, plan, any);
    sp_free(repeated.which);
    spry_matrix_free(few);
    spry_matrix_free(rows);
    sp_free(any);
    return s;
}

spry_status sp_inference_check(const void *oracle, const spry_plan *plan)
{
    const question *q = oracle;
    int64_t few = q->checked < TAIL ? q->checked : TAIL;
    double seconds = 0, one;
    spry_status s = run_some(q, plan, 0, q->checked, sp_seconds, &seconds);

    for (int i = 0; s == SPRY_OK && i < REPEATS && seconds < SHORT_RUN; i++)
        s = run_some(q, plan, 0, q->checked, sp_seconds, &one);
    if (s == SPRY_OK && few > 1)
        s = run_some(q, plan, q->checked - few, few, sp_seconds, &one);
    for (int64_t i = 0; s == SPRY_OK && i < q->distinct; i++)
        s = run_some(q, plan, i, 1, sp_seconds, &one);
    return s == SPRY_OK ? check_categories(q, plan) : s;
}

/* A batch at a time, so that it runs as it will be raced. */
spry_status sp_inference_try(const void *oracle, const spry_plan *plan,
                             double (*clock)(void), double *seconds)
{
    const question *q = oracle;
    int64_t count = q->checked < q->p->batch ? q->checked : q->p->batch;
    spry_status s = SPRY_OK;

    for (int64_t at = 0; s == SPRY_OK && at + count <= q->checked; at += count)
        s = run_some(q, plan, at, count, clock, seconds);
    if (q->raced > 0)
        *seconds *= (double)q->raced / (double)count;
    return s;
}

spry_status sp_inference_glance(const void *oracle, const spry_plan *plan)
{
    double seconds;

    return sp_inference_try(oracle, plan, sp_seconds, &seconds);
}

/* ---- running ---- */

void sp_inference_run(const void *oracle, const spry_plan *plan)
{
    const question *q = oracle;

    (void)spry_run_inputs(plan, q->x, q->y, q->raced);
}

double sp_inference_whole(const void *oracle)
{
    const question *q = oracle;

    return q->raced > 0 ? (double)q->p->batch / (double)q->raced : 1;
}
