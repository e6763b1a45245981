/* internal.h - the graph's arrays, and the walk over one layer. */
#ifndef SP_KNN_INTERNAL_H
#define SP_KNN_INTERNAL_H

#include "knn/knn.h"

enum { SP_KNN_LAYERS = 16, SP_KNN_DEGREE = 64 };

struct sp_knn {
    int64_t count;
    int32_t dim, degree;
    int32_t entry;   /* an item of the top layer, where walks begin */
    int64_t uppers;  /* lists above the bottom */
    float *vector;   /* [count, dim] */
    uint8_t *layer;  /* [count] the highest an item lies on */
    int32_t *bottom; /* [count, 2 degree] neighbours; -1: no more */
    int64_t *first;  /* [count] an item's list on layer 1 */
    int32_t *upper;  /* [uppers, degree] its lists, layer by layer */
};

/* All arrays but `upper`, empty. */
spry_status sp_knn_new(sp_knn **out, int64_t count, int dim, int degree);
/* Once layers are known: where lists begin, and room for them, all empty. */
spry_status sp_knn_raise(sp_knn *g);

static inline int sp_knn_width(const sp_knn *g, int layer)
{
    return layer ? g->degree : 2 * g->degree;
}

static inline int32_t *sp_knn_list(const sp_knn *g, int64_t item, int layer)
{
    if (!layer)
        return g->bottom + item * 2 * g->degree;
    return g->upper + (g->first[item] + layer - 1) * g->degree;
}

static inline double sp_knn_distance(const float *a, const float *b, int dim)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < dim; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return (double)sum;
}

/* ---- walking (walk.c) ---- */

typedef struct {
    sp_knn_found *at; /* [room]; at[0] is the first to leave */
    int64_t n, room;
    int worst_first;
} sp_heap;

typedef struct {
    const sp_knn *g;
    sp_knn_score *score;
    void *payload;
    int64_t asked;
    uint32_t *met; /* [count] the walk that met an item last */
    uint32_t walk;
    sp_heap next; /* met, neighbours not yet looked at; best first */
    sp_heap kept; /* the best so far, worst first */
} sp_walker;

spry_status sp_walker_open(sp_walker *w, const sp_knn *g);
void sp_walker_close(sp_walker *w);
/* From `start` down to `layer`, one step at a time while it gets better. */
sp_knn_found sp_walker_descend(sp_walker *w, sp_knn_found start, int from,
                               int layer);
sp_knn_found sp_walker_score(sp_walker *w, int32_t item);
/* The ef best met on a layer from `start` on: in w->kept, unsorted. */
spry_status sp_walker_search(sp_walker *w, sp_knn_found start, int layer,
                             int ef);
/* w->kept, best first. */
void sp_walker_sort(sp_walker *w);

#endif
