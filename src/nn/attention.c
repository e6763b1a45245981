/* attention.c - queries that look at keys (Vaswani et al. 2017).
 *
 * Each batch entry and each head is a small job of its own: its columns of
 * q, k, v and of the result are nobody else's, so threads take jobs freely
 * and every number still has one order of sums. */
#include "nn/layers.h"

#include <math.h>
#include <string.h>

#include "nn/internal.h"

typedef struct {
    sp_tensor *q, *k, *v, *y;
    const uint8_t *mask;
    float *p;      /* [batch, heads, queries, keys]: scores, then softmax */
    int32_t *best; /* [batch, heads, queries]: key of the maximum, or -1 */
    int64_t batch, heads, queries, keys, width, part; /* part: of a head */
} note;

/* One head of one batch entry; rows of q, k, v, y are `width` apart. */
typedef struct {
    int64_t q, k; /* first element in q and y, in k and v */
    const uint8_t *mask;
    float *p;
} job;

static job job_at(const note *n, int64_t i)
{
    int64_t b = i / n->heads, h = i % n->heads;

    return (job){
        .q = b * n->queries * n->width + h * n->part,
        .k = b * n->keys * n->width + h * n->part,
        .mask = n->mask ? n->mask + b * n->keys : NULL,
        .p = n->p + i * n->queries * n->keys,
    };
}

/* p = q k' / sqrt(part) */
static void scores(const note *n, const job *j)
{
    float scale = 1 / sqrtf((float)n->part);

    sp_nn_gemm(&(sp_gemm){.m = n->queries,
                          .n = n->keys,
                          .k = n->part,
                          .a = n->q->value + j->q,
                          .lda = n->width,
                          .b = n->k->value + j->k,
                          .ldb = n->width,
                          .tb = 1,
                          .c = j->p,
                          .ldc = n->keys},
               1);
    for (int64_t i = 0; i < n->queries * n->keys; i++)
        j->p[i] *= scale;
}

/* dq += s k, dk += s' q, for slopes s of the scores in j->p */
static void scores_back(const note *n, const job *j)
{
    float scale = 1 / sqrtf((float)n->part);

    for (int64_t i = 0; i < n->queries * n->keys; i++)
        j->p[i] *= scale;
    if (n->q->grad)
        sp_nn_gemm(&(sp_gemm){.m = n->queries,
                              .n = n->part,
                              .k = n->keys,
                              .a = j->p,
                              .lda = n->keys,
                              .add = 1,
                              .b = n->k->value + j->k,
                              .ldb = n->width,
                              .c = n->q->grad + j->q,
                              .ldc = n->width},
                   1);
    if (n->k->grad)
        sp_nn_gemm(&(sp_gemm){.m = n->keys,
                              .n = n->part,
                              .k = n->queries,
                              .a = j->p,
                              .lda = n->keys,
                              .ta = 1,
                              .add = 1,
                              .b = n->q->value + j->q,
                              .ldb = n->width,
                              .c = n->k->grad + j->k,
                              .ldc = n->width},
                   1);
}

/* The key of the largest score of one query, -1 when all are hidden. */
static int32_t best_key(const float *p, const uint8_t *mask, int64_t keys)
{
    int32_t best = -1;

    for (int64_t j = 0; j < keys; j++)
        if ((!mask || mask[j]) && (best < 0 || p[j] > p[best]))
            best = (int32_t)j;
    return best;
}

/* ---- the weighted mean ---- */

static void masked_softmax(float *p, const uint8_t *mask, int64_t keys)
{
    int32_t best = best_key(p, mask, keys);
    float top = best < 0 ? 0 : p[best], sum = 0;

    for (int64_t j = 0; j < keys; j++) {
        p[j] = best < 0 || (mask && !mask[j]) ? 0 : expf(p[j] - top);
        sum += p[j];
    }
    for (int64_t j = 0; best >= 0 && j < keys; j++)
        p[j] /= sum;
}

static void attend(const note *n, const job *j)
{
    scores(n, j);
    for (int64_t i = 0; i < n->queries; i++)
        masked_softmax(j->p + i * n->keys, j->mask, n->keys);
    sp_nn_gemm(&(sp_gemm){.m = n->queries,
                          .n = n->part,
                          .k = n->keys,
                          .a = j->p,
                          .lda = n->keys,
                          .b = n->v->value + j->k,
                          .ldb = n->width,
                          .c = n->y->value + j->q,
                          .ldc = n->width},
               1);
}

/* p becomes p (dp - <dp, p>), the slope of the scores. */
static void softmax_back(float *p, const float *dp, int64_t keys)
{
    float mean = 0;

    for (int64_t j = 0; j < keys; j++)
        mean += dp[j] * p[j];
    for (int64_t j = 0; j < keys; j++)
        p[j] *= dp[j] - mean;
}

static void attend_back(const note *n, const job *j, float *dp)
{
    if (n->v->grad) /* dv += p' dy */
        sp_nn_gemm(&(sp_gemm){.m = n->keys,
                              .n = n->part,
                              .k = n->queries,
                              .a = j->p,
                              .lda = n->keys,
                              .ta = 1,
                              .add = 1,
                              .b = n->y->grad + j->q,
                              .ldb = n->width,
                              .c = n->v->grad + j->k,
                              .ldc = n->width},
                   1);
    sp_nn_gemm(&(sp_gemm){.m = n->queries,
                          .n = n->keys,
                          .k = n->part,
                          .a = n->y->grad + j->q,
                          .lda = n->width,
                          .b = n->v->value + j->k,
                          .ldb = n->width,
                          .tb = 1,
                          .c = dp,
                          .ldc = n->keys},
               1);
    for (int64_t i = 0; i < n->queries; i++)
        softmax_back(j->p + i * n->keys, dp + i * n->keys, n->keys);
    scores_back(n, j);
}

/* ---- many jobs ---- */

static int64_t jobs_of(const note *n)
{
    return n->batch * n->heads;
}

static int threads_for(const sp_tape *t, const note *n)
{
    return sp_tape_threads(t, jobs_of(n) * n->queries * n->keys);
}

static void mean_back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t each = n->queries * n->keys;
    float *dp = sp_tape_memory(t, jobs_of(n) * each, sizeof *dp);

    if (!dp)
        return;
#pragma omp parallel for num_threads(threads_for(t, n)) schedule(static)
    for (int64_t i = 0; i < jobs_of(n); i++) {
        job j = job_at(n, i);

        attend_back(n, &j, dp + i * each);
    }
}

static int same_batch(const sp_tensor *q, const sp_tensor *k)
{
    return q && k && q->shape.rank == 3 && k->shape.rank == 3 &&
           q->shape.dim[0] == k->shape.dim[0] && sp_cols(q) == sp_cols(k);
}

/* Sizes, a copy of the mask, room for the scores. */
static int prepare(sp_tape *t, note *n, int heads, const uint8_t *mask)
{
    if (!same_batch(n->q, n->k) || !same_batch(n->q, n->v) || heads < 1 ||
        !sp_shape_equal(n->k->shape, n->v->shape) || sp_cols(n->q) % heads != 0)
        return sp_tape_refuse(t, "attention: the shapes do not fit") != NULL;
    n->batch = n->q->shape.dim[0];
    n->heads = heads;
    n->queries = n->q->shape.dim[1];
    n->keys = n->k->shape.dim[1];
    n->width = sp_cols(n->q);
    n->part = n->width / heads;
    n->p = sp_tape_memory(t, jobs_of(n) * n->queries * n->keys, sizeof *n->p);
    if (mask)
        n->mask = sp_tape_copy(t, mask, n->batch * n->keys, 1);
    return sp_tape_good(t);
}

sp_tensor *sp_nn_attend(sp_tape *t, sp_tensor *q, sp_tensor *k, sp_tensor *v,
                        int heads, const uint8_t *mask)
{
    note n = {.q = q, .k = k, .v = v};

    if (!prepare(t, &n, heads, mask))
        return NULL;
    n.y = SP_RESULT(t, q->shape, q, k, v);
    if (!n.y)
        return NULL;
#pragma omp parallel for num_threads(threads_for(t, &n)) schedule(static)
    for (int64_t i = 0; i < jobs_of(&n); i++) {
        job j = job_at(&n, i);

        attend(&n, &j);
    }
    sp_tape_note(t, n.y, mean_back, &n, sizeof n);
    return n.y;
}

/* ---- the best match ---- */

/* Slopes go to the best key of each query only. */
static void max_back(sp_tape *t, const void *at)
{
    const note *n = at;

    (void)t;
    for (int64_t i = 0; i < jobs_of(n); i++) {
        job j = job_at(n, i);
        const int32_t *best = n->best + i * n->queries;
        const float *dy = n->y->grad + i / n->heads * n->queries;

        memset(j.p, 0, (size_t)(n->queries * n->keys) * sizeof *j.p);
        for (int64_t q = 0; q < n->queries; q++)
            if (best[q] >= 0)
                j.p[q * n->keys + best[q]] = dy[q] / (float)n->heads;
        scores_back(n, &j);
    }
}

static void best_matches(const note *n, int64_t i)
{
    int32_t *best = n->best + i * n->queries;
    float *y = n->y->value + i / n->heads * n->queries;
    job j = job_at(n, i);

    scores(n, &j);
    for (int64_t q = 0; q < n->queries; q++) {
        const float *p = j.p + q * n->keys;

        best[q] = best_key(p, j.mask, n->keys);
        if (best[q] >= 0)
            y[q] += p[best[q]] / (float)n->heads;
    }
}

sp_tensor *sp_nn_attend_max(sp_tape *t, sp_tensor *q, sp_tensor *k, int heads,
                            const uint8_t *mask)
{
    note n = {.q = q, .k = k, .v = k};

    if (!prepare(t, &n, heads, mask))
        return NULL;
    n.y = SP_RESULT(t, SP_SHAPE(n.batch, n.queries), q, k);
    n.best = sp_tape_memory(t, jobs_of(&n) * n.queries, sizeof *n.best);
    if (!sp_tape_good(t))
        return NULL;
    memset(n.y->value, 0, (size_t)n.y->size * sizeof(float));
    for (int64_t i = 0; i < jobs_of(&n); i++)
        best_matches(&n, i);
    sp_tape_note(t, n.y, max_back, &n, sizeof n);
    return n.y;
}

/* ---- with projections ---- */

sp_attention sp_attention_make(sp_nn *n, const char *name, int64_t width,
                               int64_t source_width, int heads)
{
    sp_attention a = {.heads = heads};
    const struct {
        const char *part;
        sp_dense *d;
        int64_t in;
    } projection[] = {{"query", &a.query, width},
                      {"key", &a.key, source_width},
                      {"value", &a.value, source_width},
                      {"out", &a.out, width}};

    for (int i = 0; i < 4; i++) {
        char full[2 * SP_NN_NAME];

        snprintf(full, sizeof full, "%.70s.%s", name, projection[i].part);
        *projection[i].d = sp_dense_make(n, full, projection[i].in, width, 1);
    }
    return a;
}

sp_tensor *sp_nn_attention(sp_tape *t, const sp_attention *a, sp_tensor *x,
                           sp_tensor *source, const uint8_t *mask)
{
    sp_tensor *q = sp_nn_dense(t, &a->query, x);
    sp_tensor *k = sp_nn_dense(t, &a->key, source);
    sp_tensor *v = sp_nn_dense(t, &a->value, source);

    return sp_nn_dense(t, &a->out, sp_nn_attend(t, q, k, v, a->heads, mask));
}
