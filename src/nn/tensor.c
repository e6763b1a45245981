/* tensor.c - shapes: how many numbers, as text, as a matrix. */
#include "nn/nn.h"

#include <string.h>

#include "nn/internal.h"

int64_t sp_shape_size(sp_shape s)
{
    int64_t size = 1;

    if (s.rank < 1 || s.rank > SP_RANK)
        return -1;
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] < 0 || s.dim[i] > INT32_MAX ||
            __builtin_mul_overflow(size, s.dim[i], &size) ||
            size > INT64_MAX / 64)
            return -1;
    return size;
}

int sp_shape_equal(sp_shape a, sp_shape b)
{
    return a.rank == b.rank &&
           !memcmp(a.dim, b.dim, (size_t)a.rank * sizeof a.dim[0]);
}

sp_shape sp_shape_with_last(sp_shape s, int64_t last)
{
    s.dim[s.rank - 1] = last;
    return s;
}

const char *sp_shape_text(char out[SP_SHAPE_TEXT], sp_shape s)
{
    int n = 0;

    out[0] = 0;
    for (int i = 0; i < s.rank && i < SP_RANK; i++)
        n += snprintf(out + n, (size_t)(SP_SHAPE_TEXT - n), "%s%lld",
                      i ? "x" : "", (long long)s.dim[i]);
    return out;
}

int64_t sp_cols(const sp_tensor *x)
{
    return x->shape.dim[x->shape.rank - 1];
}

int64_t sp_rows(const sp_tensor *x)
{
    int64_t rows = 1;

    for (int i = 0; i < x->shape.rank - 1; i++)
        rows *= x->shape.dim[i];
    return rows;
}
