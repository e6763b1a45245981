/* search.h - which schedules are worth measuring.
 *
 * A strategy calls a score function on points of the space and returns the best
 * few. Scores are rough, so those few are chosen to differ from each other.
 *
 * There are two spaces: the formats and parameters of spry's own tables, and
 * WACO's loop nests. Nests are many, so a table of them may be prepared, with
 * the half of a model's score that does not depend on the problem. */
#ifndef SP_SEARCH_H
#define SP_SEARCH_H

#include "base/base.h"
#include "problem/sparse.h"
#include "spry/machine.h"
#include "spry/schedule.h"
#include "spry/space.h"

typedef struct sp_cost sp_cost; /* model/cost.h */
typedef struct sp_view sp_view;

typedef struct {
    spry_schedule x;
    double predicted; /* seconds */
} sp_candidate;

/* Predicted seconds of n legal points, of which only the order must be
 * right; HUGE_VAL: infeasible. */
typedef void sp_score(double *out, const spry_schedule *x, int n,
                      void *payload);

/* ---- nests (nests.c) ---- */

/* Every point of WACO's space, in its order. */
typedef struct sp_nests sp_nests;
spry_status sp_nests_make(sp_nests **out, const spry_space *s);
void sp_nests_free(sp_nests *n);
int64_t sp_nests_count(const sp_nests *n);
spry_schedule sp_nests_at(const sp_nests *n, int64_t i);

/* Let a model with a factored head compute its half for every point; the
 * model outlives the table. SPRY_USAGE when it has no such head. */
spry_status sp_nests_embed(sp_nests *n, const sp_cost *c);
/* Join them to a graph over these halves. Points that differ in their chunks
 * only, which matter little, are one there. */
spry_status sp_nests_link(sp_nests *n, int degree, int ef, uint64_t seed);
/* The graph as a data file. Reading one that was made of other points or with
 * another model is SPRY_INPUT. */
spry_status sp_nests_save(const sp_nests *n, const char *path);
spry_status sp_nests_load(sp_nests *n, const sp_cost *c, const char *path);

/* ---- strategies ---- */

typedef enum { SP_FAMILIES, SP_NESTS, SP_BOTH } sp_domain;

typedef struct {
    const sp_sparse *p;
    const spry_machine *m;
    sp_score *score;
    void *payload;
    uint64_t seed;
    int compile; /* may propose kernels that are not built in */
    /* May be NULL. 0: no point with x's format, tiles, blocks and unroll can be
     * built. */
    int (*worth)(const spry_schedule *x, void *payload);
    sp_domain domain; /* nests need compile */
    spry_space space; /* of the nests; op and threads 0: spry_space_of p,
                         blocks up to 32, all threads */
    /* A table of these nests, and a view of the model that embedded it: then
     * all are scored by it, and only the best by `score`. NULL: no table. */
    const sp_nests *nests;
    const sp_view *view;
    int ef;         /* of the walk over a graph; 0: 400 */
    int64_t *asked; /* += scores computed; may be NULL */
} sp_space;

/* Fill out[*count], *count <= most: best first, no duplicates, legal and
 * feasible only. */
typedef spry_status sp_search(sp_candidate *out, int *count, int most,
                              const sp_space *s);

/* What a strategy needs prepared to search the nests. */
typedef enum {
    SP_TABLE_NONE,
    SP_TABLE_HALVES, /* a table with halves: sp_nests_embed */
    SP_TABLE_GRAPH   /* with a graph: sp_nests_link or sp_nests_load */
} sp_table_need;

typedef struct {
    const char *name;
    const char *about;
    sp_search *find;
    sp_table_need table;
} sp_strategy;

extern const sp_strategy sp_strategies[];
extern const int sp_strategy_count;

/* NULL when there is none of that name. */
const sp_strategy *sp_strategy_find(const char *name);
/* SPRY_USAGE and the names there are when there is none of that name. */
spry_status sp_strategy_named(const sp_strategy **out, const char *name);

/* The nests that are searched. */
spry_space sp_space_nests(const sp_space *s);

/* A random legal point, of a random format or a nest; 0 when none was
 * found. */
int sp_point_random(spry_schedule *x, const sp_space *s, sp_rng *r);

/* Legal neighbours of measured schedules, best predicted first, none of
 * `known`. */
spry_status sp_search_around(sp_candidate *out, int *count, int most,
                             const sp_space *s, const spry_schedule *known,
                             int knowns, const spry_schedule *seed_points,
                             int seeds);

#endif
