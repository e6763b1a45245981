/* fibers.c - what a tensor's entries share: fibers, and rows used again. */
#include "problem/sparse.h"

#include "base/base.h"
#include "matrix/matrix.h"

/* When an index of one mode was last used, and by which slice. */
typedef struct {
    int64_t entry, slice; /* + 1; 0: never */
} use;

static void count_use(sp_fibers *s, int mode, const use *before, int64_t now)
{
    int bin;

    if (!before->entry) {
        s->used[mode]++;
        return;
    }
    bin = 63 - __builtin_clzll((unsigned long long)(now - before->entry));
    s->reuse[mode][bin < SPRY_REUSE ? bin : SPRY_REUSE - 1]++;
}

/* One walk over the entries, in the order i, k, l. A row of B is used once
 * per fiber, a row of D once per entry. */
static void walk(sp_fibers *s, const sp_sparse *p, use *k, use *l)
{
    const spry_matrix *A = p->A;

    for (int64_t i = 0; i < A->rows; i++) {
        int64_t last = -1;

        s->used[0] += A->start[i] < A->start[i + 1];
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            use *b = &k[sp_col(A, e) / p->inner];
            use *d = &l[sp_col(A, e) % p->inner];

            if (b - k != last) {
                s->pairs[0]++;
                count_use(s, 1, b, e + 1);
                b->entry = e + 1;
            }
            last = b - k;
            s->pairs[1] += d->slice != i + 1;
            count_use(s, 2, d, e + 1);
            *d = (use){e + 1, i + 1};
        }
    }
}

spry_status sp_fibers_count(sp_fibers *out, const sp_sparse *p)
{
    use *k = sp_alloc(p->mid, sizeof *k), *l = sp_alloc(p->inner, sizeof *l);
    spry_status s = SPRY_OK;

    *out = (sp_fibers){{0}, {0}, {{0}}};
    if (k && l)
        walk(out, p, k, l);
    else
        s = sp_fail_memory((size_t)(p->mid + p->inner) * sizeof *k);
    sp_free(k);
    sp_free(l);
    return s;
}
