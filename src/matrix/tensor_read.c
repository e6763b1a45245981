/* tensor_read.c - FROSTT's text to a tensor.
 *
 *     # comment            entries count from 1; each dimension is as long
 *     1 1 4 0.5            as its largest index
 *     2 3 1 -2
 *
 * Two dialects put the dimensions first: "3" (ParTI) or "3 nnz" (extended
 * FROSTT) on a line, then the three dimensions on the next. */
#include <string.h>

#include "matrix/internal.h"

enum { ORDER = 3 };

/* What the file says before its entries. */
typedef struct {
    int64_t dim[ORDER]; /* INT64_MAX: not said */
    int64_t nnz;        /* -1: not said */
} header;

/* The numbers of one line. */
static int scan_line(const char **at, const char *end, int64_t *out, int n)
{
    for (int i = 0; i < n; i++) {
        *at = sp_skip_blanks(*at, end);
        if (!sp_scan_int(at, end, &out[i]) || out[i] < 0)
            return 0;
    }
    *at = sp_skip_blanks(*at, end);
    return *at == end || **at == '\n';
}

/* A header at *at, if there is one; *at moves behind it. */
static spry_status read_header(header *h, const char **at, const sp_text *t)
{
    const char *from = *at;
    int words = sp_count_words(from, t->end);
    int64_t first[2] = {0, -1};

    *h = (header){{INT64_MAX, INT64_MAX, INT64_MAX}, -1};
    if (words != 1 && words != 2)
        return SPRY_OK;
    if (!scan_line(at, t->end, first, words))
        return sp_fail_at(t, from, "this is neither an entry nor a header");
    if (first[0] != ORDER)
        return sp_fail_at(t, from, "a tensor of order %lld; spry reads order 3",
                          (long long)first[0]);
    from = *at = sp_skip_comments(*at, t->end, '#');
    if (!scan_line(at, t->end, h->dim, ORDER))
        return sp_fail_at(t, from, "the header lacks its three dimensions");
    h->nnz = first[1];
    *at = sp_skip_comments(*at, t->end, '#');
    return SPRY_OK;
}

/* The first entry tells the order. */
static spry_status check_order(const sp_text *t, const char *at)
{
    int words = sp_count_words(at, t->end);

    if (at == t->end || words == ORDER + 1)
        return SPRY_OK;
    return sp_fail_at(t, at, "an entry of order %d; spry reads order 3",
                      words - 1);
}

/* What was not said is as long as the largest index; every dimension must be
 * one that a file of this size can need. */
static spry_status settle(int64_t dim[ORDER], const sp_text *t,
                          const sp_triples *e)
{
    const int64_t *const index[] = {e->row, e->col, e->third};

    for (int mode = 0; mode < ORDER; mode++) {
        if (dim[mode] == INT64_MAX)
            dim[mode] = sp_index_size(index[mode], e->nnz);
        if (dim[mode] > sp_most_rows(t))
            return sp_fail_at(t, t->data,
                              "mode %d is %lld long, too much for a file of "
                              "this size",
                              mode, (long long)dim[mode]);
    }
    return SPRY_OK;
}

static int64_t at_least_one(int64_t size)
{
    return size > 0 ? size : 1;
}

spry_status sp_tensor_parse(spry_tensor **out, const sp_text *t)
{
    const char *at = sp_skip_comments(t->data, t->end, '#');
    sp_triples e = {0};
    header h;
    spry_status s = read_header(&h, &at, t);

    *out = NULL;
    if (s == SPRY_OK)
        s = check_order(t, at);
    if (s == SPRY_OK) {
        sp_lines lines = {.at = at,
                          .comment = '#',
                          .base = 1,
                          .values = 1,
                          .rows = h.dim[0],
                          .cols = h.dim[1],
                          .third = at_least_one(h.dim[2])};

        s = sp_lines_read(&e, t, &lines, h.nnz);
    }
    if (s == SPRY_OK)
        s = settle(h.dim, t, &e);
    if (s == SPRY_OK)
        s = spry_tensor_coordinates(out, h.dim, e.nnz, e.row, e.col, e.third,
                                    e.val, SPRY_F64);
    sp_triples_free(&e);
    return s;
}

spry_status spry_tensor_read(spry_tensor **out, const char *path)
{
    SP_NEED_NEW(out, path);

    sp_file f;
    sp_text t = {.name = path};
    spry_status s;

    if (!strncmp(path, "gen:", 4))
        return spry_tensor_generate(out, path + 4, 1);
    s = sp_file_read(&f, path, SIZE_MAX);
    if (s != SPRY_OK)
        return s;
    t.data = f.data;
    t.end = f.data + f.len;
    if (f.len)
        s = sp_tensor_parse(out, &t);
    else
        s = sp_fail(SPRY_INPUT, "%s: is empty", path);
    sp_file_free(&f);
    return s;
}
