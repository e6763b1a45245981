/* internal.h - shared by the strategies. */
#ifndef SP_SEARCH_INTERNAL_H
#define SP_SEARCH_INTERNAL_H

#include "problem/sparse.h"
#include "schedule/schedule.h"
#include "search/search.h"

sp_search sp_search_exhaustive, sp_search_descent, sp_search_graph,
    sp_search_evolve, sp_search_random;

/* ---- the shortlist (keep.c) ----
 *
 * Schedules that differ only in how far, how wide, how many (prefetch
 * distance, panel width, unroll, sorting window) are of one kind, and the
 * score cannot tell them apart: the best of each kind is kept. */
typedef struct {
    uint64_t kind; /* 0: free */
    sp_candidate best;
} sp_keep_slot;

typedef struct {
    sp_keep_slot *table; /* [size] open addressing */
    int64_t size, kinds;
} sp_keep;

spry_status sp_keep_open(sp_keep *k);
void sp_keep_close(sp_keep *k);
spry_status sp_keep_add(sp_keep *k, const spry_schedule *x, double predicted);
/* The best `most`; every plausible format, serial and threaded, is among
 * them while there is room. Nests that p's matrix cannot be stored as are
 * left out. */
spry_status sp_keep_best(sp_candidate *out, int *count, int most,
                         const sp_keep *k, const sp_sparse *p);
/* What makes two schedules different in kind, as one number, never 0. */
uint64_t sp_kind_of(const spry_schedule *x);
/* Can p's matrix be stored as a nest asks? All else is known otherwise. */
int sp_nest_fits(const spry_schedule *x, const sp_sparse *p);

/* Ascending by prediction, then by the order of the fields. */
void sp_sort_candidates(sp_candidate *c, int64_t n);

/* ---- points (point.c) ---- */

static inline int sp_has(const sp_space *s, sp_domain part)
{
    return s->domain == part || s->domain == SP_BOTH;
}

/* May x be scored at all: legal, of the domain, and not another's alias? */
int sp_point_legal(const sp_space *s, const spry_schedule *x);
/* Score of x: HUGE_VAL when it is not legal here. */
double sp_point_score(const sp_space *s, const spry_schedule *x);
/* A step to a legal point of the domain; 0 when none was found. */
int sp_point_mutate(spry_schedule *x, const sp_space *s, sp_rng *r);
/* Where wandering begins: the plain loop, or fixed CSR among the nests. */
spry_schedule sp_point_first(const sp_space *s);
/* The i-th value worth trying for a parameter, or -1 past the last. */
int32_t sp_point_value(const sp_space *s, const sp_param *q, int i);

/* ---- many points (batch.c) ---- */

/* Points on their way into a shortlist, scored many at a time. */
enum { SP_BATCH = 256 };
typedef struct {
    const sp_space *s;
    sp_keep *keep;
    int n;
    spry_schedule x[SP_BATCH];
} sp_batch;

/* Take x, if it is legal. */
spry_status sp_batch_add(sp_batch *b, const spry_schedule *x);
/* Score those still waiting. */
spry_status sp_batch_end(sp_batch *b);
/* Scores of n legal points, counted. */
void sp_score_points(double *out, const sp_space *s, const spry_schedule *x,
                     int n);

/* ---- nests (nests.c, rough.c) ---- */

struct sp_nests {
    spry_space space;
    int64_t count;
    struct sp_nest_point *at; /* [count] */
    int stride;               /* points that differ in their chunks only */
    int width;                /* of a half; 0: not embedded */
    float *half;              /* [count, width] */
    struct sp_knn *graph;     /* over one of each stride; NULL: not linked */
};

/* Take x and, where threads share it, what it is without them: the table has
 * all its nests on the same threads, and small matrices want one. */
spry_status sp_batch_add_nest(sp_batch *b, const spry_schedule *x);
/* The point that stands for its stride in the graph. */
int64_t sp_nests_item(const sp_nests *n, int32_t node);

typedef struct {
    double score;
    int64_t item;
} sp_rough;

/* The best `most` of all nests by the rough score, best first; *count of
 * them. */
spry_status sp_rough_all(sp_rough *out, int64_t *count, int64_t most,
                         const sp_space *s, const sp_nests *n);
/* Put those that can be stored into the shortlist, scored as they deserve,
 * one chunk size each. Returns how many were through *kept. */
spry_status sp_rough_keep(sp_keep *keep, int64_t *kept, const sp_space *s,
                          const sp_nests *n, const sp_rough *rough,
                          int64_t count);

#endif
