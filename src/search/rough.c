/* rough.c - all nests scored quickly, and the best of them well.
 *
 * The quick score is the model's factored head where there is one: the half
 * of every nest lies ready, and joining it with the problem's is all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "search/internal.h"

enum { BLOCK = 2048 };

static int factored(const sp_space *s, const sp_nests *n)
{
    return s->view && n->width;
}

/* ---- without a head: the score itself ---- */

static void score_block(double *out, const sp_space *s, const spry_schedule *x,
                        int count)
{
    spry_schedule legal[SP_BATCH];
    double score[SP_BATCH];
    int who[SP_BATCH], n = 0;

    for (int i = 0; i < count; i++) {
        out[i] = HUGE_VAL;
        if (sp_point_legal(s, &x[i])) {
            who[n] = i;
            legal[n++] = x[i];
        }
    }
    if (n)
        sp_score_points(score, s, legal, n);
    for (int i = 0; i < n; i++)
        out[who[i]] = score[i];
}

static void count_asked(const sp_space *s, int n)
{
    if (s->asked)
        *s->asked += n;
}

/* ---- all ---- */

/* The best so far, the worst of them first: a heap. */
typedef struct {
    sp_rough *at;
    int64_t n, most;
} best;

static int worse(const sp_rough *a, const sp_rough *b)
{
    return a->score > b->score || (a->score == b->score && a->item > b->item);
}

static void sink(best *b)
{
    sp_rough top = b->at[0];
    int64_t i = 0, child;

    while ((child = 2 * i + 1) < b->n) {
        if (child + 1 < b->n && worse(&b->at[child + 1], &b->at[child]))
            child++;
        if (!worse(&b->at[child], &top))
            break;
        b->at[i] = b->at[child];
        i = child;
    }
    b->at[i] = top;
}

static void rise(best *b)
{
    int64_t i = b->n - 1;
    sp_rough last = b->at[i];

    while (i > 0 && worse(&last, &b->at[(i - 1) / 2])) {
        b->at[i] = b->at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    b->at[i] = last;
}

static void consider(best *b, double score, int64_t item)
{
    sp_rough r = {score, item};

    if (!(score < HUGE_VAL))
        return;
    if (b->n < b->most) {
        b->at[b->n++] = r;
        rise(b);
    } else if (worse(&b->at[0], &r)) {
        b->at[0] = r;
        sink(b);
    }
}

static int by_score(const void *a, const void *b)
{
    return worse(a, b) ? 1 : worse(b, a) ? -1 : 0;
}

static void join_all(best *b, const sp_space *s, const sp_nests *n)
{
    float score[BLOCK];

    for (int64_t i = 0; i < n->count; i += BLOCK) {
        int count = (int)(n->count - i < BLOCK ? n->count - i : BLOCK);

        sp_view_join(score, s->view, n->half + i * n->width, count);
        count_asked(s, count);
        for (int k = 0; k < count; k++)
            consider(b, (double)score[k], i + k);
    }
}

static void score_all(best *b, const sp_space *s, const sp_nests *n)
{
    spry_schedule x[SP_BATCH];
    double score[SP_BATCH];

    for (int64_t i = 0; i < n->count; i += SP_BATCH) {
        int count = (int)(n->count - i < SP_BATCH ? n->count - i : SP_BATCH);

        for (int k = 0; k < count; k++)
            x[k] = sp_nests_at(n, i + k);
        score_block(score, s, x, count);
        for (int k = 0; k < count; k++)
            consider(b, score[k], i + k);
    }
}

spry_status sp_rough_all(sp_rough *out, int64_t *count, int64_t most,
                         const sp_space *s, const sp_nests *n)
{
    best b = {out, 0, most};

    if (factored(s, n))
        join_all(&b, s, n);
    else
        score_all(&b, s, n);
    qsort(out, (size_t)b.n, sizeof *out, by_score);
    *count = b.n;
    return SPRY_OK;
}

/* ---- the best, scored well ---- */

/* Has a nest of this kind come by? Now it has. */
static int is_new(uint64_t *seen, uint64_t mask, uint64_t kind)
{
    uint64_t at = (kind * 0x9e3779b97f4a7c15u) >> 20 & mask;

    while (seen[at] && seen[at] != kind)
        at = (at + 1) & mask;
    if (seen[at])
        return 0;
    seen[at] = kind;
    return 1;
}

spry_status sp_rough_keep(sp_keep *keep, int64_t *kept, const sp_space *s,
                          const sp_nests *n, const sp_rough *rough,
                          int64_t count)
{
    sp_batch batch = {.s = s, .keep = keep};
    int64_t size = 64;
    uint64_t *seen;
    spry_status status = SPRY_OK;

    *kept = 0;
    while (size < 2 * count)
        size *= 2;
    seen = sp_alloc(size, sizeof *seen);
    if (!seen)
        return sp_fail_memory((size_t)size * sizeof *seen);
    for (int64_t i = 0; status == SPRY_OK && i < count; i++) {
        spry_schedule x = sp_nests_at(n, rough[i].item);

        if (!is_new(seen, (uint64_t)size - 1, sp_kind_of(&x)) ||
            !sp_nest_fits(&x, s->p))
            continue;
        status = sp_batch_add_nest(&batch, &x);
        ++*kept;
    }
    sp_free(seen);
    return status == SPRY_OK ? sp_batch_end(&batch) : status;
}
