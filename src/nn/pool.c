/* pool.c - many rows to one: means over segments. */
#include "nn/layers.h"

#include <string.h>

#include "nn/internal.h"

typedef struct {
    sp_tensor *x, *y;
    const int64_t *start;
} note;

/* The weight of a row of segment s in its mean. */
static float share(const note *n, int64_t s)
{
    int64_t rows = n->start[s + 1] - n->start[s];

    return rows > 0 ? 1 / (float)rows : 1;
}

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t cols = sp_cols(n->y);

    (void)t;
    for (int64_t s = 0; s < sp_rows(n->y); s++) {
        const float *dy = n->y->grad + s * cols;
        float part = share(n, s);

        for (int64_t i = n->start[s]; i < n->start[s + 1]; i++)
            for (int64_t j = 0; j < cols; j++)
                n->x->grad[i * cols + j] += part * dy[j];
    }
}

/* f32 sums of a million rows would lose digits: add up blocks first. */
static void sum_rows(float *y, const float *x, int64_t rows, int64_t cols)
{
    enum { BLOCK = 256, WIDTH = 64 };

    for (int64_t left = 0; left < cols; left += WIDTH) {
        int64_t width = cols - left < WIDTH ? cols - left : WIDTH;
        double total[WIDTH] = {0};

        for (int64_t first = 0; first < rows; first += BLOCK) {
            int64_t last = first + BLOCK < rows ? first + BLOCK : rows;
            float sum[WIDTH] = {0};

            for (int64_t i = first; i < last; i++)
                for (int64_t j = 0; j < width; j++)
                    sum[j] += x[i * cols + left + j];
            for (int64_t j = 0; j < width; j++)
                total[j] += (double)sum[j];
        }
        for (int64_t j = 0; j < width; j++)
            y[left + j] = (float)total[j];
    }
}

static int ascending(const int64_t *start, int64_t segments, int64_t rows)
{
    for (int64_t s = 0; s < segments; s++)
        if (start[s] > start[s + 1])
            return 0;
    return start[0] >= 0 && start[segments] <= rows;
}

sp_tensor *sp_nn_pool(sp_tape *t, sp_tensor *x, const int64_t *start,
                      int64_t segments)
{
    note n = {.x = x};
    int64_t cols;

    if (!x || segments < 0 || !ascending(start, segments, sp_rows(x)))
        return sp_tape_refuse(t, "pool: segments beyond the rows");
    cols = sp_cols(x);
    n.y = SP_RESULT(t, SP_SHAPE(segments, cols), x);
    n.start = sp_tape_copy(t, start, segments + 1, sizeof *start);
    if (!n.y || !n.start)
        return NULL;
    for (int64_t s = 0; s < segments; s++) {
        float *y = n.y->value + s * cols, part = share(&n, s);

        sum_rows(y, x->value + start[s] * cols, start[s + 1] - start[s], cols);
        for (int64_t j = 0; j < cols; j++)
            y[j] *= part;
    }
    sp_tape_note(t, n.y, back, &n, sizeof n);
    return n.y;
}

sp_tensor *sp_nn_average(sp_tape *t, sp_tensor *x)
{
    const int64_t start[] = {0, x ? sp_rows(x) : 0};

    return sp_nn_pool(t, x, start, 1);
}
