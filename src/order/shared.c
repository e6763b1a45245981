/* shared.c - weights that several edges have. */
#include <stdlib.h>
#include <string.h>

#include "order/internal.h"

typedef struct {
    float w;
    int32_t edge;
} weighted;

static int by_weight(const void *a, const void *b)
{
    const weighted *x = a, *y = b;

    return x->w != y->w ? (x->w > y->w) - (x->w < y->w)
                        : (x->edge > y->edge) - (x->edge < y->edge);
}

spry_status spry_weights_shared(int32_t *weight, int64_t *weights,
                                const spry_network *n)
{
    SP_NEED(weight, weights, n);

    weighted *list = sp_alloc_raw(n->edges + 1, sizeof *list);
    int64_t count = 0;

    *weights = 0;
    if (!list)
        return sp_fail_memory((size_t)n->edges * sizeof *list);
    for (int64_t i = 0; i < n->edges; i++)
        list[i] = (weighted){n->weight[i], (int32_t)i};
    qsort(list, (size_t)n->edges, sizeof *list, by_weight);
    for (int64_t i = 0; i < n->edges; i++) {
        count += i == 0 || list[i].w != list[i - 1].w;
        weight[list[i].edge] = (int32_t)(count - 1);
    }
    *weights = count;
    sp_free(list);
    return SPRY_OK;
}
