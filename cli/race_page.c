/* race_page.c - a page about a race: what ran becomes the records of a store that
 * is kept nowhere, and that store a report. */
#include "cli.h"

#include <stdio.h>

static spry_status add(spry_records *db, const job *j, const race_result *r,
                       int i)
{
    const spry_score *s = &r->score[i];
    const spry_plan *plan = r->plan[i];
    char about[256];
    spry_record x = {.problem = spry_problem_key(j->problem),
                     .about = about,
                     .schedule = spry_plan_text(plan),
                     .machine = j->machine.fingerprint,
                     .compiler = spry_plan_builtin(plan) ? "built-in" : "",
                     .verdict = SPRY_VERDICT_OK,
                     .noise = '?',
                     .seconds = s->seconds,
                     .speedup = s->speedup,
                     .low = s->low,
                     .high = s->high,
                     .pack_seconds = spry_plan_pack_seconds(plan),
                     .bytes = spry_plan_bytes(plan),
                     .when = i};

    snprintf(about, sizeof about, "%.200s, a race of %d", r->source, r->count);
    return spry_records_add(db, &x);
}

/* The fastest; what was given first stays unless its interval is better. */
static int winner(const race_result *r)
{
    int best = 0;

    for (int i = 1; i < r->count; i++)
        if (r->score[i].low > 1 && r->score[i].speedup > r->score[best].speedup)
            best = i;
    return best;
}

static spry_status answer(spry_records *db, const job *j, const race_result *r)
{
    int best = winner(r);
    const spry_score *s = &r->score[best];
    spry_answer a = {
        .problem = spry_problem_key(j->problem),
        .machine = j->machine.fingerprint,
        .baseline = spry_plan_text(r->plan[0]),
        .schedule = spry_plan_text(r->plan[best]),
        .baseline_seconds = r->score[0].seconds,
        .seconds = s->seconds,
        .speedup = s->speedup,
        .low = s->low,
        .high = s->high,
        .pack_seconds = spry_plan_pack_seconds(r->plan[best]),
        .effort = SPRY_MEASURE,
    };

    return spry_records_answer(db, &a);
}

static spry_status put_origin(spry_records *db, const job *j)
{
    char group[SPRY_GROUP_TEXT];
    spry_origin o = {.problem = spry_problem_key(j->problem),
                     .source = j->source,
                     .group = spry_group_of(group, j->source)};

    if (!j->matrix)
        return SPRY_OK;
    o.op = spry_op_name(spry_problem_op(j->problem));
    o.type = spry_problem_type(j->problem) == SPRY_F32 ? "f32" : "f64";
    o.n = spry_problem_cols(j->problem);
    o.rows = j->matrix->rows;
    o.cols = j->matrix->cols;
    o.nnz = j->matrix->nnz;
    return spry_records_put_origin(db, &o);
}

spry_status race_page(const char *file, const job *j, const race_result *r)
{
    spry_report_options o = SPRY_REPORT_DEFAULTS;
    spry_records *db;
    spry_status s = spry_records_open(&db, ":memory:");

    if (s != SPRY_OK)
        return say_status(s);
    o.title = "A race";
    o.store = store_to_name();
    s = spry_records_put_machine(db, &j->machine);
    for (int i = 0; s == SPRY_OK && i < r->count; i++)
        s = add(db, j, r, i);
    if (s == SPRY_OK)
        s = answer(db, j, r);
    if (s == SPRY_OK)
        s = put_origin(db, j);
    if (s == SPRY_OK)
        s = spry_report_store(file, db, &o);
    spry_records_close(db);
    return say_status(s);
}
