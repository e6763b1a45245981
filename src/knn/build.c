/* build.c - vectors find their neighbours, one after another.
 *
 * A new vector walks to its place, takes of those it met the ones that lie
 * in different directions, and they take it. Vectors come in random order:
 * neighbours in an enumeration would otherwise build long chains. */
#include <math.h>
#include <string.h>

#include "knn/internal.h"

/* ---- memory ---- */

spry_status sp_knn_new(sp_knn **out, int64_t count, int dim, int degree)
{
    sp_knn *g = sp_alloc(1, sizeof *g);

    *out = g;
    if (!g)
        return sp_fail_memory(sizeof *g);
    g->count = count;
    g->dim = dim;
    g->degree = degree;
    g->vector = sp_alloc_raw(count * dim, sizeof *g->vector);
    g->layer = sp_alloc(count, sizeof *g->layer);
    g->bottom = sp_alloc_raw(count * 2 * degree, sizeof *g->bottom);
    g->first = sp_alloc(count, sizeof *g->first);
    if (g->vector && g->layer && g->bottom && g->first)
        return SPRY_OK;
    sp_knn_free(g);
    *out = NULL;
    return sp_fail_memory((size_t)count * (size_t)(dim + 2 * degree + 3) * 4);
}

spry_status sp_knn_raise(sp_knn *g)
{
    size_t entries;

    g->uppers = 0;
    for (int64_t i = 0; i < g->count; i++) {
        g->first[i] = g->uppers;
        g->uppers += g->layer[i];
    }
    entries = (size_t)g->uppers * (size_t)g->degree;
    g->upper = sp_alloc_raw((int64_t)entries + 1, sizeof *g->upper);
    if (!g->upper)
        return sp_fail_memory(entries * sizeof *g->upper);
    memset(g->upper, -1, entries * sizeof *g->upper);
    memset(g->bottom, -1,
           (size_t)g->count * 2 * (size_t)g->degree * sizeof *g->bottom);
    return SPRY_OK;
}

void sp_knn_free(sp_knn *g)
{
    if (!g)
        return;
    sp_free(g->vector);
    sp_free(g->layer);
    sp_free(g->bottom);
    sp_free(g->first);
    sp_free(g->upper);
    sp_free(g);
}

int64_t sp_knn_count(const sp_knn *g)
{
    return g->count;
}

int sp_knn_dim(const sp_knn *g)
{
    return g->dim;
}

const float *sp_knn_vector(const sp_knn *g, int64_t item)
{
    return g->vector + item * g->dim;
}

/* ---- choosing neighbours ---- */

static double apart(const sp_knn *g, int32_t a, int32_t b)
{
    return sp_knn_distance(sp_knn_vector(g, a), sp_knn_vector(g, b), g->dim);
}

/* Of n, nearest first, keep `most` in front: those that lie nearer to the
 * centre than to any kept before them, then the nearest of the others. */
static int choose(const sp_knn *g, sp_knn_found *near, int n, int most)
{
    sp_knn_found late[2 * SP_KNN_DEGREE];
    int in = 0, out = 0;

    for (int i = 0; i < n && in < most; i++) {
        int k = 0;

        while (k < in && near[i].score < apart(g, near[i].item, near[k].item))
            k++;
        if (k == in)
            near[in++] = near[i];
        else if (out < most)
            late[out++] = near[i];
    }
    for (int i = 0; i < out && in < most; i++)
        near[in++] = late[i];
    return in;
}

static void write_list(int32_t *list, int width, const sp_knn_found *near,
                       int n)
{
    for (int i = 0; i < width; i++)
        list[i] = i < n ? near[i].item : -1;
}

/* `item` gets another neighbour, perhaps in exchange for one it has. */
static void accept(sp_knn *g, int32_t item, int32_t other, int layer)
{
    int32_t *list = sp_knn_list(g, item, layer);
    int width = sp_knn_width(g, layer), n = 0;
    sp_knn_found near[2 * SP_KNN_DEGREE + 1];

    while (n < width && list[n] >= 0)
        n++;
    if (n < width) {
        list[n] = other;
        return;
    }
    for (int i = 0; i <= n; i++) { /* by distance, as they are put in */
        int32_t who = i < n ? list[i] : other;
        sp_knn_found f = {apart(g, item, who), who};
        int at = i;

        for (; at > 0 && f.score < near[at - 1].score; at--)
            near[at] = near[at - 1];
        near[at] = f;
    }
    write_list(list, width, near, choose(g, near, n + 1, width));
}

/* ---- the build ---- */

/* High layers are rare: each holds one in `degree` of the one below. */
static void draw_layers(sp_knn *g, sp_rng *r)
{
    double scale = 1 / log(g->degree);

    for (int64_t i = 0; i < g->count; i++) {
        double f = -log(1 - sp_rng_unit(r)) * scale;

        g->layer[i] = f < SP_KNN_LAYERS - 1 ? (uint8_t)f : SP_KNN_LAYERS - 1;
    }
}

typedef struct {
    const sp_knn *g;
    int32_t item;
} seeker;

static void from_item(double *out, const int32_t *item, int n, void *payload)
{
    const seeker *k = payload;

    for (int i = 0; i < n; i++)
        out[i] = apart(k->g, k->item, item[i]);
}

/* w asks for distances from `item`. */
static spry_status insert(sp_knn *g, sp_walker *w, int32_t item, int ef)
{
    int top = g->layer[g->entry], layer = g->layer[item];
    spry_status s = SPRY_OK;
    sp_knn_found at;

    at = sp_walker_descend(w, sp_walker_score(w, g->entry), top, layer);
    for (int f = layer < top ? layer : top; s == SPRY_OK && f >= 0; f--) {
        int32_t *list = sp_knn_list(g, item, f);
        int n;

        s = sp_walker_search(w, at, f, ef);
        if (s != SPRY_OK)
            break;
        sp_walker_sort(w);
        at = w->kept.at[0];
        n = choose(g, w->kept.at, (int)w->kept.n, g->degree);
        write_list(list, sp_knn_width(g, f), w->kept.at, n);
        for (int i = 0; i < n; i++)
            accept(g, list[i], item, f);
    }
    if (layer > top)
        g->entry = item;
    return s;
}

static spry_status insert_all(sp_knn *g, const sp_knn_options *o, sp_rng *r)
{
    int32_t *order = sp_alloc_raw(g->count, sizeof *order);
    sp_walker w = {0};
    seeker k = {g, 0};
    spry_status s = order ? sp_walker_open(&w, g)
                          : sp_fail_memory((size_t)g->count * sizeof *order);

    for (int64_t i = 0; s == SPRY_OK && i < g->count; i++) {
        int64_t j = (int64_t)sp_rng_below(r, (uint64_t)i + 1);

        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    if (s == SPRY_OK)
        g->entry = order[0];
    w.score = from_item;
    w.payload = &k;
    for (int64_t i = 1; s == SPRY_OK && i < g->count; i++) {
        k.item = order[i];
        s = insert(g, &w, k.item, o->ef);
    }
    sp_walker_close(&w);
    sp_free(order);
    return s;
}

static spry_status check(const float *vector, int64_t count, int dim,
                         const sp_knn_options *o)
{
    if (count < 1 || count > INT32_MAX || dim < 1 || dim > 1 << 16)
        return sp_fail(SPRY_USAGE, "a graph has 1 to 2^31 vectors of 1 to "
                                   "65536 numbers");
    if (o->degree < 2 || o->degree > SP_KNN_DEGREE || o->ef < o->degree)
        return sp_fail(SPRY_USAGE,
                       "a graph's degree is 2 to %d, its ef not less",
                       (int)SP_KNN_DEGREE);
    for (int64_t i = 0; i < count * dim; i++)
        if (!isfinite(vector[i]))
            return sp_fail(SPRY_USAGE, "vector %lld is not finite",
                           (long long)(i / dim));
    return SPRY_OK;
}

spry_status sp_knn_build(sp_knn **out, const float *vector, int64_t count,
                         int dim, const sp_knn_options *o)
{
    sp_rng r = sp_rng_seed(o->seed);
    spry_status s = check(vector, count, dim, o);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_knn_new(out, count, dim, o->degree);
    if (s != SPRY_OK)
        return s;
    memcpy((*out)->vector, vector,
           (size_t)(count * dim) * sizeof *(*out)->vector);
    draw_layers(*out, &r);
    s = sp_knn_raise(*out);
    if (s == SPRY_OK)
        s = insert_all(*out, o, &r);
    if (s != SPRY_OK) {
        sp_knn_free(*out);
        *out = NULL;
    }
    return s;
}
