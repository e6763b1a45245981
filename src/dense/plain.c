/* plain.c - the plain loop: rows of the result one by one, shared out evenly;
 * what other ways have to beat. */
#include "base/base.h"
#include "dense/internal.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    (void)p;
    (void)x;
    (void)m;
    return NULL;
}

/* [k][c][r][s] to [r][s][c][k]. */
static void turn_filter(float *out, const spry_operator *op)
{
    int64_t c = op->c / op->groups, taps = op->r * op->s;

    for (int64_t k = 0; k < op->k; k++)
        for (int64_t i = 0; i < c; i++)
            for (int64_t x = 0; x < taps; x++)
                out[(x * c + i) * op->k + k] =
                    op->weights[(k * c + i) * taps + x];
}

/* B to [batch][k][n]. */
static void turn_b(float *out, const spry_operator *op)
{
    int64_t count = op->shared_b ? 1 : op->batch;

    for (int64_t b = 0; b < count; b++)
        for (int64_t k = 0; k < op->k; k++)
            for (int64_t n = 0; n < op->n; n++)
                out[(b * op->k + k) * op->n + n] =
                    op->weights[b * op->skip_b + (op->transposed
                                                      ? n * op->pitch_b + k
                                                      : k * op->pitch_b + n)];
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int64_t count = 0;
    int packs;
    spry_status s;

    (void)m;
    if (op->kind == SPRY_CONV2D)
        count = sp_dense_weights(op);
    else if (op->kind == SPRY_MATMUL && !op->given)
        count = (op->shared_b ? 1 : op->batch) * op->k * op->n;
    plan->scratch = 4 * plan->p->cols;
    if (!count)
        return SPRY_OK;
    s = sp_dense_room(plan, count, &packs);
    if (s != SPRY_OK || !packs)
        return s;
    if (op->kind == SPRY_CONV2D)
        turn_filter(plan->packed, op);
    else
        turn_b(plan->packed, op);
    return SPRY_OK;
}

const sp_dense_algorithm sp_dense_plain = {illegal, prepare, sp_plain_part, 1};
