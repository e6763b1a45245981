/* pruned_body.h - sparse weights times pixels, compiled once for each
 * instruction set, which defines SET(name) and BYTES. */
#include "dense/curves_body.h"
#include "dense/loops.h"

#define UNROLL _Pragma("GCC unroll 16")

#if BYTES == 64 || defined(__aarch64__)
enum { SUMS = 16 };
#else
enum { SUMS = 12 };
#endif

/* ---- sums ---- */

INLINE void add_nonzero(vec *sum, const float *in, const sp_nonzero *x,
                        const int V)
{
    vec w = same(x->w);

    in += x->at;
    UNROLL
    for (int v = 0; v < V; v++)
        sum[v] += w * load(in + v * LANES);
}

/* MR sets of sums take turns, so that none waits for itself. */
INLINE void one_row(const sp_pruned_sweep *p, const sp_nonzero *x, int length,
                    float *out, const int MR, const int V)
{
    vec sum[SUMS];
    int i = 0;

    UNROLL
    for (int v = 0; v < V; v++)
        sum[v] = p->first ? (vec){0} : load(out + v * LANES);
    UNROLL
    for (int v = V; v < MR * V; v++)
        sum[v] = (vec){0};
    for (; i + MR <= length; i += MR) {
        UNROLL
        for (int m = 0; m < MR; m++)
            add_nonzero(sum + m * V, p->in, x + i + m, V);
    }
    if (MR > 1 && i < length)
        add_nonzero(sum, p->in, x + i, V);
    UNROLL
    for (int v = 0; v < V; v++) {
        vec y = sum[v];

        UNROLL
        for (int m = 1; m < MR; m++)
            y += sum[m * V + v];
        store(out + v * LANES, y);
    }
}

/* Nonzeros of rows that are AHEAD bytes away: in a network a share's first
 * tile has them come from memory, faster than it is guessed what is next. */
INLINE void fetch(const sp_nonzero *x, int length)
{
    enum { AHEAD = 2048, LINE = 64 };
    const char *at = (const char *)x + AHEAD;

    for (int i = 0; i < length; i += LINE / (int)sizeof *x)
        __builtin_prefetch(at + i * (int)sizeof *x);
}

INLINE void rows(const sp_pruned_sweep *p, const int MR, const int V)
{
    const sp_pruned_sweep own = *p; /* sums may be anywhere but here */
    const sp_nonzero *x = own.nonzero;
    const int32_t *row = own.row;

    for (int64_t i = 0; i < own.runs; i++) {
        const sp_pruned_run run = own.run[i];

        for (int j = 0; j < run.rows; j++, x += run.length) {
            if (own.far)
                fetch(x, run.length);
            one_row(&own, x, run.length, own.sums + *row++ * own.pitch, MR, V);
        }
    }
}

/* A row times one pixel; sums take turns. */
INLINE float one_sum(const float *in, const sp_nonzero *x, int length)
{
    enum { TURNS = 4 };
    float sum[TURNS] = {0};
    int i = 0;

    for (; i + TURNS <= length; i += TURNS) {
        UNROLL
        for (int m = 0; m < TURNS; m++)
            sum[m] += x[i + m].w * in[x[i + m].at];
    }
    for (; i < length; i++)
        sum[0] += x[i].w * in[x[i].at];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void single(const sp_pruned_sweep *p)
{
    const sp_pruned_sweep own = *p;
    const sp_nonzero *x = own.nonzero;
    const int32_t *row = own.row;

    for (int64_t i = 0; i < own.runs; i++) {
        const sp_pruned_run run = own.run[i];

        for (int j = 0; j < run.rows; j++, x += run.length) {
            float *out = own.sums + *row++;

            fetch(x, run.length);
            *out = (own.first ? 0 : *out) + one_sum(own.in, x, run.length);
        }
    }
}

/* ---- pixels to columns and back ---- */

#ifdef __clang__
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(a, b, ...) __builtin_shuffle(a, b, (bits){__VA_ARGS__})
#endif

/* Within every four: two vectors by ones, then by pairs. */
#if BYTES == 16
#define ONES_LOW(a, b)   MIX(a, b, 0, 4, 1, 5)
#define ONES_HIGH(a, b)  MIX(a, b, 2, 6, 3, 7)
#define PAIRS_LOW(a, b)  MIX(a, b, 0, 1, 4, 5)
#define PAIRS_HIGH(a, b) MIX(a, b, 2, 3, 6, 7)
#elif BYTES == 32
#define ONES_LOW(a, b)   MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define ONES_HIGH(a, b)  MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define PAIRS_LOW(a, b)  MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define PAIRS_HIGH(a, b) MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define FOURS_LOW(a, b)  MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define FOURS_HIGH(a, b) MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#else
#define ONES_LOW(a, b) \
    MIX(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define ONES_HIGH(a, b) \
    MIX(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define PAIRS_LOW(a, b) \
    MIX(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define PAIRS_HIGH(a, b) \
    MIX(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define FOURS_EVEN(a, b) \
    MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define FOURS_ODD(a, b) \
    MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#endif

/* Fours, the last step: y[j] and every fourth behind it. */
INLINE void turn_fours(vec *x, vec *y, int j)
{
#if BYTES == 16
    x[j] = y[j];
#elif BYTES == 32
    x[j] = FOURS_LOW(y[j], y[j + 4]);
    x[j + 4] = FOURS_HIGH(y[j], y[j + 4]);
#else
    vec a = FOURS_EVEN(y[j], y[j + 4]), b = FOURS_ODD(y[j], y[j + 4]);
    vec c = FOURS_EVEN(y[j + 8], y[j + 12]), d = FOURS_ODD(y[j + 8], y[j + 12]);

    x[j] = FOURS_EVEN(a, c);
    x[j + 8] = FOURS_ODD(a, c);
    x[j + 4] = FOURS_EVEN(b, d);
    x[j + 12] = FOURS_ODD(b, d);
#endif
}

/* LANES x LANES numbers, lines to columns. */
INLINE void turn_square(vec x[LANES])
{
    vec y[LANES];

    UNROLL
    for (int i = 0; i < LANES; i += 4) {
        vec a = ONES_LOW(x[i], x[i + 1]), b = ONES_HIGH(x[i], x[i + 1]);
        vec c = ONES_LOW(x[i + 2], x[i + 3]), d = ONES_HIGH(x[i + 2], x[i + 3]);

        y[i] = PAIRS_LOW(a, c);
        y[i + 1] = PAIRS_HIGH(a, c);
        y[i + 2] = PAIRS_LOW(b, d);
        y[i + 3] = PAIRS_HIGH(b, d);
    }
    UNROLL
    for (int j = 0; j < 4; j++)
        turn_fours(x, y, j);
}

static void turn(float *out, int64_t pitch, const float *const *pixel,
                 int vectors, int64_t from, int64_t to)
{
    for (int v = 0; v < vectors; v++, pixel += LANES, out += LANES) {
        int64_t c = from;

        for (; c + LANES <= to; c += LANES) {
            vec x[LANES];

            UNROLL
            for (int i = 0; i < LANES; i++)
                x[i] = load(pixel[i] + c);
            turn_square(x);
            UNROLL
            for (int i = 0; i < LANES; i++)
                store(out + (c - from + i) * pitch, x[i]);
        }
        for (; c < to; c++)
            for (int i = 0; i < LANES; i++)
                out[(c - from) * pitch + i] = pixel[i][c];
    }
}

/* ---- results ---- */

INLINE void put_pixel(const sp_pruned_out *o, int64_t place, int64_t k, vec x)
{
    int64_t left = o->keep - k;

    if (o->bias)
        x += load(o->bias + k);
    if (o->add && o->f->adds_before)
        x += load_channels(o->add + place + k, left);
    if (o->f->clamps)
        x = clamp(x, same(o->f->low), same(o->f->high));
    store_channels(o->out + place + k, x, left);
}

/* Curves, and what is added behind them, on what was just stored. */
static __attribute__((noinline)) void bend_pixel(const sp_pruned_out *o,
                                                 int64_t place)
{
    float *out = o->out + place;

    if (o->f->curved)
        bend(out, o->keep, o->f);
    for (int64_t k = 0; o->f->adds_after && k < o->keep; k++)
        out[k] += o->add[place + k];
}

static void put_single(const sp_pruned_out *o)
{
    for (int64_t k = 0; k < o->keep; k += LANES)
        put_pixel(o, *o->place, k, load(o->sums + k));
    if (o->f->curved || o->f->adds_after)
        bend_pixel(o, *o->place);
}

static void put(const sp_pruned_out *o)
{
    if (o->pitch == 1) {
        put_single(o);
        return;
    }
    for (int from = 0; from < o->pixels; from += LANES) {
        const int64_t *place = o->place + from;
        int count = o->pixels - from < LANES ? o->pixels - from : LANES;

        for (int64_t k = 0; k < o->keep; k += LANES) {
            vec x[LANES];

            UNROLL
            for (int i = 0; i < LANES; i++)
                x[i] = load(o->sums + (k + i) * o->pitch + from);
            turn_square(x);
            if (count == LANES) {
                UNROLL
                for (int i = 0; i < LANES; i++)
                    put_pixel(o, place[i], k, x[i]);
            } else
                for (int i = 0; i < count; i++)
                    put_pixel(o, place[i], k, x[i]);
        }
        for (int i = 0; i < count && (o->f->curved || o->f->adds_after); i++)
            bend_pixel(o, place[i]);
    }
}

/* ---- the table ---- */

#define KERNEL(mr, v)                                      \
    static void sweep_##mr##_##v(const sp_pruned_sweep *p) \
    {                                                      \
        rows(p, mr, v);                                    \
    }
#define UP_TO_6(DO, mr) \
    DO(mr, 1) DO(mr, 2) DO(mr, 3) DO(mr, 4) DO(mr, 5) DO(mr, 6)
#define UP_TO_8(DO, mr) UP_TO_6(DO, mr) DO(mr, 7) DO(mr, 8)

#if BYTES == 64 || defined(__aarch64__)
#define ALL(DO) UP_TO_8(DO, 1) UP_TO_8(DO, 2)
#else
#define ALL(DO) UP_TO_8(DO, 1) UP_TO_6(DO, 2)
#endif

ALL(KERNEL)

#define ENTRY(mr, v) [mr][v] = sweep_##mr##_##v,
const sp_pruned_set SET(sp_pruned_set) = {.lanes = LANES,
                                          .sweep = {ALL(ENTRY)},
                                          .single = single,
                                          .turn = turn,
                                          .put = put};
