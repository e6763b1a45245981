/* propose.c - what is worth a race: plain ways, what the store liked, what
 * the family's adviser likes, and then neighbours of what won. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"

enum { LEADERS = 3 };

/* ---- what earlier tunes found ---- */

/* Among the best few, in their order. */
static void like(sp_history *h, const char *text, double speedup)
{
    int at = h->likes < SP_LIKED ? h->likes++ : SP_LIKED - 1;

    if (at == SP_LIKED - 1 && h->likes == SP_LIKED && h->speedup[at] > speedup)
        return;
    for (; at > 0 && h->speedup[at - 1] < speedup; at--) {
        memcpy(h->liked[at], h->liked[at - 1], SPRY_SCHEDULE_TEXT);
        h->speedup[at] = h->speedup[at - 1];
    }
    snprintf(h->liked[at], SPRY_SCHEDULE_TEXT, "%s", text);
    h->speedup[at] = speedup;
}

static int recall_one(const spry_record *r, void *payload)
{
    sp_history *h = payload;

    if (strlen(r->schedule) >= SPRY_SCHEDULE_TEXT)
        return 0;
    for (int i = 0; i < h->likes; i++)
        if (strcmp(h->liked[i], r->schedule) == 0)
            return 0;
    if (r->verdict == SPRY_VERDICT_OK && r->low > 1)
        like(h, r->schedule, r->speedup);
    else if (r->verdict != SPRY_VERDICT_OK && h->failures < SP_FAILED)
        strcpy(h->failed[h->failures++], r->schedule);
    return 0;
}

/* ---- the adviser ---- */

spry_status sp_tune_consult(sp_tuner *t)
{
    sp_inquiry q = {.p = t->p,
                    .m = &t->m,
                    .history = &t->history,
                    .seed = t->opt.seed,
                    .measured = t->opt.effort >= SPRY_MEASURE,
                    .patient = t->opt.effort == SPRY_PATIENT,
                    .seconds = t->opt.seconds,
                    .search = t->opt.search};
    spry_status s;

    if (t->db)
        (void)spry_records_each(t->db, t->p->key, t->m.fingerprint, recall_one,
                                &t->history);
    s = t->family->consult(&t->adviser, &q);
    if (s != SPRY_OK)
        return s;
    t->opt.seconds = t->adviser->seconds;
    return SPRY_OK;
}

/* ---- candidates ---- */

/* What is on the list beyond the results becomes candidates. */
static void take(sp_tuner *t)
{
    for (; t->count < t->list.count; t->count++)
        sp_results(t)[t->count] = (sp_result){.x = t->list.list[t->count]};
}

static void add_liked(sp_tuner *t)
{
    for (int i = 0; i < t->history.likes; i++) {
        sp_proposal x = {.threads = 0};

        memcpy(x.text, t->history.liked[i], sizeof x.text);
        t->family->predict(t->adviser, &x, 1);
        if (x.predicted < HUGE_VAL)
            (void)sp_proposals_add(&t->list, &x);
    }
}

spry_status sp_tune_propose(sp_tuner *t)
{
    sp_proposal plain[SP_BASELINES];
    spry_status s;

    t->baselines = t->family->baselines(plain, t->p, &t->m);
    t->family->predict(t->adviser, plain, t->baselines);
    for (int i = 0; i < t->baselines; i++)
        (void)sp_proposals_add(&t->list, &plain[i]);
    add_liked(t);
    s = t->family->propose(t->adviser, &t->list);
    if (*t->adviser->note)
        sp_tuner_note(t, t->adviser->note);
    take(t);
    return s;
}

/* ---- the next generation ---- */

/* The `most` fastest verified results, best first. */
static int leaders(const sp_tuner *t, sp_proposal *out, int most)
{
    int count = 0;
    double last = 0;

    while (count < most) {
        const sp_result *best = NULL;

        for (int i = 0; i < t->count; i++) {
            const sp_result *r = &sp_results(t)[i];

            if (r->done && r->verdict == SPRY_VERDICT_OK &&
                sp_result_pace(r) > last &&
                (!best || sp_result_pace(r) < sp_result_pace(best)))
                best = r;
        }
        if (!best)
            break;
        last = sp_result_pace(best);
        out[count++] = best->x;
    }
    return count;
}

spry_status sp_tune_evolve(sp_tuner *t, int *added)
{
    sp_proposal leader[LEADERS];
    int before = t->count, count = leaders(t, leader, LEADERS);
    spry_status s;

    *added = 0;
    if (count == 0)
        return SPRY_OK;
    t->list.count = t->count; /* whoever had no turn is out */
    s = t->family->around(t->adviser, &t->list, leader, count);
    take(t);
    *added = t->count - before;
    return s;
}
