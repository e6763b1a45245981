/* eon.h - EON, the learned order of edges, in two forms.
 *
 * Moves: a small network picks among a few large moves. It works for networks
 * of any size, and what is learned on small ones carries over to large ones.
 * Attention, after Kamatar, 2023: every edge is chosen by attention over the
 * frontier and fast memory. It is for small networks, and best on the one that
 * it was trained on. */
#ifndef SPRY_EON_H
#define SPRY_EON_H

#include "spry/network.h"
#include "spry/order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

typedef enum { SPRY_EON_MOVES, SPRY_EON_ATTENTION } spry_eon;

/* How attention represents a neuron: by entries of the Laplacian's eigenvectors
 * with the largest eigenvalues, or by GraphSAGE. */
typedef enum { SPRY_LAPLACIAN, SPRY_SAGE } spry_embedding;

/* Progress of training. A share is reads and writes divided by those of the
 * best order that is not learned, as the geometric mean over networks and
 * memories. For moves each is at most 1, since where the learned order is worse
 * the other one is used. */
typedef struct {
    int64_t episodes; /* orders made to learn from */
    double seconds;
    double reward; /* minus reads and writes, mean over the last orders */
    double share;  /* of the model as it is now */
    double best;   /* the least share so far; this model is kept */
} spry_eon_progress;

typedef struct {
    size_t size; /* of this struct */
    spry_eon form;
    spry_embedding embedding;
    const int64_t *memory; /* [memories] each 3 or more; NULL: 128 */
    int64_t memories;
    int64_t episodes; /* at least so many; 0: as many as the time allows. Only a
                         fixed number gives the same model each time */
    double seconds;
    uint64_t seed;
    const char *model; /* a file to continue from; NULL: start afresh */
    /* Called every round; return nonzero to end with the best so far. May be
     * NULL. */
    int (*progress)(const spry_eon_progress *now, void *payload);
    void *payload;
} spry_eon_options;
#define SPRY_EON_DEFAULTS                                                     \
    {                                                                         \
        sizeof(spry_eon_options), SPRY_EON_MOVES, SPRY_LAPLACIAN, NULL, 0, 0, \
            60, 1, NULL, NULL, NULL                                           \
    }

/* Train on these networks, each for each memory, and write the best model found
 * to the file `path`. */
spry_status spry_eon_train(const char *path, const spry_network *const *nets,
                           int64_t count, const spry_eon_options *options);

/* "moves", "attention"; "laplacian", "sage"; NULL past the last. */
const char *spry_eon_name(spry_eon f);
const char *spry_embedding_name(spry_embedding e);
/* What computes eigenvectors: "ARPACK" or "own iteration". */
const char *spry_eigen(void);

#ifdef __cplusplus
}
#endif
#endif
