/* sparse.h - a sparse matrix or tensor with an operation, as the rooms that
 * compute it see it. */
#ifndef SP_PROBLEM_SPARSE_H
#define SP_PROBLEM_SPARSE_H

#include <pthread.h>
#include <stddef.h>

#include "matrix/matrix.h"
#include "problem/operation.h"
#include "problem/problem.h"

/* What entries of a tensor share. */
typedef struct {
    int64_t pairs[2];             /* in use: of i and k, of i and l */
    int64_t used[3];              /* indices of each mode that hold an entry */
    int64_t reuse[3][SPRY_REUSE]; /* of modes 1 and 2: accesses by the number
                                     of entries since the last one */
} sp_fibers;

typedef struct {
    spry_problem head;
    spry_op op;
    spry_type type;
    spry_layout layout;
    int64_t n;          /* dense columns; 1 for spmv */
    int64_t mid, inner; /* rows of B and D that A's columns pair up */
    const spry_matrix *A;
    spry_matrix *own;     /* A, when it was made for this problem, */
    int64_t *order;       /* and [nnz] the given matrix's number of each of its
                             entries; NULL: its own */
    pthread_mutex_t lock; /* guards stats */
    spry_stats *stats;    /* NULL until asked for */
    spry_stats *sketch;   /* the same */
    sp_fibers *fibers;    /* the same; of mttkrp only */
    int64_t *blocks;      /* the same; see sp_problem_blocks */
    void *tiles;          /* the same; see sp_problem_tiles */
    int symmetric;        /* 0: not asked for yet; 1 yes, -1 no */
} sp_sparse;

extern const sp_problem_kind sp_sparse_kind;

/* *out becomes a copy of `as`, if that makes sense; it then owns what `as`
 * owns. */
spry_status sp_sparse_make(spry_problem **out, const sp_sparse *as);

/* p as what it is; NULL: it is none. */
const sp_sparse *sp_sparse_of(const spry_problem *p);
/* The same, but SPRY_USAGE and a sentence instead of NULL. */
spry_status sp_sparse_need(const sp_sparse **out, const spry_problem *p);

/* How many values an index of the operation has. */
int64_t sp_sparse_extent(const sp_sparse *p, int index);

/* Elements of an operand, as spry_problem_input_size and _output_size. */
int64_t sp_sparse_input_size(const sp_sparse *p, int which);
int64_t sp_sparse_output_size(const sp_sparse *p);

/* Blocks of 2^rows x 2^cols of A that hold an entry; with 63, all rows or
 * columns are one block. -1 when there is no memory. */
enum { SP_BLOCKS = 64, SP_BLOCK_ALL = 63 };
int64_t sp_problem_blocks(const sp_sparse *p, int rows, int cols);

/* sp_matrix_tiles of one shape, [SP_RESTS]; NULL when there is no memory. */
const sp_tiles *sp_problem_tiles(const sp_sparse *p, int r, int c);

/* Is A its own transpose, values and all? */
int sp_problem_symmetric(const sp_sparse *p);

/* Statistics as models want them: sp_matrix_sketch. NULL when there is no
 * memory. */
const spry_stats *sp_problem_sketch(const sp_sparse *p);

/* NULL when there is no memory for them. */
const sp_fibers *sp_problem_fibers(const sp_sparse *p);
spry_status sp_fibers_count(sp_fibers *out, const sp_sparse *p);

/* Has the operation a second dense operand? */
static inline int sp_two_operands(const sp_sparse *p)
{
    return sp_operation_of(p->op)->operands > 1;
}

/* Results come in rows: row i of C, but the entries of A's row i for
 * sddmm. How many there are, and where the j-th lies in C. */
int64_t sp_result_width(const sp_sparse *p, int64_t i);
int64_t sp_result_place(const sp_sparse *p, int64_t i, int64_t j);

/* alpha * sum + beta * C for result j of row i, in long double; C is only
 * read. Values of A go through `map` first unless it is NULL. magnitude, if
 * not NULL, receives the same over absolute values. */
typedef double sp_value_map(double v);
long double sp_reference_one(const sp_sparse *p, int64_t i, int64_t j,
                             sp_value_map *map, const sp_operands *f,
                             long double *magnitude);

/* All results, into f->C. */
void sp_reference(const sp_sparse *p, const sp_operands *f);

/* Element k of a dense array in the problem's type. */
double sp_dense_get(const sp_sparse *p, const void *X, int64_t k);
void sp_dense_put(const sp_sparse *p, void *X, int64_t k, double x);

#endif
