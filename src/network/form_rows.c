/* form_rows.c - many inputs at a time, their values side by side in vectors.
 *
 * A thread takes a raft of inputs down the layers. Where zeros stay zeros, as
 * below a ReLU without positive biases, inputs whose values have all become 0
 * leave the raft, and those that are left close ranks. Rafts that have become
 * small wait at certain layers, the landings, until they fill one together. */
#include <omp.h>
#include <string.h>

#include "matrix/matrix.h"
#include "network/rows.h"

enum { RAFT_BYTES = 256 << 10, LANDINGS = 24 };

/* Where inputs come from, and where results go. */
typedef struct {
    const float *x; /* [batch][inputs] or NULL: rows of m from `first` on */
    const spry_matrix *m;
    int64_t first;
    float *y; /* [batch][outputs] or NULL: any[batch] */
    uint8_t *any;
    int64_t batch;
} job;

typedef struct {
    float *value; /* [tiles][slots][tile] */
    int64_t *id;  /* [tiles * tile] which input each lane is */
    int lanes;    /* in use, from the first on */
} raft;

/* What one thread works with: a raft for each landing, the first for the
 * start. */
typedef struct {
    const sp_rows *r;
    const job *job;
    int tiles;
    int landings;
    int64_t layer[LANDINGS + 1]; /* [landings + 1] where each begins */
    raft raft[LANDINGS];
    uint32_t *alive; /* [tiles * tile] */
    int32_t *stay;   /* [tiles * tile] lanes that do */
} crew;

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

/* ---- rafts ---- */

static float *tile_of(const crew *c, const raft *f, int64_t t)
{
    return f->value + t * c->r->places.slots * c->r->tile;
}

static int tiles_of(const crew *c, const raft *f)
{
    return (f->lanes + c->r->tile - 1) / c->r->tile;
}

static void load_sparse(float *to, const crew *c, int64_t row, int count)
{
    const spry_matrix *m = c->job->m;
    int tile = c->r->tile;

    memset(to, 0, (size_t)(c->r->net->inputs * tile) * sizeof *to);
    for (int b = 0; b < count; b++)
        for (int64_t k = m->start[row + b]; k < m->start[row + b + 1]; k++)
            to[sp_col(m, k) * tile + b] = (float)sp_val(m, k);
}

static void load(const crew *c, raft *f, int64_t first, int64_t count)
{
    const sp_rows *r = c->r;
    int64_t width = r->net->inputs;

    f->lanes = (int)count;
    for (int i = 0; i < f->lanes; i++)
        f->id[i] = first + i;
    for (int t = 0; t < tiles_of(c, f); t++) {
        int64_t at = first + (int64_t)t * r->tile;
        float *to = tile_of(c, f, t) + r->places.slot[0] * r->tile;
        int some =
            f->lanes - t * r->tile < r->tile ? f->lanes - t * r->tile : r->tile;

        if (c->job->x)
            r->kernels->turn(to, c->job->x + at * width, width, r->tile, some);
        else
            load_sparse(to, c, c->job->first + at, some);
    }
}

/* ---- results ---- */

static void store_values(const crew *c, const raft *f)
{
    const sp_rows *r = c->r;
    int64_t outputs = r->net->outputs;

    for (int i = 0; i < f->lanes; i++) {
        const float *from = tile_of(c, f, i / r->tile) + i % r->tile;
        float *y = c->job->y + f->id[i] * outputs;

        for (int64_t j = 0; j < outputs; j++)
            y[j] = from[(int64_t)r->places.home[r->net->output[j]] * r->tile];
    }
}

static void store_any(const crew *c, const raft *f)
{
    const sp_rows *r = c->r;

    for (int i = 0; i < f->lanes; i++) {
        const float *from = tile_of(c, f, i / r->tile) + i % r->tile;
        int64_t j = 0;

        while (j < r->net->outputs &&
               from[(int64_t)r->places.home[r->net->output[j]] * r->tile] == 0)
            j++;
        c->job->any[f->id[i]] = j < r->net->outputs;
    }
}

static void store(const crew *c, const raft *f)
{
    if (c->job->y)
        store_values(c, f);
    else
        store_any(c, f);
}

static void store_zero(const crew *c, int64_t id)
{
    int64_t outputs = c->r->net->outputs;

    if (c->job->y)
        memset(c->job->y + id * outputs, 0,
               (size_t)outputs * sizeof *c->job->y);
    else
        c->job->any[id] = 0;
}

static void store_full(const crew *c, int64_t id)
{
    int64_t outputs = c->r->net->outputs;

    if (c->job->any)
        c->job->any[id] = c->r->rest.limit > 0;
    for (int64_t j = 0; c->job->y && j < outputs; j++)
        c->job->y[id * outputs + j] = c->r->rest.limit;
}

/* ---- closing ranks ---- */

/* Lanes stay[0 .. count - 1] of `from`, ascending, become those of `to` from
 * `at` on, the values of layer l only. Both may be the same raft. */
static void move_lanes(const crew *c, raft *to, int at, const raft *from,
                       const int32_t *stay, int count, int64_t l)
{
    const sp_rows *r = c->r;
    int64_t slot = r->places.slot[l + 1];
    int64_t width = r->net->first[l + 1] - r->net->first[l];

    for (int i = 0; i < count; i++) {
        const float *x = tile_of(c, from, stay[i] / r->tile) + slot * r->tile +
                         stay[i] % r->tile;
        float *y = tile_of(c, to, (at + i) / r->tile) + slot * r->tile +
                   (at + i) % r->tile;

        for (int64_t j = 0; j < width; j++)
            y[j * r->tile] = x[j * r->tile];
        to->id[at + i] = from->id[stay[i]];
    }
}

/* The lanes of a tile behind the last that is in use: no input's. */
static void clear_rest(const crew *c, const raft *f, int64_t l)
{
    const sp_rows *r = c->r;
    int used = f->lanes % r->tile;
    float *x =
        tile_of(c, f, f->lanes / r->tile) + r->places.slot[l + 1] * r->tile;

    if (used)
        for (int64_t j = 0; j < r->net->first[l + 1] - r->net->first[l]; j++)
            memset(x + j * r->tile + used, 0,
                   (size_t)(r->tile - used) * sizeof *x);
}

/* How many lanes of f are alive behind layer l; they become c->stay. */
static int find_alive(const crew *c, const raft *f)
{
    int count = 0;

    for (int i = 0; i < f->lanes; i++)
        if (c->alive[i])
            c->stay[count++] = i;
    return count;
}

static void leave_dead(const crew *c, const raft *f)
{
    for (int i = 0; i < f->lanes; i++)
        if (!c->alive[i])
            store_zero(c, f->id[i]);
}

/* Only when that saves a tile. */
static void close_ranks(const crew *c, raft *f, int64_t l)
{
    int alive = find_alive(c, f);

    if ((alive + c->r->tile - 1) / c->r->tile >= tiles_of(c, f))
        return;
    leave_dead(c, f);
    move_lanes(c, f, 0, f, c->stay, alive, l);
    f->lanes = alive;
    clear_rest(c, f, l);
}

/* ---- at their limit ---- */

/* Are all values of layer l at its limit? */
static int is_full(const crew *c, const raft *f, int lane, int64_t l)
{
    const sp_rows *r = c->r;
    const float *x = tile_of(c, f, lane / r->tile) +
                     r->places.slot[l + 1] * r->tile + lane % r->tile;
    int64_t width = r->net->first[l + 1] - r->net->first[l], j = 0;

    while (j < width && x[j * r->tile] >= r->net->activation[l].limit)
        j++;
    return j == width;
}

/* Inputs whose values stay at their limits from layer l on are done. */
static void leave_full(const crew *c, raft *f, int64_t l)
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
    move_lanes(c, f, 0, f, c->stay, count, l);
    f->lanes = count;
    clear_rest(c, f, l);
}

/* ---- down the layers ---- */

static void run_layer(const crew *c, raft *f, int64_t l)
{
    const sp_rows *r = c->r;

    for (int t = 0; t < tiles_of(c, f); t++)
        r->kernels->rows(tile_of(c, f, t), &r->layer[l], r->tile,
                         c->alive + (int64_t)t * r->tile);
    if (r->quiet[l])
        close_ranks(c, f, l);
}

static void run_landing(crew *c, int landing);

/* All lanes of landing i's raft go on to the next raft, which leaves as often
 * as it is full. */
static void hand_over(crew *c, int landing)
{
    raft *f = &c->raft[landing], *next = f + 1;
    int most = c->tiles * c->r->tile;
    int64_t l = c->layer[landing + 1] - 1;
    int done = 0;

    while (done < f->lanes) {
        int some = f->lanes - done;

        if (some > most - next->lanes)
            some = most - next->lanes;
        for (int i = 0; i < some; i++)
            c->stay[i] = done + i;
        move_lanes(c, next, next->lanes, f, c->stay, some, l);
        next->lanes += some;
        done += some;
        if (next->lanes == most)
            run_landing(c, landing + 1);
    }
}

/* A raft that is still nearly full goes on alone when nobody waits for it. */
static int goes_on(const crew *c, int landing)
{
    const raft *f = &c->raft[landing];

    return f[1].lanes == 0 && f->lanes > c->tiles * c->r->tile * 3 / 4;
}

static void change_rafts(raft *a, raft *b)
{
    raft swap = *a;

    *a = *b;
    *b = swap;
}

static void run_stretch(crew *c, int landing)
{
    raft *f = &c->raft[landing];

    for (int64_t l = c->layer[landing]; l < c->layer[landing + 1]; l++)
        if (f->lanes > 0)
            run_layer(c, f, l);
    if (landing + 1 < c->landings)
        leave_full(c, f, c->layer[landing + 1] - 1);
}

/* The raft of a landing, to the next one or to the end. */
static void run_landing(crew *c, int landing)
{
    raft *f = &c->raft[landing];

    if (f != c->raft)
        clear_rest(c, f, c->layer[landing] - 1);
    run_stretch(c, landing);
    while (landing + 1 < c->landings && goes_on(c, landing)) {
        change_rafts(&c->raft[landing], &c->raft[landing + 1]);
        run_stretch(c, ++landing);
    }
    if (landing + 1 < c->landings)
        hand_over(c, landing);
    else
        store(c, &c->raft[landing]);
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
static void choose_landings(crew *c)
{
    const sp_rows *r = c->r;

    c->layer[c->landings++] = 0;
    for (int64_t l = 2; l < r->net->layers && c->landings < LANDINGS; l *= 2) {
        int64_t at = landing_near(r, l);

        if (r->quiet[at - 1])
            c->layer[c->landings++] = at;
    }
    c->layer[c->landings] = r->net->layers;
}

/* ---- threads ---- */

static void dismiss(crew *c)
{
    for (int i = 0; i < c->landings; i++) {
        sp_free(c->raft[i].value);
        sp_free(c->raft[i].id);
    }
    sp_free(c->alive);
    sp_free(c->stay);
}

/* 0 when memory is short. */
static int gather_crew(crew *c)
{
    int64_t lanes = (int64_t)c->tiles * c->r->tile;
    int ok;

    c->alive = sp_alloc(lanes, sizeof *c->alive);
    c->stay = sp_alloc(lanes, sizeof *c->stay);
    ok = c->alive && c->stay;
    for (int i = 0; i < c->landings; i++) {
        raft *f = &c->raft[i];

        f->value = sp_alloc(lanes * c->r->places.slots, sizeof *f->value);
        f->id = sp_alloc(lanes, sizeof *f->id);
        ok = ok && f->value && f->id;
    }
    return ok;
}

static spry_status run_job(const sp_rows *r, const job *j)
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
        crew c = {.r = r, .job = j, .tiles = tiles};
        int ok;

        choose_landings(&c);
        ok = gather_crew(&c);
        short_of_memory = !ok;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < rafts; i++) {
            int64_t left = j->batch - i * lanes;

            if (!ok)
                continue;
            load(&c, &c.raft[0], i * lanes, left < lanes ? left : lanes);
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
    job j = {.x = x, .y = y, .batch = batch};

    return run_job(p, &j);
}

static spry_status categories(const void *p, uint8_t *any, const spry_matrix *m,
                              int64_t first, int64_t count)
{
    job j = {.m = m, .first = first, .any = any, .batch = count};

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
