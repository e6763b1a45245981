/* raft.h - what carries many inputs side by side down the layers.
 *
 * Where zeros stay zeros, as below a ReLU without positive biases, inputs whose
 * values have all become 0 leave the raft, and those that are left close
 * ranks. So do inputs whose values are all at a limit they will keep. */
#ifndef SP_FORM_RAFT_H
#define SP_FORM_RAFT_H

#include "form/rows.h"

enum { SP_LANDINGS = 24 };

/* Where inputs come from, and where results go. */
typedef struct {
    const float *x; /* [batch][inputs] or NULL: rows of m from `first` on */
    const spry_matrix *m;
    int64_t first;
    float *y; /* [batch][outputs] or NULL: any[batch] */
    uint8_t *any;
    int64_t batch;
} sp_raft_job;

typedef struct {
    float *value; /* [tiles][slots][tile] */
    int64_t *id;  /* [tiles * tile] which input each lane is */
    int lanes;    /* in use, from the first on */
} sp_raft;

/* What one thread works with: a raft for each landing, the first for the
 * start. */
typedef struct {
    const sp_rows *r;
    const sp_raft_job *job;
    int tiles;
    int landings;
    int64_t layer[SP_LANDINGS + 1]; /* [landings + 1] where each begins */
    sp_raft raft[SP_LANDINGS];
    uint32_t *alive; /* [tiles * tile] */
    int32_t *stay;   /* [tiles * tile] lanes that do */
} sp_crew;

static inline float *sp_raft_tile(const sp_crew *c, const sp_raft *f, int64_t t)
{
    return f->value + t * c->r->places.slots * c->r->tile;
}

static inline int sp_raft_tiles(const sp_crew *c, const sp_raft *f)
{
    return (f->lanes + c->r->tile - 1) / c->r->tile;
}

/* Inputs first .. first + count - 1 of the job. */
void sp_raft_load(const sp_crew *c, sp_raft *f, int64_t first, int64_t count);
/* The results of all lanes, into the job. */
void sp_raft_store(const sp_crew *c, const sp_raft *f);

/* Lanes stay[0 .. count - 1] of `from`, ascending, become those of `to` from
 * `at` on, the values of layer l only. Both may be the same raft. */
void sp_raft_move(const sp_crew *c, sp_raft *to, int at, const sp_raft *from,
                  const int32_t *stay, int count, int64_t l);
/* The lanes of a tile behind the last that is in use become 0. */
void sp_raft_clear_rest(const sp_crew *c, const sp_raft *f, int64_t l);

/* Behind layer l: lanes that c->alive says are dead leave, when that saves a
 * tile; and those whose values stay at their limits from l on. */
void sp_raft_close_ranks(const sp_crew *c, sp_raft *f, int64_t l);
void sp_raft_leave_full(const sp_crew *c, sp_raft *f, int64_t l);

#endif
