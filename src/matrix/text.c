/* text.c - what the readers of text files share. */
#include <stdarg.h>
#include <string.h>

#include "matrix/internal.h"

spry_status sp_fail_at(const sp_text *t, const char *at, const char *fmt, ...)
{
    long long line = 1;
    char what[512];
    va_list args;

    for (const char *p = t->data; p < at; p++)
        line += *p == '\n';
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return sp_fail(SPRY_INPUT, "%s:%lld: %s", t->name, line, what);
}

const char *sp_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

int sp_count_words(const char *at, const char *end)
{
    int words = 0;

    for (;; words++) {
        at = sp_skip_blanks(at, end);
        if (at == end || *at == '\n')
            return words;
        while (at < end && *at != '\n' && sp_skip_blanks(at, end) == at)
            at++;
    }
}

const char *sp_skip_line(const char *at, const char *end)
{
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : end;

    return newline && newline < end ? newline + 1 : end;
}

const char *sp_skip_comments(const char *at, const char *end, char comment)
{
    for (;;) {
        at = sp_skip_blanks(at, end);
        if (at == end || (*at != '\n' && *at != comment))
            return at;
        at = sp_skip_line(at, end);
    }
}

spry_status sp_triples_make(sp_triples *out, int64_t nnz, int with_values)
{
    *out = (sp_triples){.nnz = nnz,
                        .row = sp_alloc_raw(nnz, sizeof *out->row),
                        .col = sp_alloc_raw(nnz, sizeof *out->col)};
    if (with_values)
        out->val = sp_alloc_raw(nnz, sizeof *out->val);
    if (out->row && out->col && (out->val || !with_values))
        return SPRY_OK;
    sp_triples_free(out);
    return sp_fail_memory((size_t)nnz * 3 * sizeof *out->row);
}

void sp_triples_free(sp_triples *t)
{
    sp_free(t->row);
    sp_free(t->col);
    sp_free(t->third);
    sp_free(t->val);
    *t = (sp_triples){0};
}

int64_t sp_index_size(const int64_t *index, int64_t n)
{
    int64_t size = 0;

    for (int64_t k = 0; k < n; k++)
        size = index[k] >= size ? index[k] + 1 : size;
    return size;
}

spry_status sp_expand_starts(int64_t *index, const int64_t *start, int64_t n,
                             int64_t nnz, const sp_text *t)
{
    if (start[0] != 0 || start[n] != nnz)
        return sp_fail(SPRY_INPUT, "%s: the starts do not run from 0 to %lld",
                       t->name, (long long)nnz);
    for (int64_t i = 0; i < n; i++)
        if (start[i] > start[i + 1])
            return sp_fail(SPRY_INPUT, "%s: start %lld is beyond the next",
                           t->name, (long long)i);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            index[k] = i;
    return SPRY_OK;
}

spry_status sp_check_indices(const int64_t *index, int64_t n, int64_t size,
                             const sp_text *t)
{
    for (int64_t k = 0; k < n; k++)
        if (index[k] < 0 || index[k] >= size)
            return sp_fail(SPRY_INPUT,
                           "%s: entry %lld has index %lld, outside 0..%lld",
                           t->name, (long long)k, (long long)index[k],
                           (long long)size - 1);
    return SPRY_OK;
}

/* Rows without entries, whatever the file's size. Fuzzing tries short files by
 * the million, and most of their time would go to arrays of empty rows. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { EMPTY_ROWS = 1 << 10 };
#else
enum { EMPTY_ROWS = 4 << 20 };
#endif

int64_t sp_most_rows_of(int64_t bytes)
{
    return bytes < INT64_MAX / 32 ? EMPTY_ROWS + 16 * bytes : INT64_MAX / 2;
}

int64_t sp_most_rows(const sp_text *t)
{
    return sp_most_rows_of(t->end - t->data);
}

spry_status sp_check_shape(const sp_text *t, const char *at, int64_t rows,
                           int64_t cols)
{
    if (rows < 0 || cols < 0 || cols == INT64_MAX)
        return sp_fail_at(t, at, "a matrix cannot be %lld x %lld",
                          (long long)rows, (long long)cols);
    if (rows > sp_most_rows(t))
        return sp_fail_at(t, at,
                          "%lld rows are too many for a file of this size",
                          (long long)rows);
    return SPRY_OK;
}

spry_status sp_triples_finish(spry_matrix **out, const sp_text *t,
                              sp_triples *from, int64_t rows, int64_t cols,
                              int mirror, spry_type type)
{
    sp_entries e = {.rows = rows,
                    .cols = cols,
                    .nnz = from->nnz,
                    .row = from->row,
                    .col = from->col,
                    .val = from->val,
                    .val_type = SPRY_F64,
                    .type = type,
                    .mirror = mirror};
    spry_status s = sp_check_shape(t, t->data, rows, cols);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_compress(out, &e);
    sp_triples_free(from);
    return s;
}
