/* tile_group.c - inputs enter a group of tiles, leave it and move together. */
#include "form/tile_group.h"

#include <string.h>

#include "matrix/matrix.h"

/* ---- inputs ---- */

static void load_sparse(float *to, const sp_rows_thread *c, int64_t row,
                        int count)
{
    const spry_matrix *m = c->batch->m;
    int tile = c->r->tile;

    memset(to, 0, (size_t)(c->r->net->inputs * tile) * sizeof *to);
    for (int b = 0; b < count; b++)
        for (int64_t k = m->start[row + b]; k < m->start[row + b + 1]; k++)
            to[sp_col(m, k) * tile + b] = (float)sp_val(m, k);
}

void sp_group_load(const sp_rows_thread *c, sp_tile_group *f, int64_t first,
                   int64_t count)
{
    const sp_rows *r = c->r;
    int64_t width = r->net->inputs;

    f->lanes = (int)count;
    for (int i = 0; i < f->lanes; i++)
        f->id[i] = first + i;
    for (int t = 0; t < sp_group_tiles(c, f); t++) {
        int64_t at = first + (int64_t)t * r->tile;
        float *to = sp_group_tile(c, f, t) + r->places.slot[0] * r->tile;
        int used =
            f->lanes - t * r->tile < r->tile ? f->lanes - t * r->tile : r->tile;

        if (c->batch->x)
            r->kernels->turn(to, c->batch->x + at * width, width, r->tile,
                             used);
        else
            load_sparse(to, c, c->batch->first + at, used);
    }
}

/* ---- results ---- */

static void store_values(const sp_rows_thread *c, const sp_tile_group *f)
{
    const sp_rows *r = c->r;
    int64_t outputs = r->net->outputs;

    for (int i = 0; i < f->lanes; i++) {
        const float *from = sp_group_tile(c, f, i / r->tile) + i % r->tile;
        float *y = c->batch->y + f->id[i] * outputs;

        for (int64_t j = 0; j < outputs; j++)
            y[j] = from[(int64_t)r->places.home[r->net->output[j]] * r->tile];
    }
}

static void store_any(const sp_rows_thread *c, const sp_tile_group *f)
{
    const sp_rows *r = c->r;

    for (int i = 0; i < f->lanes; i++) {
        const float *from = sp_group_tile(c, f, i / r->tile) + i % r->tile;
        int64_t j = 0;

        while (j < r->net->outputs &&
               from[(int64_t)r->places.home[r->net->output[j]] * r->tile] == 0)
            j++;
        c->batch->any[f->id[i]] = j < r->net->outputs;
    }
}

void sp_group_store(const sp_rows_thread *c, const sp_tile_group *f)
{
    if (c->batch->y)
        store_values(c, f);
    else
        store_any(c, f);
}

static void store_zero(const sp_rows_thread *c, int64_t id)
{
    int64_t outputs = c->r->net->outputs;

    if (c->batch->y)
        memset(c->batch->y + id * outputs, 0,
               (size_t)outputs * sizeof *c->batch->y);
    else
        c->batch->any[id] = 0;
}

static void store_full(const sp_rows_thread *c, int64_t id)
{
    int64_t outputs = c->r->net->outputs;

    if (c->batch->any)
        c->batch->any[id] = c->r->rest.limit > 0;
    for (int64_t j = 0; c->batch->y && j < outputs; j++)
        c->batch->y[id * outputs + j] = c->r->rest.limit;
}

/* ---- moving together ---- */

void sp_group_move(const sp_rows_thread *c, sp_tile_group *to, int at,
                   const sp_tile_group *from, const int32_t *stay, int count,
                   int64_t l)
{
    const sp_rows *r = c->r;
    int64_t slot = r->places.slot[l + 1];
    int64_t width = r->net->first[l + 1] - r->net->first[l];

    for (int i = 0; i < count; i++) {
        const float *x = sp_group_tile(c, from, stay[i] / r->tile) +
                         slot * r->tile + stay[i] % r->tile;
        float *y = sp_group_tile(c, to, (at + i) / r->tile) + slot * r->tile +
                   (at + i) % r->tile;

        for (int64_t j = 0; j < width; j++)
            y[j * r->tile] = x[j * r->tile];
        to->id[at + i] = from->id[stay[i]];
    }
}

void sp_group_clear_rest(const sp_rows_thread *c, const sp_tile_group *f,
                         int64_t l)
{
    const sp_rows *r = c->r;
    int used = f->lanes % r->tile;
    float *x = sp_group_tile(c, f, f->lanes / r->tile) +
               r->places.slot[l + 1] * r->tile;

    if (used)
        for (int64_t j = 0; j < r->net->first[l + 1] - r->net->first[l]; j++)
            memset(x + j * r->tile + used, 0,
                   (size_t)(r->tile - used) * sizeof *x);
}

/* How many lanes of f are alive behind layer l; they become c->stay. */
static int find_alive(const sp_rows_thread *c, const sp_tile_group *f)
{
    int count = 0;

    for (int i = 0; i < f->lanes; i++)
        if (c->alive[i])
            c->stay[count++] = i;
    return count;
}

static void store_zeros(const sp_rows_thread *c, const sp_tile_group *f)
{
    for (int i = 0; i < f->lanes; i++)
        if (!c->alive[i])
            store_zero(c, f->id[i]);
}

void sp_group_drop_zero(const sp_rows_thread *c, sp_tile_group *f, int64_t l)
{
    int alive = find_alive(c, f);

    if ((alive + c->r->tile - 1) / c->r->tile >= sp_group_tiles(c, f))
        return;
    store_zeros(c, f);
    sp_group_move(c, f, 0, f, c->stay, alive, l);
    f->lanes = alive;
    sp_group_clear_rest(c, f, l);
}

/* ---- at their limit ---- */

/* Are all values of layer l at its limit? */
static int is_full(const sp_rows_thread *c, const sp_tile_group *f, int lane,
                   int64_t l)
{
    const sp_rows *r = c->r;
    const float *x = sp_group_tile(c, f, lane / r->tile) +
                     r->places.slot[l + 1] * r->tile + lane % r->tile;
    int64_t width = r->net->first[l + 1] - r->net->first[l], j = 0;

    while (j < width && x[j * r->tile] >= r->net->activation[l].limit)
        j++;
    return j == width;
}

void sp_group_drop_full(const sp_rows_thread *c, sp_tile_group *f, int64_t l)
{
    int count = 0;

    if (l < c->r->rest.full || c->r->net->activation[l].curve != SPRY_CLAMP)
        return;
    for (int i = 0; i < f->lanes; i++)
        if (is_full(c, f, i, l))
            store_full(c, f->id[i]);
        else
            c->stay[count++] = i;
    if (count == f->lanes)
        return;
    sp_group_move(c, f, 0, f, c->stay, count, l);
    f->lanes = count;
    sp_group_clear_rest(c, f, l);
}
