/* policy.c - frontier and memory, through attention, into a choice. */
#include "eon/policy.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 32, SAGE = 16, HEADS = 2 };

spry_status sp_policy_make(sp_policy *p, sp_nn *weights,
                           spry_embedding embedding)
{
    sp_nn *n = weights;
    int64_t vertex = embedding == SPRY_LAPLACIAN ? SP_SPECTRUM : SAGE;
    spry_status s;

    *p = (sp_policy){.embedding = embedding, .weights = n};
    if (embedding == SPRY_SAGE) {
        p->own[0] = sp_dense_make(n, "sage.0.own", SP_VERTEX, SAGE, 1);
        p->near[0] = sp_dense_make(n, "sage.0.near", SP_VERTEX, SAGE, 0);
        p->own[1] = sp_dense_make(n, "sage.1.own", SAGE, SAGE, 1);
        p->near[1] = sp_dense_make(n, "sage.1.near", SAGE, SAGE, 0);
    }
    p->edge = sp_dense_make(n, "edge", 2 * vertex, WIDTH, 1);
    p->held = sp_dense_make(n, "held", vertex, WIDTH, 1);
    p->norm = sp_norm_make(n, "norm", WIDTH);
    p->among = sp_attention_make(n, "among", WIDTH, WIDTH, HEADS);
    p->frontier = sp_attention_make(n, "frontier", WIDTH, WIDTH, HEADS);
    p->cache = sp_attention_make(n, "cache", WIDTH, WIDTH, HEADS);
    p->query = sp_dense_make(n, "query", WIDTH, WIDTH, 1);
    p->key = sp_dense_make(n, "key", WIDTH, WIDTH, 1);
    p->sentinel = sp_embedding_make(n, "sentinel", 1, WIDTH);
    p->value[0] = sp_dense_make(n, "value.0", (int64_t)2 * WIDTH, WIDTH, 1);
    p->value[1] = sp_dense_make(n, "value.1", WIDTH, 1, 1);
    s = sp_nn_status(n);
    if (s != SPRY_OK)
        sp_policy_free(p);
    return s;
}

void sp_policy_free(sp_policy *p)
{
    sp_nn_free(p->weights);
    *p = (sp_policy){0};
}

/* ---- neurons ---- */

/* relu(own x + near mean of the neighbours' x), Hamilton et al., 2017. */
static sp_tensor *sage(sp_tape *t, const sp_policy *p, int layer, sp_tensor *x,
                       const sp_vertex_view *s)
{
    sp_tensor *around = sp_nn_rows(t, x, s->around, s->start[s->neurons]);
    sp_tensor *mean = sp_nn_pool(t, around, s->start, s->neurons);

    return sp_nn_relu(t, sp_nn_add(t, sp_nn_dense(t, &p->own[layer], x),
                                   sp_nn_dense(t, &p->near[layer], mean)));
}

sp_tensor *sp_policy_embed(sp_tape *t, const sp_policy *p,
                           const sp_vertex_view *s)
{
    sp_tensor *x = sp_nn_input(t, SP_SHAPE(s->neurons, s->width), s->feature);

    if (p->embedding == SPRY_LAPLACIAN)
        return x;
    return sage(t, p, 1, sage(t, p, 0, x, s), s);
}

/* ---- states ---- */

/* An edge is its two ends, which then look at all others. */
static sp_tensor *see_frontier(sp_tape *t, const sp_policy *p,
                               sp_tensor *neurons, const sp_states *s)
{
    int64_t count = s->count * s->edges;
    sp_tensor *ends[] = {sp_nn_rows(t, neurons, s->source, count),
                         sp_nn_rows(t, neurons, s->target, count)};
    sp_tensor *x = sp_nn_dense(t, &p->edge, sp_nn_join(t, ends, 2));
    sp_tensor *y;

    x = sp_nn_reshape(t, sp_nn_relu(t, x), SP_SHAPE(s->count, s->edges, WIDTH));
    y = sp_nn_norm(t, &p->norm, x);
    return sp_nn_add(t, x, sp_nn_attention(t, &p->among, y, y, s->may));
}

static sp_tensor *see_cache(sp_tape *t, const sp_policy *p, sp_tensor *neurons,
                            const sp_states *s)
{
    sp_tensor *x = sp_nn_rows(t, neurons, s->cached, s->count * s->held);

    x = sp_nn_relu(t, sp_nn_dense(t, &p->held, x));
    return sp_nn_reshape(t, x, SP_SHAPE(s->count, s->held, WIDTH));
}

/* The sentinel looks at the frontier and at the cache. */
static sp_tensor *expect(sp_tape *t, const sp_policy *p, sp_tensor *frontier,
                         sp_tensor *cache, const sp_states *s)
{
    sp_tensor *x = sp_nn_input(t, SP_SHAPE(s->count, 1, WIDTH), NULL);
    sp_tensor *seen[2], *y;

    x = sp_nn_add(t, x, p->sentinel);
    seen[0] = sp_nn_attention(t, &p->frontier, x, frontier, s->may);
    seen[1] = sp_nn_attention(t, &p->cache, x, cache, s->holds);
    y = sp_nn_relu(t, sp_nn_dense(t, &p->value[0], sp_nn_join(t, seen, 2)));
    return sp_nn_reshape(t, sp_nn_dense(t, &p->value[1], y),
                         SP_SHAPE(s->count));
}

sp_tensor *sp_policy_run(sp_tape *t, const sp_policy *p, sp_tensor *neurons,
                         const sp_states *s, sp_tensor **value)
{
    sp_tensor *frontier = see_frontier(t, p, neurons, s);
    sp_tensor *cache = see_cache(t, p, neurons, s);

    if (value)
        *value = expect(t, p, frontier, cache, s);
    return sp_nn_attend_max(t, sp_nn_dense(t, &p->query, frontier),
                            sp_nn_dense(t, &p->key, cache), HEADS, s->holds);
}
