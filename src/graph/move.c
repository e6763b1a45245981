/* move.c - elements from one view to another, as loops. */
#include "graph/executor.h"

/* Neighbours in either view make the innermost loop, the longest first. */
static int better(const sp_move *z, int i, int k)
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

/* Loops over the dimensions that are more than 1. */
static sp_move loops_of(const sp_strided *a, const sp_strided *b)
{
    sp_move z = {0};
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

sp_move sp_move_of(const sp_strided *b, const sp_strided *a, size_t size)
{
    sp_move z = loops_of(a, b);

    z.size = size;
    for (int d = 0; d < a->shape.dims; d++)
        if (a->shape.dim[d] == 0) {
            z.dims = 1; /* nothing to move */
            z.count[0] = 0;
        }
    return z;
}
