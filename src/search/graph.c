/* graph.c - WACO's way: a walk over schedules joined to those like them.
 *
 * Where a table of nests has a graph over a model's embeddings, that is
 * walked by the model's score. Else points are drawn by chance and joined by
 * what they look like, which serves any score and any schedules. */
#include <math.h>
#include <string.h>

#include "knn/knn.h"
#include "model/cost.h"
#include "search/internal.h"

enum { EF = 400, WELL = 64, DRAWN = 4000, DEGREE = 12, BUILD_EF = 40 };

static int width_of(const sp_space *s)
{
    return s->ef ? s->ef : EF;
}

typedef struct {
    const sp_space *s;
    const spry_schedule *x; /* points that were drawn, */
    float *half;            /* or room for halves, [SP_BATCH, width] */
} walking;

/* ---- over the nests' graph ---- */

/* What cannot be had is worse than all else, but not all the same: the rough
 * score leads the walk out of it. */
static const double NOT_TO_BE_HAD = 1e100;

static void lead_out(double *out, const int32_t *node, int n, const walking *w)
{
    const sp_knn *g = w->s->nests->graph;
    size_t width = (size_t)sp_knn_dim(g);
    float score[SP_BATCH];

    for (int i = 0; i < n; i++)
        memcpy(w->half + (size_t)i * width, sp_knn_vector(g, node[i]),
               width * sizeof *w->half);
    sp_view_join(score, w->s->view, w->half, n);
    for (int i = 0; i < n; i++)
        if (!(out[i] < HUGE_VAL))
            out[i] = NOT_TO_BE_HAD * (1 + 1e-3 * (double)score[i]);
}

/* The graph is the embeddings', the score the model's own. */
static void ask_nests(double *out, const int32_t *node, int n, void *payload)
{
    const walking *w = payload;
    const sp_nests *nests = w->s->nests;
    spry_schedule x[SP_BATCH];
    int lost = 0;

    if (n < 1)
        return;
    for (int i = 0; i < n; i++)
        x[i] = sp_nests_at(nests, sp_nests_item(nests, node[i]));
    sp_score_points(out, w->s, x, n);
    for (int i = 0; i < n; i++) {
        if (!sp_nest_fits(&x[i], w->s->p))
            out[i] = HUGE_VAL;
        lost += !(out[i] < HUGE_VAL);
    }
    if (lost && w->s->view)
        lead_out(out, node, n, w);
}

/* What was found, on all threads and on one. */
static spry_status keep_found(sp_keep *keep, const sp_space *s,
                              const sp_knn_found *found, int count)
{
    sp_batch batch = {.s = s, .keep = keep};
    spry_status status = SPRY_OK;

    for (int i = 0;
         status == SPRY_OK && i < count && found[i].score < NOT_TO_BE_HAD / 2;
         i++) {
        spry_schedule x =
            sp_nests_at(s->nests, sp_nests_item(s->nests, found[i].item));

        status = sp_batch_add_nest(&batch, &x);
    }
    return status == SPRY_OK ? sp_batch_end(&batch) : status;
}

/* The best of them with every chunk. */
static spry_status try_chunks(sp_keep *keep, const sp_space *s)
{
    sp_candidate best[WELL];
    sp_batch batch = {.s = s, .keep = keep};
    int count = 0;
    spry_status status = sp_keep_best(best, &count, WELL, keep, s->p);

    for (int i = 0; i < count; i++)
        for (int k = 0; status == SPRY_OK && k < s->nests->stride; k++) {
            spry_schedule x = best[i].x;

            x.chunk = 1 << k;
            if (x.threads > 1 && x.chunk != best[i].x.chunk)
                status = sp_batch_add(&batch, &x);
        }
    return status == SPRY_OK ? sp_batch_end(&batch) : status;
}

static spry_status walk_nests(sp_keep *keep, const sp_space *s)
{
    int ef = width_of(s), count = 0;
    const sp_knn *g = s->nests->graph;
    sp_knn_found *found = sp_alloc_raw(ef, sizeof *found);
    walking w = {
        s, NULL,
        sp_alloc_raw((int64_t)SP_BATCH * sp_knn_dim(g), sizeof(float))};
    int64_t asked;
    spry_status status =
        found && w.half ? SPRY_OK : sp_fail_memory((size_t)ef * sizeof *found);

    if (status == SPRY_OK)
        status = sp_knn_walk(found, &count, ef, g, ef, ask_nests, &w, &asked);
    if (status == SPRY_OK)
        status = keep_found(keep, s, found, count);
    if (status == SPRY_OK)
        status = try_chunks(keep, s);
    sp_free(found);
    sp_free(w.half);
    return status;
}

/* ---- over points drawn ---- */

static void ask_drawn(double *out, const int32_t *item, int n, void *payload)
{
    const walking *w = payload;
    spry_schedule x[SP_BATCH];

    for (int i = 0; i < n; i++)
        x[i] = w->x[item[i]];
    if (n)
        sp_score_points(out, w->s, x, n);
}

static int draw(spry_schedule *x, float *vector, const sp_space *s)
{
    sp_rng r = sp_rng_seed(s->seed);
    int n = 0;

    x[0] = sp_point_first(s);
    n += sp_point_legal(s, &x[0]);
    while (n < DRAWN && sp_point_random(&x[n], s, &r))
        n++;
    for (int i = 0; i < n; i++)
        sp_features_schedule(vector + (size_t)i * SP_SCHEDULE, &x[i], s->p->op);
    return n;
}

static spry_status walk(sp_keep *keep, const sp_space *s, const sp_knn *g,
                        const spry_schedule *x)
{
    int ef = width_of(s), count = 0;
    sp_knn_found *found = sp_alloc_raw(ef, sizeof *found);
    walking w = {s, x, NULL};
    int64_t asked;
    spry_status status;

    if (!found)
        return sp_fail_memory((size_t)ef * sizeof *found);
    status = sp_knn_walk(found, &count, ef, g, ef, ask_drawn, &w, &asked);
    for (int i = 0; status == SPRY_OK && i < count; i++)
        status = sp_keep_add(keep, &x[found[i].item], found[i].score);
    sp_free(found);
    return status;
}

static spry_status walk_drawn(sp_keep *keep, const sp_space *s)
{
    sp_knn_options o = {DEGREE, BUILD_EF, s->seed};
    spry_schedule *x = sp_alloc_raw(DRAWN, sizeof *x);
    float *vector = sp_alloc_raw((int64_t)DRAWN * SP_SCHEDULE, sizeof *vector);
    sp_knn *g = NULL;
    spry_status status = SPRY_OK;
    int n = 0;

    if (x && vector)
        n = draw(x, vector, s);
    else
        status = sp_fail_memory((size_t)DRAWN * SP_SCHEDULE * sizeof *vector);
    if (n)
        status = sp_knn_build(&g, vector, n, SP_SCHEDULE, &o);
    if (status == SPRY_OK && n)
        status = walk(keep, s, g, x);
    sp_knn_free(g);
    sp_free(vector);
    sp_free(x);
    return status;
}

spry_status sp_search_graph(sp_candidate *out, int *count, int most,
                            const sp_space *s)
{
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    if (status == SPRY_OK) {
        if (s->domain == SP_NESTS && s->nests && s->nests->graph && s->compile)
            status = walk_nests(&keep, s);
        else
            status = walk_drawn(&keep, s);
    }
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_keep_close(&keep);
    return status;
}
