/* npz.c - SciPy's sparse .npz to a matrix.
 *
 * A zip of NumPy arrays: format ('csr', 'csc', 'coo'), shape, data, and
 * indptr with indices, or row with col. Arrays of Python objects are pickles,
 * which are programs; they are refused. */
#include <string.h>

#include "base/npy.h"
#include "matrix/zip.h"

/* One array: so many elements of one kind. */
typedef struct {
    sp_zip_member member;
    const char *at;
    sp_npy head;
} npy;

int sp_npz_sniff(const sp_text *t)
{
    return t->end - t->data > 4 && !memcmp(t->data, "PK\3\4", 4);
}

static spry_status open_array(npy *a, const sp_text *t, const char *name)
{
    spry_status s = sp_zip_open(&a->member, t, name);

    if (s != SPRY_OK)
        return s;
    a->at = sp_npy_open(&a->head, a->member.data, a->member.len);
    if (!a->at)
        return sp_fail(SPRY_INPUT, "%s: member %s is no NumPy array", t->name,
                       name);
    if (sp_npy_refused(&a->head))
        return sp_fail(SPRY_INPUT, "%s: member %s %s", t->name, name,
                       sp_npy_refused(&a->head));
    return SPRY_OK;
}

static void close_array(npy *a)
{
    sp_zip_close(&a->member);
}

/* Text of at most three letters: 'csr'. */
static void load_word(char out[4], const npy *a)
{
    int step = a->head.kind == 'U' ? 4 : 1, n = a->head.size / step;

    memset(out, 0, 4);
    for (int i = 0; i < 3 && i < n && a->head.count == 1; i++)
        out[i] = a->at[i * step + (a->head.swap ? step - 1 : 0)];
}

/* ---- from arrays to triples ---- */

/* Open a member that must be n whole numbers. */
static spry_status open_ints(npy *a, int64_t n, const sp_text *t,
                             const char *name)
{
    spry_status s = open_array(a, t, name);

    if (s == SPRY_OK && (a->head.count != n || !strchr("iu", a->head.kind)))
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
        out[k] = sp_npy_int(&a.head, a.at, k);
    close_array(&a);
    return s;
}

/* The values decide how many entries there are. */
static spry_status read_values(sp_triples *out, spry_type *type,
                               const sp_text *t)
{
    npy a = {0};
    spry_status s = open_array(&a, t, "data.npy");

    if (s == SPRY_OK && strchr("SU", a.head.kind))
        s = sp_fail(SPRY_INPUT, "%s: member data.npy holds text", t->name);
    if (s == SPRY_OK)
        s = sp_triples_make(out, a.head.count, 1);
    for (int64_t k = 0; s == SPRY_OK && k < a.head.count; k++)
        out->val[k] = sp_npy_real(&a.head, a.at, k);
    *type = a.head.kind == 'f' && a.head.size == 4 ? SPRY_F32 : SPRY_F64;
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
        start[k] = sp_npy_int(&a.head, a.at, k);
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

    if (s == SPRY_OK && strchr("SU", a.head.kind))
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
