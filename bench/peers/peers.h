/* peers.h - other people's libraries behind one door.
 *
 * A peer is a row: what it can do and four functions. It is opened on the
 * operands everybody gets, prepares whatever it likes (the seconds are
 * noted), then runs again and again at its best setting. One file per peer;
 * table.c lists those that this build found, and what the others need. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stddef.h>

#include "../contest/operands.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BENCH_SPMV = 1 << SPRY_SPMV,
    BENCH_SPMM = 1 << SPRY_SPMM,
    BENCH_SDDMM = 1 << SPRY_SDDMM,
    BENCH_F32 = SPRY_F32, /* 4 and 8: bits by themselves */
    BENCH_F64 = SPRY_F64,
    BENCH_WHY = 160
};

typedef struct {
    const char *name;
    unsigned ops, types; /* bits of the above */
    int parallel;        /* 0: always one thread */
    int copies;          /* of the dense operands, made for itself */
    const char *(*version)(void);
    /* Ready to run on o->c.threads, or NULL and a sentence in `why`. */
    void *(*open)(const bench_operands *o, char why[BENCH_WHY]);
    void (*run)(void *handle);
    /* Put the result into C as problem.h lays it out; NULL: run writes
     * o->C itself. */
    void (*fetch)(void *handle, void *C);
    void (*close)(void *handle);
} bench_peer;

/* One of the known peers: in this build, or what it would need. */
typedef struct {
    const char *name;
    const bench_peer *peer; /* NULL: not built in */
    const char *needs;
} bench_known;

extern const bench_peer bench_eigen, bench_rsb, bench_graphblas, bench_petsc;
extern const bench_peer bench_mkl, bench_aocl, bench_taco, bench_taco_native;
extern const bench_peer bench_scipy, bench_torch;

extern const bench_known bench_peers[];
extern const int bench_peer_count;

/* Does PEERS=name,name of the environment, if it is set, name it? */
int bench_peer_wanted(const bench_peer *peer);
int bench_peer_can(const bench_peer *peer, const bench_case *c);

/* For peers: the fastest of ways 0 .. ways - 1, by a few runs of each. */
int bench_fastest_way(void (*run)(void *handle, int way), void *handle,
                      int ways);

/* Other processes time themselves (remote.c). While they run, the race's
 * clock is shifted so that it shows their seconds instead of ours; before
 * each sample it calls between, so that they know a new one begins. */
double bench_peers_clock(void);
void bench_peers_shift(double seconds);
int bench_peers_between(void *unused);
int bench_peers_sample(void); /* its number */

#ifdef __cplusplus
}
#endif
#endif
