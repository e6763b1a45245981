/* ask.c - a model asked about what can be had. */
#include "learn.h"

#include <math.h>

static int can_be_had(const asker *a, const spry_schedule *x)
{
    return sp_sparse_available(a->p, x, a->m,
                               x->format == SPRY_SUPER ? SP_COMPILE_ALL
                                                       : SP_COMPILE_NONE);
}

static void score(double *out, const spry_schedule *x, int n, void *payload)
{
    enum { MANY = 256 };
    asker *a = payload;
    spry_schedule at_hand[MANY];
    double seconds[MANY];

    for (int from = 0, to; from < n; from = to) {
        int count = 0, next = 0;

        to = n - from < MANY ? n : from + MANY;
        for (int i = from; i < to; i++) {
            out[i] = can_be_had(a, &x[i]) ? 0 : HUGE_VAL;
            if (out[i] == 0)
                at_hand[count++] = x[i];
        }
        sp_guess_seconds(seconds, &a->guess, at_hand, count);
        for (int i = from; i < to; i++)
            if (out[i] == 0)
                out[i] = seconds[next++];
    }
}

static int worth(const spry_schedule *x, void *payload)
{
    return can_be_had(payload, x);
}

spry_status ask_open(asker *a, const spry_problem *p, const spry_machine *m,
                     const sp_cost *c)
{
    a->p = sp_sparse_of(p);
    a->m = m;
    return sp_guess_with(&a->guess, a->p, m, c);
}

void ask_close(asker *a)
{
    sp_guess_close(&a->guess);
}

sp_space ask_space(asker *a, sp_domain domain, const sp_nests *nests)
{
    return (sp_space){.p = a->p,
                      .m = a->m,
                      .score = score,
                      .worth = worth,
                      .payload = a,
                      .seed = 1,
                      .compile = 1,
                      .domain = domain,
                      .nests = nests,
                      .view = a->guess.view};
}

spry_status ask_choice(spry_schedule *out, asker *a)
{
    spry_schedule x[SP_BASELINES + TOP];
    int plains = sp_sparse_baselines(x, a->p, a->m), count = 0;
    sp_space s = ask_space(a, SP_FAMILIES, NULL);
    sp_candidate found[TOP];
    spry_status status;

    sp_guess_hurry(&a->guess, 1);
    status = sp_strategy_find("descent")->find(found, &count, TOP, &s);
    sp_guess_hurry(&a->guess, 0);
    for (int i = 0; i < count; i++)
        x[plains + i] = found[i].x;
    *out = x[sp_guess_choose(&a->guess, x, plains + count, plains)];
    return status;
}
