/* lookup.c - what the store already knows. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/site.h"
#include "records/records.h"
#include "tune/internal.h"
#include "tune/story.h"

/* The machine as it was probed when the answer was found, else as it is. */
static spry_machine known_machine(sp_tuner *t)
{
    spry_machine known;

    return !t->m.probed && sp_tune_known_machine(&known, t) ? known : t->m;
}

spry_status sp_plan_glance(const spry_plan *plan, uint64_t seed)
{
    const sp_family *f;
    void *oracle = NULL;
    spry_status s = sp_family_need(&f, plan->p);

    if (s != SPRY_OK)
        return s;
    s = f->ask(&oracle, plan->p, seed, SP_TO_GLANCE);
    if (s == SPRY_OK)
        s = f->glance(oracle, plan);
    f->forget(oracle);
    return s;
}

/* ---- where time ended before anything was proven ---- */

/* A ratio of which nothing is known (stores take finite ones), and worth no
 * effort: who asks for an answer that was measured does not find it. */
void sp_answer_unproven(spry_answer *a)
{
    a->low = 0;
    a->high = 1e6;
    a->effort = SPRY_LOOKUP;
}

static int is_unproven(const spry_answer *a)
{
    return a->low < 1 && strcmp(a->schedule, a->baseline) == 0;
}

/* With more time something may be found. Who names none has at least what an
 * adviser with a learned model takes. */
static int has_no_more_time(const sp_tuner *t, const spry_answer *a)
{
    static const double USUAL = 3.5, NOT_MORE = 1.25;
    double asked = t->opt.seconds > 0 ? t->opt.seconds : USUAL;

    return asked <= NOT_MORE * a->tuning_seconds;
}

static void note_unproven(sp_tuner *t, double seconds)
{
    char why[120];

    snprintf(why, sizeof why,
             "nothing was proven in %.2g s; a longer budget may find something",
             seconds);
    sp_tuner_note(t, why);
}

/* A store may be stale or damaged, so its word is not enough: the plan must
 * give right results before it is handed out. */
spry_status sp_tune_answered(spry_plan **out, sp_tuner *t, const spry_answer *a)
{
    spry_tuning story = {.looked_up = 1, .verified = 1};
    spry_status s = t->family->make(out, t->p, a->schedule, &t->m, NULL);

    if (s == SPRY_OK)
        s = sp_plan_glance(*out, t->opt.seed);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
        return s;
    }
    snprintf(story.best, sizeof story.best, "%s", a->schedule);
    snprintf(story.baseline, sizeof story.baseline, "%s", a->baseline);
    story.machine = known_machine(t);
    story.baseline_seconds = a->baseline_seconds;
    story.seconds = a->seconds;
    story.speedup = a->speedup;
    story.low = a->low;
    story.high = a->high;
    story.changed = strcmp(a->schedule, a->baseline) != 0;
    if (is_unproven(a)) {
        story.low = story.high = story.speedup;
        note_unproven(t, a->tuning_seconds);
    }
    story.convert_seconds = spry_plan_pack_seconds(*out);
    story.tuning_seconds = sp_seconds() - t->begun;
    story.break_even_calls = sp_break_even(&story);
    memcpy(story.note, t->note, sizeof story.note);
    s = sp_story_attach(*out, &story, NULL, 0);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
    }
    return s;
}

static int find_in(spry_answer *out, const sp_tuner *t, spry_records *db,
                   spry_effort effort)
{
    int found = 0;

    return spry_records_find(db, out, &found, t->p->key, t->m.fingerprint,
                             t->opt.calls, (int)effort) == SPRY_OK &&
           found;
}

/* Who would not measure stays where a tune found nothing better; who would
 * measures again with more time only. */
static int find_unproven(spry_answer *out, const sp_tuner *t, spry_records *db)
{
    return find_in(out, t, db, SPRY_LOOKUP) && is_unproven(out) &&
           (t->opt.effort < SPRY_MEASURE || has_no_more_time(t, out));
}

/* What cannot be made again, say without a compiler, or is not right, is tuned
 * anew. */
static void look_up_in(spry_plan **out, sp_tuner *t, spry_records *db)
{
    spry_answer a;

    if (db && (find_in(&a, t, db, t->opt.effort) || find_unproven(&a, t, db)))
        (void)sp_tune_answered(out, t, &a);
}

spry_status sp_tune_lookup(spry_plan **out, sp_tuner *t)
{
    *out = NULL;
    if (t->opt.again)
        return SPRY_OK;
    look_up_in(out, t, t->db);
    if (!*out)
        look_up_in(out, t, t->site);
    return SPRY_OK;
}

/* ---- for many problems ---- */

struct sp_answers {
    spry_records *store[2]; /* the user's, the site's; NULL: there is none */
    int renews;             /* a batch of renewed answers is open */
};

sp_answers *sp_answers_open(const char *store, char *note, size_t size)
{
    char lock[4096];
    sp_answers *a;

    snprintf(note, size, "%s", "");
    if (sp_site_path(lock, sizeof lock, "lock", "SPRY_LOCK"))
        return NULL;
    a = sp_alloc(1, sizeof *a);
    if (!a)
        return NULL;
    if ((store && strcmp(store, ":memory:") == 0) ||
        spry_records_open(&a->store[0], store) != SPRY_OK)
        a->store[0] = NULL;
    sp_message_clear(); /* whoever tunes says that nothing is remembered */
    if (sp_site_open(&a->store[1]) != SPRY_OK) {
        a->store[1] = NULL;
        sp_site_useless(note, size);
    }
    return a;
}

void sp_answers_close(sp_answers *a)
{
    if (!a)
        return;
    if (a->renews && spry_records_commit(a->store[0]) != SPRY_OK)
        sp_message_clear(); /* it is only checked once more */
    for (int i = 0; i < 2; i++)
        spry_records_close(a->store[i]);
    sp_free(a);
}

static int find_answer(spry_answer *out, sp_answers *a, const spry_problem *p,
                       const spry_machine *m)
{
    int found = 0;

    for (int i = 0; a && i < 2 && !found; i++)
        if (a->store[i] &&
            spry_records_find(a->store[i], out, &found, p->key, m->fingerprint,
                              0, SPRY_PREDICT) != SPRY_OK)
            found = 0;
    return found;
}

int sp_answers_find(char text[SPRY_SCHEDULE_TEXT], char mark[SP_KERNEL_MARK],
                    sp_answers *a, const spry_problem *p, const spry_machine *m)
{
    spry_answer x;

    if (!find_answer(&x, a, p, m))
        return 0;
    snprintf(text, SPRY_SCHEDULE_TEXT, "%s", x.schedule);
    snprintf(mark, SP_KERNEL_MARK, "%s", x.kernel ? x.kernel : "");
    return 1;
}

void sp_answers_renew(sp_answers *a, const spry_plan *plan,
                      const spry_machine *m)
{
    char mark[SP_KERNEL_MARK];
    spry_answer x;

    if (!a || !a->store[0] || !find_answer(&x, a, plan->p, m) ||
        strcmp(x.schedule, plan->text) != 0)
        return;
    sp_kernel_mark(mark, plan);
    x.kernel = mark;
    if (x.when < (int64_t)time(NULL)) /* of two the newer one counts */
        x.when = (int64_t)time(NULL);
    if (!a->renews)
        a->renews = spry_records_batch(a->store[0]) == SPRY_OK;
    if (spry_records_answer(a->store[0], &x) != SPRY_OK)
        sp_message_clear(); /* a store that is only read: checked each time */
}
