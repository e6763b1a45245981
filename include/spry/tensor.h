/* tensor.h - a sparse tensor of order 3, stored as its unfolded matrix.
 *
 * Row i of the unfolded matrix is slice i; entry (i, k, l) is in its column
 * k * dim[2] + l. So everything that handles matrices (statistics, keys,
 * records, schedules) handles tensors. Immutable once created. */
#ifndef SPRY_TENSOR_H
#define SPRY_TENSOR_H

#include <stdint.h>

#include "spry/matrix.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef struct spry_tensor {
    int64_t dim[3];
    spry_matrix *unfolded; /* dim[0] x (dim[1] * dim[2]); owned */
} spry_tensor;

/* Read FROSTT's .tns or .tns.gz: lines "i k l value", indices from 1; # begins
 * a comment. Each dimension is the largest index found, unless a header gives
 * them: "3" or "3 nnz" on a line, then the dimensions. Repeats are summed.
 * "gen:KIND,key=value" generates a tensor instead. A malformed file fails with
 * SPRY_INPUT; the message names the line. */
spry_status spry_tensor_read(spry_tensor **out, const char *path);

/* Write .tns or .tns.gz, with a header, so that empty slices at the end are
 * not lost. The file appears complete or not at all. */
spry_status spry_tensor_write(const spry_tensor *t, const char *path);

/* From nnz entries in any order, zero-based; repeats are summed. val NULL: all
 * ones. */
spry_status spry_tensor_coordinates(spry_tensor **out, const int64_t dim[3],
                                    int64_t nnz, const int64_t *i,
                                    const int64_t *k, const int64_t *l,
                                    const void *val, spry_type type);

/* A copy with `mode` as the first dimension and the other two in their order:
 * what mttkrp along that mode needs. */
spry_status spry_tensor_turn(spry_tensor **out, const spry_tensor *t, int mode);

void spry_tensor_free(spry_tensor *t);

/* ==== advanced ==== */

/* Generate a tensor. spec: "KIND key=value ...", for instance
 * "fibers i=10k length=32". The same spec and seed give the same tensor on any
 * machine. */
spry_status spry_tensor_generate(spry_tensor **out, const char *spec,
                                 uint64_t seed);

/* The i-th tensor generator's name, one-line description and parameters with
 * their defaults, or NULL past the last. */
const char *spry_tensor_generator_name(int i);
const char *spry_tensor_generator_help(int i);
const char *spry_tensor_generator_params(int i);

#ifdef __cplusplus
}
#endif
#endif
