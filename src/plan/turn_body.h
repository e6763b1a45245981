/* turn_body.h - transposes of blocks in registers, a part of direct_body.h
 * that, by including itself, is there for each type. */
#ifndef SP_PLAN_TURN_BODY_H
#define SP_PLAN_TURN_BODY_H

#ifdef __clang__
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(a, b, ...) __builtin_shuffle(a, b, (OWN(bits)){__VA_ARGS__})
#endif

#define KIND  f32
#define REAL  float
#define BITS  int32_t
#define LANES 4
#include "plan/turn_body.h"
#define KIND f64
#define REAL double
#define BITS int64_t
#if BYTES >= 32
#define LANES 4
#else
#define LANES 2
#endif
#include "plan/turn_body.h"

#else

typedef REAL OWN(vec) __attribute__((vector_size(LANES * sizeof(REAL))));
typedef REAL OWN(mem) __attribute__((vector_size(LANES * sizeof(REAL)),
                                     aligned(sizeof(REAL)), may_alias));
typedef BITS OWN(bits) __attribute__((vector_size(LANES * sizeof(REAL))));

/* LANES rows of LANES elements. */
INLINE void OWN(tile)(const REAL *in, int64_t ldi, REAL *out, int64_t ldo)
{
    OWN(vec) a = *(const OWN(mem) *)in;
    OWN(vec) b = *(const OWN(mem) *)(in + ldi);
#if LANES == 4
    OWN(vec) c = *(const OWN(mem) *)(in + 2 * ldi);
    OWN(vec) d = *(const OWN(mem) *)(in + 3 * ldi);
    OWN(vec) p = MIX(a, b, 0, 4, 2, 6), q = MIX(a, b, 1, 5, 3, 7);
    OWN(vec) r = MIX(c, d, 0, 4, 2, 6), s = MIX(c, d, 1, 5, 3, 7);

    *(OWN(mem) *)out = MIX(p, r, 0, 1, 4, 5);
    *(OWN(mem) *)(out + ldo) = MIX(q, s, 0, 1, 4, 5);
    *(OWN(mem) *)(out + 2 * ldo) = MIX(p, r, 2, 3, 6, 7);
    *(OWN(mem) *)(out + 3 * ldo) = MIX(q, s, 2, 3, 6, 7);
#else
    *(OWN(mem) *)out = MIX(a, b, 0, 2);
    *(OWN(mem) *)(out + ldo) = MIX(a, b, 1, 3);
#endif
}

/* A block that the first cache holds, walked along the side whose elements
 * may be pages apart: few of its lines at a time, each as a whole. */
INLINE void OWN(block)(const REAL *in, int64_t ldi, REAL *out, int64_t ldo,
                       int64_t rows, int64_t cols, int along_rows)
{
    int64_t r = rows / LANES * LANES, c = cols / LANES * LANES;

    if (along_rows)
        for (int64_t j = 0; j < c; j += LANES)
            for (int64_t i = 0; i < r; i += LANES)
                OWN(tile)(in + i * ldi + j, ldi, out + j * ldo + i, ldo);
    else
        for (int64_t i = 0; i < r; i += LANES)
            for (int64_t j = 0; j < c; j += LANES)
                OWN(tile)(in + i * ldi + j, ldi, out + j * ldo + i, ldo);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < r ? c : 0; j < cols; j++)
            out[j * ldo + i] = in[i * ldi + j];
}

static void OWN(turn)(const void *from, int64_t ldi, void *to, int64_t ldo,
                      int64_t rows, int64_t cols)
{
    enum { LONG = 64, SHORT = 16 };
    const REAL *in = from;
    REAL *out = to;
    int tall = rows >= cols;
    int64_t down = tall ? LONG : SHORT, right = tall ? SHORT : LONG;

    for (int64_t i = 0; i < rows; i += down)
        for (int64_t j = 0; j < cols; j += right)
            OWN(block)
    (in + i * ldi + j, ldi, out + j * ldo + i, ldo,
     rows - i < down ? rows - i : down, cols - j < right ? cols - j : right,
     tall);
}

#undef KIND
#undef REAL
#undef BITS
#undef LANES
#endif
