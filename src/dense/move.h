/* move.h - elements from one place to another, and rows by their numbers.
 * Exported as it is. */
#ifndef SP_DENSE_MOVE_H
#define SP_DENSE_MOVE_H

#include "base/base.h"

enum { SP_MOVE_DIMS = 8 };

/* Loops over elements, the last innermost; steps are elements. */
typedef struct {
    int dims;
    int64_t count[SP_MOVE_DIMS], from[SP_MOVE_DIMS], to[SP_MOVE_DIMS];
    size_t size; /* bytes of an element */
} sp_move;

/* Share i of n. */
void sp_move_part(const sp_move *z, void *to, const void *from, int i, int n);

/* Rows of `each` floats out of a table of `rows`; negative numbers count from
 * the end. Returns the first of `count` that there is no row for; -1: all are
 * there. */
int64_t sp_gather(float *out, const float *table, int64_t rows, int64_t each,
                  const int64_t *which, int64_t count);

#endif
