/* move.c - elements from one view to another. */
#include <string.h>

#include "graph/executor.h"

/* Loops over the dimensions that are more than 1. */
typedef struct {
    int dims;
    int64_t count[SP_GRAPH_DIMS], from[SP_GRAPH_DIMS], to[SP_GRAPH_DIMS];
} loops;

/* Neighbours in either view make the innermost loop, the longest first. */
static int better(const loops *z, int i, int k)
{
    int near_i = z->from[i] == 1 || z->to[i] == 1;
    int near_k = z->from[k] == 1 || z->to[k] == 1;

    if (near_i != near_k)
        return near_i;
    return z->count[i] > z->count[k];
}

static void swap(int64_t *list, int i, int k)
{
    int64_t x = list[i];

    list[i] = list[k];
    list[k] = x;
}

static loops loops_of(const sp_strided *a, const sp_strided *b)
{
    loops z = {0};
    int last;

    for (int i = 0; i < a->shape.dims; i++)
        if (a->shape.dim[i] != 1) {
            int d = z.dims;

            /* Two dimensions that are one in both views. */
            if (d && z.from[d - 1] == a->step[i] * a->shape.dim[i] &&
                z.to[d - 1] == b->step[i] * a->shape.dim[i]) {
                z.count[d - 1] *= a->shape.dim[i];
                z.from[d - 1] = a->step[i];
                z.to[d - 1] = b->step[i];
                continue;
            }
            z.count[d] = a->shape.dim[i];
            z.from[d] = a->step[i];
            z.to[d] = b->step[i];
            z.dims++;
        }
    last = z.dims - 1;
    for (int i = 0; i < last; i++)
        if (better(&z, i, last)) {
            swap(z.count, i, last);
            swap(z.from, i, last);
            swap(z.to, i, last);
        }
    return z;
}

static void move_line(char *to, const char *from, const loops *z, size_t size)
{
    int d = z->dims - 1;
    int64_t n = d < 0 ? 1 : z->count[d];
    int64_t a = d < 0 ? 1 : z->from[d], b = d < 0 ? 1 : z->to[d];

    if (a == 1 && b == 1)
        memcpy(to, from, (size_t)n * size);
    else if (size == 4)
        for (int64_t i = 0; i < n; i++)
            ((float *)(void *)to)[i * b] =
                ((const float *)(const void *)from)[i * a];
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)(i * b) * size, from + (size_t)(i * a) * size,
                   size);
}

static void move_loops(char *to, const char *from, const loops *z, int d,
                       size_t size)
{
    if (d >= z->dims - 1) {
        move_line(to, from, z, size);
        return;
    }
    for (int64_t i = 0; i < z->count[d]; i++)
        move_loops(to + i * z->to[d] * (int64_t)size,
                   from + i * z->from[d] * (int64_t)size, z, d + 1, size);
}

void sp_move_share(void *to, const sp_strided *b, const void *from,
                   const sp_strided *a, size_t size, int i, int n)
{
    loops z = loops_of(a, b);
    char *out = (char *)to + b->first * (int64_t)size;
    const char *in = (const char *)from + a->first * (int64_t)size;

    for (int d = 0; d < a->shape.dims; d++)
        if (a->shape.dim[d] == 0)
            return;
    if (z.dims > 0) {
        int64_t begin = z.count[0] * i / n, end = z.count[0] * (i + 1) / n;

        out += begin * z.to[0] * (int64_t)size;
        in += begin * z.from[0] * (int64_t)size;
        z.count[0] = end - begin;
        if (end == begin)
            return;
    } else if (i > 0)
        return;
    move_loops(out, in, &z, 0, size);
}
