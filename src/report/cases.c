/* cases.c - a store -> cases. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

typedef struct {
    sp_report *r;
    const char *problem; /* keys that begin so */
} reading;

static int wanted(const reading *g, const char *problem)
{
    return !g->problem || strncmp(problem, g->problem, strlen(g->problem)) == 0;
}

static int add_record(const spry_record *x, void *payload)
{
    const reading *g = payload;
    sp_report *r = g->r;
    sp_report_case *c = sp_report_case_of(r, x->problem, x->machine);
    sp_report_trial t = {.schedule = sp_report_text(r, x->schedule),
                         .compiler = sp_report_text(r, x->compiler),
                         .verdict = x->verdict,
                         .noise = x->noise,
                         .seconds = x->seconds,
                         .speedup = x->speedup,
                         .low = x->low,
                         .high = x->high,
                         .pack_seconds = x->pack_seconds,
                         .bytes = x->bytes,
                         .when = x->when};

    if (!c)
        return 1;
    c->about = sp_report_text(r, x->about);
    sp_report_add_trial(r, c, &t);
    return r->status != SPRY_OK;
}

static int add_answer(const spry_answer *a, void *payload)
{
    const reading *g = payload;
    sp_report *r = g->r;
    sp_report_case *c;

    if (!wanted(g, a->problem))
        return 0;
    c = sp_report_case_of(r, a->problem, a->machine);
    if (!c)
        return 1;
    c->answered = c->verified = 1; /* only checked plans become answers */
    c->answer = (sp_report_answer){sp_report_text(r, a->baseline),
                                   sp_report_text(r, a->schedule),
                                   a->baseline_seconds,
                                   a->seconds,
                                   a->speedup,
                                   a->low,
                                   a->high,
                                   a->pack_seconds,
                                   a->tuning_seconds};
    return r->status != SPRY_OK;
}

/* The first origin of a problem that is known names it. */
static int add_origin(const spry_origin *o, void *payload)
{
    const reading *g = payload;
    sp_report *r = g->r;
    int problem = sp_report_text(r, o->problem);

    for (int i = 0; i < r->cases; i++) {
        sp_report_case *c = &r->one[i];

        if (c->problem != problem || c->rows)
            continue;
        c->source = sp_report_text(r, o->source);
        c->op = sp_report_text(r, o->op);
        c->type = sp_report_text(r, o->type);
        c->n = o->n;
        c->rows = o->rows;
        c->cols = o->cols;
        c->nnz = o->nnz;
    }
    return r->status != SPRY_OK;
}

static void add_machines(sp_report *r, spry_records *db)
{
    for (int i = 0; i < r->cases && r->status == SPRY_OK; i++) {
        spry_machine m;
        int found = 0;

        if (sp_report_machine(r, &r->one[i]))
            continue;
        r->status = spry_records_get_machine(db, &m, &found,
                                             r->text[r->one[i].machine]);
        if (found)
            sp_report_add_machine(r, &m);
    }
}

void sp_report_read(sp_report *r, spry_records *db, const char *problem)
{
    reading g = {r, problem};
    spry_status s = spry_records_each(db, problem, NULL, add_record, &g);

    if (s == SPRY_OK)
        s = spry_records_each_answer(db, add_answer, &g);
    if (s == SPRY_OK)
        s = spry_records_each_origin(db, add_origin, &g);
    if (s == SPRY_OK)
        add_machines(r, db);
    else if (r->status == SPRY_OK)
        r->status = s;
}

/* ---- order ---- */

static int by_key(const void *a, const void *b)
{
    const sp_report_case *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : strcmp(x->on, y->on);
}

void sp_report_finish(sp_report *r)
{
    for (int i = 0; i < r->cases; i++) {
        r->one[i].key = r->text[r->one[i].problem];
        r->one[i].on = r->text[r->one[i].machine];
    }
    if (r->cases)
        qsort(r->one, (size_t)r->cases, sizeof *r->one, by_key);
    for (int i = 0; i < r->cases && i < SP_REPORT_SHOWN; i++)
        if (!r->one[i].told)
            sp_report_recall(r, &r->one[i]);
}
