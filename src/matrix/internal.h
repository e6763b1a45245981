/* internal.h - how the room's files make a matrix together.
 *
 * A reader turns bytes into entries; compress.c turns entries into a draft,
 * rows in order; sort.c turns the draft into a matrix, columns in order. */
#ifndef SP_MATRIX_INTERNAL_H
#define SP_MATRIX_INTERNAL_H

#include <stddef.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "matrix/text.h"
#include "spry/tensor.h"

/* A matrix in the making: m's own arrays, still writable. One block. */
typedef struct {
    spry_matrix *m;
    int64_t *start; /* [rows + 1] */
    void *col;      /* [nnz] of m->index */
    void *val;      /* [nnz] of m->type */
} sp_draft;

spry_status sp_draft_make(sp_draft *out, int64_t rows, int64_t cols,
                          int64_t nnz, spry_index index, spry_type type);

/* Sort each row by column, sum repeats, hand the matrix over. The draft is
 * used up, also on failure. */
spry_status sp_draft_finish(spry_matrix **out, sp_draft *d);

/* The width that fits: 64 bits only when 32 are too few. */
static inline spry_index sp_index_for(int64_t cols)
{
    return cols > INT32_MAX ? SPRY_I64 : SPRY_I32;
}

static inline void sp_store_col(void *col, spry_index index, int64_t k,
                                int64_t c)
{
    if (index == SPRY_I32)
        ((int32_t *)col)[k] = (int32_t)c;
    else
        ((int64_t *)col)[k] = c;
}

static inline void sp_store_val(void *val, spry_type type, int64_t k, double v)
{
    if (type == SPRY_F32)
        ((float *)val)[k] = (float)v;
    else
        ((double *)val)[k] = v;
}

/* Entries in any order, zero-based and in range; arrays are only read. */
typedef struct {
    int64_t rows, cols, nnz;
    const int64_t *row, *col; /* [nnz] */
    const void *val;          /* [nnz] of val_type; NULL: all ones */
    spry_type val_type;
    spry_type type; /* of the matrix to be */
    int mirror;     /* 1, -1: (i, j) also stands for (j, i), times this */
} sp_entries;

spry_status sp_compress(spry_matrix **out, const sp_entries *e);

/* ---- reading ---- */

/* index[k] = i where start[i] <= k < start[i + 1]. SPRY_INPUT unless the n
 * starts and the end ascend from 0 to nnz. */
spry_status sp_expand_starts(int64_t *index, const int64_t *start, int64_t n,
                             int64_t nnz, const sp_text *t);
/* Is every index within 0 .. size - 1? */
spry_status sp_check_indices(const int64_t *index, int64_t n, int64_t size,
                             const sp_text *t);

/* Make the matrix of a file and free the triples. A shape that the file
 * cannot possibly need is refused: rows take memory even when empty. */
spry_status sp_triples_finish(spry_matrix **out, const sp_text *t,
                              sp_triples *from, int64_t rows, int64_t cols,
                              int mirror, spry_type type);
spry_status sp_check_shape(const sp_text *t, const char *at, int64_t rows,
                           int64_t cols);

/* One function per format; see the table in read.c. */
int sp_market_sniff(const sp_text *t);
spry_status sp_market_parse(spry_matrix **out, const sp_text *t);
int sp_npz_sniff(const sp_text *t);
spry_status sp_npz_parse(spry_matrix **out, const sp_text *t);
int sp_boeing_sniff(const sp_text *t);
spry_status sp_boeing_parse(spry_matrix **out, const sp_text *t);
spry_status sp_waco_parse(spry_matrix **out, const sp_text *t);
spry_status sp_smtx_parse(spry_matrix **out, const sp_text *t);
spry_status sp_edges_parse(spry_matrix **out, const sp_text *t);

/* ---- tensors ---- */

/* dim[1] * dim[2], if such a tensor can be. */
spry_status sp_tensor_columns(int64_t *out, const int64_t dim[3]);
/* A tensor around its unfolded matrix, which it takes over, also on
 * failure. */
spry_status sp_tensor_wrap(spry_tensor **out, spry_matrix *unfolded,
                           const int64_t dim[3]);
/* FROSTT's text, which is in memory already. */
spry_status sp_tensor_parse(spry_tensor **out, const sp_text *t);

/* ---- writing ---- */

/* Text on its way to an open writer, through gzip when packed. */
typedef struct sp_text_out sp_text_out;
spry_status sp_text_out_open(sp_text_out **out, const sp_writer *w, int packed);
/* At most 255 characters. */
void sp_text_out_line(sp_text_out *p, const char *fmt, ...)
    SP_PRINTF_LIKE(2, 3);
void sp_text_out_int(sp_text_out *p, int64_t n, char behind); /* n >= 0 */
void sp_text_out_real(sp_text_out *p, double v, spry_type type, char behind);
int sp_text_out_failed(const sp_text_out *p);
/* Write the rest and free it, also on failure. */
spry_status sp_text_out_close(sp_text_out *p);

/* One function per format; see the table in write.c. The writer is open, is
 * closed by the caller, and its FILE remembers errors. */
spry_status sp_market_write(const spry_matrix *m, sp_writer *w, int packed);
spry_status sp_waco_write(const spry_matrix *m, sp_writer *w, int packed);
spry_status sp_npz_write(const spry_matrix *m, sp_writer *w, int packed);

/* Read a file that is in memory already; its format by content, then by
 * the ending of its name. data[len] must be 0. */
spry_status sp_matrix_parse(spry_matrix **out, const char *data, size_t len,
                            const char *name);

/* A palette of 0 alone; and the codes of entries [from, from + count), whose
 * values it takes in. 0: there are too many. (values.c) */
void sp_palette_open(sp_palette *out);
int sp_palette_note(sp_palette *c, uint8_t *code, const spry_matrix *m,
                    int64_t from, int64_t count);

#endif
