/* nests.c - WACO's space as a table, with a model's half of every point. */
#include <string.h>

#include "knn/knn.h"
#include "model/cost.h"
#include "search/internal.h"

/* A point without what all share. */
struct sp_nest_point {
    spry_super super;
    uint16_t chunk;
};

enum { BLOCK = 1024 };

static int put(const spry_schedule *x, void *payload)
{
    sp_nests *n = payload;

    n->at[n->count++] = (struct sp_nest_point){x->super, (uint16_t)x->chunk};
    return 0;
}

static int same_nest(const sp_nests *n, int64_t a, int64_t b)
{
    return memcmp(&n->at[a].super, &n->at[b].super, sizeof n->at->super) == 0;
}

spry_status sp_nests_make(sp_nests **out, const spry_space *s)
{
    int64_t count = spry_space_count(s);
    sp_nests *n = sp_alloc(1, sizeof *n);

    *out = n;
    if (!n)
        return sp_fail_memory(sizeof *n);
    n->space = *s;
    n->at = sp_alloc_raw(count, sizeof *n->at);
    if (!n->at) {
        sp_nests_free(n);
        *out = NULL;
        return sp_fail_memory((size_t)count * sizeof *n->at);
    }
    spry_space_each(s, put, n);
    n->stride = 1;
    while (n->stride < n->count && same_nest(n, 0, n->stride))
        n->stride++;
    return SPRY_OK;
}

void sp_nests_free(sp_nests *n)
{
    if (!n)
        return;
    sp_knn_free(n->graph);
    sp_free(n->half);
    sp_free(n->at);
    sp_free(n);
}

int64_t sp_nests_count(const sp_nests *n)
{
    return n->count;
}

spry_schedule sp_nests_at(const sp_nests *n, int64_t i)
{
    spry_schedule x = sp_schedule_default(SPRY_SUPER);

    x.super = n->at[i].super;
    x.chunk = n->at[i].chunk;
    x.threads = n->space.threads;
    return x;
}

/* ---- halves ---- */

static spry_status halves(float *out, const sp_nests *n, const sp_cost *c,
                          int64_t first, int64_t count)
{
    spry_schedule x[BLOCK];

    for (int64_t i = 0; i < count; i++)
        x[i] = sp_nests_at(n, first + i);
    return sp_cost_halves(out, c, x, count);
}

static spry_status check_model(const sp_nests *n, const sp_cost *c)
{
    if (c->op != n->space.op || sp_cost_width(c) < 1)
        return sp_fail(SPRY_USAGE, "model %s of %s has no half for nests of %s",
                       c->kind->name, spry_op_name(c->op),
                       spry_op_name(n->space.op));
    return SPRY_OK;
}

spry_status sp_nests_embed(sp_nests *n, const sp_cost *c)
{
    spry_status s = check_model(n, c);
    int width;

    if (s != SPRY_OK)
        return s;
    width = sp_cost_width(c);
    sp_free(n->half);
    n->width = 0;
    n->half = sp_alloc_raw(n->count * width, sizeof *n->half);
    if (!n->half)
        return sp_fail_memory((size_t)(n->count * width) * sizeof *n->half);
    for (int64_t i = 0; s == SPRY_OK && i < n->count; i += BLOCK)
        s = halves(n->half + i * width, n, c, i,
                   n->count - i < BLOCK ? n->count - i : BLOCK);
    if (s == SPRY_OK)
        n->width = width;
    return s;
}

/* ---- the graph ---- */

int64_t sp_nests_item(const sp_nests *n, int32_t node)
{
    return (int64_t)node * n->stride + n->stride / 2;
}

static void take_graph(sp_nests *n, sp_knn *g)
{
    sp_knn_free(n->graph);
    n->graph = g;
}

spry_status sp_nests_link(sp_nests *n, int degree, int ef, uint64_t seed)
{
    sp_knn_options o = {degree, ef, seed};
    int64_t nodes = n->count / n->stride;
    float *vector;
    sp_knn *g;
    spry_status s;

    if (!n->width)
        return sp_fail(SPRY_USAGE, "nests are embedded before they are linked");
    vector = sp_alloc_raw(nodes * n->width, sizeof *vector);
    if (!vector)
        return sp_fail_memory((size_t)(nodes * n->width) * sizeof *vector);
    for (int64_t i = 0; i < nodes; i++)
        memcpy(vector + i * n->width,
               n->half + sp_nests_item(n, (int32_t)i) * n->width,
               (size_t)n->width * sizeof *vector);
    s = sp_knn_build(&g, vector, nodes, n->width, &o);
    sp_free(vector);
    if (s == SPRY_OK)
        take_graph(n, g);
    return s;
}

spry_status sp_nests_save(const sp_nests *n, const char *path)
{
    return n->graph ? sp_knn_save(n->graph, path)
                    : sp_fail(SPRY_USAGE, "there is no graph to save");
}

/* Are these the halves that the model computes? Looked at here and there. */
static spry_status check_graph(const sp_nests *n, const sp_cost *c,
                               const sp_knn *g)
{
    int width = sp_cost_width(c);
    float *half;
    spry_status s = SPRY_OK;
    int64_t nodes = n->count / n->stride;
    int same = sp_knn_count(g) == nodes && sp_knn_dim(g) == width;

    half = sp_alloc(width, sizeof *half);
    if (!half)
        return sp_fail_memory((size_t)width * sizeof *half);
    for (int64_t i = 0; s == SPRY_OK && same && i < 64; i++) {
        int32_t at = (int32_t)(i * (nodes - 1) / 63);

        s = halves(half, n, c, sp_nests_item(n, at), 1);
        for (int k = 0; k < width; k++) {
            float d = half[k] - sp_knn_vector(g, at)[k];

            same &= d < 1e-4F && d > -1e-4F;
        }
    }
    sp_free(half);
    if (s == SPRY_OK && !same)
        s = sp_fail(SPRY_INPUT, "was made of other nests or with another "
                                "model");
    return s;
}

spry_status sp_nests_load(sp_nests *n, const sp_cost *c, const char *path)
{
    sp_knn *g;
    spry_status s = check_model(n, c);

    if (s == SPRY_OK)
        s = sp_knn_load(&g, path);
    if (s != SPRY_OK)
        return s;
    s = check_graph(n, c, g);
    if (s == SPRY_OK)
        take_graph(n, g);
    else
        sp_knn_free(g);
    return sp_fail_in(s, path);
}
