/* batch.c - points are scored many at a time: models like that. */
#include <math.h>

#include "search/internal.h"

void sp_score_points(double *out, const sp_space *s, const spry_schedule *x,
                     int n)
{
    s->score(out, x, n, s->payload);
    if (s->asked)
        *s->asked += n;
    for (int i = 0; i < n; i++)
        if (isnan(out[i]))
            out[i] = HUGE_VAL;
}

spry_status sp_batch_end(sp_batch *b)
{
    double score[SP_BATCH];
    spry_status status = SPRY_OK;

    if (b->n)
        sp_score_points(score, b->s, b->x, b->n);
    for (int i = 0; status == SPRY_OK && i < b->n; i++)
        status = sp_keep_add(b->keep, &b->x[i], score[i]);
    b->n = 0;
    return status;
}

spry_status sp_batch_add(sp_batch *b, const spry_schedule *x)
{
    if (!sp_point_legal(b->s, x))
        return SPRY_OK;
    b->x[b->n++] = *x;
    return b->n == SP_BATCH ? sp_batch_end(b) : SPRY_OK;
}

spry_status sp_batch_add_nest(sp_batch *b, const spry_schedule *x)
{
    spry_schedule alone = *x;
    spry_status status = sp_batch_add(b, x);

    if (status != SPRY_OK || x->threads == 1)
        return status;
    alone.threads = 1;
    alone.chunk = 0;
    alone.super.parallel = 0;
    return sp_batch_add(b, &alone);
}
