/* tile_body.h - tiles of sums, compiled once for each instruction set, which
 * defines SET(name) and BYTES.
 *
 * Vectors are the compiler's own. What must be constant for sums to stay in
 * registers is an argument of an inlined function. */
#include <math.h>
#include <string.h>

#include "dense/curves_body.h"
#include "dense/loops.h"

/* As many as there may be sums: those of a loop that is left as one would be
 * in memory. */
#define UNROLL _Pragma("GCC unroll 32")

#if BYTES == 64 || defined(__aarch64__)
enum { SUMS = 28 };
#else
enum { SUMS = 12 };
#endif

/* One number of each pixel of a tile times V vectors of weights. Pixels are
 * reached from every third of them: what one address can express. */
INLINE void multiply(vec sum[SUMS], const float *const *a, int64_t pixel,
                     const float *w, const int MR, const int V)
{
    vec b[SP_TILE_V];

    UNROLL
    for (int v = 0; v < V; v++)
        b[v] = load(w + v * LANES);
    UNROLL
    for (int m = 0; m < MR; m++) {
        float x = a[m / 3][m % 3 * pixel];

        UNROLL
        for (int v = 0; v < V; v++)
            sum[m * V + v] += x * b[v];
    }
}

/* Small tiles have no time to fetch what they do not need yet. */
INLINE int fetches(const int MR, const int V)
{
    return V >= 2 && MR * V >= 8;
}

INLINE void add_terms(vec sum[SUMS], const float *in, int64_t pixel,
                      const float *w, int64_t length, const float *next,
                      const int FETCH, const int MR, const int V)
{
    const float *a[(SP_TILE_MR + 2) / 3];

    UNROLL
    for (int m = 0; m < MR; m += 3)
        a[m / 3] = in + m * pixel;
    for (int64_t i = 0; i < length; i++) {
        if (FETCH)
            __builtin_prefetch(next + i * SP_TILE_LINE, 0, 2);
        multiply(sum, a, pixel, w, MR, V);
        w += V * LANES;
        UNROLL
        for (int m = 0; m < MR; m += 3)
            a[m / 3]++;
    }
}

INLINE void add_taps(vec sum[SUMS], const sp_tile *t, const float *in,
                     int64_t fetched, const int MR, const int V)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t s = 0; s < t->cols; s++, fetched += t->length) {
            const float *from = in + r * t->row + s * t->col;
            const float *w = t->w + r * t->w_row + s * t->w_col;

            if (fetches(MR, V) && fetched >= 0 &&
                fetched + t->length <= t->lines)
                add_terms(sum, from, t->pixel, w, t->length,
                          t->next + fetched * SP_TILE_LINE, 1, MR, V);
            else
                add_terms(sum, from, t->pixel, w, t->length, NULL, 0, MR, V);
        }
}

/* ---- what becomes of the sums ---- */

/* What is short is done in registers. */
INLINE vec finish(vec x, const sp_finish *f)
{
    vec low = same(f->low), high = same(f->high);

    if (f->act == SPRY_ACT_HSWISH)
        return curve(x, SPRY_ACT_HSWISH, 0, 0);
    if (!f->clamps)
        return x;
    return clamp(x, low, high);
}

/* Vector v of pixel m; the last of a block may be a part of one. */
INLINE void put(const sp_tile *t, float *out, const float *add, vec x, int v)
{
    int64_t left = t->keep - v * LANES;

    if (t->bias)
        x += load(t->bias + v * LANES);
    if (left >= LANES) {
        if (add)
            x += load(add + v * LANES);
        store(out + v * LANES, finish(x, t->f));
    } else if (left > 0) {
        if (add)
            x += load_part(add + v * LANES, left);
        store_part(out + v * LANES, finish(x, t->f), left);
    }
}

/* Curves, on what was just stored. */
static __attribute__((noinline)) void finish_curved(const sp_tile *t,
                                                    float *out,
                                                    const float *add, int mr)
{
    for (int m = 0; m < mr; m++, out += t->pitch) {
        if (t->f->act != SPRY_ACT_HSWISH)
            bend(out, t->keep, t->f);
        if (!add || !t->f->adds_after)
            continue;
        for (int64_t j = 0; j < t->keep; j++)
            out[j] += add[m * t->pitch + j];
    }
}

/* What is most often done to whole vectors, without a question for each:
 * short sums would take as long to be asked about as to be summed up. */
typedef enum { ASKED, CLAMPED, SWISHED, ADDED } ending;

INLINE ending ending_of(const sp_tile *t, const int V)
{
    if (!t->last || t->keep < V * LANES)
        return ASKED;
    if (t->add)
        return t->f->adds_before && !t->f->curved ? ADDED : ASKED;
    if (t->f->act == SPRY_ACT_HSWISH)
        return SWISHED;
    return t->f->curved ? ASKED : CLAMPED;
}

INLINE void put_all(const sp_tile *t, float *out, const float *add,
                    const vec sum[SUMS], const ending how, const int MR,
                    const int V)
{
    static const float zeros[SP_TILE_V * LANES];
    const float *bias = t->bias ? t->bias : zeros;
    vec low = same(t->f->clamps ? t->f->low : -INFINITY);
    vec high = same(t->f->clamps ? t->f->high : INFINITY);

    UNROLL
    for (int m = 0; m < MR; m++, out += t->pitch) {
        UNROLL
        for (int v = 0; v < V; v++) {
            vec x = sum[m * V + v] + load(bias + v * LANES);

            if (how == ADDED)
                x += load(add + m * t->pitch + v * LANES);
            if (how == SWISHED)
                x = curve(x, SPRY_ACT_HSWISH, 0, 0);
            else
                x = clamp(x, low, high);
            store(out + v * LANES, x);
        }
    }
}

INLINE void one_tile(const sp_tile *t, const float *in, float *out,
                     const float *add, int64_t fetched, const ending how,
                     const int MR, const int V)
{
    const float *before = add && t->f->adds_before ? add : NULL;
    vec sum[SUMS];

    UNROLL
    for (int i = 0; i < MR * V; i++)
        sum[i] = t->first ? (vec){0} : load(t->sums + i * LANES);
    add_taps(sum, t, in, fetched, MR, V);
    switch (how) {
    case CLAMPED: put_all(t, out, add, sum, CLAMPED, MR, V); return;
    case SWISHED: put_all(t, out, add, sum, SWISHED, MR, V); return;
    case ADDED: put_all(t, out, add, sum, ADDED, MR, V); return;
    case ASKED: break;
    }
    if (!t->last) {
        UNROLL
        for (int i = 0; i < MR * V; i++)
            store(t->sums + i * LANES, sum[i]);
        return;
    }
    UNROLL
    for (int m = 0; m < MR; m++) {
        UNROLL
        for (int v = 0; v < V; v++)
            put(t, out + m * t->pitch, before ? before + m * t->pitch : NULL,
                sum[m * V + v], v);
    }
    if ((t->f->curved && t->f->act != SPRY_ACT_HSWISH) || t->f->adds_after)
        finish_curved(t, out, add, MR);
}

INLINE void tiles(const sp_tile *t, const int MR, const int V)
{
    const float *in = t->in, *add = t->add;
    const ending how = ending_of(t, V);
    int64_t fetched = t->fetched;
    float *out = t->out;

    for (int64_t i = 0; i < t->tiles; i++) {
        one_tile(t, in, out, add, fetched, how, MR, V);
        fetched += t->rows * t->cols * t->length;
        in += MR * t->pixel;
        out += MR * t->pitch;
        add = add ? add + MR * t->pitch : NULL;
    }
}

/* ---- the table ---- */

#define KERNEL(v, mr)                             \
    static void tile_##v##_##mr(const sp_tile *t) \
    {                                             \
        tiles(t, mr, v);                          \
    }

#define UP_TO_3(DO, v)  DO(v, 1) DO(v, 2) DO(v, 3)
#define UP_TO_4(DO, v)  UP_TO_3(DO, v) DO(v, 4)
#define UP_TO_6(DO, v)  UP_TO_4(DO, v) DO(v, 5) DO(v, 6)
#define UP_TO_7(DO, v)  UP_TO_6(DO, v) DO(v, 7)
#define UP_TO_9(DO, v)  UP_TO_7(DO, v) DO(v, 8) DO(v, 9)
#define UP_TO_12(DO, v) UP_TO_9(DO, v) DO(v, 10) DO(v, 11) DO(v, 12)
#define UP_TO_14(DO, v) UP_TO_12(DO, v) DO(v, 13) DO(v, 14)
#define ONES(DO)        DO(5, 1) DO(6, 1) DO(7, 1) DO(8, 1)

#if defined(ALL) /* whoever includes this names those it needs */
#elif BYTES == 64 || defined(__aarch64__)
#define ALL(DO) \
    UP_TO_14(DO, 1) UP_TO_14(DO, 2) UP_TO_9(DO, 3) UP_TO_7(DO, 4) ONES(DO)
#else
#define ALL(DO) \
    UP_TO_12(DO, 1) UP_TO_6(DO, 2) UP_TO_4(DO, 3) UP_TO_3(DO, 4) ONES(DO)
#endif

ALL(KERNEL)

#define ENTRY(v, mr) [v][mr] = tile_##v##_##mr,
const sp_tile_set SET(sp_tile_set) = {.lanes = LANES, .tile = {ALL(ENTRY)}};
