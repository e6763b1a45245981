/* search.h - which schedules are worth measuring.
 *
 * A strategy asks a score function about points of the space and hands back
 * the best few. Scores are rough, so the few are kept unlike each other. */
#ifndef SP_SEARCH_H
#define SP_SEARCH_H

#include "base/base.h"
#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/schedule.h"

typedef struct {
    spry_schedule x;
    double predicted; /* seconds */
} sp_candidate;

/* Predicted seconds of x; HUGE_VAL: infeasible. */
typedef double sp_score(const spry_schedule *x, void *payload);

typedef struct {
    const spry_problem *p;
    const spry_machine *m;
    sp_score *score;
    void *payload;
    uint64_t seed;
    int compile; /* may propose kernels that are never built in */
    /* May be NULL. 0: of the points that share x's format, tiles, blocks and
     * unroll none can be had. */
    int (*worth)(const spry_schedule *x, void *payload);
} sp_space;

/* Fill out[*count], *count <= most: best first, no duplicates, legal and
 * feasible only. */
typedef spry_status sp_search(sp_candidate *out, int *count, int most,
                              const sp_space *s);

typedef struct {
    const char *name;
    const char *about;
    sp_search *find;
} sp_strategy;

extern const sp_strategy sp_strategies[];
extern const int sp_strategy_count;

/* NULL when there is none of that name. */
const sp_strategy *sp_strategy_find(const char *name);

/* Legal neighbours of measured schedules, best predicted first, none of
 * `known`. */
spry_status sp_search_around(sp_candidate *out, int *count, int most,
                             const sp_space *s, const spry_schedule *known,
                             int knowns, const spry_schedule *seed_points,
                             int seeds);

#endif
