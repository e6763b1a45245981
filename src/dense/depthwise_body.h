/* depthwise_body.h - depthwise convolutions: a tile is some pixels of a line
 * times one vector of channels. A line of the filter stays in registers, and
 * every input pixel is loaded once for all the taps that meet it. */
#include "dense/curves_body.h"
#include "dense/loops.h"

#define UNROLL _Pragma("GCC unroll 32")

INLINE vec load_channels(const float *x, int64_t left)
{
    vec y = {0};

    if (left >= LANES)
        return load(x);
    memcpy(&y, x, (size_t)left * sizeof *x);
    return y;
}

/* One line of the filter over the input pixels of a tile, of which only
 * [low, high) exist when EDGE. */
INLINE void add_line(vec *sum, const float *in, int64_t pitch, const float *w,
                     int64_t w_tap, int64_t left, int64_t low, int64_t high,
                     const int MR, const int S, const int STEP, const int EDGE)
{
    vec tap[8];

    UNROLL
    for (int s = 0; s < S; s++)
        tap[s] = load(w + s * w_tap);
    UNROLL
    for (int x = 0; x < (MR - 1) * STEP + S; x++) {
        vec y;

        if (EDGE && (x < low || x >= high))
            continue;
        y = load_channels(in + x * pitch, left);
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

    UNROLL
    for (int m = 0; m < MR; m++) {
        int64_t at = m * d->pitch_out + c;
        vec x = sum[m];

        if (d->add && f->adds_before)
            x += load_channels(d->add + at, left);
        if (f->clamps) {
            x = choose(x < same(f->low), same(f->low), x);
            x = choose(x > same(f->high), same(f->high), x);
        }
        if (left >= LANES)
            store(d->out + at, x);
        else
            memcpy(d->out + at, &x, (size_t)left * sizeof(float));
    }
}

/* Curves, on what was just stored. */
static __attribute__((noinline)) void finish_curved(const sp_depthwise *d,
                                                    int mr)
{
    for (int m = 0; m < mr; m++) {
        float *out = d->out + m * d->pitch_out;

        bend(out, d->channels, d->f);
        for (int64_t j = 0; d->f->adds_after && j < d->channels; j++)
            out[j] += d->add[m * d->pitch_out + j];
    }
}

INLINE void vector(const sp_depthwise *d, int64_t c, int64_t left, const int MR,
                   const int S, const int STEP, const int EDGE)
{
    vec sum[12], bias = {0};

    if (d->bias)
        bias = load(d->bias + c);
    UNROLL
    for (int m = 0; m < MR; m++)
        sum[m] = bias;
    for (int64_t r = 0; r < d->rows; r++)
        add_line(sum, d->in + r * d->row + c, d->pitch,
                 d->w + r * S * d->w_tap + c, d->w_tap, left, d->low, d->high,
                 MR, S, STEP, EDGE);
    put(d, c, left, sum, MR);
}

/* Whole vectors; returns the first channel that is left. */
INLINE int64_t vectors(const sp_depthwise *d, const int MR, const int S,
                       const int STEP, const int EDGE)
{
    int64_t c = 0;

    for (; c + LANES <= d->channels; c += LANES)
        vector(d, c, LANES, MR, S, STEP, EDGE);
    return c;
}

#define KERNEL(s, step, mr)                                         \
    static __attribute__((noinline)) void rest_##s##_##step##_##mr( \
        const sp_depthwise *d, int64_t c)                           \
    {                                                               \
        if (c < d->channels)                                        \
            vector(d, c, d->channels - c, mr, s, step, 1);          \
        if (d->f->curved || d->f->adds_after)                       \
            finish_curved(d, mr);                                   \
    }                                                               \
    static void inner_##s##_##step##_##mr(const sp_depthwise *d)    \
    {                                                               \
        rest_##s##_##step##_##mr(d, vectors(d, mr, s, step, 0));    \
    }                                                               \
    static void edge_##s##_##step##_##mr(const sp_depthwise *d)     \
    {                                                               \
        rest_##s##_##step##_##mr(d, vectors(d, mr, s, step, 1));    \
    }
#define EIGHT(DO, s, step) \
    DO(s, step, 1)         \
    DO(s, step, 2)         \
    DO(s, step, 3)         \
    DO(s, step, 4) DO(s, step, 5) DO(s, step, 6) DO(s, step, 7) DO(s, step, 8)
#ifndef ALL /* whoever includes this may name those it needs */
#define ALL(DO) EIGHT(DO, 3, 1) EIGHT(DO, 3, 2) EIGHT(DO, 5, 1) EIGHT(DO, 5, 2)
#endif

ALL(KERNEL)

#define ENTRY(s, step, mr)                                 \
    .tile[(s) / 2][step][mr] = {inner_##s##_##step##_##mr, \
                                edge_##s##_##step##_##mr},
const sp_depthwise_set SET(sp_depthwise_set) = {ALL(ENTRY)};
