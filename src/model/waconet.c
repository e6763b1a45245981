/* waconet.c - WACO's network: fourteen sparse convolutions over the pattern,
 * embeddings of a schedule's parts, one head over both. */
#include "model/waconet.h"

#include <string.h>

#include "matrix/matrix.h"
#include "problem/operation.h"
#include "spry/space.h"

enum { FORMATS = 4, WORD = 32 };

/* What a schedule of an operation consists of: how many splits, how many
 * loops to order, and the categories of each part (0: no such part). */
typedef struct {
    int splits, loops;
    int32_t categories[SP_WACO_TABLES];
    int parallel; /* 1: who shares is a part too */
} parts;

/* A matrix has splits of up to 2^16, dense columns of up to 2^7. */
static parts parts_of(spry_op op)
{
    const sp_operation *d = sp_operation_of(op);
    parts o = {.splits = d->modes + (d->dense >= 0), .parallel = d->sampled};
    int n = 0;

    o.loops = 2 * o.splits;
    for (int i = 0; i < o.splits; i++)
        o.categories[n++] = i < d->modes ? 17 : 8;
    for (int i = 0; i < FORMATS; i++)
        o.categories[n++] = 2;
    if (o.parallel)
        o.categories[n++] = o.loops;
    o.categories[n] = d->chunks;
    return o;
}

/* ---- the layers ---- */

static void make_matrix(sp_waconet *w, sp_nn *nn)
{
    char name[32];

    for (int i = 0; i < SP_WACO_CONVS; i++) {
        snprintf(name, sizeof name, "conv%d", i);
        w->conv[i] = sp_conv_make(nn, name, i ? 3 : 5, i ? 2 : 1,
                                  i ? SP_WACO_CHANNELS : 1, SP_WACO_CHANNELS);
    }
    w->scaler = sp_scaler_make(nn, "scalars", 3);
    w->scalar[0] = sp_dense_make(nn, "scalar0", 3, 64, 1);
    w->scalar[1] = sp_dense_make(nn, "scalar1", 64, 32, 1);
    w->matrix[0] = sp_dense_make(nn, "matrix0",
                                 SP_WACO_CONVS * SP_WACO_CHANNELS + 32, 256, 1);
    w->matrix[1] = sp_dense_make(nn, "matrix1", 256, SP_WACO_WIDTH, 1);
}

static void make_schedule(sp_waconet *w, sp_nn *nn, const parts *o)
{
    char name[32];

    for (w->tables = 0; w->tables < SP_WACO_TABLES && o->categories[w->tables];
         w->tables++) {
        snprintf(name, sizeof name, "table%d", w->tables);
        w->table[w->tables] =
            sp_embedding_make(nn, name, o->categories[w->tables], WORD);
    }
    w->order =
        sp_dense_make(nn, "order", (int64_t)o->loops * o->loops, WORD, 1);
    w->schedule[0] = sp_dense_make(
        nn, "schedule0", (int64_t)(w->tables + 1) * WORD, SP_WACO_WIDTH, 1);
    w->schedule[1] =
        sp_dense_make(nn, "schedule1", SP_WACO_WIDTH, SP_WACO_WIDTH, 1);
}

spry_status sp_waconet_make(sp_waconet *w, sp_nn *nn, spry_op op)
{
    parts o = parts_of(op);

    if (sp_has_tensor(op))
        return sp_fail(SPRY_USAGE, "waconet has no network for %s",
                       spry_op_name(op));
    w->op = op;
    make_matrix(w, nn);
    make_schedule(w, nn, &o);
    w->head[0] = sp_dense_make(nn, "head0", INT64_C(2) * SP_WACO_WIDTH,
                               SP_WACO_WIDTH, 1);
    w->head[1] = sp_dense_make(nn, "head1", SP_WACO_WIDTH, 64, 1);
    w->head[2] = sp_dense_make(nn, "head2", 64, 1, 1);
    return sp_nn_status(nn);
}

/* ---- words ---- */

int sp_waconet_words(sp_waco_words *out, const sp_waconet *w,
                     const spry_schedule *x)
{
    parts o = parts_of(w->op);
    int squares = o.loops * o.loops, n = 0;
    float vector[SPRY_WACO_VECTOR];
    const float *at = vector;

    if (spry_waco_vector(vector, x, w->op) == 0)
        return 0;
    for (int i = 0; i < o.splits; i++)
        out->part[n++] = (int32_t)*at++;
    memcpy(out->order, at, (size_t)squares * sizeof *at);
    at += squares;
    for (int i = 0; i < FORMATS; i++)
        out->part[n++] = (int32_t)*at++;
    if (o.parallel)
        out->part[n++] = (int32_t)*at;
    at += 2; /* the thread count is nothing to WACO */
    out->part[n++] = (int32_t)*at;
    for (int i = 0; i < n; i++)
        if (out->part[i] < 0 || out->part[i] >= o.categories[i])
            return 0;
    return 1;
}

/* ---- the pattern ---- */

static spry_status first_sites(sp_sites **out, const spry_matrix *A)
{
    int32_t *row, *col;
    spry_status s;

    if (A->rows > INT32_MAX || A->cols > INT32_MAX)
        return sp_fail(SPRY_USAGE, "the matrix is too large for waconet");
    row = sp_alloc_raw(2 * A->nnz + 1, sizeof *row);
    if (!row)
        return sp_fail_memory((size_t)A->nnz * 2 * sizeof *row);
    col = row + A->nnz;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            row[k] = (int32_t)i;
            col[k] = (int32_t)sp_col(A, k);
        }
    s = sp_sites_new(out, A->nnz, row, col);
    sp_free(row);
    return s;
}

/* A large pattern is looked at from afar: a site stands for 2 x 2 of before,
 * as between the layers, until few enough are left. Every site costs some ten
 * microseconds a step, and the layers that follow see the whole all the
 * same. */
static spry_status from_afar(sp_sites **at)
{
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && (*at)->n > SP_WACO_SITES) {
        sp_sites *near = *at;

        s = sp_sites_shrink(at, near, 2);
        sp_sites_free(near);
    }
    return s;
}

spry_status sp_waco_sites_new(sp_waco_sites *out, const spry_matrix *A)
{
    spry_status s;

    memset(out, 0, sizeof *out);
    s = first_sites(&out->at[0], A);
    if (s == SPRY_OK)
        s = from_afar(&out->at[0]);
    for (int i = 1; i <= SP_WACO_CONVS && s == SPRY_OK; i++)
        s = sp_sites_shrink(&out->at[i], out->at[i - 1], i == 1 ? 1 : 2);
    if (s != SPRY_OK)
        sp_waco_sites_free(out);
    return s;
}

void sp_waco_sites_free(sp_waco_sites *s)
{
    for (int i = 0; i <= SP_WACO_CONVS; i++)
        sp_sites_free(s->at[i]);
    memset(s, 0, sizeof *s);
}

/* ---- passes ---- */

static sp_tensor *two_layers(sp_tape *t, const sp_dense d[2], sp_tensor *x)
{
    return sp_nn_dense(t, &d[1], sp_nn_relu(t, sp_nn_dense(t, &d[0], x)));
}

sp_tensor *sp_waconet_matrix(sp_tape *t, const sp_waconet *w,
                             const sp_waco_sites *s, const sp_subject *subject)
{
    const float shape[3] = {(float)subject->task.rows,
                            (float)subject->task.cols,
                            (float)subject->task.nnz};
    sp_tensor *pooled[SP_WACO_CONVS + 1], *x;

    x = sp_nn_input(t, SP_SHAPE(s->at[0]->n, 1), NULL);
    for (int64_t i = 0; x && i < x->size; i++)
        x->value[i] = 1;
    for (int i = 0; i < SP_WACO_CONVS; i++) {
        x = sp_nn_relu(t,
                       sp_nn_conv(t, &w->conv[i], x, s->at[i], s->at[i + 1]));
        pooled[i] = sp_nn_average(t, x);
    }
    x = sp_nn_input(t, SP_SHAPE(1, 3), NULL);
    if (x)
        sp_scaler_apply(x->value, &w->scaler, shape, 1, 3);
    pooled[SP_WACO_CONVS] = two_layers(t, w->scalar, x);
    return two_layers(t, w->matrix, sp_nn_join(t, pooled, SP_WACO_CONVS + 1));
}

sp_tensor *sp_waconet_schedules(sp_tape *t, const sp_waconet *w,
                                const sp_waco_words *x, int64_t count)
{
    int loops = parts_of(w->op).loops, squares = loops * loops;
    sp_tensor *part[SP_WACO_TABLES + 1];
    sp_tensor *order = sp_nn_input(t, SP_SHAPE(count, squares), NULL);

    for (int i = 0; i < w->tables; i++) {
        int32_t index[SP_WACO_FEW];

        for (int64_t k = 0; k < count; k++)
            index[k] = x[k].part[i];
        part[i] = sp_nn_rows(t, w->table[i], index, count);
    }
    for (int64_t k = 0; order && k < count; k++)
        memcpy(order->value + k * squares, x[k].order,
               (size_t)squares * sizeof(float));
    part[w->tables] = sp_nn_dense(t, &w->order, order);
    return two_layers(t, w->schedule, sp_nn_join(t, part, w->tables + 1));
}

sp_tensor *sp_waconet_head(sp_tape *t, const sp_waconet *w, sp_tensor *matrix,
                           sp_tensor *schedules)
{
    static const int32_t first[SP_WACO_FEW];
    int64_t count = schedules ? sp_rows(schedules) : 1;
    sp_tensor *both[2];

    both[0] = sp_nn_rows(t, matrix, first, count);
    both[1] = schedules;
    return sp_nn_dense(
        t, &w->head[2],
        sp_nn_relu(t, two_layers(t, w->head, sp_nn_join(t, both, 2))));
}
