/* analytic.c - the white-box bound as a cost model: nothing is learned. */
#include <math.h>

#include "model/kinds.h"
#include "spry/model.h"

static spry_status nothing(sp_cost *c)
{
    (void)c;
    return SPRY_OK;
}

static spry_status fit(sp_cost *c, const sp_fitting *l)
{
    (void)l;
    return nothing(c);
}

static spry_status look(sp_view *v)
{
    (void)v;
    return SPRY_OK;
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    spry_prediction prediction;

    for (int64_t i = 0; i < count; i++)
        out[i] = sp_predict(&prediction, v->subject->p, &x[i], v->subject->m) ==
                         SPRY_OK
                     ? log(fmax(prediction.seconds, 1e-12))
                     : HUGE_VAL;
    return SPRY_OK;
}

const sp_cost_kind sp_cost_analytic = {
    .name = "analytic",
    .about = "the white-box bound; nothing is learned",
    .matrix = 1,
    .absolute = 1,
    .fit = fit,
    .open = nothing,
    .look = look,
    .score = score,
};
