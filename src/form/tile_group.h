/* tile_group.h - a group of tiles: many inputs side by side on their way
 * down the layers.
 *
 * Where zeros stay zeros, as below a ReLU without positive biases, inputs whose
 * values have all become 0 leave their group, and those that are left move
 * together. So do inputs whose values are all at a limit they will keep. */
#ifndef SP_FORM_TILE_GROUP_H
#define SP_FORM_TILE_GROUP_H

#include "form/rows.h"

enum { SP_STAGES = 24 };

/* Where inputs come from, and where results go. */
typedef struct {
    const float *x; /* [batch][inputs] or NULL: rows of m from `first` on */
    const spry_matrix *m;
    int64_t first;
    float *y; /* [batch][outputs] or NULL: any[batch] */
    uint8_t *any;
    int64_t batch;
} sp_rows_batch;

/* A group of tiles that go through the layers in step. */
typedef struct {
    float *value; /* [tiles][slots][tile] */
    int64_t *id;  /* [tiles * tile] which input each lane is */
    int lanes;    /* in use, from the first on */
} sp_tile_group;

/* What one thread works with: a group for each stage, the first for the
 * start. */
typedef struct {
    const sp_rows *r;
    const sp_rows_batch *batch;
    int tiles;
    int stages;
    int64_t layer[SP_STAGES + 1]; /* [stages + 1] where each begins */
    sp_tile_group group[SP_STAGES];
    uint32_t *alive; /* [tiles * tile] */
    int32_t *stay;   /* [tiles * tile] lanes that do */
} sp_rows_thread;

static inline float *sp_group_tile(const sp_rows_thread *c,
                                   const sp_tile_group *f, int64_t t)
{
    return f->value + t * c->r->places.slots * c->r->tile;
}

static inline int sp_group_tiles(const sp_rows_thread *c,
                                 const sp_tile_group *f)
{
    return (f->lanes + c->r->tile - 1) / c->r->tile;
}

/* Inputs first .. first + count - 1 of the batch. */
void sp_group_load(const sp_rows_thread *c, sp_tile_group *f, int64_t first,
                   int64_t count);
/* The results of all lanes, to where the batch wants them. */
void sp_group_store(const sp_rows_thread *c, const sp_tile_group *f);

/* Lanes stay[0 .. count - 1] of `from`, ascending, become those of `to` from
 * `at` on, the values of layer l only. Both may be the same group. */
void sp_group_move(const sp_rows_thread *c, sp_tile_group *to, int at,
                   const sp_tile_group *from, const int32_t *stay, int count,
                   int64_t l);
/* The lanes of a tile behind the last that is in use become 0. */
void sp_group_clear_rest(const sp_rows_thread *c, const sp_tile_group *f,
                         int64_t l);

/* Behind layer l: lanes that c->alive says are dead leave, when that saves a
 * tile; and those whose values stay at their limits from l on. */
void sp_group_drop_zero(const sp_rows_thread *c, sp_tile_group *f, int64_t l);
void sp_group_drop_full(const sp_rows_thread *c, sp_tile_group *f, int64_t l);

#endif
