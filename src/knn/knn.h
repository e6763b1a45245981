/* knn.h - a proximity graph over vectors, walked by any score.
 *
 * A hierarchical navigable small world (HNSW; Malkov and Yashunin 2018): every
 * vector is on the bottom layer, ever fewer of them on the layers above, and on
 * each layer a vector is joined to some near it. A search begins at the top,
 * moves to better neighbours while there are any, then goes down a layer; on
 * the bottom layer the `ef` best so far are kept, and their neighbours tried.
 *
 * The score need not be a distance. A search then begins at all items of a
 * layer that has few, and works if vectors close to each other score alike, as
 * schedules do under the model that embedded them. */
#ifndef SP_KNN_H
#define SP_KNN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef struct sp_knn sp_knn;

typedef struct {
    int degree; /* neighbours on upper layers, 2 .. 64; twice on the bottom */
    int ef;     /* how many are kept while a place is sought; >= degree */
    uint64_t seed;
} sp_knn_options;

/* Over count >= 1 vectors of dim finite numbers, [count, dim], copied. The
 * same for the same seed. */
spry_status sp_knn_build(sp_knn **out, const float *vector, int64_t count,
                         int dim, const sp_knn_options *o);
void sp_knn_free(sp_knn *g);

int64_t sp_knn_count(const sp_knn *g);
int sp_knn_dim(const sp_knn *g);
const float *sp_knn_vector(const sp_knn *g, int64_t item); /* [dim] */

/* Scores of n items into out; smaller is better, NaN counts as worst. */
typedef void sp_knn_score(double *out, const int32_t *item, int n,
                          void *payload);

typedef struct {
    double score;
    int32_t item;
} sp_knn_found;

/* The best `most` that were met, best first; *asked items were scored. ef is
 * at least most. */
spry_status sp_knn_walk(sp_knn_found *out, int *count, int most,
                        const sp_knn *g, int ef, sp_knn_score *score,
                        void *payload, int64_t *asked);

/* A data file (docs/formats.md); reading checks everything, SPRY_INPUT and a
 * sentence for any other bytes. */
spry_status sp_knn_save(const sp_knn *g, const char *path);
spry_status sp_knn_load(sp_knn **out, const char *path);
spry_status sp_knn_parse(sp_knn **out, const void *data, size_t len,
                         const char *path_for_errors);

#endif
