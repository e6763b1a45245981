/* evolve.c - a population that mutates; the better half stays.
 *
 * Chance fills the first generation, so that every format has ancestors. */
#include "search/internal.h"

#include <math.h>

enum { PEOPLE = 64, GENERATIONS = 40 };

static spry_status settle(sp_candidate *who, sp_keep *keep, const sp_space *s)
{
    who->predicted = sp_point_score(s, &who->x);
    return sp_keep_add(keep, &who->x, who->predicted);
}

/* The worse half becomes mutated copies of the better one. */
static spry_status breed(sp_candidate *people, sp_keep *keep, const sp_space *s,
                         sp_rng *r)
{
    spry_status status = SPRY_OK;

    sp_sort_candidates(people, PEOPLE);
    for (int i = PEOPLE / 2; status == SPRY_OK && i < PEOPLE; i++) {
        people[i] = people[sp_rng_below(r, PEOPLE / 2)];
        if (sp_schedule_mutate(&people[i].x, s->p, s->m, r))
            status = settle(&people[i], keep, s);
    }
    return status;
}

static spry_status evolve(sp_keep *keep, const sp_space *s)
{
    sp_candidate people[PEOPLE];
    sp_rng r = sp_rng_seed(s->seed);
    spry_status status = SPRY_OK;

    for (int i = 0; status == SPRY_OK && i < PEOPLE; i++) {
        if (i == 0 || !sp_point_random(&people[i].x, s, &r))
            people[i].x = spry_schedule_baseline(1);
        status = settle(&people[i], keep, s);
    }
    for (int g = 0; status == SPRY_OK && g < GENERATIONS; g++)
        status = breed(people, keep, s, &r);
    return status;
}

spry_status sp_search_evolve(sp_candidate *out, int *count, int most,
                             const sp_space *s)
{
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    if (status == SPRY_OK)
        status = evolve(&keep, s);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep);
    sp_keep_close(&keep);
    return status;
}
