/* form_rows.c - many inputs at a time, their values side by side in vectors.
 *
 * A thread takes a raft of inputs down the layers. Rafts that have become
 * small wait at certain layers, the landings, until they fill one together. */
#include <omp.h>

#include "form/raft.h"

enum { RAFT_BYTES = 256 << 10 };

/* ---- making ---- */

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
    if (wanted)
        return spry_network_rest(&r->rest, r->net);
    r->rest = (spry_rest){r->net->layers, r->net->layers, 0};
    return SPRY_OK;
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

static spry_status make(void **out, const spry_network *n, spry_form *f)
{
    sp_rows *r = sp_alloc(1, sizeof *r);
    spry_status s =
        r ? sp_places_make(&r->places, n) : sp_fail_memory(sizeof *r);

    *out = NULL;
    if (s == SPRY_OK) {
        r->net = n;
        s = f->tile ? SPRY_OK : sp_rows_choose(&f->tile, n);
    }
    if (s == SPRY_OK) {
        r->kernels = sp_net_kernels_here();
        r->tile = f->tile;
        r->threads = f->threads;
        r->tiles = (int)(RAFT_BYTES / (r->places.slots * r->tile * 4));
        r->tiles = r->tiles < 1 ? 1 : r->tiles > 64 ? 64 : r->tiles;
        s = sp_rows_pack(r);
    }
    if (s == SPRY_OK)
        s = find_quiet(r);
    if (s == SPRY_OK)
        s = find_rest(r, f->rest);
    if (s == SPRY_OK)
        *out = r;
    else
        release(r);
    return s;
}

/* ---- down the layers ---- */

static void run_layer(const sp_crew *c, sp_raft *f, int64_t l)
{
    const sp_rows *r = c->r;

    for (int t = 0; t < sp_raft_tiles(c, f); t++)
        r->kernels->rows(sp_raft_tile(c, f, t), &r->layer[l], r->tile,
                         c->alive + (int64_t)t * r->tile);
    if (r->quiet[l])
        sp_raft_close_ranks(c, f, l);
}

static void run_landing(sp_crew *c, int landing);

/* All lanes of landing i's raft go on to the next raft, which leaves as often
 * as it is full. */
static void hand_over(sp_crew *c, int landing)
{
    sp_raft *f = &c->raft[landing], *next = f + 1;
    int most = c->tiles * c->r->tile;
    int64_t l = c->layer[landing + 1] - 1;
    int done = 0;

    while (done < f->lanes) {
        int some = f->lanes - done;

        if (some > most - next->lanes)
            some = most - next->lanes;
        for (int i = 0; i < some; i++)
            c->stay[i] = done + i;
        sp_raft_move(c, next, next->lanes, f, c->stay, some, l);
        next->lanes += some;
        done += some;
        if (next->lanes == most)
            run_landing(c, landing + 1);
    }
}

/* A raft that is still nearly full goes on alone when nobody waits for it. */
static int goes_on(const sp_crew *c, int landing)
{
    const sp_raft *f = &c->raft[landing];

    return f[1].lanes == 0 && f->lanes > c->tiles * c->r->tile * 3 / 4;
}

static void change_rafts(sp_raft *a, sp_raft *b)
{
    sp_raft swap = *a;

    *a = *b;
    *b = swap;
}

static void run_stretch(sp_crew *c, int landing)
{
    sp_raft *f = &c->raft[landing];

    for (int64_t l = c->layer[landing]; l < c->layer[landing + 1]; l++)
        if (f->lanes > 0)
            run_layer(c, f, l);
    if (landing + 1 < c->landings)
        sp_raft_leave_full(c, f, c->layer[landing + 1] - 1);
}

/* The raft of a landing, to the next one or to the end. */
static void run_landing(sp_crew *c, int landing)
{
    sp_raft *f = &c->raft[landing];

    if (f != c->raft)
        sp_raft_clear_rest(c, f, c->layer[landing] - 1);
    run_stretch(c, landing);
    while (landing + 1 < c->landings && goes_on(c, landing)) {
        change_rafts(&c->raft[landing], &c->raft[landing + 1]);
        run_stretch(c, ++landing);
    }
    if (landing + 1 < c->landings)
        hand_over(c, landing);
    else
        sp_raft_store(c, &c->raft[landing]);
    c->raft[landing].lanes = 0;
}

/* Of two layers in a row, the one to land behind: where full inputs can be
 * told, layers that clamp. */
static int64_t landing_near(const sp_rows *r, int64_t l)
{
    return l > 2 && r->rest.full < l &&
                   r->net->activation[l - 1].curve != SPRY_CLAMP
               ? l - 1
               : l;
}

/* After 2, 4, 8... layers, where zeros stay. */
static void choose_landings(sp_crew *c)
{
    const sp_rows *r = c->r;

    c->layer[c->landings++] = 0;
    for (int64_t l = 2; l < r->net->layers && c->landings < SP_LANDINGS;
         l *= 2) {
        int64_t at = landing_near(r, l);

        if (r->quiet[at - 1])
            c->layer[c->landings++] = at;
    }
    c->layer[c->landings] = r->net->layers;
}

/* ---- threads ---- */

static void dismiss(sp_crew *c)
{
    for (int i = 0; i < c->landings; i++) {
        sp_free(c->raft[i].value);
        sp_free(c->raft[i].id);
    }
    sp_free(c->alive);
    sp_free(c->stay);
}

/* 0 when memory is short. */
static int gather_crew(sp_crew *c)
{
    int64_t lanes = (int64_t)c->tiles * c->r->tile;
    int ok;

    c->alive = sp_alloc(lanes, sizeof *c->alive);
    c->stay = sp_alloc(lanes, sizeof *c->stay);
    ok = c->alive && c->stay;
    for (int i = 0; i < c->landings; i++) {
        sp_raft *f = &c->raft[i];

        f->value = sp_alloc(lanes * c->r->places.slots, sizeof *f->value);
        f->id = sp_alloc(lanes, sizeof *f->id);
        ok = ok && f->value && f->id;
    }
    return ok;
}

static spry_status run_job(const sp_rows *r, const sp_raft_job *j)
{
    int threads = r->threads;
    int64_t each = (j->batch + threads - 1) / threads, lanes, rafts;
    int tiles = (int)((each + r->tile - 1) / r->tile);
    int short_of_memory = 0;

    if (tiles > r->tiles || each > INT32_MAX)
        tiles = r->tiles;
    lanes = (int64_t)tiles * r->tile;
    rafts = (j->batch + lanes - 1) / lanes;
#pragma omp parallel num_threads(threads) \
    reduction(|                           \
              : short_of_memory) if (rafts > 1)
    {
        sp_crew c = {.r = r, .job = j, .tiles = tiles};
        int ok;

        choose_landings(&c);
        ok = gather_crew(&c);
        short_of_memory = !ok;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < rafts; i++) {
            int64_t left = j->batch - i * lanes;

            if (!ok)
                continue;
            sp_raft_load(&c, &c.raft[0], i * lanes,
                         left < lanes ? left : lanes);
            run_landing(&c, 0);
        }
        for (int i = 1; ok && i < c.landings; i++)
            run_landing(&c, i);
        dismiss(&c);
    }
    return short_of_memory ? sp_fail_memory((size_t)(lanes * r->places.slots) *
                                            sizeof(float))
                           : SPRY_OK;
}

static spry_status run(const void *p, float *y, const float *x, int64_t batch)
{
    sp_raft_job j = {.x = x, .y = y, .batch = batch};

    return run_job(p, &j);
}

static spry_status categories(const void *p, uint8_t *any, const spry_matrix *m,
                              int64_t first, int64_t count)
{
    sp_raft_job j = {.m = m, .first = first, .any = any, .batch = count};

    return run_job(p, &j);
}

const sp_form sp_form_rows = {
    "rows",
    "many inputs side by side, outputs that share sources together",
    SP_FORM_TILE | SP_FORM_THREADS | SP_FORM_REST,
    make,
    run,
    categories,
    release};
