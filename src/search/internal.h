/* internal.h - shared by the strategies. */
#ifndef SP_SEARCH_INTERNAL_H
#define SP_SEARCH_INTERNAL_H

#include "problem/problem.h"
#include "schedule/schedule.h"
#include "search/search.h"

sp_search sp_search_exhaustive, sp_search_evolve, sp_search_anneal,
    sp_search_random;

/* ---- the shortlist (keep.c) ----
 *
 * Schedules that differ only in how far, how wide, how many (prefetch
 * distance, panel width, unroll, sorting window) are of one kind, and the
 * score cannot tell them apart: the best of each kind is kept. */
typedef struct {
    uint64_t kind; /* 0: free */
    sp_candidate best;
} sp_kind;

typedef struct {
    sp_kind *table; /* [size] open addressing */
    int64_t size, kinds;
} sp_keep;

spry_status sp_keep_open(sp_keep *k);
void sp_keep_close(sp_keep *k);
spry_status sp_keep_add(sp_keep *k, const spry_schedule *x, double predicted);
/* The best `most`; every plausible format, serial and threaded, is among
 * them while there is room. */
spry_status sp_keep_best(sp_candidate *out, int *count, int most,
                         const sp_keep *k);

/* Ascending by prediction, then by the order of the fields. */
void sp_sort_candidates(sp_candidate *c, int64_t n);

/* ---- points (point.c) ---- */

/* Score of x: HUGE_VAL when it is illegal or not allowed here. */
double sp_point_score(const sp_space *s, const spry_schedule *x);
/* A random legal point of a random format; 0 when none was found. */
int sp_point_random(spry_schedule *x, const sp_space *s, sp_rng *r);
/* The i-th value worth trying for a parameter, or -1 past the last. */
int32_t sp_point_value(const sp_space *s, const sp_param *q, int i);

#endif
