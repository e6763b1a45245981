/* learn.c - what a tune measured becomes part of what is known here.
 *
 * The user's models stay as they are; what was learned on this machine lies in
 * a file of its own, bounded in size, and is replaced whole. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/base.h"
#include "sparse/internal.h"

typedef struct {
    float *x, *slower, *noise, *elastic;
    int64_t rows;
} rows;

static void rows_free(rows *r)
{
    sp_free(r->x);
    sp_free(r->slower);
    sp_free(r->noise);
    sp_free(r->elastic);
}

/* What was measured, as numbers. */
static int make_rows(rows *r, const sp_sparse_adviser *a, const sp_timing *x,
                     int n)
{
    r->x = sp_alloc(n + 1, SP_FEATURES * sizeof *r->x);
    r->slower = sp_alloc(n + 1, sizeof *r->slower);
    r->noise = sp_alloc(n + 1, sizeof *r->noise);
    r->elastic = sp_alloc(n + 1, SP_ELASTICITIES * sizeof *r->elastic);
    if (!r->x || !r->slower || !r->noise || !r->elastic)
        return 0;
    for (int i = 0; i < n; i++) {
        spry_schedule point;

        if (spry_schedule_parse_for(&point, x[i].text, a->p->op) != SPRY_OK ||
            !sp_subject_row(r->x + r->rows * SP_FEATURES, &a->guess.subject,
                            &point))
            continue;
        sp_elasticities(r->elastic + r->rows * SP_ELASTICITIES,
                        a->guess.subject.p, &point, a->guess.subject.m);
        r->slower[r->rows] = (float)x[i].slower;
        r->noise[r->rows++] = (float)x[i].noise;
    }
    return r->rows > 1;
}

enum { FEWEST_PROBLEMS = 3 };

/* A problem is a group of its own: which matrices are akin is not known. */
static spry_status choose(sp_adapted_way *out, const sp_pretrained *source,
                          const sp_slice *all, const sp_adapting *how)
{
    int64_t n = all->e.subjects, *group;
    spry_status s;

    memset(out, 0, sizeof *out);
    out->before = out->after = nan("");
    if (n < FEWEST_PROBLEMS)
        return SPRY_OK; /* too little to hold some of it back */
    group = sp_alloc(n + 1, sizeof *group);
    if (!group)
        return sp_fail_memory((size_t)n * sizeof *group);
    for (int64_t i = 0; i < n; i++)
        group[i] = i;
    s = sp_adapt_choose(out, source, &all->t, group, how);
    sp_free(group);
    return s;
}

static spry_status keep(const sp_local *l, spry_op op)
{
    char path[4096], *slash;
    spry_status s;

    if (!sp_local_path(path, sizeof path, op, l->card.machine))
        return SPRY_OK;
    slash = strrchr(path, '/');
    *slash = 0;
    s = sp_make_dirs(path, 0700);
    *slash = '/';
    return s == SPRY_OK ? sp_local_save(l, path) : s;
}

static spry_status learn(const sp_sparse_adviser *a, const rows *r,
                         double seconds)
{
    const sp_cost *cost = a->guess.cost;
    sp_fresh fresh = {r->x, r->slower, r->noise, r->elastic, r->rows};
    sp_adapting how = {.seconds = seconds, .threads = 1, .seed = a->q.seed};
    sp_local_card card = {.records = 0};
    sp_adapted_way chosen;
    sp_slice all = {0};
    sp_pretrained source;
    sp_local *l = NULL;
    spry_status s = sp_pretrained_of(&source, cost);

    if (s != SPRY_OK)
        return s;
    s = sp_slice_recall(&all, cost->local, &fresh);
    if (s == SPRY_OK)
        s = choose(&chosen, &source, &all, &how);
    snprintf(card.op, sizeof card.op, "%s", spry_op_name(cost->op));
    snprintf(card.machine, sizeof card.machine, "%s", a->q.m->fingerprint);
    sp_cost_hash(card.source, cost);
    if (s == SPRY_OK)
        s = sp_adapt_make(&l, &source, &all.t, &how, &chosen, &card);
    if (s == SPRY_OK)
        s = keep(l, cost->op);
    sp_local_free(l);
    sp_slice_free(&all);
    sp_pretrained_free(&source);
    return s;
}

void sp_sparse_learn(sp_adviser *head, const sp_timing *x, int n,
                     double seconds)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;
    rows r = {0};

    /* Only what a model of the kind spry can take; a failure costs what could
     * have been learned, not the tune. */
    if (a->guess.cost && make_rows(&r, a, x, n) &&
        learn(a, &r, seconds) != SPRY_OK)
        sp_message_clear();
    rows_free(&r);
}
