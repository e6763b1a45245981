/* rows.c - rows picked from a table: embeddings, broadcasts, neighbours. */
#include "nn/layers.h"

#include <string.h>

#include "nn/internal.h"

sp_tensor *sp_embedding_make(sp_nn *n, const char *name, int64_t rows,
                             int64_t width)
{
    return sp_nn_weights(n, name, SP_SHAPE(rows, width), sp_init_normal(1));
}

typedef struct {
    sp_tensor *x, *y;
    const int32_t *index;
} note;

/* One thread, in order: a row may be picked many times. */
static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t rows = sp_rows(n->y), cols = sp_cols(n->y);

    (void)t;
    for (int64_t i = 0; i < rows; i++) {
        const float *dy = n->y->grad + i * cols;
        float *dx = n->x->grad + n->index[i] * cols;

        for (int64_t j = 0; j < cols; j++)
            dx[j] += dy[j];
    }
}

static int all_within(const int32_t *index, int64_t count, int64_t rows)
{
    for (int64_t i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= rows)
            return 0;
    return 1;
}

sp_tensor *sp_nn_rows(sp_tape *t, sp_tensor *x, const int32_t *index,
                      int64_t count)
{
    int64_t cols;
    int32_t *kept;
    sp_tensor *y;

    if (!x || !all_within(index, count, sp_rows(x)))
        return sp_tape_refuse(t, "rows: there is no such row");
    cols = sp_cols(x);
    y = SP_RESULT(t, SP_SHAPE(count, cols), x);
    kept = sp_tape_copy(t, index, count, sizeof *index);
    if (!y || !kept)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        memcpy(y->value + i * cols, x->value + index[i] * cols,
               (size_t)cols * sizeof(float));
    sp_tape_note(t, y, back, &(note){x, y, kept}, sizeof(note));
    return y;
}
