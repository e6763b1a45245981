/* move.c - elements from one place to another, and rows by their numbers. */
#include "dense/move.h"

#include <string.h>

static void move_line(char *to, const char *from, const sp_move *z)
{
    int d = z->dims - 1;
    int64_t n = d < 0 ? 1 : z->count[d];
    int64_t a = d < 0 ? 1 : z->from[d], b = d < 0 ? 1 : z->to[d];

    if (a == 1 && b == 1)
        memcpy(to, from, (size_t)n * z->size);
    else if (z->size == 4)
        for (int64_t i = 0; i < n; i++)
            ((float *)(void *)to)[i * b] =
                ((const float *)(const void *)from)[i * a];
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)(i * b) * z->size,
                   from + (size_t)(i * a) * z->size, z->size);
}

/* The last loop and the one around it change places. */
static sp_move swapped(const sp_move *z)
{
    int a = z->dims - 2, b = a + 1;
    sp_move y = *z;

    y.count[a] = z->count[b];
    y.count[b] = z->count[a];
    y.from[a] = z->from[b];
    y.from[b] = z->from[a];
    y.to[a] = z->to[b];
    y.to[b] = z->to[a];
    return y;
}

/* Rows that become columns: a part of every row before the next part, so that
 * what is written stays near until it is whole. The longer loop is the inner
 * one. */
static void move_turned(char *to, const char *from, const sp_move *z)
{
    enum { PART = 512 };
    int d = z->dims - 2;
    sp_move y = z->count[d] > z->count[d + 1] ? swapped(z) : *z, part = y;
    int64_t size = (int64_t)z->size, all = y.count[d + 1];

    for (int64_t at = 0; at < all; at += PART) {
        part.count[d + 1] = all - at < PART ? all - at : PART;
        for (int64_t i = 0; i < y.count[d]; i++)
            move_line(to + (i * y.to[d] + at * y.to[d + 1]) * size,
                      from + (i * y.from[d] + at * y.from[d + 1]) * size,
                      &part);
    }
}

static void move_loops(char *to, const char *from, const sp_move *z, int d)
{
    int64_t size = (int64_t)z->size;

    if (d >= z->dims - 1) {
        move_line(to, from, z);
        return;
    }
    if (d == z->dims - 2 && (z->to[d + 1] != 1 || z->from[d + 1] != 1)) {
        move_turned(to, from, z);
        return;
    }
    for (int64_t i = 0; i < z->count[d]; i++)
        move_loops(to + i * z->to[d] * size, from + i * z->from[d] * size, z,
                   d + 1);
}

void sp_move_part(const sp_move *z, void *to, const void *from, int i, int n)
{
    char *out = to;
    const char *in = from;
    sp_move part = *z;

    if (z->dims > 0) {
        int64_t begin = z->count[0] * i / n, end = z->count[0] * (i + 1) / n;

        out += begin * z->to[0] * (int64_t)z->size;
        in += begin * z->from[0] * (int64_t)z->size;
        part.count[0] = end - begin;
        if (end == begin)
            return;
    } else if (i > 0)
        return;
    move_loops(out, in, &part, 0);
}

int64_t sp_gather(float *out, const float *table, int64_t rows, int64_t each,
                  const int64_t *which, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t at = which[i] < 0 ? which[i] + rows : which[i];

        if (at < 0 || at >= rows)
            return i;
        memcpy(out + i * each, table + at * each, (size_t)each * sizeof *out);
    }
    return -1;
}
