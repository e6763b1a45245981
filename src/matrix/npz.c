/* npz.c - SciPy's sparse .npz to a matrix.
 *
 * A zip of NumPy arrays: format ('csr', 'csc', 'coo'), shape, data, and
 * indptr with indices, or row with col. Arrays of Python objects are pickles,
 * which are programs; they are refused. */
#include <string.h>

#include "matrix/zip.h"

/* One array: so many elements of one kind. */
typedef struct {
    sp_zip_member member;
    const char *at;
    int64_t count;
    char kind; /* i u b f: numbers; S U: text */
    int size;  /* bytes of an element */
    int swap;  /* big-endian */
} npy;

int sp_npz_sniff(const sp_text *t)
{
    return t->end - t->data > 4 && !memcmp(t->data, "PK\3\4", 4);
}

/* Where the value of 'key' begins in the header, or NULL. */
static const char *find_key(const char *at, const char *end, const char *key)
{
    size_t n = strlen(key);

    for (; (size_t)(end - at) > n; at++)
        if (!memcmp(at, key, n))
            return sp_skip_blanks(at + n, end);
    return NULL;
}

/* "'<f8'": byte order, kind, size. */
static int parse_type(npy *a, const char *at, const char *end)
{
    int64_t size;

    if (!at || end - at < 4 || *at != '\'' || !memchr("<>|=", at[1], 4))
        return 0;
    a->swap = at[1] == '>';
    a->kind = at[2];
    a->size = 1;
    if (a->kind == 'O')
        return 1;
    at += 3;
    if (!sp_scan_int(&at, end, &size) || size < 1 || size > 4096)
        return 0;
    a->size = (int)(a->kind == 'U' ? 4 * size : size);
    return 1;
}

/* "(3, 4)": the number of elements. */
static int parse_shape(npy *a, const char *at, const char *end)
{
    a->count = 1;
    if (!at || at == end || *at++ != '(')
        return 0;
    for (;;) {
        int64_t n;

        while (at < end && (*at == ' ' || *at == ','))
            at++;
        if (at < end && *at == ')')
            return 1;
        if (!sp_scan_int(&at, end, &n) || n < 0 ||
            __builtin_mul_overflow(a->count, n, &a->count))
            return 0;
    }
}

static int parse_header(npy *a)
{
    const char *p = a->member.data, *end;
    size_t len = a->member.len, head, wide;

    if (len < 12 || memcmp(p, "\x93NUMPY", 6) || p[6] < 1 || p[6] > 3)
        return 0;
    wide = p[6] == 1 ? 2 : 4;
    head = (size_t)sp_little(p + 8, (int)wide) + 8 + wide;
    if (head > len)
        return 0;
    end = p + head;
    a->at = end;
    return parse_type(a, find_key(p, end, "'descr':"), end) &&
           parse_shape(a, find_key(p, end, "'shape':"), end) &&
           a->count <= (int64_t)(len - head) / a->size;
}

/* Why arrays of this kind are not read; NULL when they are. */
static const char *refused(const npy *a)
{
    if (a->kind == 'O')
        return "holds Python objects, which are never read";
    if (a->kind == 'c')
        return "holds complex values, which are not read";
    if (a->kind == 'S' || a->kind == 'U')
        return NULL;
    if (a->kind == 'f')
        return a->size == 4 || a->size == 8
                   ? NULL
                   : "holds neither 32-bit nor 64-bit reals";
    if (strchr("iub", a->kind) && a->kind)
        return a->size <= 8 ? NULL : "is damaged";
    return "holds a type that is not read";
}

static spry_status open_array(npy *a, const sp_text *t, const char *name)
{
    spry_status s = sp_zip_open(&a->member, t, name);

    if (s != SPRY_OK)
        return s;
    if (!parse_header(a))
        return sp_fail(SPRY_INPUT, "%s: member %s is no NumPy array", t->name,
                       name);
    if (refused(a))
        return sp_fail(SPRY_INPUT, "%s: member %s %s", t->name, name,
                       refused(a));
    return SPRY_OK;
}

static void close_array(npy *a)
{
    sp_zip_close(&a->member);
}

/* The k-th element's bits, first byte lowest. */
static uint64_t load_bits(const npy *a, int64_t k)
{
    const char *p = a->at + k * a->size;
    uint64_t v = 0;

    if (!a->swap)
        return sp_little(p, a->size);
    for (int i = 0; i < a->size; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

/* Unsigned numbers beyond int64 turn negative, which every check refuses. */
static int64_t load_int(const npy *a, int64_t k)
{
    int unused = 64 - 8 * a->size;
    uint64_t v = load_bits(a, k) << unused;

    return a->kind == 'i' ? (int64_t)v >> unused : (int64_t)(v >> unused);
}

static double load_real(const npy *a, int64_t k)
{
    uint64_t bits = load_bits(a, k);
    uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;

    if (a->kind != 'f')
        return a->kind == 'u' ? (double)bits : (double)load_int(a, k);
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return a->size == 4 ? (double)narrow : wide;
}

/* Text of at most three letters: 'csr'. */
static void load_word(char out[4], const npy *a)
{
    int step = a->kind == 'U' ? 4 : 1, n = a->size / step;

    memset(out, 0, 4);
    for (int i = 0; i < 3 && i < n && a->count == 1; i++)
        out[i] = a->at[i * step + (a->swap ? step - 1 : 0)];
}

/* ---- from arrays to triples ---- */

/* Open a member that must be n whole numbers. */
static spry_status open_ints(npy *a, int64_t n, const sp_text *t,
                             const char *name)
{
    spry_status s = open_array(a, t, name);

    if (s == SPRY_OK && (a->count != n || !strchr("iu", a->kind)))
        s = sp_fail(SPRY_INPUT, "%s: member %s is not %lld whole numbers",
                    t->name, name, (long long)n);
    return s;
}

static spry_status read_ints(int64_t *out, int64_t n, const sp_text *t,
                             const char *name)
{
    npy a = {0};
    spry_status s = open_ints(&a, n, t, name);

    for (int64_t k = 0; s == SPRY_OK && k < n; k++)
        out[k] = load_int(&a, k);
    close_array(&a);
    return s;
}

/* The values decide how many entries there are. */
static spry_status read_values(sp_triples *out, spry_type *type,
                               const sp_text *t)
{
    npy a = {0};
    spry_status s = open_array(&a, t, "data.npy");

    if (s == SPRY_OK && strchr("SU", a.kind))
        s = sp_fail(SPRY_INPUT, "%s: member data.npy holds text", t->name);
    if (s == SPRY_OK)
        s = sp_triples_make(out, a.count, 1);
    for (int64_t k = 0; s == SPRY_OK && k < a.count; k++)
        out->val[k] = load_real(&a, k);
    *type = a.kind == 'f' && a.size == 4 ? SPRY_F32 : SPRY_F64;
    close_array(&a);
    return s;
}

/* indptr over n rows (columns) gives each entry its row (column). Only when
 * the file really holds n + 1 of them are they given memory. */
static spry_status read_starts(int64_t *index, int64_t n, int64_t nnz,
                               const sp_text *t)
{
    int64_t *start = NULL;
    npy a = {0};
    spry_status s = open_ints(&a, n + 1, t, "indptr.npy");

    if (s == SPRY_OK && !(start = sp_alloc_raw(n + 1, sizeof *start)))
        s = sp_fail_memory((size_t)(n + 1) * sizeof *start);
    for (int64_t k = 0; s == SPRY_OK && k <= n; k++)
        start[k] = load_int(&a, k);
    if (s == SPRY_OK)
        s = sp_expand_starts(index, start, n, nnz, t);
    sp_free(start);
    close_array(&a);
    return s;
}

static spry_status read_csr(sp_triples *out, const int64_t shape[2],
                            const sp_text *t)
{
    spry_status s = read_starts(out->row, shape[0], out->nnz, t);

    return s == SPRY_OK ? read_ints(out->col, out->nnz, t, "indices.npy") : s;
}

static spry_status read_csc(sp_triples *out, const int64_t shape[2],
                            const sp_text *t)
{
    spry_status s = read_starts(out->col, shape[1], out->nnz, t);

    return s == SPRY_OK ? read_ints(out->row, out->nnz, t, "indices.npy") : s;
}

static spry_status read_coo(sp_triples *out, const int64_t shape[2],
                            const sp_text *t)
{
    spry_status s = read_ints(out->row, out->nnz, t, "row.npy");

    (void)shape;
    return s == SPRY_OK ? read_ints(out->col, out->nnz, t, "col.npy") : s;
}

static const struct {
    const char *name;
    spry_status (*read)(sp_triples *out, const int64_t shape[2],
                        const sp_text *t);
} layouts[] = {{"csr", read_csr}, {"csc", read_csc}, {"coo", read_coo}};

static spry_status read_layout(int *which, const sp_text *t)
{
    npy a = {0};
    char word[4] = "";
    spry_status s = open_array(&a, t, "format.npy");

    if (s == SPRY_OK && strchr("SU", a.kind))
        load_word(word, &a);
    close_array(&a);
    for (*which = 0; s == SPRY_OK && *which < 3; ++*which)
        if (!strcmp(layouts[*which].name, word))
            return SPRY_OK;
    if (s == SPRY_OK)
        s = sp_fail(SPRY_INPUT, "%s: its format is none of csr, csc, coo",
                    t->name);
    return s;
}

spry_status sp_npz_parse(spry_matrix **out, const sp_text *t)
{
    int64_t shape[2];
    sp_triples triples = {0};
    spry_type type = SPRY_F64;
    int which;
    spry_status s = read_layout(&which, t);

    if (s == SPRY_OK)
        s = read_ints(shape, 2, t, "shape.npy");
    if (s == SPRY_OK)
        s = sp_check_shape(t, t->data, shape[0], shape[1]);
    if (s == SPRY_OK)
        s = read_values(&triples, &type, t);
    if (s == SPRY_OK)
        s = layouts[which].read(&triples, shape, t);
    if (s == SPRY_OK)
        s = sp_check_indices(triples.row, triples.nnz, shape[0], t);
    if (s == SPRY_OK)
        s = sp_check_indices(triples.col, triples.nnz, shape[1], t);
    if (s == SPRY_OK)
        return sp_triples_finish(out, t, &triples, shape[0], shape[1], 0, type);
    sp_triples_free(&triples);
    return s;
}
