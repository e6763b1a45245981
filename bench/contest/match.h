/* match.h - everybody who can do one problem, on the same operands, in turn.
 *
 * Entrant 0 is the tuned plan; the plain loop follows, on one thread and on
 * all; then whoever is added. Every ratio is an entrant's time divided by
 * the plan's, paired within one race. */
#ifndef BENCH_MATCH_H
#define BENCH_MATCH_H

#include "bound.h"
#include "measure/measure.h"
#include "operands.h"
#include "spry.h"

enum { BENCH_ENTRANTS = 16, BENCH_PLAN = 0 };

typedef enum { BENCH_TUNED, BENCH_PLAIN, BENCH_PEER, BENCH_LIMIT } bench_kind;

typedef struct {
    const char *name;
    bench_kind kind;
    sp_contestant go;
    double once;       /* seconds of one run before the race */
    double seconds;    /* of one run; 0: not raced */
    sp_interval ratio; /* its time / the plan's */
} bench_entrant;

typedef struct {
    spry_problem *p;
    spry_plan *plan;
    bench_operands o;
    int count;
    bench_entrant entrant[BENCH_ENTRANTS]; /* [count] */
    int base, peer;        /* the fastest plain loop, the fastest peer; -1 */
    bench_bound *bound;    /* NULL: none */
    double (*clock)(void); /* NULL: the usual one */
    int (*between)(void *arg); /* called before every sample; may be NULL */
} bench_match;

/* Seconds to tune: more where packing, checking or a run takes longer. */
double bench_budget(const spry_matrix *A, const bench_case *c, double limit);

/* Tune for `budget` seconds with nothing remembered. */
spry_status bench_match_open(bench_match *out, const spry_matrix *A,
                             const bench_case *c, const spry_machine *m,
                             double budget);

/* One more entrant, already run once in `once` seconds. */
void bench_match_add(bench_match *m, const char *name, sp_contestant go,
                     double once);

/* The machine's own limit runs along; bench_match_limit then says what it did
 * a second, in the same race. */
void bench_match_bound(bench_match *m, bench_bound *b);
double bench_match_limit(const bench_match *m);

/* A heat of all, but those four times slower than the plain loop, finds the
 * best; a final of them decides, and is raced again for longer when the plan
 * seems slower than `doubt` times one of them. Sets base and peer. */
spry_status bench_match_race(bench_match *m, double seconds, double doubt);

void bench_match_close(bench_match *m);

#endif
