/* remember.c - finished trials become records, heat by heat. */
#include <time.h>

#include "base/base.h"
#include "spry/jit.h"
#include "tune/internal.h"

int sp_result_scaled(sp_result *out, const sp_result *r, int i, int baselines)
{
    double by = sp_heats_baseline(r, baselines)->racer.speedup;

    for (int k = 0; k < baselines; k++)
        if (!r[k].done)
            return 0;
    *out = r[i];
    if (i < baselines && by > 0) {
        out->racer.speedup /= by;
        out->racer.low /= by;
        out->racer.high /= by;
    }
    return 1;
}

spry_status sp_origin_add(spry_records *db, const spry_problem *p,
                          const char *source, const char *group)
{
    char name[SPRY_GROUP_TEXT];
    int known = source && *source;
    spry_origin o = {.problem = p->key,
                     .source = known ? source : "",
                     .group = group   ? group
                              : known ? name
                                      : p->key};

    p->kind->origin(&o, p);
    if (known)
        spry_group_of(name, source);
    return spry_records_put_origin(db, &o);
}

spry_status sp_result_add(spry_records *db, const spry_problem *p,
                          const spry_machine *m, const sp_result *r)
{
    char about[128];
    spry_record record = {
        .problem = p->key,
        .about = about,
        .schedule = r->x.text,
        .machine = m->fingerprint,
        .compiler = r->builtin || r->verdict == SPRY_VERDICT_INFEASIBLE
                        ? "built-in"
                        : spry_jit_compiler(),
        .verdict = r->verdict,
        .noise = spry_machine_grade(m),
        .pack_seconds = r->pack_seconds,
        .bytes = r->bytes,
        .when = (int64_t)time(NULL),
    };

    if (r->verdict == SPRY_VERDICT_DOUBTFUL)
        return SPRY_OK; /* nothing is known of it */
    p->kind->about(about, sizeof about, p);
    if (r->verdict == SPRY_VERDICT_OK || r->verdict == SPRY_VERDICT_SLOW) {
        record.seconds = r->racer.seconds;
        record.speedup = r->racer.speedup;
        record.low = r->racer.low;
        record.high = r->racer.high < 1e6 ? r->racer.high : 1e6;
        record.samples = r->racer.pairs;
        record.sample = r->racer.samples;
    }
    return spry_records_add(db, &record);
}

void sp_tune_keep(sp_tuner *t, const sp_result *r)
{
    if (!t->db || sp_result_add(t->db, t->p, &t->m, r) == SPRY_OK)
        return;
    sp_tuner_note(t, "some trials could not be stored");
    spry_records_close(t->db);
    t->db = NULL;
}

/* Results finish heat by heat; a heat is one transaction. */
void sp_tune_remember(sp_tuner *t)
{
    sp_result scaled;
    int batch = 0;

    for (; t->recorded < t->count && sp_results(t)[t->recorded].done &&
           sp_result_scaled(&scaled, sp_results(t), t->recorded, t->baselines);
         t->recorded++) {
        const sp_result *r = &sp_results(t)[t->recorded];

        if (r->verdict == SPRY_VERDICT_OK &&
            (t->best < 0 ||
             sp_result_pace(r) < sp_result_pace(&sp_results(t)[t->best])))
            t->best = t->recorded;
        if (t->db && !batch)
            batch = spry_records_batch(t->db) == SPRY_OK;
        sp_tune_keep(t, &scaled);
    }
    if (batch && t->db)
        (void)spry_records_commit(t->db);
}

void sp_tune_conclude(sp_tuner *t, const spry_tuning *story,
                      const spry_plan *plan)
{
    char mark[SP_KERNEL_MARK];
    spry_answer a = {.problem = t->p->key,
                     .machine = t->m.fingerprint,
                     .baseline = story->baseline,
                     .schedule = story->best,
                     .baseline_seconds = story->baseline_seconds,
                     .seconds = story->seconds,
                     .speedup = story->speedup,
                     .low = story->low,
                     .high = story->high < 1e6 ? story->high : 1e6,
                     .pack_seconds = story->convert_seconds,
                     .tuning_seconds = sp_seconds() - t->begun,
                     .calls = t->opt.calls,
                     .effort = t->opt.effort,
                     .when = (int64_t)time(NULL),
                     .kernel = mark};

    if (!t->db || t->stopped)
        return;
    if (t->late && !story->changed) {
        if (t->opt.again) /* what was proven before is not to be covered up */
            return;
        sp_answer_unproven(&a);
    }
    sp_kernel_mark(mark, plan);
    (void)spry_records_answer(t->db, &a);
}
