/* turn.h - rows that become columns: four numbers of four rows at a time. */
#ifndef SP_DENSE_TURN_H
#define SP_DENSE_TURN_H

#include <stdint.h>
#include <string.h>

typedef float sp_four __attribute__((vector_size(16)));
typedef int32_t sp_whole_four __attribute__((vector_size(16)));
#ifdef __clang__
#define SP_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SP_MIX(a, b, ...) __builtin_shuffle(a, b, (sp_whole_four){__VA_ARGS__})
#endif

static inline sp_four sp_four_at(const float *x)
{
    sp_four y;

    memcpy(&y, x, sizeof y);
    return y;
}

/* Four numbers of four channels, which become neighbours at out + place. */
static inline void sp_turn_four(float *out, const int64_t place[4],
                                const float *from, int64_t row)
{
    sp_four a = sp_four_at(from), b = sp_four_at(from + row);
    sp_four c = sp_four_at(from + 2 * row), d = sp_four_at(from + 3 * row);
    sp_four ab = SP_MIX(a, b, 0, 4, 1, 5), cd = SP_MIX(c, d, 0, 4, 1, 5);
    sp_four y[4] = {SP_MIX(ab, cd, 0, 1, 4, 5), SP_MIX(ab, cd, 2, 3, 6, 7)};

    ab = SP_MIX(a, b, 2, 6, 3, 7);
    cd = SP_MIX(c, d, 2, 6, 3, 7);
    y[2] = SP_MIX(ab, cd, 0, 1, 4, 5);
    y[3] = SP_MIX(ab, cd, 2, 3, 6, 7);
    for (int i = 0; i < 4; i++)
        memcpy(out + place[i], &y[i], sizeof y[i]);
}

enum { SP_TURN_LINE = 16 };

/* `count` numbers of every channel, at most a line of the cache. */
static inline void sp_turn_line(float *out, const int64_t place[SP_TURN_LINE],
                                const float *from, int64_t row, int64_t keep,
                                int count)
{
    int64_t j = 0;

    for (; j + 4 <= keep; j += 4, from += 4 * row) {
        int i = 0;

        for (int k = 0; k < 4; k++)
            __builtin_prefetch(from + k * row + SP_TURN_LINE);
        for (; i + 4 <= count; i += 4)
            sp_turn_four(out + j, place + i, from + i, row);
        for (; i < count; i++)
            for (int k = 0; k < 4; k++)
                out[place[i] + j + k] = from[k * row + i];
    }
    for (; j < keep; j++, from += row)
        for (int i = 0; i < count; i++)
            out[place[i] + j] = from[i];
}

#endif
