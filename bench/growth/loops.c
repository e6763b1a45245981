/* loops.c - loads that wait for nothing: what they bring is joined by
 * exclusive or, which takes one cycle, so that only loads can be the limit. */
#include "loops.h"

#include <string.h>

#ifdef __AVX512F__
enum { VECTOR = 64 };
#else
enum { VECTOR = 32 };
#endif
typedef uint32_t words __attribute__((vector_size(VECTOR), aligned(4)));
typedef float floats __attribute__((vector_size(VECTOR), aligned(4)));

enum {
    LANES = VECTOR / 4,
    ROW = LOOP_COLUMNS / LANES, /* vectors of a row */
    LINES = LOOP_COLUMNS * 4 / 64
};

static double folded(words x)
{
    uint32_t sum = 0;

    for (int i = 0; i < LANES; i++)
        sum ^= x[i];
    return sum;
}

static inline void ask_for(const float *row)
{
    for (int k = 0; k < LINES; k++)
        __builtin_prefetch(row + 16 * k);
}

static inline words value_in_all(const float *value)
{
    uint32_t bits;

    memcpy(&bits, value, sizeof bits);
    return (words){0} + bits;
}

#define GATHER(name, type)                                                   \
    double name(const loop_operands *o, int64_t from, int64_t to)            \
    {                                                                        \
        const type *index = o->index;                                        \
        words sum[ROW] = {{0}}, all = {0};                                   \
                                                                             \
        for (int64_t i = from; i < to; i++) {                                \
            const float *row = o->B + (int64_t)index[i] * LOOP_COLUMNS;      \
            const words *at = (const words *)(const void *)row;              \
                                                                             \
            if (o->ahead && i + o->ahead < to)                               \
                ask_for(o->B + (int64_t)index[i + o->ahead] * LOOP_COLUMNS); \
            all ^= value_in_all(&o->val[i]);                                 \
            for (int k = 0; k < ROW; k++)                                    \
                sum[k] ^= at[k];                                             \
        }                                                                    \
        for (int k = 0; k < ROW; k++)                                        \
            all ^= sum[k];                                                   \
        return folded(all);                                                  \
    }
GATHER(loop_gather16, uint16_t)
GATHER(loop_gather32, int32_t)

double loop_panels(const loop_operands *o, int64_t from, int64_t to)
{
    const int32_t *index = o->index;
    words all = {0};

    for (int64_t i = from; i < to; i++) {
        const words *b =
            (const words *)(const void *)(o->B +
                                          (int64_t)index[i] * LOOP_COLUMNS);
        words *c = (words *)(void *)(o->C + (int64_t)o->row[i] * LOOP_COLUMNS);

        if (i + o->ahead < to)
            ask_for(o->B + (int64_t)index[i + o->ahead] * LOOP_COLUMNS);
        all ^= value_in_all(&o->val[i]);
        for (int k = 0; k < ROW; k++)
            c[k] ^= b[k];
    }
    return folded(all);
}

double loop_read(const void *x, int64_t n)
{
    const words *at = x;
    words a = {0}, b = {0};

    for (int64_t i = 0; i < n / LANES / 2; i++) {
        a ^= at[2 * i];
        b ^= at[2 * i + 1];
    }
    return folded(a ^ b);
}

void loop_write(float *x, int64_t n)
{
    floats *at = (floats *)(void *)x;

    for (int64_t i = 0; i < n / LANES; i++)
        at[i] = (floats){0};
}
