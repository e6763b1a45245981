/* form_rows.c - many inputs at a time, their values side by side in vectors.
 *
 * A thread takes a group of tiles through the layers, a stage of them at a
 * time. Between stages groups that have become small wait until they fill one
 * together. */
#include <omp.h>

#include "form/tile_group.h"

enum { GROUP_BYTES = 256 << 10 };

/* ---- making ---- */

int sp_form_tiles(int64_t slots, int tile)
{
    int64_t tiles = slots > 0 ? GROUP_BYTES / (slots * tile * 4) : 1;

    return tiles < 1 ? 1 : tiles > 64 ? 64 : (int)tiles;
}

int sp_form_together(int tile)
{
    return sp_share_limit(tile);
}

static int zero_stays(const spry_network *n, int64_t l)
{
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        if (sp_finish(n->activation[l], 0, n->bias[v], n->bias_on_nonzero) != 0)
            return 0;
    return 1;
}

/* From the last layer back, as long as zeros stay. */
static spry_status find_quiet(sp_rows *r)
{
    int stays = 1;

    r->quiet = sp_alloc(r->net->layers, sizeof *r->quiet);
    if (!r->quiet)
        return sp_fail_memory((size_t)r->net->layers);
    for (int64_t l = r->net->layers; stays && l-- > 0;) {
        r->quiet[l] = r->places.alone[l];
        stays = zero_stays(r->net, l);
    }
    return SPRY_OK;
}

static spry_status find_rest(sp_rows *r, int wanted)
{
    r->rest = (spry_rest){
        .size = sizeof r->rest, .zero = r->net->layers, .full = r->net->layers};
    return wanted ? spry_network_rest(&r->rest, r->net) : SPRY_OK;
}

static void release(void *p)
{
    sp_rows *r = p;

    if (!r)
        return;
    sp_places_free(&r->places);
    sp_free(r->layer);
    sp_free(r->share);
    sp_free(r->bias);
    sp_free(r->weight);
    sp_free(r->near);
    sp_free(r->far);
    sp_free(r->quiet);
    sp_free(r);
}

static spry_status make(void **out, const spry_network *n, sp_form_options *f)
{
    sp_rows *r = sp_alloc(1, sizeof *r);
    spry_status s = r ? sp_places_make(&r->places, n) : sp_no_memory(sizeof *r);

    *out = NULL;
    if (s == SPRY_OK) {
        r->net = n;
        s = f->tile ? SPRY_OK : sp_rows_choose(&f->tile, n);
    }
    if (s == SPRY_OK) {
        r->kernels = sp_net_kernels_for(f);
        r->tile = f->tile;
        r->threads = f->threads;
        r->tiles = sp_form_tiles(r->places.slots, r->tile);
        s = sp_rows_pack(r);
    }
    if (s == SPRY_OK) {
        f->bytes = r->bytes;
        s = find_quiet(r);
    }
    if (s == SPRY_OK)
        s = find_rest(r, f->rest);
    if (s == SPRY_OK)
        *out = r;
    else
        release(r);
    return s;
}

/* ---- down the layers ---- */

static void run_layer(const sp_rows_thread *c, sp_tile_group *f, int64_t l)
{
    const sp_rows *r = c->r;

    for (int t = 0; t < sp_group_tiles(c, f); t++)
        r->kernels->rows(sp_group_tile(c, f, t), &r->layer[l], r->tile,
                         c->alive + (int64_t)t * r->tile);
    if (r->quiet[l])
        sp_group_drop_zero(c, f, l);
}

static void run_stage(sp_rows_thread *c, int stage);

/* All lanes of stage i's group go on to the next group, which leaves as often
 * as it is full. */
static void hand_over(sp_rows_thread *c, int stage)
{
    sp_tile_group *f = &c->group[stage], *next = f + 1;
    int most = c->tiles * c->r->tile;
    int64_t l = c->layer[stage + 1] - 1;
    int done = 0;

    while (done < f->lanes) {
        int count = f->lanes - done;

        if (count > most - next->lanes)
            count = most - next->lanes;
        for (int i = 0; i < count; i++)
            c->stay[i] = done + i;
        sp_group_move(c, next, next->lanes, f, c->stay, count, l);
        next->lanes += count;
        done += count;
        if (next->lanes == most)
            run_stage(c, stage + 1);
    }
}

/* A group that is still nearly full goes on alone when nobody waits for it. */
static int goes_on(const sp_rows_thread *c, int stage)
{
    const sp_tile_group *f = &c->group[stage];

    return f[1].lanes == 0 && f->lanes > c->tiles * c->r->tile * 3 / 4;
}

static void swap_groups(sp_tile_group *a, sp_tile_group *b)
{
    sp_tile_group swap = *a;

    *a = *b;
    *b = swap;
}

static void run_stage_layers(sp_rows_thread *c, int stage)
{
    sp_tile_group *f = &c->group[stage];

    for (int64_t l = c->layer[stage]; l < c->layer[stage + 1]; l++)
        if (f->lanes > 0)
            run_layer(c, f, l);
    if (stage + 1 < c->stages)
        sp_group_drop_full(c, f, c->layer[stage + 1] - 1);
}

/* The group of a stage, to the next one or to the end. */
static void run_stage(sp_rows_thread *c, int stage)
{
    sp_tile_group *f = &c->group[stage];

    if (f != c->group)
        sp_group_clear_rest(c, f, c->layer[stage] - 1);
    run_stage_layers(c, stage);
    while (stage + 1 < c->stages && goes_on(c, stage)) {
        swap_groups(&c->group[stage], &c->group[stage + 1]);
        run_stage_layers(c, ++stage);
    }
    if (stage + 1 < c->stages)
        hand_over(c, stage);
    else
        sp_group_store(c, &c->group[stage]);
    c->group[stage].lanes = 0;
}

/* Of two layers in a row, the one that ends a stage: where full inputs can be
 * told, layers that clamp. */
static int64_t stage_near(const sp_rows *r, int64_t l)
{
    return l > 2 && r->rest.full < l &&
                   r->net->activation[l - 1].curve != SPRY_CLAMP
               ? l - 1
               : l;
}

/* After 2, 4, 8... layers, where zeros stay. */
static void choose_stages(sp_rows_thread *c)
{
    const sp_rows *r = c->r;

    c->layer[c->stages++] = 0;
    for (int64_t l = 2; l < r->net->layers && c->stages < SP_STAGES; l *= 2) {
        int64_t at = stage_near(r, l);

        if (r->quiet[at - 1])
            c->layer[c->stages++] = at;
    }
    c->layer[c->stages] = r->net->layers;
}

/* ---- threads ---- */

static void close_thread(sp_rows_thread *c)
{
    for (int i = 0; i < c->stages; i++) {
        sp_free(c->group[i].value);
        sp_free(c->group[i].id);
    }
    sp_free(c->alive);
    sp_free(c->stay);
}

/* 0 when memory is short. */
static int open_thread(sp_rows_thread *c)
{
    int64_t lanes = (int64_t)c->tiles * c->r->tile;
    int ok;

    c->alive = sp_alloc(lanes, sizeof *c->alive);
    c->stay = sp_alloc(lanes, sizeof *c->stay);
    ok = c->alive && c->stay;
    for (int i = 0; i < c->stages; i++) {
        sp_tile_group *f = &c->group[i];

        f->value = sp_alloc(lanes * c->r->places.slots, sizeof *f->value);
        f->id = sp_alloc(lanes, sizeof *f->id);
        ok = ok && f->value && f->id;
    }
    return ok;
}

static spry_status run_batch(const sp_rows *r, const sp_rows_batch *j)
{
    int threads = r->threads;
    int64_t each = (j->batch + threads - 1) / threads, lanes, groups;
    int tiles = (int)((each + r->tile - 1) / r->tile);
    int short_of_memory = 0;

    if (tiles > r->tiles || each > INT32_MAX)
        tiles = r->tiles;
    lanes = (int64_t)tiles * r->tile;
    groups = (j->batch + lanes - 1) / lanes;
#pragma omp parallel num_threads(threads) \
    reduction(|                           \
              : short_of_memory) if (groups > 1)
    {
        sp_rows_thread c = {.r = r, .batch = j, .tiles = tiles};
        int ok;

        choose_stages(&c);
        ok = open_thread(&c);
        short_of_memory = !ok;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < groups; i++) {
            int64_t left = j->batch - i * lanes;

            if (!ok)
                continue;
            sp_group_load(&c, &c.group[0], i * lanes,
                          left < lanes ? left : lanes);
            run_stage(&c, 0);
        }
        for (int i = 1; ok && i < c.stages; i++)
            run_stage(&c, i);
        close_thread(&c);
    }
    return short_of_memory ? sp_fail_memory((size_t)(lanes * r->places.slots) *
                                            sizeof(float))
                           : SPRY_OK;
}

static spry_status run(const void *p, float *y, const float *x, int64_t batch)
{
    sp_rows_batch j = {.x = x, .y = y, .batch = batch};

    return run_batch(p, &j);
}

static spry_status categories(const void *p, uint8_t *any, const spry_matrix *m,
                              int64_t first, int64_t count)
{
    sp_rows_batch j = {.m = m, .first = first, .any = any, .batch = count};

    return run_batch(p, &j);
}

const sp_form sp_form_rows = {
    "rows",
    "many inputs side by side, outputs that share sources together",
    SP_FORM_TILE | SP_FORM_THREADS | SP_FORM_REST,
    make,
    run,
    categories,
    release};
