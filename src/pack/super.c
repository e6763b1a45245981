/* super.c - A's entries into the levels of a nest.
 *
 * Entries are sorted by their coordinates in the order of the levels. Then
 * every entry's position is carried from level to level: through a dense one
 * by arithmetic, through a compressed one by counting the different
 * beginnings so far. All pos arrays lie one behind the other in `start`, all
 * crd arrays in `col`; `level` says where each begins. */
#include "schedule/super.h"
#include "pack/internal.h"

typedef struct {
    sp_pack_job *w;
    const sp_levels *v;
    const sp_keyed *entry; /* [nnz] sorted */
    int64_t *place;        /* [nnz] position in the level at hand */
    int64_t nnz;
} packing;

/* The table that the kernel finds dims and arrays with. */
static void make_table(sp_packed *k, const sp_levels *v,
                       const sp_level_sizes *z)
{
    int64_t pos = 0, crd = 0;

    for (int i = 0; i < SPRY_INDICES; i++)
        k->level[i] = v->dim[i];
    for (int l = 0; l < v->count; l++) {
        k->level[SPRY_INDICES + 2 * l] = pos;
        k->level[SPRY_INDICES + 2 * l + 1] = crd;
        pos += z->pos[l];
        crd += z->crd[l];
    }
}

static void walk_dense(packing *g, int l)
{
    int64_t extent = g->v->level[l].extent;

#pragma omp parallel for num_threads(g->w->threads) schedule(static)
    for (int64_t t = 0; t < g->nnz; t++)
        g->place[t] = g->place[t] * extent +
                      sp_level_coordinate(g->v, l, g->entry[t].key);
}

/* pos[parent + 1] counts children first, then becomes where they end. */
static void walk_compressed(packing *g, int l, int64_t positions)
{
    sp_pack_job *w = g->w;
    const int64_t *table = w->k->level + SPRY_INDICES + 2 * l;
    int shift = g->v->level[l].shift;
    int64_t at = -1, parent = 0;

    for (int64_t t = 0; t < g->nnz; t++) {
        uint64_t key = g->entry[t].key;

        if (t == 0 || key >> shift != g->entry[t - 1].key >> shift) {
            at++;
            for (; parent < g->place[t]; parent++)
                sp_put_wide(w, w->k->part->start, table[0] + parent + 1, at);
            sp_put_wide(w, w->k->part->col, table[1] + at,
                        sp_level_coordinate(g->v, l, key));
        }
        g->place[t] = at;
    }
    for (; parent < positions; parent++)
        sp_put_wide(w, w->k->part->start, table[0] + parent + 1, at + 1);
}

static spry_status fill(packing *g, const sp_level_sizes *z)
{
    sp_pack_job *w = g->w;
    sp_part *q = w->k->part;

    for (int l = 0; l < g->v->count; l++)
        if (g->v->level[l].dense)
            walk_dense(g, l);
        else
            walk_compressed(g, l, z->pos[l] - 1);
    if (sp_is_sampled(w->p->op)) {
        q->out = sp_pack_indices(w, z->values);
        if (!q->out)
            return sp_fail_memory((size_t)z->values * 8);
        memset(q->out, 0xff, (size_t)z->values * (size_t)w->k->index / 8);
    }
#pragma omp parallel for num_threads(g->w->threads) schedule(static)
    for (int64_t t = 0; t < g->nnz; t++) {
        sp_put_val(w, q, g->place[t], sp_val(w->A, g->entry[t].at));
        if (q->out)
            sp_put_wide(w, q->out, g->place[t], g->entry[t].at);
    }
    return SPRY_OK;
}

static int64_t sum(const int64_t *x)
{
    int64_t all = 0;

    for (int l = 0; l < SP_LEVELS_MOST; l++)
        all += x[l];
    return all;
}

static spry_status build(packing *g)
{
    sp_pack_job *w = g->w;
    sp_beginnings b = sp_levels_begin(g->v, g->entry, g->nnz);
    sp_level_sizes z = sp_levels_count(g->v, &b, g->nnz);
    spry_status s = sp_levels_feasible(&z, g->nnz);

    if (s != SPRY_OK)
        return s;
    w->k->index = sp_levels_index(g->v, &z, w->x);
    w->k->covers = 0;
    w->k->pads = z.values > g->nnz;
    make_table(w->k, g->v, &z);
    s = sp_pack_parts(w, 1);
    if (s == SPRY_OK) /* start has one element more than units */
        s = sp_pack_arrays(w, w->k->part, sum(z.pos) - 1, sum(z.crd), z.values);
    if (s == SPRY_OK && !(g->place = sp_alloc(g->nnz, sizeof *g->place)))
        s = sp_fail_memory((size_t)g->nnz * sizeof *g->place);
    return s == SPRY_OK ? fill(g, &z) : s;
}

spry_status sp_pack_super(sp_pack_job *w)
{
    sp_levels v;
    sp_keyed *entry = NULL;
    packing g = {w, &v, NULL, NULL, w->A->nnz};
    sp_level_sizes least;
    spry_status s = sp_levels_of(&v, w->x, w->p);

    if (s != SPRY_OK)
        return s;
    least = sp_levels_count(&v, NULL, g.nnz);
    s = sp_levels_feasible(&least, g.nnz);
    if (s == SPRY_OK)
        s = sp_levels_sort(&entry, &v, &w->x->super, w->p);
    g.entry = entry;
    if (s == SPRY_OK)
        s = build(&g);
    sp_free(g.place);
    sp_free(entry);
    return s;
}
