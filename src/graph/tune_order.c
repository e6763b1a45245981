/* tune_order.c - which task of a network is tuned next.
 *
 *   payoff    what may be saved for a second of tuning: what tuning won tasks
 *             like it, or, where nobody knows, all between now and the least
 *             it can take, by what a trial of it costs
 *   gradient  Ansor's: rounds of equal length, the next one to the task whose
 *             last rounds, or whose speed beside that of similar ones, promise
 *             most
 *   flops     most operations first, as the transfer tuner of the literature
 *             ranks tasks */
#include <math.h>
#include <string.h>

#include "graph/tuning.h"

static const char *const names[] = {"payoff", "gradient", "flops"};
enum { ORDERS = sizeof names / sizeof names[0], WINDOW = 3 };

/* Ansor's alpha and beta. */
static const double TREND = 0.2, SIMILAR = 2;

const char *spry_tuning_order_name(spry_tuning_order order)
{
    return (int)order >= 0 && (int)order < ORDERS ? names[order] : "";
}

spry_status spry_tuning_order_parse(spry_tuning_order *out, const char *text)
{
    SP_NEED(out, text);
    for (int i = 0; i < ORDERS; i++)
        if (strcmp(names[i], text) == 0) {
            *out = (spry_tuning_order)i;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "an order of tuning is payoff, gradient or flops, not '%s'",
                   text);
}

/* Seconds of a trial, about: it is made, checked, and run some times. */
static double trial_cost(const sp_task_state *t)
{
    return 0.01 + 40 * t->now / t->weight;
}

static double payoff(const sp_task_state *t)
{
    return t->hoped / trial_cost(t);
}

/* How much less a second round promises; positive is better. */
static double gradient(const sp_task_state *t, double fastest)
{
    double g = t->now, back, ahead;
    int r = t->rounds, from = r > WINDOW ? r - WINDOW : 0;

    back = r ? (t->best[r] - t->best[from]) / (r - from) : 0;
    ahead = fmin(g - g / (r > 0 ? r : 1),
                 fastest > 0 ? SIMILAR * t->flops / fastest - g : 0);
    return -(TREND * back + (1 - TREND) * fmin(ahead, 0)) + 1e-3 * g / (r + 1);
}

static double score(const sp_task_state *t, spry_tuning_order order,
                    double fastest)
{
    switch (order) {
    case SPRY_BY_FLOPS: return t->flops;
    case SPRY_BY_GRADIENT: return gradient(t, fastest);
    case SPRY_BY_PAYOFF: break;
    }
    return payoff(t);
}

int sp_task_next(const sp_task_state *t, int tasks, spry_tuning_order order)
{
    double most = 0, fastest = 0;
    int best = -1;

    for (int i = 0; i < tasks; i++)
        if (t[i].now > 0)
            fastest = fmax(fastest, t[i].flops / t[i].now);
    for (int i = 0; i < tasks; i++) {
        double x;

        if (t[i].closed)
            continue;
        x = score(&t[i], order, fastest);
        if (order == SPRY_BY_GRADIENT && t[i].rounds == 0)
            x = 1 + t[i].now; /* everyone once before anyone twice */
        if (x <= most)
            continue;
        best = i;
        most = x;
    }
    return best;
}

double sp_task_seconds(const sp_task_state *t, int tasks, int task,
                       spry_tuning_order order, double least, double all)
{
    double whole = 0, part;

    if (order == SPRY_BY_GRADIENT)
        return least;
    for (int i = 0; i < tasks; i++)
        if (!t[i].closed || t[i].known || t[i].near || i == task)
            whole += order == SPRY_BY_FLOPS ? t[i].flops
                                            : fmax(t[i].now - t[i].bound, 0);
    part = order == SPRY_BY_FLOPS ? t[task].flops
                                  : fmax(t[task].now - t[task].bound, 0);
    return whole > 0 ? fmax(least, all * part / whole) : least;
}

void sp_task_turn(sp_task_state *t, spry_tuning_order order)
{
    t->rounds++;
    if (t->rounds <= SP_TASK_ROUNDS)
        t->best[t->rounds] = fmin(t->now, t->best[t->rounds - 1]);
    t->closed = order != SPRY_BY_GRADIENT || t->rounds >= SP_TASK_ROUNDS;
}
