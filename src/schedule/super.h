/* super.h - the nests of WACO's space: which loops an operation has, which
 * orders of them are legal, and what the levels of such a nest store. */
#ifndef SP_SUPER_H
#define SP_SUPER_H

#include "base/base.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"

enum { SP_LEVELS_MOST = 2 * SP_SPARSE, SP_SPLIT_MOST = 30 };

/* The index a loop walks, and whether it walks inside a block. */
static inline int sp_loop_index(int loop)
{
    return loop / 2;
}

static inline int sp_loop_inner(int loop)
{
    return loop % 2;
}

/* "i1", "i0", or "i" when it is not split. */
const char *sp_loop_name(char out[3], const spry_super *s, int loop);

/* Why x is no nest for the operation, or NULL. */
const char *sp_super_fault(const spry_schedule *x, spry_op op);

/* Drop inner loops of indices that are not split; what they were, parallel,
 * their outer loop is. */
void sp_super_settle(spry_super *s);

/* The point that WACO calls fixed CSR. */
spry_schedule sp_super_fixed_csr(spry_op op, int threads);

/* ---- text (super_text.c) ---- */

/* " i=4 loops=i1ki0j dense=i1 parallel=i1"; its length. */
size_t sp_super_text(char *out, size_t size, const spry_super *s);
/* Take in one word of it; 0 when it is none. */
int sp_super_word(spry_super *s, const char *word, size_t n);
/* ---- chance (super_mutate.c) ---- */

/* One thing of the nest becomes another; what comes out may be illegal. */
void sp_super_mutate(spry_schedule *x, spry_op op, const spry_machine *m,
                     sp_rng *r);

/* ---- storage (levels.c) ---- */

typedef struct {
    int loop;
    int dense;
    int64_t extent; /* coordinates are 0 .. extent - 1 */
    int shift;      /* of its bits in a key */
} sp_level;

/* The levels of a nest on a problem, outermost first. */
typedef struct {
    int count;
    sp_level level[SP_LEVELS_MOST];
    int64_t dim[SPRY_INDICES];  /* of every sparse index */
    int64_t size[SPRY_INDICES]; /* of its blocks: min(split, dim) */
    int bits;                   /* of a key */
} sp_levels;

/* The length of every sparse index. */
void sp_dims_of(int64_t dim[SPRY_INDICES], const sp_sparse *p);

/* SPRY_USAGE when a key would not fit 64 bits, or when the nest would change
 * the meaning of values that are not finite. */
spry_status sp_levels_of(sp_levels *out, const spry_schedule *x,
                         const sp_sparse *p);

/* All entries of A in the order of the levels, each by a key that holds its
 * coordinates level by level; *out is the caller's to sp_free. */
spry_status sp_levels_sort(sp_keyed **out, const sp_levels *v,
                           const spry_super *s, const sp_sparse *p);

static inline int64_t sp_level_coordinate(const sp_levels *v, int level,
                                          uint64_t key)
{
    int above = level ? v->level[level - 1].shift : v->bits;
    int bits = above - v->level[level].shift;

    return (int64_t)(key >> v->level[level].shift &
                     ((UINT64_C(1) << bits) - 1));
}

/* How many elements every array has. Saturated where it would overflow. */
typedef struct {
    int64_t pos[SP_LEVELS_MOST]; /* 0 for a dense level */
    int64_t crd[SP_LEVELS_MOST];
    int64_t values;
} sp_level_sizes;

/* Different beginnings of the entries, down to every level. */
typedef struct {
    int64_t at[SP_LEVELS_MOST];
} sp_beginnings;
sp_beginnings sp_levels_begin(const sp_levels *v, const sp_keyed *entry,
                              int64_t nnz);
/* From NULL: what it is at least. */
sp_level_sizes sp_levels_count(const sp_levels *v, const sp_beginnings *b,
                               int64_t nnz);
/* SPRY_USAGE and a sentence when an array is more than 20 x nnz long. */
spry_status sp_levels_feasible(const sp_level_sizes *z, int64_t nnz);
/* 32 or 64: the width of pos and crd. */
int32_t sp_levels_index(const sp_levels *v, const sp_level_sizes *z,
                        const spry_schedule *x);

/* Everything at once, from nothing but the problem: O(nnz), and quick once
 * the problem's blocks are counted. */
typedef struct {
    sp_levels levels;
    sp_level_sizes sizes;
    int32_t index;
    double bytes;
} sp_super_storage;
spry_status sp_super_store(sp_super_storage *out, const spry_schedule *x,
                           const sp_sparse *p);

#endif
