/* market.c - Matrix Market text to a matrix.
 *
 *     %%MatrixMarket matrix coordinate real symmetric
 *     % any comments
 *     3 3 2          rows, columns, entries
 *     1 1 0.5        row, column, value; counted from 1
 *     3 1 -2
 *
 * An array file instead lists every value, column by column; its zeros are
 * not stored. Blank lines, indentation and case do not matter. */
#include <string.h>
#include <strings.h>

#include "matrix/internal.h"

static const char banner[] = "%%MatrixMarket";

typedef struct {
    int array, pattern;
    int mirror; /* 0 general, 1 symmetric, -1 skew-symmetric */
    int64_t rows, cols, entries;
} header;

int sp_market_sniff(const sp_text *t)
{
    const char *at = sp_skip_comments(t->data, t->end, '\n');

    return (size_t)(t->end - at) >= strlen(banner) &&
           !strncasecmp(at, banner, strlen(banner));
}

/* The next word of the line into word, cut to its size. */
static const char *next_word(char word[32], const char *at, const char *end)
{
    size_t n = 0;

    at = sp_skip_blanks(at, end);
    for (; at < end && !strchr(" \t\r\n", *at); at++)
        if (n < 31)
            word[n++] = *at;
    word[n] = 0;
    return at;
}

/* A word the banner may hold at one place, and what it means. */
typedef struct {
    const char *word;
    int value;
    const char *refused; /* why not, or NULL */
} meaning;

static const meaning objects[] = {{"matrix", 0, NULL}, {0}};
static const meaning layouts[] = {
    {"coordinate", 0, NULL}, {"array", 1, NULL}, {0}};
static const meaning fields[] = {{"real", 0, NULL},
                                 {"double", 0, NULL},
                                 {"integer", 0, NULL},
                                 {"pattern", 1, NULL},
                                 {"complex", 0, "complex values are not read"},
                                 {0}};
static const meaning symmetries[] = {
    {"general", 0, NULL},
    {"symmetric", 1, NULL},
    {"skew-symmetric", -1, NULL},
    {"hermitian", 0, "hermitian matrices are complex and not read"},
    {0}};

static spry_status parse_word(int *value, const char **at, const sp_text *t,
                              const meaning *m)
{
    char word[32];

    *at = next_word(word, *at, t->end);
    while (m->word && strcasecmp(m->word, word))
        m++;
    if (!m->word)
        return sp_fail_at(t, *at, "'%s' is not a word of Matrix Market", word);
    if (m->refused)
        return sp_fail_at(t, *at, "%s", m->refused);
    *value = m->value;
    return SPRY_OK;
}

static spry_status parse_banner(header *h, const char **at, const sp_text *t)
{
    int object;
    spry_status s;

    if (!sp_market_sniff(t))
        return sp_fail_at(t, t->data, "the Matrix Market banner is missing");
    *at = sp_skip_comments(t->data, t->end, '\n') + strlen(banner);
    s = parse_word(&object, at, t, objects);
    if (s == SPRY_OK)
        s = parse_word(&h->array, at, t, layouts);
    if (s == SPRY_OK)
        s = parse_word(&h->pattern, at, t, fields);
    if (s == SPRY_OK)
        s = parse_word(&h->mirror, at, t, symmetries);
    if (s == SPRY_OK && h->array && h->pattern)
        s = sp_fail_at(t, *at, "an array of patterns has no values");
    *at = sp_skip_line(*at, t->end);
    return s;
}

static int scan_size(const char **at, const char *end, int64_t *out)
{
    *at = sp_skip_blanks(*at, end);
    return sp_scan_int(at, end, out) && *out >= 0;
}

static spry_status parse_sizes(header *h, const char **at, const sp_text *t)
{
    int good;

    *at = sp_skip_comments(*at, t->end, '%');
    good = scan_size(at, t->end, &h->rows) && scan_size(at, t->end, &h->cols) &&
           (h->array || scan_size(at, t->end, &h->entries));
    *at = sp_skip_blanks(*at, t->end);
    if (!good || (*at < t->end && **at != '\n'))
        return sp_fail_at(t, *at, "the sizes are not %s whole numbers",
                          h->array ? "two" : "three");
    if (h->mirror && h->rows != h->cols)
        return sp_fail_at(t, *at, "a symmetric matrix must be square");
    return sp_check_shape(t, *at, h->rows, h->cols);
}

/* How many values an array file must hold: all, or one triangle. */
static spry_status count_values(header *h, const char *at, const sp_text *t)
{
    int64_t most = (t->end - at + 1) / 2; /* "0\n" each */
    int64_t n = h->rows;

    if (n && h->cols > most / n + 1)
        return sp_fail_at(t, t->end, "fewer values than %lld x %lld",
                          (long long)h->rows, (long long)h->cols);
    h->entries = h->mirror ? (n * n + h->mirror * n) / 2 : n * h->cols;
    if (h->entries > most)
        return sp_fail_at(t, t->end, "fewer values than the %lld declared",
                          (long long)h->entries);
    return SPRY_OK;
}

static spry_status read_values(double *val, const header *h, const char *at,
                               const sp_text *t)
{
    for (int64_t k = 0; k < h->entries; k++) {
        at = sp_skip_comments(at, t->end, '%');
        if (at == t->end)
            return sp_fail_at(t, at, "%lld values declared, %lld found",
                              (long long)h->entries, (long long)k);
        if (!sp_scan_real(&at, t->end, &val[k]))
            return sp_fail_at(t, at, "the value is not a number");
    }
    at = sp_skip_comments(at, t->end, '%');
    if (at < t->end)
        return sp_fail_at(t, at, "more values than the %lld declared",
                          (long long)h->entries);
    return SPRY_OK;
}

/* Keep what is not zero, with its place. */
static spry_status dense_to_triples(sp_triples *out, const double *val,
                                    const header *h)
{
    int64_t nnz = 0, k = 0, at = 0;
    spry_status s;

    for (int64_t i = 0; i < h->entries; i++)
        nnz += val[i] != 0;
    s = sp_triples_make(out, nnz, 1);
    if (s != SPRY_OK)
        return s;
    for (int64_t c = 0; at < h->entries; c++) {
        int64_t top = h->mirror == 0 ? 0 : h->mirror > 0 ? c : c + 1;

        for (int64_t r = top; r < h->rows; r++, at++)
            if (val[at] != 0) {
                out->row[k] = r;
                out->col[k] = c;
                out->val[k++] = val[at];
            }
    }
    return SPRY_OK;
}

static spry_status read_array(sp_triples *out, header *h, const char *at,
                              const sp_text *t)
{
    spry_status s = count_values(h, at, t);
    double *val;

    if (s != SPRY_OK)
        return s;
    val = sp_alloc_raw(h->entries, sizeof *val);
    if (!val)
        return sp_fail_memory((size_t)h->entries * sizeof *val);
    s = read_values(val, h, at, t);
    if (s == SPRY_OK)
        s = dense_to_triples(out, val, h);
    sp_free(val);
    return s;
}

static spry_status read_coordinates(sp_triples *out, const header *h,
                                    const char *at, const sp_text *t)
{
    sp_lines lines = {.at = at,
                      .comment = '%',
                      .base = 1,
                      .values = !h->pattern,
                      .rows = h->rows,
                      .cols = h->cols};

    return sp_lines_read(out, t, &lines, h->entries);
}

spry_status sp_market_parse(spry_matrix **out, const sp_text *t)
{
    header h = {0};
    sp_triples triples = {0};
    const char *at;
    spry_status s = parse_banner(&h, &at, t);

    if (s == SPRY_OK)
        s = parse_sizes(&h, &at, t);
    if (s == SPRY_OK)
        s = h.array ? read_array(&triples, &h, at, t)
                    : read_coordinates(&triples, &h, at, t);
    if (s != SPRY_OK)
        return s;
    return sp_triples_finish(out, t, &triples, h.rows, h.cols, h.mirror,
                             SPRY_F64);
}
