/* smtx.c - a Deep Learning Matrix Collection file to a matrix.
 *
 *     rows, cols, nnz
 *     start[0] start[1] ... start[rows]
 *     col[0] col[1] ... col[nnz - 1]
 *
 * Values are not in the file: all are 1. */
#include "matrix/internal.h"

/* The next whole number, behind blanks, commas and line ends. */
static spry_status next(int64_t *out, const char **at, const sp_text *t)
{
    while (*at < t->end && (**at == ' ' || **at == ',' || **at == '\n' ||
                            **at == '\t' || **at == '\r'))
        ++*at;
    if (*at == t->end)
        return sp_fail_at(t, t->end, "the file ends too early");
    if (!sp_scan_int(at, t->end, out) || *out < 0)
        return sp_fail_at(t, *at, "this is not an index or a count");
    return SPRY_OK;
}

static spry_status read_numbers(int64_t *out, int64_t n, const char **at,
                                const sp_text *t)
{
    spry_status s = SPRY_OK;

    for (int64_t i = 0; s == SPRY_OK && i < n; i++)
        s = next(&out[i], at, t);
    return s;
}

/* size: rows, columns, entries; they were checked against the file's. */
static spry_status read_rows(sp_triples *out, const int64_t size[3],
                             const char *at, const sp_text *t)
{
    int64_t rows = size[0], nnz = size[2];
    int64_t *start = sp_alloc_raw(rows + 1, sizeof *start);
    spry_status s;

    if (!start)
        return sp_fail_memory((size_t)(rows + 1) * sizeof *start);
    s = read_numbers(start, rows + 1, &at, t);
    if (s == SPRY_OK)
        s = sp_expand_starts(out->row, start, rows, nnz, t);
    sp_free(start);
    if (s == SPRY_OK)
        s = read_numbers(out->col, nnz, &at, t);
    if (s == SPRY_OK)
        s = sp_check_indices(out->col, nnz, size[1], t);
    return s;
}

spry_status sp_smtx_parse(spry_matrix **out, const sp_text *t)
{
    const char *at = t->data;
    int64_t size[3], left;
    sp_triples triples = {0};
    spry_status s = read_numbers(size, 3, &at, t);

    if (s != SPRY_OK)
        return s;
    left = (t->end - at) / 2; /* a gap and a digit each */
    if (size[0] >= left || size[2] > left - size[0] - 1)
        return sp_fail_at(t, t->data,
                          "%lld rows and %lld entries do not fit into the file",
                          (long long)size[0], (long long)size[2]);
    s = sp_triples_make(&triples, size[2], 0);
    if (s == SPRY_OK)
        s = read_rows(&triples, size, at, t);
    if (s == SPRY_OK)
        return sp_triples_finish(out, t, &triples, size[0], size[1], 0,
                                 SPRY_F64);
    sp_triples_free(&triples);
    return s;
}
