/* tiles.c - what is in blocks and what is not, counted once per shape; whether
 * one triangle stands for both, found out once. */
#include "base/base.h"
#include "base/unconst.h"
#include "matrix/matrix.h"
#include "problem/sparse.h"

enum { SIDES = SP_TILE_MOST + 1 };

typedef struct {
    sp_tiles tiles[SP_RESTS];
    int known;
} shape;

const sp_tiles *sp_problem_tiles(const sp_sparse *p, int r, int c)
{
    sp_sparse *own = sp_unconst(p);
    shape *known = NULL;

    pthread_mutex_lock(&own->lock);
    if (!own->tiles)
        own->tiles = sp_alloc((int64_t)SIDES * SIDES, sizeof(shape));
    if (own->tiles) {
        known = (shape *)own->tiles + (int64_t)r * SIDES + c;
        if (!known->known)
            sp_matrix_tiles(known->tiles, own->A, r, c);
        known->known = 1;
    }
    pthread_mutex_unlock(&own->lock);
    return known ? known->tiles : NULL;
}

int sp_problem_symmetric(const sp_sparse *p)
{
    sp_sparse *own = sp_unconst(p);
    int found;

    pthread_mutex_lock(&own->lock);
    if (!own->symmetric)
        own->symmetric = sp_matrix_symmetric(own->A) == SPRY_OK ? 1 : -1;
    found = own->symmetric > 0;
    pthread_mutex_unlock(&own->lock);
    return found;
}
