/* views.c - how values lie in their buffers. */
#include "graph/program.h"

sp_strided sp_view_rows(int buffer, const sp_extent *shape)
{
    sp_strided v = {.buffer = buffer, .shape = *shape};
    int64_t step = 1;

    for (int i = shape->dims - 1; i >= 0; i--) {
        v.step[i] = step;
        step *= shape->dim[i];
    }
    return v;
}

sp_strided sp_view_images(int buffer, const sp_extent *shape, int64_t pitch)
{
    sp_strided v = {.buffer = buffer, .shape = *shape};

    v.step[1] = 1;
    v.step[3] = pitch;
    v.step[2] = shape->dim[3] * pitch;
    v.step[0] = shape->dim[2] * v.step[2];
    return v;
}

int sp_view_one(const sp_strided *v, int from, int to, int64_t *count,
                int64_t *step)
{
    int64_t n = 1, s = 0;

    for (int i = to - 1; i >= from; i--) {
        if (v->shape.dim[i] == 1)
            continue;
        if (n == 1)
            s = v->step[i];
        else if (v->step[i] != s * n)
            return 0;
        n *= v->shape.dim[i];
    }
    *count = n;
    *step = s;
    return 1;
}

int sp_view_is_rows(const sp_strided *v)
{
    int64_t count, step;

    return sp_view_one(v, 0, v->shape.dims, &count, &step) &&
           (step == 1 || count == 1);
}

int sp_view_is_images(const sp_strided *v, int64_t *pitch)
{
    sp_strided pixels = *v;
    int64_t count, step;

    if (v->shape.dims != 4 || (v->step[1] != 1 && v->shape.dim[1] != 1))
        return 0;
    pixels.shape.dim[1] = 1;
    if (!sp_view_one(&pixels, 0, 4, &count, &step))
        return 0;
    *pitch = count == 1 ? v->shape.dim[1] : step;
    return *pitch >= v->shape.dim[1];
}

int sp_view_alike(const sp_strided *a, const sp_strided *b)
{
    if (!sp_extent_equal(&a->shape, &b->shape))
        return 0;
    for (int i = 0; i < a->shape.dims; i++)
        if (a->shape.dim[i] != 1 && a->step[i] != b->step[i])
            return 0;
    return 1;
}

int sp_view_is_dense(const sp_strided *v, int64_t *inner)
{
    int64_t next = 1;
    unsigned seen = 0;

    *inner = 1;
    for (int i = 0; i < v->shape.dims; i++)
        if (v->shape.dim[i] == 1)
            seen |= 1u << i;
    while (seen != (1u << v->shape.dims) - 1) {
        int found = -1;

        for (int i = 0; i < v->shape.dims && found < 0; i++)
            if (!(seen >> i & 1) && v->step[i] == next)
                found = i;
        if (found < 0)
            return 0;
        if (next == 1)
            *inner = v->shape.dim[found];
        next *= v->shape.dim[found];
        seen |= 1u << found;
    }
    return 1;
}
