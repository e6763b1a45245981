/* point.c - single points of the space: values to try, scores, chance. */
#include "search/internal.h"

#include <math.h>

static int is_field(const sp_param *q, size_t offset)
{
    return q->offset == offset;
}

int32_t sp_point_value(const sp_space *s, const sp_param *q, int i)
{
    int n = 0;

    while (n < i && q->value[n] >= 0)
        n++;
    if (q->value[n] >= 0 && (s->compile || q->value[n] == 0 ||
                             !is_field(q, offsetof(spry_schedule, fixed))))
        return q->value[n];
    /* One past the table: the machine's own thread count. */
    if (is_field(q, offsetof(spry_schedule, threads)) && i == n &&
        s->m->threads > 1)
        return s->m->threads;
    return -1;
}

/* A tile whose half holds all columns is never filled: it does the same as
 * its half. */
static int never_filled(const sp_space *s, const spry_schedule *x)
{
    int64_t lanes = spry_isa_bytes(s->m->isa) / (int)s->p->type;

    return x->tile > 1 && x->tile / 2 * lanes >= s->p->n;
}

double sp_point_score(const sp_space *s, const spry_schedule *x)
{
    if (((x->fixed || x->format == SPRY_SUPER) && !s->compile) ||
        never_filled(s, x) || spry_schedule_legal(x, s->p, s->m) != SPRY_OK)
        return HUGE_VAL;
    return s->score(x, s->payload);
}

static int count_values(const sp_space *s, const sp_param *q)
{
    int n = 0;

    while (sp_point_value(s, q, n) >= 0)
        n++;
    return n;
}

int sp_point_random(spry_schedule *x, const sp_space *s, sp_rng *r)
{
    for (int tries = 0; tries < 1000; tries++) {
        int32_t format = (int32_t)sp_rng_below(r, (uint64_t)sp_format_count);

        if (!sp_formats[format].uses[s->p->op])
            continue;
        *x = sp_schedule_default(format);
        for (int i = 0; i < sp_param_count; i++) {
            const sp_param *q = &sp_params[i];
            int n = count_values(s, q);

            /* Half of the parameters stay as they are. */
            if (sp_param_used(q, format, s->p->op) && sp_rng_below(r, 2))
                sp_param_set(
                    x, q,
                    sp_point_value(s, q, (int)sp_rng_below(r, (uint64_t)n)));
        }
        if (spry_schedule_legal(x, s->p, s->m) == SPRY_OK)
            return 1;
    }
    return 0;
}
