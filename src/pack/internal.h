/* internal.h - shared by the packers. */
#ifndef SP_PACK_INTERNAL_H
#define SP_PACK_INTERNAL_H

#include <string.h>

#include "matrix/matrix.h"
#include "pack/pack.h"

/* What a packer works on. */
typedef struct {
    const sp_sparse *p;
    const spry_matrix *A;
    const spry_schedule *x;
    int lanes;
    int threads; /* to pack with */
    sp_packed *k;
    const sp_palette *palette; /* of several values, else NULL */
} sp_pack_job;

typedef spry_status sp_packer(sp_pack_job *w);
sp_packer sp_pack_csr, sp_pack_panels, sp_pack_bcsr, sp_pack_sell, sp_pack_dia,
    sp_pack_tensor, sp_pack_super;

/* sp_pack of values that need not be symmetric: those of the upper triangle are
 * taken. */
spry_status sp_pack_as_is(sp_packed **out, const sp_sparse *p,
                          const spry_schedule *x, int lanes, int threads);

/* The segments [from[i], to[i]) of A's entries, sliced; see sell.c. */
spry_status sp_pack_sell_panel(sp_pack_job *w, sp_part *q, const int64_t *from,
                               const int64_t *to);

/* How many threads it takes to pack A, of those that may be used. */
int sp_pack_threads(const spry_matrix *A, int threads);

/* Add `count` empty parts. */
spry_status sp_pack_parts(sp_pack_job *w, int count);
/* Room for `units` + 1 starts, `entries` columns and `values` values. */
spry_status sp_pack_arrays(sp_pack_job *w, sp_part *q, int64_t units,
                           int64_t entries, int64_t values);
/* An array of `count` indices as wide as start. */
void *sp_pack_indices(sp_pack_job *w, int64_t count);
/* Entries [from, from + n) of the matrix go to places [to, to + n) of the
 * part, columns counted from `base` (copy.c). */
void sp_pack_copy(const sp_pack_job *w, sp_part *q, int64_t to, int64_t from,
                  int64_t n, int64_t base);

/* Settle w->k->index for columns that reach `span` beyond a unit's base. */
spry_status sp_pack_width(sp_pack_job *w, int64_t entries, int64_t span);

/* Refuse to store more than a few times what the matrix holds. */
spry_status sp_pack_limit(const sp_pack_job *w, double values);

/* The schedule's row order into row[rows]; see order.c. */
spry_status sp_pack_order(const sp_pack_job *w, int64_t *row);

/* Row i is entries [from[i], to[i]) of A. */
typedef struct {
    const int64_t *from, *to;
} sp_segments;

/* Each window of `sigma` of row[rows] longest first; equal rows keep their
 * order. */
spry_status sp_pack_sort(const sp_pack_job *w, int64_t *row, int64_t sigma,
                         const sp_segments *g);

/* Of one triangle: where entries went, and those in their mirror places; the
 * packer's answer when it was asked to pack numbers, 1 + entry (runs.c). */
typedef struct sp_runs sp_runs;
spry_status sp_runs_make(sp_runs **out, const sp_sparse *p,
                         const sp_packed *numbers);
void sp_runs_free(sp_runs *w);
/* value[nnz], in the type of p's matrix, become the values of q; 0, and q is as
 * it was, when they are not symmetric. And back: both triangles in p's type. */
int sp_runs_put(sp_part *q, sp_runs *w, const sp_sparse *p, const void *value,
                int threads);
void sp_runs_values(void *out, const sp_runs *w, const sp_sparse *p,
                    const void *val);

/* Of slices of `apart` rows: where codes of entries went (code_tiles.c). */
typedef struct sp_code_tiles sp_code_tiles;
enum { SP_CODES_BEHIND = 8 }; /* codes that are read behind the last */
int sp_code_tiles_fit(int apart);
/* *out is NULL when it does not pay. */
spry_status sp_code_tiles_make(sp_code_tiles **out, int apart,
                               const sp_part *numbers);
void sp_code_tiles_free(sp_code_tiles *w);
/* Codes of entries into those of places; and the values of q, a part of so
 * stored codes, in the order of entries. */
void sp_code_tiles_put(uint8_t *code, const sp_code_tiles *w, const uint8_t *of,
                       int threads);
void sp_code_tiles_values(void *out, const sp_code_tiles *w, const sp_sparse *p,
                          const sp_part *q);

/* Cut each part so that threads have equal work. */
spry_status sp_pack_cut(sp_pack_job *w);

/* array[k] = v in start's width, col's width, the problem's type. */
static inline void sp_put_wide(const sp_pack_job *w, void *array, int64_t k,
                               int64_t v)
{
    if (w->k->index == 64)
        ((int64_t *)array)[k] = v;
    else
        ((int32_t *)array)[k] = (int32_t)v;
}

static inline int64_t sp_get_wide(const sp_pack_job *w, const void *array,
                                  int64_t k)
{
    return w->k->index == 64 ? ((const int64_t *)array)[k]
                             : ((const int32_t *)array)[k];
}

static inline void sp_put_col(const sp_pack_job *w, void *array, int64_t k,
                              int64_t v)
{
    if (w->k->index == 8)
        ((uint8_t *)array)[k] = (uint8_t)v;
    else if (w->k->index == 16)
        ((uint16_t *)array)[k] = (uint16_t)v;
    else
        sp_put_wide(w, array, k, v);
}

/* Of a palette the code is kept; of one value nothing. */
static inline void sp_put_val(const sp_pack_job *w, sp_part *q, int64_t k,
                              double v)
{
    if (w->palette)
        q->code[k] = (uint8_t)sp_palette_code(w->palette, v);
    else if (w->x->palette)
        return;
    else if (w->p->type == SPRY_F32)
        ((float *)q->val)[k] = (float)v;
    else
        ((double *)q->val)[k] = v;
}

#endif
