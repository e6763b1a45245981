/* family.c - networks, as the tuner's table has them. */
#include <math.h>

#include "inference/internal.h"
#include "model/rates.h"

/* Two loops that a careful programmer writes, serial and parallel. */
static int baselines(sp_proposal *out, const spry_problem *p,
                     const spry_machine *m)
{
    static const char *const loops[] = {"plain", "edges order=destination"};
    int count = 0;

    (void)p;
    for (int threads = 1; threads <= m->threads; threads = m->threads) {
        for (int i = 0; i < 2; i++) {
            sp_proposal *x = &out[count++];

            *x = (sp_proposal){.threads = threads};
            snprintf(x->text, sizeof x->text, "%s threads=%d", loops[i],
                     threads);
        }
        if (threads == m->threads)
            break;
    }
    return count;
}

static double estimate(const spry_problem *p, const char *text,
                       const spry_machine *m)
{
    spry_prediction guess;

    return sp_inference_predict(&guess, sp_inference_of(p), text, m) == SPRY_OK
               ? guess.seconds
               : HUGE_VAL;
}

static spry_status explain(spry_prediction *out, const spry_problem *p,
                           const char *text, const spry_machine *m)
{
    return sp_inference_predict(out, sp_inference_of(p), text, m);
}

/* Inputs are read and outputs written, however small the network becomes. */
static double least(const spry_problem *p, const spry_machine *m)
{
    sp_rates r = sp_rates_of(m, SPRY_F32, m->threads);
    double cells =
        (double)p->kind->input_size(p, 0) + (double)p->kind->output_size(p);

    return 4 * cells / r.bandwidth[0];
}

static int checks_fast(const spry_problem *p)
{
    const sp_inference *a = sp_inference_of(p);

    return (double)a->net->edges * (double)spry_problem_raced(p) < 1e7;
}

const sp_family sp_family_inference = {.name = "networks",
                                       .kind = &sp_inference_kind,
                                       .least = least,
                                       .baselines = baselines,
                                       .estimate = estimate,
                                       .explain = explain,
                                       .make = sp_inference_make,
                                       .ask = sp_inference_ask,
                                       .check = sp_inference_check,
                                       .try_once = sp_inference_try,
                                       .glance = sp_inference_glance,
                                       .checks_fast = checks_fast,
                                       .run = sp_inference_run,
                                       .whole = sp_inference_whole,
                                       .forget = sp_inference_forget,
                                       .can_search = sp_search_all,
                                       .consult = sp_inference_consult,
                                       .predict = sp_inference_guess,
                                       .propose = sp_inference_propose,
                                       .around = sp_inference_around,
                                       .choose = sp_inference_choose,
                                       .dismiss = sp_inference_dismiss};
