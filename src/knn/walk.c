/* walk.c - from neighbour to neighbour, the best so far kept. */
#include <math.h>
#include <stdlib.h>

#include "knn/internal.h"

/* ---- heaps ---- */

/* Equal scores are told apart by number, so that walks repeat. */
static int better(const sp_knn_found *a, const sp_knn_found *b)
{
    return a->score < b->score || (a->score == b->score && a->item < b->item);
}

static int leaves_before(const sp_heap *h, int64_t a, int64_t b)
{
    return better(&h->at[h->worst_first ? b : a],
                  &h->at[h->worst_first ? a : b]);
}

static void swap(sp_heap *h, int64_t a, int64_t b)
{
    sp_knn_found was = h->at[a];

    h->at[a] = h->at[b];
    h->at[b] = was;
}

static spry_status push(sp_heap *h, sp_knn_found f)
{
    int64_t i = h->n;

    if (h->n == h->room) {
        int64_t room = h->room ? 2 * h->room : 128;
        void *more = sp_grow(h->at, h->n, room, sizeof *h->at);

        if (!more)
            return sp_fail_memory((size_t)room * sizeof *h->at);
        h->at = more;
        h->room = room;
    }
    h->at[h->n++] = f;
    for (; i > 0 && leaves_before(h, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
    return SPRY_OK;
}

static sp_knn_found pop(sp_heap *h)
{
    sp_knn_found top = h->at[0];
    int64_t i = 0;

    h->at[0] = h->at[--h->n];
    for (;;) {
        int64_t first = i, left = 2 * i + 1;

        for (int64_t k = left; k < left + 2 && k < h->n; k++)
            if (leaves_before(h, k, first))
                first = k;
        if (first == i)
            return top;
        swap(h, i, first);
        i = first;
    }
}

/* ---- one layer ---- */

spry_status sp_walker_open(sp_walker *w, const sp_knn *g)
{
    *w = (sp_walker){.g = g, .kept = {.worst_first = 1}};
    w->met = sp_alloc(g->count, sizeof *w->met);
    return w->met ? SPRY_OK : sp_fail_memory((size_t)g->count * sizeof *w->met);
}

void sp_walker_close(sp_walker *w)
{
    sp_free(w->met);
    sp_free(w->next.at);
    sp_free(w->kept.at);
}

/* Score n items; what is no number is worst. */
static void ask(sp_walker *w, double *out, const int32_t *item, int n)
{
    w->score(out, item, n, w->payload);
    w->asked += n;
    for (int i = 0; i < n; i++)
        if (isnan(out[i]))
            out[i] = HUGE_VAL;
}

sp_knn_found sp_walker_score(sp_walker *w, int32_t item)
{
    sp_knn_found f = {0, item};

    ask(w, &f.score, &item, 1);
    return f;
}

/* Neighbours on a layer that this walk has not met; now it has. */
static int meet(sp_walker *w, int32_t *out, int32_t item, int layer)
{
    const int32_t *near = sp_knn_list(w->g, item, layer);
    int n = 0;

    for (int i = 0; i < sp_knn_width(w->g, layer) && near[i] >= 0; i++)
        if (w->met[near[i]] != w->walk) {
            w->met[near[i]] = w->walk;
            out[n++] = near[i];
        }
    return n;
}

sp_knn_found sp_walker_descend(sp_walker *w, sp_knn_found start, int from,
                               int layer)
{
    int32_t item[SP_KNN_DEGREE];
    double score[SP_KNN_DEGREE];
    sp_knn_found best = start;

    for (; from > layer; from--) {
        int32_t at;

        w->walk++;
        do {
            int n = meet(w, item, at = best.item, from);

            ask(w, score, item, n);
            for (int i = 0; i < n; i++) {
                sp_knn_found f = {score[i], item[i]};

                if (better(&f, &best))
                    best = f;
            }
        } while (best.item != at);
    }
    return best;
}

/* Take f in if it is among the ef best so far. */
static spry_status consider(sp_walker *w, sp_knn_found f, int ef)
{
    spry_status s;

    if (w->kept.n == ef) {
        if (!better(&f, &w->kept.at[0]))
            return SPRY_OK;
        pop(&w->kept);
    }
    s = push(&w->kept, f);
    return s == SPRY_OK ? push(&w->next, f) : s;
}

/* From all that are in w->next. */
static spry_status go_on(sp_walker *w, int layer, int ef)
{
    int32_t item[2 * SP_KNN_DEGREE];
    double score[2 * SP_KNN_DEGREE];
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && w->next.n > 0) {
        sp_knn_found at = pop(&w->next);
        int n;

        if (w->kept.n == ef && better(&w->kept.at[0], &at))
            break; /* all that are left are worse than all that are kept */
        n = meet(w, item, at.item, layer);
        ask(w, score, item, n);
        for (int i = 0; s == SPRY_OK && i < n; i++)
            s = consider(w, (sp_knn_found){score[i], item[i]}, ef);
    }
    return s;
}

static void start_over(sp_walker *w)
{
    w->walk++;
    w->next.n = w->kept.n = 0;
}

spry_status sp_walker_search(sp_walker *w, sp_knn_found start, int layer,
                             int ef)
{
    spry_status s;

    start_over(w);
    w->met[start.item] = w->walk;
    s = consider(w, start, ef);
    return s == SPRY_OK ? go_on(w, layer, ef) : s;
}

/* The lowest layer that has no more than ef items. */
static int sparse_layer(const sp_knn *g, int ef)
{
    int64_t on[SP_KNN_LAYERS] = {0}, above = 0;
    int layer = SP_KNN_LAYERS;

    for (int64_t i = 0; i < g->count; i++)
        on[g->layer[i]]++;
    while (layer > 0 && above + on[layer - 1] <= ef)
        above += on[--layer];
    return layer;
}

/* Over the bottom from all of a sparse layer: where the score is no distance
 * it has many valleys, and one way down ends in one of them. */
static spry_status search_from_many(sp_walker *w, int ef)
{
    const sp_knn *g = w->g;
    int layer = sparse_layer(g, ef);
    spry_status s = SPRY_OK;

    start_over(w);
    for (int64_t i = 0; s == SPRY_OK && i < g->count; i++)
        if (g->layer[i] >= layer || i == g->entry) {
            w->met[i] = w->walk;
            s = consider(w, sp_walker_score(w, (int32_t)i), ef);
        }
    return s == SPRY_OK ? go_on(w, 0, ef) : s;
}

static int by_score(const void *a, const void *b)
{
    return better(a, b) ? -1 : better(b, a);
}

void sp_walker_sort(sp_walker *w)
{
    if (w->kept.n > 1)
        qsort(w->kept.at, (size_t)w->kept.n, sizeof *w->kept.at, by_score);
}

spry_status sp_knn_walk(sp_knn_found *out, int *count, int most,
                        const sp_knn *g, int ef, sp_knn_score *score,
                        void *payload, int64_t *asked)
{
    sp_walker w;
    spry_status s = sp_walker_open(&w, g);

    *count = 0;
    w.score = score;
    w.payload = payload;
    if (s == SPRY_OK)
        s = search_from_many(&w, ef < most ? most : ef);
    if (s == SPRY_OK)
        sp_walker_sort(&w);
    for (; s == SPRY_OK && *count < most && *count < w.kept.n; ++*count)
        out[*count] = w.kept.at[*count];
    *asked = w.asked;
    sp_walker_close(&w);
    return s;
}
