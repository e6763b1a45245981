/* tiles.c - what is in blocks and what is not, counted once per shape. */
#include "base/base.h"
#include "matrix/matrix.h"
#include "problem/sparse.h"

enum { SIDES = SP_TILE_MOST + 1 };

typedef struct {
    sp_tiles tiles[SP_RESTS];
    int known;
} shape;

const sp_tiles *sp_problem_tiles(const sp_sparse *constant, int r, int c)
{
    sp_sparse *p = (sp_sparse *)(uintptr_t)constant;
    shape *known = NULL;

    pthread_mutex_lock(&p->lock);
    if (!p->tiles)
        p->tiles = sp_alloc(SIDES * SIDES, sizeof(shape));
    if (p->tiles) {
        known = (shape *)p->tiles + r * SIDES + c;
        if (!known->known)
            sp_matrix_tiles(known->tiles, p->A, r, c);
        known->known = 1;
    }
    pthread_mutex_unlock(&p->lock);
    return known ? known->tiles : NULL;
}
