/* matrix.h - a sparse matrix as it was read, before it is packed for a kernel.
 *
 * Immutable once created: compressed rows, columns ascending within a row, no
 * duplicates, every index checked. So threads may share one without locks. */
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

/* Read a matrix file. The format is recognised by content, then by name:
 * Matrix Market (.mtx), WACO .csr, SciPy .npz, .smtx, edge lists and triples
 * (.tsv, .txt, .el), Rutherford-Boeing (.rb, .rua...); any of them may be
 * gzipped (.gz). "gen:KIND,key=value" generates a matrix instead, "-" reads
 * standard input. Duplicates are summed and symmetric files are expanded.
 * Values become double, except that float values of .npz files stay float. A
 * malformed file fails with SPRY_INPUT; the message names the line. */
spry_status spry_matrix_read(spry_matrix **out, const char *path);

/* Write in the format that the name's ending asks for: .mtx, .mtx.gz, .csr or
 * .npz. The file appears complete or not at all. */
spry_status spry_matrix_write(const spry_matrix *m, const char *path);

/* From compressed rows as SciPy and PyTorch hold them; the arrays are not
 * modified. Entries may be unsorted or repeated. values NULL: all ones. The
 * index width is kept. With SPRY_BORROW, arrays that are sorted and without
 * repeats are used in place and must outlive the matrix; others are copied. */
typedef enum { SPRY_COPY, SPRY_BORROW } spry_own;
spry_status spry_matrix_csr(spry_matrix **out, int64_t rows, int64_t cols,
                            const void *indptr, const void *indices,
                            const void *values, spry_index index,
                            spry_type type, spry_own own);

/* From nnz triples in any order, zero-based; repeats are summed. val NULL: all
 * ones. */
spry_status spry_matrix_triples(spry_matrix **out, int64_t rows, int64_t cols,
                                int64_t nnz, const int64_t *row,
                                const int64_t *col, const void *val,
                                spry_type type);

/* From compressed columns, blocks or coordinates as SciPy holds them; the
 * arrays are copied. Repeats are summed; values NULL: all ones. Blocks are
 * r x c, and rows and cols are multiples of these; values[block][r][c], every
 * cell of a block becomes an entry. */
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

/* The transpose, as a matrix with arrays of its own. */
spry_status spry_matrix_transpose(spry_matrix **out, const spry_matrix *m);

void spry_matrix_free(spry_matrix *m);

/* ==== advanced ==== */

/* ---- generators ---- */

/* Generate a matrix. spec: "KIND key=value ...", separated by blanks or
 * commas, for instance "rmat scale=16 degree=8". The same spec and seed give
 * the same matrix on any machine. A seed in the spec, as in "rmat scale=16#7",
 * overrides the argument. */
spry_status spry_matrix_generate(spry_matrix **out, const char *spec,
                                 uint64_t seed);

/* The i-th generator's name, one-line description and parameters with their
 * defaults ("rows=1000 nnz=10000"), or NULL past the last. */
const char *spry_generator_name(int i);
const char *spry_generator_help(int i);
const char *spry_generator_params(int i);

/* ---- statistics ---- */

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
    int64_t reuse[SPRY_REUSE]; /* repeated accesses to a column, by the number
                                  of entries since the one before */
    int64_t reuse_first;       /* first accesses: columns that hold an entry */
    double symmetry;           /* share of entries whose mirror is one */
    int64_t not_finite;        /* NaN and Inf among the values */
    int64_t explicit_zeros;
    int64_t one_value; /* 1: all entries have the same value, |v| >= 1 */
    int64_t different; /* distinct values, 0 included; 257: more than 256 */
    float density[SPRY_DENSITY][SPRY_DENSITY]; /* entries per cell of a grid of
                                      min(128, rows) x min(128, cols) cells */
} spry_stats;

/* Compute all of them, in O(nnz). */
spry_status spry_matrix_stats(spry_stats *out, const spry_matrix *m);

/* How full the nonempty r x c blocks are, 0..1; r and c are powers of two up
 * to 16, or both 3, or both 6. */
double spry_stats_fill(const spry_stats *s, int r, int c);

/* Draw the pattern into a .png or .svg file, by the name's ending. */
spry_status spry_matrix_spy(const spry_stats *s, const char *path);

/* The same as text for a terminal, `width` columns wide. The caller frees
 * *out with free(). */
spry_status spry_matrix_spy_text(char **out, const spry_stats *s, int width);

/* 32 hex digits that identify the pattern: a hash of shape and positions,
 * not of values. */
void spry_matrix_key(char out[33], const spry_matrix *m);

#ifdef __cplusplus
}
#endif
#endif
