/* eon.h - orders that are learned: EON.
 *
 * Moves: a small scorer picks among a few large moves; for networks of any
 * size, and what is learned on small ones serves large ones. Attention: as
 * Kamatar, 2023 has it, every edge is chosen by attention over the frontier
 * and fast memory; for small networks, and best on the one it learned from. */
#ifndef SPRY_EON_H
#define SPRY_EON_H

#include "spry/network.h"
#include "spry/order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

typedef enum { SPRY_EON_MOVES, SPRY_EON_ATTENTION } spry_eon;

/* What attention knows of a neuron: entries of the Laplacian's eigenvectors
 * with the largest eigenvalues, or what GraphSAGE learns of it. */
typedef enum { SPRY_LAPLACIAN, SPRY_SAGE } spry_embedding;

/* How far it is. Shares are reads and writes divided by those of the plain
 * order that moves least, geometric means over networks and memories; of moves
 * at most 1 for each, since a user then gets the plain order. */
typedef struct {
    int64_t episodes; /* orders made to learn from */
    double seconds;
    double reward; /* minus reads and writes, mean over the last orders */
    double share;  /* of what it would do now */
    double best;   /* the least share so far: what is kept */
} spry_eon_progress;

typedef struct {
    size_t size; /* of this struct */
    spry_eon form;
    spry_embedding embedding;
    const int64_t *memory; /* [memories] each 3 or more; NULL: 128 */
    int64_t memories;
    int64_t episodes; /* at least so many; 0: as the time allows. Only a
                         number makes the same model each time */
    double seconds;
    uint64_t seed;
    const char *model; /* to go on from; NULL: from the beginning */
    /* Called for every round; nonzero ends it there, well. May be NULL. */
    int (*progress)(const spry_eon_progress *now, void *payload);
    void *payload;
} spry_eon_options;
#define SPRY_EON_DEFAULTS                                                     \
    {                                                                         \
        sizeof(spry_eon_options), SPRY_EON_MOVES, SPRY_LAPLACIAN, NULL, 0, 0, \
            60, 1, NULL, NULL, NULL                                           \
    }

/* Learn to order these networks, each for each memory, and write the best
 * that was met to the file `path`. */
spry_status spry_eon_train(const char *path, const spry_network *const *nets,
                           int64_t count, const spry_eon_options *options);

/* "moves", "attention"; "laplacian", "sage"; NULL past the last. */
const char *spry_eon_name(spry_eon f);
const char *spry_embedding_name(spry_embedding e);
/* What finds eigenvectors: "ARPACK" or "own iteration". */
const char *spry_eigen(void);

#ifdef __cplusplus
}
#endif
#endif
