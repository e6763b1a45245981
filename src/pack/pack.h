/* pack.h - a matrix stored the way a schedule asks for. */
#ifndef SP_PACK_H
#define SP_PACK_H

#include "base/base.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"

/* What a nest's kernel knows of its levels: the length of every index, then
 * for each level where its pos begins in `start` and its crd in `col`. */
enum { SP_LEVEL_TABLE = SPRY_INDICES + 2 * (SPRY_LOOPS - 2) };

/* One walk over units (rows, block rows, slices, groups). Column panels are
 * several parts, everything else is one. Arrays as in codegen/args.h. */
typedef struct {
    int64_t units;
    int64_t col0;    /* columns are counted from here */
    void *start;     /* [units + 1] int32_t, or int64_t when index is 64 */
    void *col;       /* [entries + pad] */
    void *val;       /* [values] */
    uint8_t *code;   /* [entries + pad] of a palette of several, or NULL */
    void *row;       /* [units, or one per lane] or NULL */
    void *base;      /* [units, or one per step of a slice] or NULL */
    void *out;       /* [units] int64_t or NULL; of super [values], as wide as
                        start, -1 where there is no entry */
    void *whole;     /* [units] or NULL */
    void *length;    /* [one per lane] as wide as a value, or NULL */
    void *mid;       /* tensors: [fibers + pad] or NULL */
    void *mid_start; /* tensors in fibers: [fibers + 1] or NULL */
    int64_t *cut;    /* [threads + 1] units where each thread begins */
    int64_t entries, values, fibers;
} sp_part;

typedef struct {
    int32_t index; /* 8, 16, 32 or 64 bits per column number */
    int parts;
    sp_part *part;
    int64_t *diagonal; /* [diagonals] */
    int64_t diagonals;
    int64_t level[SP_LEVEL_TABLE]; /* of super */
    int covers;    /* every result is written, not only added to */
    int pads;      /* zeros were added that the kernel multiplies */
    int64_t spare; /* columns and values readable behind the last, all 0 */
    double bytes;
} sp_packed;

/* Pack p's matrix for x and vectors of `lanes` elements, on at most `threads`
 * threads; their number does not show in the result. SPRY_USAGE when the
 * schedule would need far more storage than the matrix, or indices that do
 * not fit: infeasible, with the reason. */
spry_status sp_pack(sp_packed **out, const sp_sparse *p, const spry_schedule *x,
                    int lanes, int threads);
void sp_packed_free(sp_packed *k);

/* ---- new values on the same pattern (refill.c) ---- */

/* Where entries went: x, lanes and p as for sp_pack. */
typedef struct sp_slots sp_slots;
spry_status sp_slots_make(sp_slots **out, const sp_sparse *p,
                          const spry_schedule *x, int lanes, int threads);
void sp_slots_free(sp_slots *w);
/* Store values in place of those that were packed: value[nnz], in the type of
 * p's matrix. SPRY_USAGE, and nothing is changed, when a palette has no room
 * for them, or they must be symmetric. Allocates nothing. */
spry_status sp_packed_refill(sp_packed *k, const sp_slots *w,
                             const sp_sparse *p, int palette,
                             const void *value);
/* And back: out[nnz] in p's type. */
void sp_packed_values(void *out, const sp_packed *k, const sp_slots *w,
                      const sp_sparse *p, int palette);

#endif
