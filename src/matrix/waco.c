/* waco.c - WACO's .csr to a matrix, and back without the values.
 *
 *     int32 rows, cols, nnz, start[rows + 1], col[nnz]     little-endian
 *
 * There are no values: all are 1. Bytes behind the columns are ignored, for
 * one converter in the field appends values there. */
#include "matrix/internal.h"

enum { HEADER = 12 };

static int32_t load(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                     (uint32_t)b[3] << 24);
}

static void load_many(int64_t *out, const char *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = load(at + 4 * i);
}

/* The file is known to hold all of it. */
static spry_status read_rows(sp_triples *out, int64_t rows, int64_t cols,
                             const sp_text *t)
{
    int64_t *start = sp_alloc_raw(rows + 1, sizeof *start);
    spry_status s;

    if (!start)
        return sp_fail_memory((size_t)(rows + 1) * sizeof *start);
    load_many(start, t->data + HEADER, rows + 1);
    s = sp_expand_starts(out->row, start, rows, out->nnz, t);
    sp_free(start);
    load_many(out->col, t->data + HEADER + 4 * (rows + 1), out->nnz);
    return s == SPRY_OK ? sp_check_indices(out->col, out->nnz, cols, t) : s;
}

spry_status sp_waco_parse(spry_matrix **out, const sp_text *t)
{
    int64_t bytes = t->end - t->data, rows, cols, nnz;
    sp_triples triples = {0};
    spry_status s;

    if (bytes < HEADER)
        return sp_fail(SPRY_INPUT, "%s: ends within its header", t->name);
    rows = load(t->data);
    cols = load(t->data + 4);
    nnz = load(t->data + 8);
    if (rows < 0 || cols < 0 || nnz < 0 ||
        bytes < HEADER + 4 * (rows + 1 + nnz))
        return sp_fail(SPRY_INPUT,
                       "%s: byte 0: %lld x %lld with %lld entries does not "
                       "fit into the file",
                       t->name, (long long)rows, (long long)cols,
                       (long long)nnz);
    s = sp_triples_make(&triples, nnz, 0);
    if (s == SPRY_OK)
        s = read_rows(&triples, rows, cols, t);
    if (s == SPRY_OK)
        return sp_triples_finish(out, t, &triples, rows, cols, 0, SPRY_F64);
    sp_triples_free(&triples);
    return s;
}

static void put(int64_t v, FILE *f)
{
    for (int shift = 0; shift < 32; shift += 8)
        putc((int)(v >> shift & 0xff), f);
}

spry_status sp_waco_write(const spry_matrix *m, sp_writer *w, int packed)
{
    (void)packed;
    if (m->rows >= INT32_MAX || m->cols > INT32_MAX || m->nnz > INT32_MAX)
        return sp_fail(SPRY_USAGE,
                       "%s: .csr holds at most 2^31 - 1 of anything", w->path);
    put(m->rows, w->f);
    put(m->cols, w->f);
    put(m->nnz, w->f);
    for (int64_t r = 0; r <= m->rows; r++)
        put(m->start[r], w->f);
    for (int64_t k = 0; k < m->nnz; k++)
        put(sp_col(m, k), w->f);
    return SPRY_OK;
}
