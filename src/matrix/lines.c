/* lines.c - from lines of text to entries, on all threads.
 *
 * The text is cut at line ends into pieces. A first walk counts the entries
 * of each piece, so nothing is allocated that the file does not hold and
 * every piece knows where its entries go; a second walk parses them. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "matrix/internal.h"

enum { PIECES = 64, SMALL = 1 << 18 };

typedef struct {
    const char *at, *end;
    int64_t first, count; /* its entries among all */
    const char *bad;      /* where parsing stopped, or NULL */
    const char *why;
} piece;

static int cut(piece *p, const char *at, const char *end)
{
    int64_t n = 4 * omp_get_max_threads(), bytes = end - at;
    int made = 0;

    n = bytes < SMALL ? 1 : n < PIECES ? n : PIECES;
    for (int64_t i = 0; i < n; i++) {
        const char *to =
            i + 1 < n ? sp_skip_line(at + (end - at) / (n - i), end) : end;

        p[made++] = (piece){.at = at, .end = to};
        at = to;
    }
    return made;
}

static void count_entries(piece *p, char comment)
{
    const char *at = sp_skip_comments(p->at, p->end, comment);

    for (; at < p->end; at = sp_skip_comments(at, p->end, comment)) {
        at = sp_skip_line(at, p->end);
        p->count++;
    }
}

/* One index: base .. base + size - 1 in the file, 0 .. size - 1 in memory. */
static int scan_index(const char **at, const char *end, int base, int64_t size,
                      int64_t *out)
{
    const char *p = sp_skip_blanks(*at, end);
    int64_t i;

    *at = p;
    if (!sp_scan_int(&p, end, &i) || i < base || i - base >= size)
        return 0;
    *at = p;
    *out = i - base;
    return 1;
}

static int at_gap(const char *at, const char *end)
{
    return at == end || *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r';
}

/* What to say of a bad index, of matrices and of tensors. */
static const char *const faults[2][3] = {
    {"the row index is not a number within the matrix",
     "the column index is not a number within the matrix", NULL},
    {"the first index is not a number within the tensor",
     "the second index is not a number within the tensor",
     "the third index is not a number within the tensor"},
};

/* Parse the entry at *at as the k-th; NULL, or what is wrong with it. */
static const char *parse_entry(const char **at, const char *end,
                               const sp_lines *in, const sp_triples *t,
                               int64_t k)
{
    const int64_t size[] = {in->rows, in->cols, in->third};
    int64_t *const to[] = {t->row, t->col, t->third};
    int tensor = in->third > 0;

    for (int i = 0; i < 2 + tensor; i++)
        if (!scan_index(at, end, in->base, size[i], &to[i][k]) ||
            !at_gap(*at, end))
            return faults[tensor][i];
    if (in->values) {
        *at = sp_skip_blanks(*at, end);
        if (!sp_scan_real(at, end, &t->val[k]) || !at_gap(*at, end))
            return "the value is not a number";
        if (in->finite && !isfinite(t->val[k]))
            return "the value is not finite";
    }
    *at = sp_skip_blanks(*at, end);
    if (*at < end && **at != '\n' && !in->more)
        return "there is more on the line than an entry";
    return NULL;
}

static void parse_piece(piece *p, const sp_lines *in, const sp_triples *t)
{
    const char *at = p->at;

    for (int64_t k = p->first; k < p->first + p->count && !p->why; k++) {
        at = sp_skip_comments(at, p->end, in->comment);
        p->bad = at;
        p->why = parse_entry(&at, p->end, in, t, k);
        at = sp_skip_line(at, p->end);
    }
}

static spry_status parse_pieces(const sp_text *t, piece *p, int n,
                                const sp_lines *in, const sp_triples *out)
{
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
    for (int i = 0; i < n; i++)
        parse_piece(&p[i], in, out);
    for (int i = 0; i < n; i++)
        if (p[i].why)
            return sp_fail_at(t, p[i].bad, "%s", p[i].why);
    return SPRY_OK;
}

spry_status sp_lines_read(sp_triples *out, const sp_text *t, const sp_lines *in,
                          int64_t declared)
{
    piece p[PIECES];
    int n = cut(p, in->at, t->end);
    int64_t nnz = 0;
    spry_status s;

    *out = (sp_triples){0};
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
    for (int i = 0; i < n; i++)
        count_entries(&p[i], in->comment);
    for (int i = 0; i < n; i++) {
        p[i].first = nnz;
        nnz += p[i].count;
    }
    if (declared >= 0 && nnz != declared)
        return sp_fail_at(t, t->end, "%lld entries declared, %lld found",
                          (long long)declared, (long long)nnz);
    s = sp_triples_make(out, nnz, in->values);
    if (s == SPRY_OK && in->third &&
        !(out->third = sp_alloc_raw(nnz, sizeof *out->third)))
        s = sp_fail_memory((size_t)nnz * sizeof *out->third);
    if (s == SPRY_OK)
        s = parse_pieces(t, p, n, in, out);
    if (s != SPRY_OK)
        sp_triples_free(out);
    return s;
}
