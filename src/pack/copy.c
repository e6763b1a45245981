/* copy.c - a run of entries from the matrix into packed arrays.
 *
 * Widths and types are told apart once per run, not once per entry, so the
 * loops are ones that a compiler turns into vectors. */
#include "pack/internal.h"

#define COPY(name, To, From)                                              \
    static void name(void *to, const void *from, int64_t n, int64_t less) \
    {                                                                     \
        To *restrict out = to;                                            \
        const From *restrict in = from;                                   \
                                                                          \
        for (int64_t i = 0; i < n; i++)                                   \
            out[i] = (To)(in[i] - (From)less);                            \
    }

COPY(i32_u16, uint16_t, int32_t)
COPY(i32_i32, int32_t, int32_t)
COPY(i32_i64, int64_t, int32_t)
COPY(i64_u16, uint16_t, int64_t)
COPY(i64_i32, int32_t, int64_t)
COPY(i64_i64, int64_t, int64_t)
COPY(f32_f32, float, float)
COPY(f32_f64, double, float)
COPY(f64_f32, float, double)
COPY(f64_f64, double, double)

typedef void copier(void *to, const void *from, int64_t n, int64_t less);

void sp_pack_copy(const sp_pack_job *w, sp_part *q, int64_t to, int64_t from,
                  int64_t n, int64_t base)
{
    static copier *const columns[2][3] = {{i32_u16, i32_i32, i32_i64},
                                          {i64_u16, i64_i32, i64_i64}};
    static copier *const values[2][2] = {{f32_f32, f32_f64},
                                         {f64_f32, f64_f64}};
    const spry_matrix *A = w->A;
    int64_t width = w->k->index / 8, size = (int64_t)w->p->type;
    int wide = A->index != SPRY_I32, step = wide ? 8 : 4;

    columns[wide][width == 8 ? 2 : width / 4](
        (char *)q->col + to * width, (const char *)A->col + from * step, n,
        base);
    for (int64_t k = 0; w->palette && k < n; k++)
        sp_put_val(w, q, to + k, sp_val(A, from + k));
    if (w->x->palette)
        return; /* codes, or one value that stands for all */
    values[A->type == SPRY_F64][w->p->type == SPRY_F64](
        (char *)q->val + to * size,
        (const char *)A->val + from * (int64_t)A->type, n, 0);
}
