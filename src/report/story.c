/* story.c - the tune that made a plan -> one case. */
#include <string.h>

#include "matrix/spy.h"
#include "report/report.h"

static void add_trials(sp_report *r, sp_report_case *c,
                       const spry_tuning *story)
{
    char noise = spry_machine_grade(&story->machine);

    for (int i = 0; i < story->trials; i++) {
        const spry_trial *x = &story->trial[i];
        sp_report_trial t = {.schedule = sp_report_text(r, x->schedule),
                             .compiler = sp_report_text(r, ""),
                             .verdict = x->verdict,
                             .noise = noise,
                             .predicted = x->predicted,
                             .seconds = x->seconds,
                             .speedup = x->speedup,
                             .low = x->low,
                             .high = x->high,
                             .pack_seconds = x->pack_seconds,
                             .bytes = x->bytes};

        sp_report_add_trial(r, c, &t);
    }
}

static void add_verdict(sp_report *r, sp_report_case *c,
                        const spry_tuning *story)
{
    c->told = c->answered = 1;
    c->model = sp_report_text(r, story->model);
    c->verified = story->verified;
    c->answer = (sp_report_answer){sp_report_text(r, story->baseline),
                                   sp_report_text(r, story->best),
                                   story->baseline_seconds,
                                   story->seconds,
                                   story->speedup,
                                   story->low,
                                   story->high,
                                   story->convert_seconds,
                                   story->tuning_seconds};
}

static void add_shape(sp_report *r, sp_report_case *c, const spry_problem *p)
{
    spry_origin o = {.op = "", .type = ""};
    char about[160];

    p->kind->about(about, sizeof about, p);
    p->kind->origin(&o, p);
    c->about = sp_report_text(r, about);
    c->op = sp_report_text(r, o.op);
    c->type = sp_report_text(r, o.type);
    c->n = o.n;
    c->rows = o.rows;
    c->cols = o.cols;
    c->nnz = o.nnz;
    sp_report_count(c, p);
}

static void add_picture(sp_report_case *c, const spry_problem *p)
{
    const spry_stats *stats =
        spry_problem_matrix(p) ? spry_problem_stats(p) : NULL;
    sp_spy spy;

    if (!stats)
        return;
    spy = sp_spy_of(stats);
    if (sp_spy_png(&c->picture, &spy) != SPRY_OK)
        sp_buf_free(&c->picture);
}

void sp_report_tell(sp_report *r, const spry_plan *plan, const char *source)
{
    const spry_tuning *story = spry_plan_tuning(plan);
    const spry_problem *p = spry_plan_problem(plan);
    sp_report_case *c;

    if (!story) {
        r->status = sp_fail(SPRY_USAGE, "no tune made this plan");
        return;
    }
    c = sp_report_case_of(r, spry_problem_key(p), story->machine.fingerprint);
    if (!c)
        return;
    c->source = sp_report_text(r, source);
    add_shape(r, c, p);
    add_picture(c, p);
    add_trials(r, c, story);
    add_verdict(r, c, story);
    sp_report_add_machine(r, &story->machine);
}
