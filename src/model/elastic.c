/* elastic.c - by what power of a machine's numbers a schedule's time grows.
 *
 * What the analytic model gets wrong on a machine it gets wrong by way of a
 * few numbers: how many instructions a cycle issues, what a gather or the
 * start of threads takes. Schedules whose times depend on the same number are
 * then wrong alike. */
#include <math.h>
#include <string.h>

#include "model/features.h"
#include "model/internal.h"

static double *number(sp_speeds *at, int k)
{
    double *const all[SP_ELASTICITIES] = {
        &at->rates.cycle, &at->rates.gather, &at->rates.fork, &at->core.issue,
        &at->core.window, &at->core.wrong,   &at->core.ahead, &at->core.plain,
        &at->core.chunk,  &at->core.order};

    return all[k];
}

/* From half a doubling below a number to half a doubling above it. */
void sp_elasticities(float out[SP_ELASTICITIES], const sp_sparse *p,
                     const spry_schedule *x, const spry_machine *m)
{
    enum { TIMES = 2 * SP_ELASTICITIES };
    spry_prediction t[TIMES] = {{0}};
    sp_speeds at[TIMES], usual;
    sp_ask q;

    memset(out, 0, SP_ELASTICITIES * sizeof *out);
    if (!p || !m || sp_model_ask(&q, p, x, m) != SPRY_OK)
        return;
    usual = sp_model_speeds(&q);
    for (int i = 0; i < TIMES; i++) {
        at[i] = usual;
        *number(&at[i], i / 2) *= i % 2 ? sqrt(2) : sqrt(0.5);
    }
    if (sp_model_seconds(t, &q, at, TIMES) != SPRY_OK)
        return;
    for (int64_t k = 0; k < SP_ELASTICITIES; k++)
        out[k] = (float)log2(fmax(t[2 * k + 1].seconds, 1e-12) /
                             fmax(t[2 * k].seconds, 1e-12));
}
