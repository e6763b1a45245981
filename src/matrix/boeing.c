/* boeing.c - Rutherford-Boeing (and Harwell-Boeing) to a matrix.
 *
 *     title, key
 *     lines in total, of pointers, of indices, of values[, of right sides]
 *     type  rows  columns  entries
 *     (26I3)          (26I3)          (3E26.18)        Fortran formats
 *     column pointers, row indices, values: fixed-width fields, from 1
 *
 * The type is three letters: r i p (real, integer, pattern; c and q are
 * complex), s u r z (symmetric, unsymmetric, rectangular, skew; h is
 * Hermitian), a (assembled; e is elemental). */
#include <string.h>

#include "matrix/internal.h"

typedef struct {
    int pattern, mirror;
    int64_t rows, cols, nnz;
} header;

/* Fields of fixed width, so many in a line. */
typedef struct {
    const char *line, *end; /* the current line, the text's end */
    int per_line, width, used;
} fields;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static const char *line_at(const sp_text *t, int n)
{
    const char *at = t->data;

    while (n-- > 0)
        at = sp_skip_line(at, t->end);
    return at;
}

int sp_boeing_sniff(const sp_text *t)
{
    const char *at = line_at(t, 2);
    const char *format = sp_skip_blanks(line_at(t, 3), t->end);

    return t->end - at > 3 && at[0] && strchr("rcipq", lower(at[0])) && at[1] &&
           strchr("suhzr", lower(at[1])) && at[2] &&
           strchr("ae", lower(at[2])) && format < t->end && *format == '(';
}

static spry_status parse_type(header *h, const char *at, const sp_text *t)
{
    char field = lower(at[0]), shape = lower(at[1]);

    if (field == 'c' || field == 'q')
        return sp_fail_at(t, at, "complex values are not read");
    if (shape == 'h')
        return sp_fail_at(t, at, "hermitian matrices are complex and not read");
    if (lower(at[2]) == 'e')
        return sp_fail_at(t, at, "elemental matrices are not read");
    h->pattern = field == 'p';
    h->mirror = shape == 's' ? 1 : shape == 'z' ? -1 : 0;
    return SPRY_OK;
}

static int scan_count(const char **at, const char *end, int64_t *out)
{
    *at = sp_skip_blanks(*at, end);
    return sp_scan_int(at, end, out) && *out >= 0;
}

static spry_status parse_sizes(header *h, const char *at, const sp_text *t)
{
    const char *p = at + 3;
    int64_t bytes = t->end - t->data;

    if (!scan_count(&p, t->end, &h->rows) ||
        !scan_count(&p, t->end, &h->cols) || !scan_count(&p, t->end, &h->nnz))
        return sp_fail_at(t, at, "the sizes are not three whole numbers");
    if (h->cols >= bytes || h->nnz > bytes)
        return sp_fail_at(t, at,
                          "%lld columns with %lld entries do not fit into "
                          "the file",
                          (long long)h->cols, (long long)h->nnz);
    if (h->mirror && h->rows != h->cols)
        return sp_fail_at(t, at, "a symmetric matrix must be square");
    return sp_check_shape(t, at, h->rows, h->cols);
}

/* Harwell-Boeing counts lines of right-hand sides too; then one more header
 * line describes them. */
static int has_right_sides(const sp_text *t)
{
    const char *at = line_at(t, 1), *end = line_at(t, 2);
    int64_t n = 0;

    for (int i = 0; i < 5; i++)
        if (!scan_count(&at, end, &n))
            return 0;
    return n > 0;
}

/* "(26I3)", "(1P,4E20.12)": how many of which width. *at moves behind. */
static spry_status parse_format(fields *f, const char **at, const sp_text *t)
{
    const char *end = sp_skip_line(*at, t->end);
    const char *p = *at < end ? memchr(*at, '(', (size_t)(end - *at)) : NULL;
    int64_t count = 1, width = 0;

    for (p = p ? p + 1 : end; p < end && *p != ')'; p++) {
        int64_t n;

        if (strchr("iIeEdDfFgG", *p) && *p) {
            p++;
            if (!sp_scan_int(&p, end, &width))
                break;
            p = memchr(p, ')', (size_t)(end - p));
            break;
        }
        if (sp_scan_int(&p, end, &n)) {
            count = n;
            p--;
        } else {
            count = 1;
        }
    }
    if (!p || p >= end || *p != ')' || count < 1 || width < 1 ||
        count > 1 << 20 || width > 1 << 20)
        return sp_fail_at(t, *at, "the Fortran format is not understood");
    *at = p + 1;
    f->per_line = (int)count;
    f->width = (int)width;
    return SPRY_OK;
}

static void start_fields(fields *f, const char *line, const sp_text *t)
{
    f->line = line;
    f->end = t->end;
    f->used = 0;
}

/* The next field, blanks before it skipped; empty at the end of the text. */
static const char *next_field(fields *f, const char **to)
{
    const char *line_end, *from;

    if (f->used == f->per_line) {
        f->line = sp_skip_line(f->line, f->end);
        f->used = 0;
    }
    line_end = sp_skip_line(f->line, f->end);
    from = f->line + (int64_t)f->width * f->used;
    from = from < line_end ? from : line_end;
    *to = line_end - from > f->width ? from + f->width : line_end;
    f->used++;
    return sp_skip_blanks(from, *to);
}

/* The line behind the last field. */
static const char *end_fields(const fields *f)
{
    return f->used ? sp_skip_line(f->line, f->end) : f->line;
}

/* n whole numbers from 1 to most become 0 .. most - 1. */
static spry_status read_indices(int64_t *out, int64_t n, int64_t most,
                                fields *f, const sp_text *t)
{
    for (int64_t k = 0; k < n; k++) {
        const char *to, *at = next_field(f, &to);

        if (!sp_scan_int(&at, to, &out[k]) || out[k] < 1 || out[k] > most)
            return sp_fail_at(t, f->line, "field %d is not within 1..%lld",
                              f->used, (long long)most);
        out[k]--;
    }
    return SPRY_OK;
}

static spry_status read_reals(double *out, int64_t n, fields *f,
                              const sp_text *t)
{
    for (int64_t k = 0; k < n; k++) {
        const char *to, *at = next_field(f, &to);

        if (!sp_scan_real(&at, to, &out[k]))
            return sp_fail_at(t, f->line, "field %d is not a number", f->used);
    }
    return SPRY_OK;
}

/* Pointers, indices, values: three blocks of fields, each from a new line. */
static spry_status read_blocks(sp_triples *out, const header *h, fields f[3],
                               const char *at, const sp_text *t)
{
    int64_t *start = sp_alloc_raw(h->cols + 1, sizeof *start);
    spry_status s;

    if (!start)
        return sp_fail_memory((size_t)(h->cols + 1) * sizeof *start);
    start_fields(&f[0], at, t);
    s = read_indices(start, h->cols + 1, h->nnz + 1, &f[0], t);
    if (s == SPRY_OK)
        s = sp_expand_starts(out->col, start, h->cols, h->nnz, t);
    sp_free(start);
    start_fields(&f[1], end_fields(&f[0]), t);
    if (s == SPRY_OK)
        s = read_indices(out->row, h->nnz, h->rows, &f[1], t);
    start_fields(&f[2], end_fields(&f[1]), t);
    if (s == SPRY_OK && !h->pattern)
        s = read_reals(out->val, h->nnz, &f[2], t);
    return s;
}

spry_status sp_boeing_parse(spry_matrix **out, const sp_text *t)
{
    const char *at = line_at(t, 2), *formats = line_at(t, 3);
    sp_triples triples = {0};
    fields f[3] = {{0}};
    header h;
    spry_status s;

    if (!sp_boeing_sniff(t))
        return sp_fail_at(t, at, "this is no Rutherford-Boeing header");
    s = parse_type(&h, at, t);
    if (s == SPRY_OK)
        s = parse_sizes(&h, at, t);
    for (int i = 0; s == SPRY_OK && i < 3 - h.pattern; i++)
        s = parse_format(&f[i], &formats, t);
    if (s == SPRY_OK)
        s = sp_triples_make(&triples, h.nnz, !h.pattern);
    if (s == SPRY_OK)
        s = read_blocks(&triples, &h, f, line_at(t, 4 + has_right_sides(t)), t);
    if (s == SPRY_OK)
        return sp_triples_finish(out, t, &triples, h.rows, h.cols, h.mirror,
                                 SPRY_F64);
    sp_triples_free(&triples);
    return s;
}
