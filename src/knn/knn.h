/* knn.h - a proximity graph over vectors, walked by any score.
 *
 * A hierarchical navigable small world: every vector lies on the ground, ever
 * fewer of them on the floors above, and on each floor a vector is joined to
 * some near it. Who looks for what is near begins at the top, goes to better
 * neighbours while there are any, and down; on the ground the `ef` best so far
 * are kept, and their neighbours looked at.
 *
 * The score need not be a distance: then a walk begins at all items of a floor
 * that has few. It helps when vectors close to each other score alike, as
 * schedules do under the model that embedded them. */
#ifndef SP_KNN_H
#define SP_KNN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef struct sp_knn sp_knn;

typedef struct {
    int degree; /* neighbours on upper floors, 2 .. 64; twice on the ground */
    int ef;     /* how many are kept while a place is sought; >= degree */
    uint64_t seed;
} sp_knn_options;
#define SP_KNN_DEFAULTS \
    {                   \
        16, 64, 1       \
    }

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

/* The same for the squared distance to a vector of dim numbers. */
spry_status sp_knn_nearest(sp_knn_found *out, int *count, int most,
                           const sp_knn *g, int ef, const float *query,
                           int64_t *asked);

/* A data file (docs/formats.md); reading checks everything, SPRY_INPUT and a
 * sentence for any other bytes. */
spry_status sp_knn_save(const sp_knn *g, const char *path);
spry_status sp_knn_load(sp_knn **out, const char *path);
spry_status sp_knn_parse(sp_knn **out, const void *data, size_t len,
                         const char *path_for_errors);

#endif
