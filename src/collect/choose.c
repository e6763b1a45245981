/* choose.c - of many schedules those of which the model in use would learn
 * most, given what it learned on this machine. */
#include <string.h>

#include "adapt/adapt.h"
#include "collect/internal.h"

typedef struct {
    sp_cost *cost;
    sp_pretrained source;
    sp_subject subject;
    float *x, *nothing; /* [rows, SP_FEATURES], [rows] of 0 */
    float *elastic;     /* [rows, SP_ELASTICITIES] */
    int *at;            /* [rows] in the list */
    int64_t rows;
    sp_slice all; /* what was measured before, and behind it the rows */
    uint8_t *keep;
} choice;

static void choice_free(choice *c)
{
    sp_free(c->x);
    sp_free(c->nothing);
    sp_free(c->elastic);
    sp_free(c->at);
    sp_free(c->keep);
    sp_slice_free(&c->all);
    sp_pretrained_free(&c->source);
    sp_cost_free(c->cost);
}

static spry_status find_model(choice *c, const sp_urn *u)
{
    spry_status s = sp_cost_find(&c->cost, u->p->op);

    if (s == SPRY_OK && !c->cost)
        s = sp_fail(SPRY_USAGE, "there is no model of %s that could choose",
                    spry_op_name(u->p->op));
    if (s == SPRY_OK &&
        sp_local_find(&c->cost->local, c->cost, u->m->fingerprint) != SPRY_OK)
        sp_message_clear(); /* of another model: as if nothing were known */
    if (s == SPRY_OK)
        s = sp_pretrained_of(&c->source, c->cost);
    return s == SPRY_OK ? sp_subject_of(&c->subject, u->p, u->m) : s;
}

static spry_status make_rows(choice *c, const sp_schedule_list *l, int first)
{
    int64_t most = l->count - first;
    sp_fresh fresh;
    spry_status s;

    c->x = sp_alloc(most + 1, SP_FEATURES * sizeof *c->x);
    c->elastic = sp_alloc(most + 1, SP_ELASTICITIES * sizeof *c->elastic);
    c->nothing = sp_alloc(most + 1, sizeof *c->nothing);
    c->at = sp_alloc(most + 1, sizeof *c->at);
    if (!c->x || !c->elastic || !c->nothing || !c->at)
        return sp_fail_memory((size_t)most * SP_FEATURES * sizeof *c->x);
    for (int i = first; i < l->count; i++)
        if (sp_subject_row(c->x + c->rows * SP_FEATURES, &c->subject,
                           &l->x[i])) {
            sp_elasticities(c->elastic + c->rows * SP_ELASTICITIES,
                            c->subject.p, &l->x[i], c->subject.m);
            c->at[c->rows++] = i;
        }
    fresh = (sp_fresh){c->x, c->nothing, c->nothing, c->elastic, c->rows};
    s = sp_slice_recall(&c->all, c->cost->local, &fresh);
    c->keep = s == SPRY_OK ? sp_alloc(c->all.t.rows + 1, 1) : NULL;
    return s == SPRY_OK && !c->keep ? sp_fail_memory((size_t)most) : s;
}

/* The list ends behind those that were chosen. */
static void take(sp_schedule_list *l, int first, const choice *c)
{
    const uint8_t *keep = c->keep + c->all.t.rows - c->rows;
    int to = first;

    for (int64_t i = 0; i < c->rows; i++)
        if (keep[i])
            l->x[to++] = l->x[c->at[i]];
    l->count = to;
}

spry_status sp_urn_choose(sp_schedule_list *l, int first, int count,
                          const sp_urn *u)
{
    choice c = {.rows = 0};
    spry_status s = find_model(&c, u);

    if (s == SPRY_OK)
        s = make_rows(&c, l, first);
    if (s == SPRY_OK) {
        sp_choosing how = {count, count, c.all.t.rows - c.rows};

        s = sp_bayes_choose(c.keep, &c.source, &c.all.t, &how);
    }
    if (s == SPRY_OK)
        take(l, first, &c);
    choice_free(&c);
    return s;
}
