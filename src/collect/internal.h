/* internal.h - a collection under way. */
#ifndef SP_COLLECT_INTERNAL_H
#define SP_COLLECT_INTERNAL_H

#include "plan/sparse.h"
#include "sparse/sparse.h"
#include "spry/collect.h"
#include "tune/heat.h"

/* Schedules, each once. */
typedef struct {
    spry_schedule *x; /* [room] */
    int count, room;
} sp_schedule_list;

spry_status sp_schedule_list_open(sp_schedule_list *l, int room);
void sp_schedule_list_close(sp_schedule_list *l);
/* 0 when it is in already, or when there is no more room. */
int sp_schedule_list_add(sp_schedule_list *l, const spry_schedule *x);
int sp_schedule_list_has(const sp_schedule_list *l, const spry_schedule *x);

/* What schedules are drawn for. */
typedef struct {
    const sp_sparse *p;
    const spry_machine *m;
    int compile; /* kernels can be made */
    uint64_t seed;
} sp_urn;

/* Is there a kernel for it, and is its storage of a size to be had? */
int sp_urn_can(const sp_urn *u, const spry_schedule *x);

/* Add `families` and `supers` points to l, none of them in `known`; fewer
 * when there are no more. Of the latter a few cannot be had. */
spry_status sp_urn_draw(sp_schedule_list *l, const sp_schedule_list *known,
                        const sp_urn *u, int families, int supers);

/* Of the points from `first` on, `count` of which the model in use would learn
 * most (choose.c); the others leave. SPRY_USAGE when there is none. */
spry_status sp_urn_choose(sp_schedule_list *l, int first, int count,
                          const sp_urn *u);

/* ---- ways.c ---- */

/* Texts, each its own. */
typedef struct {
    char **name;
    int count, room;
} sp_names;
void sp_names_free(sp_names *n);
int sp_names_has(const sp_names *n, const char *name);
spry_status sp_names_add(sp_names *n, const char *name);

/* Ways to compute a dense operator that are not known, up to `wanted`: a third
 * of them the best guesses, the others by chance. */
spry_status sp_draw_ways(sp_names *out, const sp_names *known,
                         const spry_problem *p, const spry_machine *m,
                         int wanted, uint64_t seed);
int sp_way_threads(const char *text);

#endif
