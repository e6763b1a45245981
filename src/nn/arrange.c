/* arrange.c - the same numbers in another shape, or side by side. */
#include "nn/layers.h"

#include <string.h>

#include "nn/internal.h"

sp_tensor *sp_nn_reshape(sp_tape *t, sp_tensor *x, sp_shape shape)
{
    sp_tensor *y;

    if (!x || sp_shape_size(shape) != x->size)
        return sp_tape_refuse(t, "reshape: the sizes differ");
    y = sp_tape_memory(t, 1, sizeof *y);
    if (y)
        *y = (sp_tensor){shape, x->size, x->value, x->grad};
    return y;
}

typedef struct {
    sp_tensor **x, *y;
    int count;
} note;

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t rows = sp_rows(n->y), width = sp_cols(n->y), left = 0;

    (void)t;
    for (int k = 0; k < n->count; k++) {
        int64_t cols = sp_cols(n->x[k]);
        float *dx = n->x[k]->grad;

        for (int64_t i = 0; dx && i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                dx[i * cols + j] += n->y->grad[i * width + left + j];
        left += cols;
    }
}

/* All have as many rows; returns the width of them together, else -1. */
static int64_t width_of(sp_tensor *const *x, int count)
{
    int64_t width = 0;

    for (int k = 0; k < count; k++) {
        if (!x[k] || sp_rows(x[k]) != sp_rows(x[0]))
            return -1;
        width += sp_cols(x[k]);
    }
    return count > 0 ? width : -1;
}

sp_tensor *sp_nn_join(sp_tape *t, sp_tensor *const *x, int count)
{
    int64_t width = width_of(x, count), left = 0;
    sp_tensor **kept, *y;

    if (width < 0)
        return sp_tape_refuse(t, "join: the numbers of rows differ");
    y = sp_tape_result(t, SP_SHAPE(sp_rows(x[0]), width), x, count);
    kept = sp_tape_copy(t, x, count, sizeof(void *));
    if (!y || !kept)
        return NULL;
    for (int k = 0; k < count; k++) {
        int64_t cols = sp_cols(x[k]);

        for (int64_t i = 0; i < sp_rows(y); i++)
            memcpy(y->value + i * width + left, x[k]->value + i * cols,
                   (size_t)cols * sizeof(float));
        left += cols;
    }
    sp_tape_note(t, y, back, &(note){kept, y, count}, sizeof(note));
    return y;
}
