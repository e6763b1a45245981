/* peer.h - oneDNN, computing the same operator on the same operands. */
#ifndef BENCH_DENSE_PEER_H
#define BENCH_DENSE_PEER_H

#include "spry/dense.h"

typedef enum {
    PEER_ROWS,    /* channels are neighbours, as in spry */
    PEER_BLOCKED, /* as it likes best */
    PEER_WINOGRAD,
    PEER_SIXTEENS, /* sixteen channels of a pixel, then the next pixel */
    PEER_EIGHTS
} dense_layout;

typedef struct dense_peer dense_peer;

/* NULL: it is not built in, or has no such implementation. */
dense_peer *dense_peer_open(const spry_operator *op, const spry_tensors *t,
                            dense_layout layout, int threads);
void dense_peer_run(void *peer);
const char *dense_peer_about(const dense_peer *peer);
/* The largest difference to out, as a share of its largest number; -1: its
 * result lies in another order. */
double dense_peer_difference(const dense_peer *peer, const float *out,
                             int64_t count);
void dense_peer_close(dense_peer *peer);

/* "oneDNN 2.6.3", or why there is none. */
const char *dense_peer_name(void);

#endif
