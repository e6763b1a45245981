/* depthwise_body.h - depthwise convolutions: a tile is some pixels of a line
 * times one vector of channels. A line of the filter stays in registers, and
 * every input pixel is loaded once for all the taps that meet it.
 *
 * Arguments are copied: what is stored might else be one of them, and they
 * would be read again for every vector. */
#include "dense/curves_body.h"
#include "dense/loops.h"

#define UNROLL _Pragma("GCC unroll 32")

/* What several sums need is loaded once: the compiler would load it for each
 * of them. */
#if FITS_X86 && BYTES == 64
#define HELD(y) __asm__("" : "+v"(y))
#elif FITS_X86
#define HELD(y) __asm__("" : "+x"(y))
#else
#define HELD(y) (void)0
#endif

/* Floats between input pixels, in the multiples that an address can have:
 * pixel x is the (x % 8)th of every eighth. The compiler is not told that the
 * odd ones belong together: it would add up all of them. */
typedef struct {
    int64_t one, three, five, seven;
} pitches;

INLINE pitches pitches_of(int64_t one)
{
    pitches p = {one, 3 * one, 5 * one, 7 * one};

    __asm__("" : "+r"(p.three), "+r"(p.five), "+r"(p.seven));
    return p;
}

INLINE const float *pixel_of(const float *in, const float *eighth,
                             const pitches *p, const int X)
{
    const float *base = X < 8 ? in : eighth + (X / 8 - 1) * 8 * p->one;

    switch (X % 8) {
    case 1: return base + p->one;
    case 2: return base + 2 * p->one;
    case 3: return base + p->three;
    case 4: return base + 4 * p->one;
    case 5: return base + p->five;
    case 6: return base + 2 * p->three;
    case 7: return base + p->seven;
    default: return base;
    }
}

/* Is input pixel x of a tile surely there? */
INLINE int sure(const int X, const int COUNT, const int S,
                const sp_overhang OVERHANG)
{
    return OVERHANG == SP_OVERHANG_NONE ||
           (OVERHANG == SP_OVERHANG_HALF && X >= S / 2 && X < COUNT - S / 2);
}

/* One line of the filter over the input pixels of a tile, of which only
 * [low, high) exist. */
INLINE void add_line(vec *sum, const sp_depthwise *d, const float *in,
                     const float *w, const pitches *p, int64_t left,
                     const int MR, const int S, const int STEP,
                     const sp_overhang OVERHANG)
{
    const int COUNT = (MR - 1) * STEP + S;
    const float *eighth = in + 8 * p->one;
    vec tap[8];

    UNROLL
    for (int s = 0; s < S; s++)
        tap[s] = load(w + s * d->w_tap);
    UNROLL
    for (int x = 0; x < COUNT; x++) {
        vec y;

        if (!sure(x, COUNT, S, OVERHANG) && (x < d->low || x >= d->high))
            continue;
        y = load_channels(pixel_of(in, eighth, p, x), left);
        HELD(y);
        UNROLL
        for (int s = 0; s < S; s++)
            if (x >= s && (x - s) % STEP == 0 && (x - s) / STEP < MR)
                sum[(x - s) / STEP] += y * tap[s];
    }
}

INLINE void put(const sp_depthwise *d, int64_t c, int64_t left, vec *sum,
                const int MR)
{
    const sp_finish *f = d->f;
    float *out = d->out + c;

    if (d->add && f->adds_before) {
        UNROLL
        for (int m = 0; m < MR; m++)
            sum[m] += load_channels(d->add + m * d->pitch_out + c, left);
    }
    if (f->act == SPRY_ACT_HSWISH) {
        UNROLL
        for (int m = 0; m < MR; m++)
            sum[m] = curve(sum[m], SPRY_ACT_HSWISH, 0, 0);
    } else if (f->clamps) {
        vec low = same(f->low), high = same(f->high);

        UNROLL
        for (int m = 0; m < MR; m++)
            sum[m] = clamp(sum[m], low, high);
    }
    UNROLL
    for (int m = 0; m < MR; m++, out += d->pitch_out)
        store_channels(out, sum[m], left);
}

/* What the tile below will need and nobody had yet, in the order in which it
 * lies: so the machine goes on by itself. Wide filters have enough to do
 * meanwhile. */
INLINE void fetch_below(const sp_depthwise *d, int64_t c, const int MR,
                        const int STEP)
{
    const float *next = d->in + d->rows * d->row + c * MR * STEP;

    UNROLL
    for (int k = 0; k < STEP; k++, next += d->row) {
        UNROLL
        for (int x = 0; x < MR * STEP * LANES; x += 16)
            __builtin_prefetch(next + x);
    }
}

INLINE void vector(const sp_depthwise *d, const pitches *p, int64_t c,
                   int64_t left, const int MR, const int S, const int STEP,
                   const sp_overhang OVERHANG)
{
    vec sum[SP_DEPTHWISE_MR], bias = {0};

    if (S == 3 && d->fetch)
        fetch_below(d, c, MR, STEP);
    if (d->bias)
        bias = load(d->bias + c);
    UNROLL
    for (int m = 0; m < MR; m++)
        sum[m] = bias;
    for (int64_t r = 0; r < d->rows; r++)
        add_line(sum, d, d->in + r * d->row + c, d->w + r * S * d->w_tap + c, p,
                 left, MR, S, STEP, OVERHANG);
    put(d, c, left, sum, MR);
}

/* Curves, on what was just stored. */
INLINE int curves(const sp_finish *f)
{
    return (f->curved && f->act != SPRY_ACT_HSWISH) || f->adds_after;
}

static __attribute__((noinline)) void finish_curved(sp_depthwise d, int mr)
{
    for (int m = 0; m < mr; m++) {
        float *out = d.out + m * d.pitch_out;

        if (d.f->act != SPRY_ACT_HSWISH)
            bend(out, d.channels, d.f);
        for (int64_t j = 0; d.f->adds_after && j < d.channels; j++)
            out[j] += d.add[m * d.pitch_out + j];
    }
}

typedef void rest_kernel(sp_depthwise d, int64_t c);

INLINE void tiles(const sp_depthwise *from, rest_kernel *rest, const int MR,
                  const int S, const int STEP, const sp_overhang OVERHANG)
{
    sp_depthwise d = *from;
    const pitches p = pitches_of(d.pitch);

    for (int64_t i = 0; i < d.tiles; i++) {
        int64_t c = 0;

        for (; c + LANES <= d.channels; c += LANES)
            vector(&d, &p, c, LANES, MR, S, STEP, OVERHANG);
        if (c < d.channels)
            rest(d, c);
        if (curves(d.f))
            finish_curved(d, MR);
        d.in += d.in_tile;
        d.out += d.out_tile;
        d.add = d.add ? d.add + d.out_tile : NULL;
    }
}

#define KERNEL(s, step, mr)                                                \
    static __attribute__((noinline)) void rest_##s##_##step##_##mr(        \
        sp_depthwise d, int64_t c)                                         \
    {                                                                      \
        const pitches p = pitches_of(d.pitch);                             \
                                                                           \
        vector(&d, &p, c, d.channels - c, mr, s, step, SP_OVERHANG_ANY);   \
    }                                                                      \
    static void inner_##s##_##step##_##mr(const sp_depthwise *d)           \
    {                                                                      \
        tiles(d, rest_##s##_##step##_##mr, mr, s, step, SP_OVERHANG_NONE); \
    }                                                                      \
    static void half_##s##_##step##_##mr(const sp_depthwise *d)            \
    {                                                                      \
        tiles(d, rest_##s##_##step##_##mr, mr, s, step, SP_OVERHANG_HALF); \
    }                                                                      \
    static void any_##s##_##step##_##mr(const sp_depthwise *d)             \
    {                                                                      \
        tiles(d, rest_##s##_##step##_##mr, mr, s, step, SP_OVERHANG_ANY);  \
    }
#define EIGHT(DO, s, step) \
    DO(s, step, 1)         \
    DO(s, step, 2)         \
    DO(s, step, 3)         \
    DO(s, step, 4) DO(s, step, 5) DO(s, step, 6) DO(s, step, 7) DO(s, step, 8)
#define TWELVE(DO, s, step) \
    EIGHT(DO, s, step)      \
    DO(s, step, 9) DO(s, step, 10) DO(s, step, 11) DO(s, step, 12)
#ifndef ALL /* whoever includes this may name those it needs */
#define ALL(DO) TWELVE(DO, 3, 1) EIGHT(DO, 3, 2) EIGHT(DO, 5, 1) EIGHT(DO, 5, 2)
#endif

ALL(KERNEL)

#define ENTRY(s, step, mr)                                 \
    .tile[(s) / 2][step][mr] = {inner_##s##_##step##_##mr, \
                                half_##s##_##step##_##mr,  \
                                any_##s##_##step##_##mr},
const sp_depthwise_set SET(sp_depthwise_set) = {ALL(ENTRY)};
