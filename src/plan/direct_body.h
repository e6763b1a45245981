/* direct_body.h - loops over compressed columns and blocks, and transposes,
 * compiled once for each instruction set and, by including itself, for each
 * type and index. */
#ifndef SP_PLAN_DIRECT_BODY_H
#define SP_PLAN_DIRECT_BODY_H

#include "plan/direct.h"

#define INLINE     static inline __attribute__((always_inline))
#define GLUE(a, b) a##_##b
#define JOIN(a, b) GLUE(a, b)
#define OWN(name)  JOIN(name, KIND)

#include "plan/turn_body.h"

#define KIND  f32_i32
#define REAL  float
#define INDEX int32_t
#include "plan/direct_body.h"
#define KIND  f32_i64
#define REAL  float
#define INDEX int64_t
#include "plan/direct_body.h"
#define KIND  f64_i32
#define REAL  double
#define INDEX int32_t
#include "plan/direct_body.h"
#define KIND  f64_i64
#define REAL  double
#define INDEX int64_t
#include "plan/direct_body.h"

const sp_direct SET(sp_direct) = {{{add_columns_f32_i32, add_columns_f32_i64},
                                   {add_columns_f64_i32, add_columns_f64_i64}},
                                  {{add_blocks_f32_i32, add_blocks_f32_i64},
                                   {add_blocks_f64_i32, add_blocks_f64_i64}},
                                  {turn_f32, turn_f64},
                                  {{by_columns_f32_i32, by_columns_f32_i64},
                                   {by_columns_f64_i32, by_columns_f64_i64}}};

#else

/* ---- columns ---- */

/* Entry by entry: a row of X is added to a row of Y. */
static void OWN(add_columns)(const spry_compressed *A, int64_t n,
                             const void *in, void *out, int64_t from,
                             int64_t to)
{
    const INDEX *start = A->indptr, *row = A->indices;
    const REAL *val = A->values, *X = in;
    REAL *Y = out;

    if (n == 1) {
        for (int64_t j = from; j < to; j++)
            for (int64_t k = start[j]; k < start[j + 1]; k++)
                Y[row[k]] += val[k] * X[j];
        return;
    }
    for (int64_t j = 0; j < A->cols; j++)
        for (int64_t k = start[j]; k < start[j + 1]; k++) {
            const REAL *restrict x = X + j * n;
            REAL *restrict y = Y + (int64_t)row[k] * n;
            const REAL w = val[k];

            for (int64_t i = from; i < to; i++)
                y[i] += w * x[i];
        }
}

/* ---- blocks ---- */

typedef REAL OWN(vec)
    __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
enum { OWN(LANES) = BYTES / sizeof(REAL) };

/* A row of blocks, and where its operands lie. */
typedef struct {
    const INDEX *col;
    const REAL *val; /* of its first block, at the first of the rows wanted */
    int64_t count, r, c, n;
    const REAL *X;
    REAL *Y; /* of the first of the rows wanted */
} OWN(block_row);

/* `rows` of its rows times a vector. */
INLINE void OWN(one)(const OWN(block_row) * b, const int rows, const int64_t c)
{
    REAL sum[4] = {0};

    for (int64_t k = 0; k < b->count; k++) {
        const REAL *v = b->val + k * b->r * c;
        const REAL *x = b->X + (int64_t)b->col[k] * c;

        for (int p = 0; p < rows; p++)
            for (int64_t q = 0; q < c; q++)
                sum[p] += v[p * c + q] * x[q];
    }
    for (int p = 0; p < rows; p++)
        b->Y[p] += sum[p];
}

INLINE void OWN(vector)(const OWN(block_row) * b, const int rows)
{
    switch (b->c) {
    case 1: OWN(one)(b, rows, 1); break;
    case 2: OWN(one)(b, rows, 2); break;
    case 3: OWN(one)(b, rows, 3); break;
    case 4: OWN(one)(b, rows, 4); break;
    case 8: OWN(one)(b, rows, 8); break;
    default: OWN(one)(b, rows, b->c);
    }
}

/* `rows` of its rows times `wide` vectors of dense columns from j on. */
INLINE void OWN(strip)(const OWN(block_row) * b, const int rows, const int wide,
                       int64_t j)
{
    OWN(vec) sum[4][2] = {0};

    for (int64_t k = 0; k < b->count; k++) {
        const REAL *v = b->val + k * b->r * b->c;
        const REAL *x = b->X + (int64_t)b->col[k] * b->c * b->n + j;

        for (int64_t q = 0; q < b->c; q++, x += b->n)
            for (int p = 0; p < rows; p++)
                for (int t = 0; t < wide; t++)
                    sum[p][t] += v[p * b->c + q] *
                                 *(const OWN(vec) *)(x + t * OWN(LANES));
    }
    for (int p = 0; p < rows; p++)
        for (int t = 0; t < wide; t++)
            *(OWN(vec) *)(b->Y + p * b->n + j + t * OWN(LANES)) += sum[p][t];
}

/* One dense column: what vectors leave over. */
INLINE void OWN(column)(const OWN(block_row) * b, const int rows, int64_t j)
{
    REAL sum[4] = {0};

    for (int64_t k = 0; k < b->count; k++) {
        const REAL *v = b->val + k * b->r * b->c;
        const REAL *x = b->X + (int64_t)b->col[k] * b->c * b->n + j;

        for (int64_t q = 0; q < b->c; q++, x += b->n)
            for (int p = 0; p < rows; p++)
                sum[p] += v[p * b->c + q] * *x;
    }
    for (int p = 0; p < rows; p++)
        b->Y[p * b->n + j] += sum[p];
}

INLINE void OWN(some_rows)(const OWN(block_row) * b, const int rows)
{
    enum { L = OWN(LANES) };
    int64_t j = 0;

    if (b->n == 1) {
        OWN(vector)(b, rows);
        return;
    }
    for (; j + 2 * L <= b->n; j += 2 * L)
        OWN(strip)(b, rows, 2, j);
    for (; j + L <= b->n; j += L)
        OWN(strip)(b, rows, 1, j);
    for (; j < b->n; j++)
        OWN(column)(b, rows, j);
}

static void OWN(add_blocks)(const spry_compressed *A, int64_t r, int64_t c,
                            int64_t n, const void *in, void *out, int64_t from,
                            int64_t to)
{
    const INDEX *start = A->indptr;

    for (int64_t i = from; i < to; i++) {
        OWN(block_row)
        b = {.col = (const INDEX *)A->indices + start[i],
             .val = (const REAL *)A->values + start[i] * r * c,
             .count = start[i + 1] - start[i],
             .r = r,
             .c = c,
             .n = n,
             .X = in,
             .Y = (REAL *)out + i * r * n};
        int64_t left = r;

        while (left > 0) {
            int took = left >= 4 ? 4 : left >= 2 ? 2 : 1;

            if (took == 4)
                OWN(some_rows)(&b, 4);
            else if (took == 2)
                OWN(some_rows)(&b, 2);
            else
                OWN(some_rows)(&b, 1);
            b.val += took * c;
            b.Y += took * n;
            left -= took;
        }
    }
}

/* ---- dense columns one after the other ---- */

/* `count` dense columns from j on. */
INLINE void OWN(few_columns)(const sp_args *a, const int count, int64_t j)
{
    const INDEX *start = a->start, *col = a->col;
    const REAL *val = a->val, *b[4];
    const REAL alpha = (REAL)a->alpha, beta = (REAL)a->beta;
    REAL *c[4];

    for (int q = 0; q < count; q++) {
        b[q] = (const REAL *)a->B + (j + q) * a->n;
        c[q] = (REAL *)a->C + (j + q) * a->wide;
    }
    for (int64_t i = a->first; i < a->last; i++) {
        REAL sum[4] = {0};

        for (int64_t k = start[i]; k < start[i + 1]; k++)
            for (int q = 0; q < count; q++)
                sum[q] += val[k] * b[q][col[k]];
        for (int q = 0; q < count; q++)
            c[q][i] = alpha * sum[q] + (beta != 0 ? beta * c[q][i] : 0);
    }
}

/* Some rows at a time, so that the cache has their entries for the next
 * columns. */
static void OWN(by_columns)(const sp_args *a)
{
    enum { SLAB = 2048 };
    int64_t j;

    for (int64_t i = a->first; i < a->last; i += SLAB) {
        sp_args slab = *a;

        slab.first = i;
        slab.last = a->last - i < SLAB ? a->last : i + SLAB;
        for (j = 0; j + 4 <= a->columns; j += 4)
            OWN(few_columns)(&slab, 4, j);
        if (j + 2 <= a->columns) {
            OWN(few_columns)(&slab, 2, j);
            j += 2;
        }
        if (j < a->columns)
            OWN(few_columns)(&slab, 1, j);
    }
}

#undef KIND
#undef REAL
#undef INDEX
#endif
