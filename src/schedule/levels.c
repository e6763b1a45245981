/* levels.c - what the levels of a nest store, known before it is stored.
 *
 * A level is dense or compressed. A dense one gives every position of the
 * level above `extent` positions of its own. A compressed one has a position
 * for every different beginning (its coordinate and all above it) that an
 * entry has, so counting those in sorted order sizes every array exactly. Of
 * a matrix they need not be sorted: each beginning is a block of it. */
#include <string.h>

#include "matrix/matrix.h"
#include "schedule/super.h"

/* ---- coordinates ---- */

static int bits_of(int64_t extent)
{
    return extent <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)extent - 1);
}

void sp_dims_of(int64_t dim[SPRY_INDICES], const sp_sparse *p)
{
    const sp_operation *d = sp_operation_of(p->op);

    memset(dim, 0, SPRY_INDICES * sizeof *dim);
    for (int i = 0; i < d->modes; i++)
        dim[d->sparse[i]] = sp_sparse_extent(p, d->sparse[i]);
}

static void add_level(sp_levels *v, const spry_super *s, int loop)
{
    int index = sp_loop_index(loop);
    int64_t dim = v->dim[index], split = INT64_C(1) << s->split[index];
    int64_t size = split < dim ? split : dim > 1 ? dim : 1;
    sp_level *l = &v->level[v->count++];

    v->size[index] = size;
    l->loop = loop;
    l->dense = s->dense >> loop & 1;
    l->extent = sp_loop_inner(loop) ? size : (dim + size - 1) / size;
}

/* Does the nest add up a result of sddmm in parts, each of them multiplied by
 * A's value? An infinite one times a part that is 0 is NaN, though it is not
 * for the whole. */
static int adds_parts(const spry_super *s, const sp_operation *d)
{
    int last = s->loops - 1;

    while (last >= 0 && !sp_is_sparse(d, sp_loop_index(s->order[last])))
        last--;
    for (int q = 0; q < last; q++)
        if (!sp_is_sparse(d, sp_loop_index(s->order[q])))
            return 1;
    return s->parallel && !sp_is_sparse(d, sp_loop_index(s->parallel - 1));
}

static spry_status check_parts(const spry_super *s, const sp_sparse *p)
{
    const spry_stats *stats;

    if (!sp_is_sampled(p->op) || !adds_parts(s, sp_operation_of(p->op)))
        return SPRY_OK;
    stats = spry_problem_stats(&p->head);
    if (!stats)
        return sp_fail_memory(sizeof *stats);
    return stats->not_finite == 0
               ? SPRY_OK
               : sp_fail(SPRY_USAGE, "a value is not finite, and this nest "
                                     "would multiply it by parts of sums");
}

spry_status sp_levels_of(sp_levels *out, const spry_schedule *x,
                         const sp_sparse *p)
{
    const sp_operation *d = sp_operation_of(p->op);
    spry_status s = check_parts(&x->super, p);

    *out = (sp_levels){.count = 0};
    if (s != SPRY_OK)
        return s;
    sp_dims_of(out->dim, p);
    for (int q = 0; q < x->super.loops; q++)
        if (sp_is_sparse(d, sp_loop_index(x->super.order[q])))
            add_level(out, &x->super, x->super.order[q]);
    for (int l = out->count - 1; l >= 0; l--) {
        out->level[l].shift = out->bits;
        out->bits += bits_of(out->level[l].extent);
    }
    return out->bits < 64 ? SPRY_OK
                          : sp_fail(SPRY_USAGE,
                                    "coordinates of %d bits do "
                                    "not fit a key of 63",
                                    out->bits);
}

/* Where the bits of an index go: outer ones and inner ones. */
typedef struct {
    int split, outer, inner;
} places;

static places places_of(const sp_levels *v, const spry_super *s, int index)
{
    places to = {s->split[index], 0, 0};

    for (int l = 0; l < v->count; l++) {
        if (v->level[l].loop == 2 * index)
            to.outer = v->level[l].shift;
        if (v->level[l].loop == 2 * index + 1)
            to.inner = v->level[l].shift;
    }
    return to;
}

static uint64_t spread(const places *to, int64_t c)
{
    uint64_t x = (uint64_t)c, inside = (UINT64_C(1) << to->split) - 1;

    return x >> to->split << to->outer | (x & inside) << to->inner;
}

static void make_keys(sp_keyed *out, const sp_levels *v, const spry_super *s,
                      const sp_sparse *p)
{
    const sp_operation *d = sp_operation_of(p->op);
    const spry_matrix *A = p->A;
    places to[SP_SPARSE] = {{0}};
    int64_t inner = d->modes == 3 ? p->inner : 1;

    for (int i = 0; i < d->modes; i++)
        to[i] = places_of(v, s, d->sparse[i]);
#pragma omp parallel for schedule(static) if (A->nnz > 65536)
    for (int64_t row = 0; row < A->rows; row++) {
        uint64_t above = spread(&to[0], row);

        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            int64_t c = sp_col(A, k);

            out[k].key = above | (d->modes == 3 ? spread(&to[1], c / inner) |
                                                      spread(&to[2], c % inner)
                                                : spread(&to[1], c));
            out[k].at = k;
        }
    }
}

spry_status sp_levels_sort(sp_keyed **out, const sp_levels *v,
                           const spry_super *s, const sp_sparse *p)
{
    int64_t nnz = p->A->nnz;
    sp_keyed *a = sp_alloc_raw(nnz, sizeof *a);
    sp_keyed *room = sp_alloc_raw(nnz, sizeof *room);

    *out = NULL;
    if (!a || !room) {
        sp_free(a);
        sp_free(room);
        return sp_fail_memory(2 * (size_t)nnz * sizeof *a);
    }
    make_keys(a, v, s, p);
    *out = sp_radix_sort(a, room, nnz, v->bits);
    sp_free(*out == a ? room : a);
    return SPRY_OK;
}

/* ---- sizes ---- */

/* Different beginnings of the entries, down to a level. */
static int64_t count_beginnings(const sp_keyed *entry, int64_t nnz, int shift)
{
    int64_t changes = nnz > 0;

#pragma omp parallel for schedule(static) \
    reduction(+                           \
              : changes) if (nnz > 65536)
    for (int64_t t = 1; t < nnz; t++)
        changes += entry[t].key >> shift != entry[t - 1].key >> shift;
    return changes;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX - 1 : product;
}

sp_beginnings sp_levels_begin(const sp_levels *v, const sp_keyed *entry,
                              int64_t nnz)
{
    sp_beginnings b = {{0}};

    for (int l = 0; l + 1 < v->count; l++)
        if (!v->level[l].dense)
            b.at[l] = count_beginnings(entry, nnz, v->level[l].shift);
    return b;
}

/* How many bits of an index are not told by the levels down to the l-th. */
static int untold(const sp_levels *v, const spry_super *s, int index, int l)
{
    int bits = SP_BLOCK_ALL;

    for (int i = 0; i <= l; i++)
        if (sp_loop_index(v->level[i].loop) == index)
            bits = sp_loop_inner(v->level[i].loop) ? 0 : s->split[index];
    return bits;
}

/* The same for a matrix, from its blocks. */
static spry_status begin_blocks(sp_beginnings *out, const sp_levels *v,
                                const spry_super *s, const sp_sparse *p)
{
    const sp_operation *d = sp_operation_of(p->op);

    *out = (sp_beginnings){{0}};
    for (int l = 0; l + 1 < v->count; l++) {
        if (v->level[l].dense)
            continue;
        out->at[l] = sp_problem_blocks(p, untold(v, s, d->sparse[0], l),
                                       untold(v, s, d->sparse[1], l));
        if (out->at[l] < 0)
            return sp_fail_memory((size_t)p->A->cols * sizeof(int64_t));
    }
    return SPRY_OK;
}

sp_level_sizes sp_levels_count(const sp_levels *v, const sp_beginnings *b,
                               int64_t nnz)
{
    sp_level_sizes z = {.values = 1};

    for (int l = 0; l < v->count; l++) {
        if (v->level[l].dense) {
            z.values = times(z.values, v->level[l].extent);
            continue;
        }
        z.pos[l] = z.values + 1;
        if (l + 1 == v->count)
            z.values = nnz;
        else
            z.values = b ? b->at[l] : nnz > 0;
        z.crd[l] = z.values;
    }
    return z;
}

spry_status sp_levels_feasible(const sp_level_sizes *z, int64_t nnz)
{
    enum { TIMES = 20, SMALL = 65536 };
    int64_t limit = times(TIMES, nnz), most = z->values;

    limit = limit > SMALL ? limit : SMALL;
    for (int l = 0; l < SP_LEVELS_MOST; l++)
        most = z->pos[l] > most ? z->pos[l] : most;
    if (most <= limit)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE,
                   "one array would have %lld elements, more than %d times "
                   "the %lld entries",
                   (long long)most, TIMES, (long long)nnz);
}

int32_t sp_levels_index(const sp_levels *v, const sp_level_sizes *z,
                        const spry_schedule *x)
{
    int wide = x->index == 64 || z->values > INT32_MAX;

    for (int l = 0; l < v->count; l++)
        wide |= v->level[l].extent > INT32_MAX || z->crd[l] > INT32_MAX;
    return wide ? 64 : 32;
}

/* Bytes of all levels, with sddmm's map to results. */
static double bytes_of(const sp_level_sizes *z, int32_t index,
                       const sp_sparse *p)
{
    int mapped = sp_is_sampled(p->op);
    double numbers = mapped ? (double)z->values : 0;

    for (int l = 0; l < SP_LEVELS_MOST; l++)
        numbers += (double)z->pos[l] + (double)z->crd[l];
    return numbers * index / 8 + (double)z->values * (double)p->type;
}

/* Is there a compressed level whose size only the entries tell? */
static int needs_entries(const sp_levels *v)
{
    for (int l = 0; l + 1 < v->count; l++)
        if (!v->level[l].dense)
            return 1;
    return 0;
}

static spry_status begin(sp_beginnings *out, const sp_levels *v,
                         const spry_super *s, const sp_sparse *p)
{
    sp_keyed *entry;
    spry_status status;

    if (sp_operation_of(p->op)->modes == 2)
        return begin_blocks(out, v, s, p);
    status = sp_levels_sort(&entry, v, s, p);
    if (status == SPRY_OK)
        *out = sp_levels_begin(v, entry, p->A->nnz);
    sp_free(entry);
    return status;
}

spry_status sp_super_store(sp_super_storage *out, const spry_schedule *x,
                           const sp_sparse *p)
{
    sp_beginnings b;
    spry_status s = sp_levels_of(&out->levels, x, p);

    if (s != SPRY_OK)
        return s;
    out->sizes = sp_levels_count(&out->levels, NULL, p->A->nnz);
    s = sp_levels_feasible(&out->sizes, p->A->nnz);
    if (s == SPRY_OK && needs_entries(&out->levels)) {
        s = begin(&b, &out->levels, &x->super, p);
        if (s == SPRY_OK) {
            out->sizes = sp_levels_count(&out->levels, &b, p->A->nnz);
            s = sp_levels_feasible(&out->sizes, p->A->nnz);
        }
    }
    out->index = sp_levels_index(&out->levels, &out->sizes, x);
    out->bytes = bytes_of(&out->sizes, out->index, p);
    return s;
}
