/* evolve.c - a population that mutates; the better half stays.
 *
 * Chance fills the first generation, so that every format has ancestors. */
#include "search/internal.h"

#include <math.h>

enum { PEOPLE = 64, GENERATIONS = 40 };

/* Score people from the first to the last. */
static spry_status settle(sp_candidate *people, int first, sp_keep *keep,
                          const sp_space *s)
{
    spry_schedule x[PEOPLE];
    double score[PEOPLE];
    int who[PEOPLE], n = 0;
    spry_status status = SPRY_OK;

    for (int i = first; i < PEOPLE; i++) {
        people[i].predicted = HUGE_VAL;
        if (sp_point_legal(s, &people[i].x)) {
            who[n] = i;
            x[n++] = people[i].x;
        }
    }
    if (n)
        sp_score_points(score, s, x, n);
    for (int i = 0; status == SPRY_OK && i < n; i++) {
        people[who[i]].predicted = score[i];
        status = sp_keep_add(keep, &x[i], score[i]);
    }
    return status;
}

/* The worse half becomes mutated copies of the better one. */
static spry_status breed(sp_candidate *people, sp_keep *keep, const sp_space *s,
                         sp_rng *r)
{
    sp_sort_candidates(people, PEOPLE);
    for (int i = PEOPLE / 2; i < PEOPLE; i++) {
        people[i] = people[sp_rng_below(r, PEOPLE / 2)];
        (void)sp_point_mutate(&people[i].x, s, r);
    }
    return settle(people, PEOPLE / 2, keep, s);
}

static spry_status evolve(sp_keep *keep, const sp_space *s)
{
    sp_candidate people[PEOPLE];
    sp_rng r = sp_rng_seed(s->seed);
    spry_status status;

    people[0].x = sp_point_first(s);
    for (int i = 1; i < PEOPLE; i++)
        if (!sp_point_random(&people[i].x, s, &r))
            people[i].x = people[0].x;
    status = settle(people, 0, keep, s);
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
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_keep_close(&keep);
    return status;
}
