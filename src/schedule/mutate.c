/* mutate.c - a step through the space. */
#include "schedule/schedule.h"

#include "schedule/super.h"

static int32_t pick_value(const sp_param *q, const spry_machine *m, sp_rng *r)
{
    int n = 0;

    if (q->offset == offsetof(spry_schedule, threads))
        return 1 + (int32_t)sp_rng_below(r, (uint64_t)m->threads);
    while (q->value[n] >= 0)
        n++;
    return q->value[sp_rng_below(r, (uint64_t)n)];
}

/* Another format, keeping what both have. */
static void change_format(spry_schedule *x, spry_op op, sp_rng *r)
{
    spry_schedule y = sp_schedule_default(
        (int32_t)sp_rng_below(r, (uint64_t)sp_format_count));

    for (int i = 0; i < sp_param_count; i++)
        if (sp_param_used(&sp_params[i], y.format, op))
            sp_param_set(&y, &sp_params[i], sp_param_get(x, &sp_params[i]));
    if (y.format == SPRY_SUPER)
        y = sp_super_fixed_csr(op, x->threads);
    *x = y;
}

int sp_schedule_mutate(spry_schedule *x, const sp_sparse *p,
                       const spry_machine *m, sp_rng *r)
{
    for (int tries = 0; tries < 200; tries++) {
        spry_schedule y = *x;
        int steps = 1 + (int)sp_rng_below(r, 2);

        if (sp_rng_below(r, 8) == 0) {
            change_format(&y, p->op, r);
            steps += 4; /* it may need what the other did not have */
        }
        if (y.format == SPRY_SUPER)
            sp_super_mutate(&y, p->op, m, r);
        for (int i = 0; y.format != SPRY_SUPER && i < steps; i++) {
            const sp_param *q =
                &sp_params[sp_rng_below(r, (uint64_t)sp_param_count)];

            if (sp_param_used(q, y.format, p->op))
                sp_param_set(&y, q, pick_value(q, m, r));
        }
        if (!sp_schedule_equal(&y, x) && sp_schedule_is_legal(&y, p, m)) {
            *x = y;
            return 1;
        }
    }
    return 0;
}
