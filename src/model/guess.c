/* guess.c - the learned model if there is one, else the analytic one. */
#include "model/guess.h"

#include <math.h>
#include <string.h>

#include "model/local.h"

static void analytic_seconds(double *out, const sp_guess *g,
                             const spry_schedule *x, int n)
{
    spry_prediction prediction;

    for (int i = 0; i < n; i++)
        out[i] = sp_predict(&prediction, g->subject.p, &x[i], g->subject.m) ==
                         SPRY_OK
                     ? prediction.seconds
                     : HUGE_VAL;
}

/* Scores that only order become seconds by what the bound says of the plain
 * loop. */
static void set_scale(sp_guess *g)
{
    spry_schedule plain = spry_schedule_baseline(1);
    double score, seconds;

    g->plain = 0;
    analytic_seconds(&seconds, g, &plain, 1);
    if (!g->view->cost->kind->absolute && seconds < HUGE_VAL &&
        sp_view_score(&score, g->view, &plain, 1) == SPRY_OK && isfinite(score))
        g->plain = log(seconds) - score;
}

static spry_status look(sp_guess *g, const sp_cost *c)
{
    spry_status s = sp_subject_of(&g->subject, g->subject.p, g->subject.m);

    if (s == SPRY_OK)
        s = sp_cost_look(&g->view, c, &g->subject);
    if (s != SPRY_OK)
        return s;
    snprintf(g->who, sizeof g->who, "%s%s", c->kind->name,
             sp_local_speaks(c->local) ? ", adapted here" : "");
    set_scale(g);
    return SPRY_OK;
}

spry_status sp_guess_with(sp_guess *g, const sp_sparse *p,
                          const spry_machine *m, const sp_cost *c)
{
    spry_status s;

    memset(g, 0, sizeof *g);
    g->subject.p = p;
    g->subject.m = m;
    s = look(g, c);
    if (s != SPRY_OK)
        sp_guess_close(g);
    return s;
}

spry_status sp_guess_open(sp_guess *g, const sp_sparse *p,
                          const spry_machine *m)
{
    sp_cost *c = NULL;
    spry_status s = sp_cost_find(&c, p->op);
    char why[sizeof g->why] = "";

    if (s == SPRY_OK && c && sp_local_find(&c->local, c, m->fingerprint))
        snprintf(why, sizeof why, "what was learned here is not used: %.350s",
                 spry_message());
    if (s == SPRY_OK && c)
        s = sp_guess_with(g, p, m, c);
    if (s == SPRY_OK && c) {
        g->cost = c;
        memcpy(g->why, why, sizeof why);
        return SPRY_OK;
    }
    memset(g, 0, sizeof *g);
    g->subject.p = p;
    g->subject.m = m;
    snprintf(g->who, sizeof g->who, "analytic");
    if (s != SPRY_OK)
        snprintf(g->why, sizeof g->why, "the learned model is not used: %.350s",
                 spry_message());
    sp_cost_free(c);
    return s == SPRY_SYSTEM ? s : SPRY_OK;
}

void sp_guess_close(sp_guess *g)
{
    sp_view_free(g->view);
    sp_cost_free(g->cost);
    g->view = NULL;
    g->cost = NULL;
}

void sp_guess_seconds(double *out, sp_guess *g, const spry_schedule *x, int n)
{
    if (!g->view || sp_view_score(out, g->view, x, n) != SPRY_OK) {
        analytic_seconds(out, g, x, n);
        return;
    }
    for (int i = 0; i < n; i++)
        out[i] = isfinite(out[i]) ? exp(out[i] + g->plain) : HUGE_VAL;
}

void sp_guess_hurry(sp_guess *g, int hasty)
{
    if (g->view)
        g->view->hasty = hasty;
}

/* ---- choosing ---- */

/* Unmeasured, so much must be promised; what is learned promises more, and by
 * so much of half their distance two opinions are doubted. Of rules tried on
 * held-out problems this kept most. */
static const double PROMISE = 1, LEARNED_PROMISE = 1.15, DOUBT = 0.75;

/* Opinions on log seconds; the analytic model has one. */
static void ask(double (*out)[SP_OPINIONS], sp_guess *g, const spry_schedule *x,
                int n)
{
    spry_prediction prediction;

    if (g->view && sp_view_opinions(out, g->view, x, n) == SPRY_OK)
        return;
    for (int i = 0; i < n; i++) {
        int had = sp_predict(&prediction, g->subject.p, &x[i], g->subject.m) ==
                  SPRY_OK;

        for (int k = 0; k < SP_OPINIONS; k++)
            out[i][k] = had ? log(prediction.seconds) : HUGE_VAL;
    }
}

/* The plain loop that the mean of the opinions likes best. */
static int best_plain(double (*opinion)[SP_OPINIONS], int plains)
{
    int best = 0;

    for (int i = 1; i < plains; i++)
        if (opinion[i][0] + opinion[i][1] < opinion[best][0] + opinion[best][1])
            best = i;
    return best;
}

/* Log seconds over those of the plain loop, as a careful person sees it. */
static double careful(const double opinion[SP_OPINIONS],
                      const double plain[SP_OPINIONS])
{
    double low = HUGE_VAL, high = -HUGE_VAL;

    for (int k = 0; k < SP_OPINIONS; k++) {
        low = fmin(low, opinion[k] - plain[k]);
        high = fmax(high, opinion[k] - plain[k]);
    }
    return high < HUGE_VAL ? (low + high) / 2 + DOUBT * (high - low) / 2
                           : HUGE_VAL;
}

int sp_guess_choose(sp_guess *g, const spry_schedule *x, int n, int plains)
{
    double(*opinion)[SP_OPINIONS] = sp_alloc(n + 1, sizeof *opinion);
    double least = -log(g->view ? LEARNED_PROMISE : PROMISE);
    int plain, best;

    if (!opinion)
        return 0;
    ask(opinion, g, x, n);
    plain = best = best_plain(opinion, plains);
    for (int i = plains; i < n; i++) {
        double seems = careful(opinion[i], opinion[plain]);

        if (seems < least) {
            least = seems;
            best = i;
        }
    }
    sp_free(opinion);
    return best;
}

/* ---- the door ---- */

spry_status spry_guess(double *seconds, char who[SPRY_WHO],
                       const spry_problem *p, const spry_schedule *x, int n,
                       const spry_machine *m)
{
    SP_NEED(seconds, who, p, x, m);
    SP_REFUSE(n < 0, "there cannot be %d schedules", n);

    const sp_sparse *a;
    sp_guess g;
    spry_status s = sp_sparse_need(&a, p);

    *who = 0;
    if (s == SPRY_OK)
        s = sp_guess_open(&g, a, m);
    if (s != SPRY_OK)
        return s;
    sp_guess_seconds(seconds, &g, x, n);
    snprintf(who, SPRY_WHO, "%s", g.who);
    sp_guess_close(&g);
    return SPRY_OK;
}
