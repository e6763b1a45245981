/* winograd_body.h - Winograd's F(2x2, 3x3): transforms of input and result.
 *
 *   B' = 1  0 -1  0     A' = 1  1  1  0     G = 1    0    0
 *        0  1  1  0          0  1 -1 -1         1/2  1/2  1/2
 *        0 -1  1  0                             1/2 -1/2  1/2
 *        0  1  0 -1                             0    0    1 */
#include "dense/curves_body.h"
#include "dense/loops.h"

#define UNROLL _Pragma("GCC unroll 16")

/* Four numbers of a line or column become four others. */
INLINE void forth(vec *y, vec a, vec b, vec c, vec d)
{
    y[0] = a - c;
    y[1] = b + c;
    y[2] = c - b;
    y[3] = b - d;
}

/* 4 x 4 pixels, NULL where there is none, to out[16] `skip` floats apart. */
static void transform_in(float *out, int64_t skip, const float *const pixel[16],
                         int64_t channels)
{
    for (int64_t c = 0; c < channels; c += LANES) {
        int64_t left = channels - c;
        vec x[16], y[16], z[4];

        UNROLL
        for (int i = 0; i < 16; i++)
            x[i] = pixel[i] ? load_channels(pixel[i] + c, left) : (vec){0};
        UNROLL
        for (int i = 0; i < 4; i++)
            forth(y + 4 * i, x[4 * i], x[4 * i + 1], x[4 * i + 2],
                  x[4 * i + 3]);
        UNROLL
        for (int j = 0; j < 4; j++) {
            forth(z, y[j], y[4 + j], y[8 + j], y[12 + j]);
            UNROLL
            for (int i = 0; i < 4; i++)
                store(out + (4 * i + j) * skip + c, z[i]);
        }
    }
}

/* Sums in[16] `skip` floats apart to 2 x 2 results, those that exist. */
static void transform_out(const sp_winograd_out *o, const float *in,
                          int64_t skip)
{
    for (int64_t c = 0; c < o->keep; c += LANES) {
        int64_t left = o->keep - c;
        vec y[8], z[4], bias = {0};

        if (o->bias)
            bias = load(o->bias + c);
        UNROLL
        for (int i = 0; i < 4; i++) {
            const float *x = in + 4 * i * skip + c;
            vec b = load(x + skip), d = load(x + 2 * skip);

            y[2 * i] = load(x) + b + d;
            y[2 * i + 1] = b - d - load(x + 3 * skip);
        }
        UNROLL
        for (int j = 0; j < 2; j++) {
            z[j] = y[j] + y[2 + j] + y[4 + j];
            z[2 + j] = y[2 + j] - y[4 + j] - y[6 + j];
        }
        for (int i = 0; i < 4; i++) {
            const sp_finish *f = o->f;
            vec x = z[i] + bias;

            if (!o->out[i])
                continue;
            if (o->add[i] && f->adds_before)
                x += load_channels(o->add[i] + c, left);
            if (f->act)
                x = curve(x, f->act, f->alpha, f->beta);
            if (o->add[i] && f->adds_after)
                x += load_channels(o->add[i] + c, left);
            store_channels(o->out[i] + c, x, left);
        }
    }
}

const sp_winograd_set SET(sp_winograd_set) = {transform_in, transform_out};
