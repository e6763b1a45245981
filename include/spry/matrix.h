/* matrix.h - a sparse matrix as it arrived, before any schedule touches it.
 *
 * Immutable once made: compressed rows, columns ascending within a row, no
 * duplicates, every index checked. So rooms and threads share one freely. */
#ifndef SPRY_MATRIX_H
#define SPRY_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef struct spry_matrix {
    int64_t rows, cols, nnz;
    spry_index index;     /* width of col */
    spry_type type;       /* of val */
    const int64_t *start; /* [rows + 1] first entry of each row */
    const void *col;      /* [nnz] int32_t or int64_t */
    const void *val;      /* [nnz] float or double */
} spry_matrix;

/* Read any format spry knows, told by content, then by name: Matrix Market
 * (.mtx), WACO .csr, SciPy .npz, .smtx, edge lists and triples (.tsv, .txt,
 * .el), Rutherford-Boeing (.rb, .rua...), each also packed (.gz).
 * "gen:KIND,key=value" generates instead, "-" is standard input. Duplicates are summed, symmetry is
 * expanded. Values are double; of .npz float stays float. A bad file fails
 * with SPRY_INPUT and a sentence that names the place. */
spry_status spry_matrix_read(spry_matrix **out, const char *path);

/* Write by the name's ending: .mtx, .csr, .npz (and .mtx.gz). The file
 * appears whole or not at all. */
spry_status spry_matrix_write(const spry_matrix *m, const char *path);

/* Compressed rows as SciPy and PyTorch hold them; arrays are only read.
 * Entries may be unsorted or repeated. values NULL: all ones. The index
 * width is kept. With SPRY_BORROW, sorted arrays without repeats are used in
 * place and must outlive the matrix. */
typedef enum { SPRY_COPY, SPRY_BORROW } spry_own;
spry_status spry_matrix_csr(spry_matrix **out, int64_t rows, int64_t cols,
                            const void *indptr, const void *indices,
                            const void *values, spry_index index,
                            spry_type type, spry_own own);

/* nnz triples in any order, zero-based, repeats summed. val NULL: all ones. */
spry_status spry_matrix_triples(spry_matrix **out, int64_t rows, int64_t cols,
                                int64_t nnz, const int64_t *row,
                                const int64_t *col, const void *val,
                                spry_type type);

/* Compressed columns, blocks and coordinates as SciPy holds them; what is made
 * shares nothing with the arrays. Repeats are summed; values NULL: all ones.
 * Blocks are r x c, rows and cols multiples of these; values[block][r][c],
 * every cell of a block becomes an entry. */
spry_status spry_matrix_csc(spry_matrix **out, int64_t rows, int64_t cols,
                            const void *indptr, const void *indices,
                            const void *values, spry_index index,
                            spry_type type);
spry_status spry_matrix_bsr(spry_matrix **out, int64_t rows, int64_t cols,
                            int64_t r, int64_t c, const void *indptr,
                            const void *indices, const void *values,
                            spry_index index, spry_type type);
spry_status spry_matrix_coo(spry_matrix **out, int64_t rows, int64_t cols,
                            int64_t nnz, const void *row, const void *col,
                            const void *values, spry_index index,
                            spry_type type);

/* The transpose, sharing nothing. */
spry_status spry_matrix_transpose(spry_matrix **out, const spry_matrix *m);

void spry_matrix_free(spry_matrix *m);

/* ==== advanced ==== */

/* ---- making matrices ---- */

/* spec: "KIND key=value ..." (commas work as blanks), for instance
 * "rmat scale=16 degree=8". Same spec and seed, same matrix, any machine.
 * A seed in the spec, "rmat scale=16#7", comes before the other. */
spry_status spry_matrix_generate(spry_matrix **out, const char *spec,
                                 uint64_t seed);

/* The i-th generator's name, one-line description and parameters with their
 * defaults ("rows=1000 nnz=10000"), or NULL past the last. */
const char *spry_generator_name(int i);
const char *spry_generator_help(int i);
const char *spry_generator_params(int i);

/* ---- knowing matrices ---- */

enum {
    SPRY_HIST = 32,  /* row lengths: bin 0 empty, bin b holds [2^(b-1), 2^b) */
    SPRY_BLOCKS = 5, /* 1, 2, 4, 8, 16 */
    SPRY_REUSE = 32, /* distances in [2^b, 2^(b+1)) */
    SPRY_DENSITY = 128
};

typedef struct {
    size_t size; /* sizeof (spry_stats) */
    int64_t rows, cols, nnz;
    int64_t empty_rows, empty_cols;
    int64_t row_min, row_max;
    double row_mean, row_deviation, row_skew;
    int64_t row_hist[SPRY_HIST];
    int64_t bandwidth;    /* max |i - j| over entries, i scaled to cols */
    double mean_distance; /* mean |i - j| */
    int64_t mean_span;    /* mean of (last - first column + 1) of a row */
    int64_t max_span;     /* widest row */
    int64_t diagonals;    /* that hold an entry */
    int64_t blocks[SPRY_BLOCKS][SPRY_BLOCKS]; /* nonempty (1<<a) x (1<<b)
                                                 aligned blocks, exact */
    int64_t threes, sixes;     /* nonempty 3 x 3 and 6 x 6 ones */
    int64_t reuse[SPRY_REUSE]; /* accesses to a column by the number of
                                  entries since the last one */
    int64_t reuse_first;       /* first touches: columns in use */
    double symmetry;           /* share of entries whose mirror is there */
    int64_t not_finite;        /* NaN and Inf among the values */
    int64_t explicit_zeros;
    int64_t one_value; /* 1: all entries have the same value, |v| >= 1 */
    int64_t different; /* values, 0 always counted; 257: more than 256 */
    float density[SPRY_DENSITY][SPRY_DENSITY]; /* entries per cell; only the
                               first min(128, rows) x min(128, cols) count */
} spry_stats;

/* All of it in O(nnz). */
spry_status spry_matrix_stats(spry_stats *out, const spry_matrix *m);

/* Share of r x c blocks' cells that hold an entry, 0..1; r, c in 1..16,
 * powers of two, or both 3, or both 6. */
double spry_stats_fill(const spry_stats *s, int r, int c);

/* A picture of the pattern: .png or .svg by the name's ending. */
spry_status spry_matrix_spy(const spry_stats *s, const char *path);

/* The same as lines of text for a terminal, `width` columns wide; allocated,
 * the caller frees it with free(). */
spry_status spry_matrix_spy_text(char **out, const spry_stats *s, int width);

/* 32 hex digits that tell patterns apart: shape and positions, not values. */
void spry_matrix_key(char out[33], const spry_matrix *m);

#ifdef __cplusplus
}
#endif
#endif
