/* choose_store.c - what was raced becomes records, what was chosen an answer. */
#include <string.h>
#include <time.h>

#include "form/choose.h"

static void note(sp_chooser *c, const char *what)
{
    snprintf(c->out->note, sizeof c->out->note, "%s", what);
}

void sp_choose_open(sp_chooser *c)
{
    if (spry_records_open(&c->db, c->o.store) == SPRY_OK)
        return;
    c->db = NULL;
    note(c, "the store cannot be used; nothing is remembered");
}

/* ---- looking up ---- */

int sp_choose_lookup(sp_chooser *c)
{
    spry_choice *out = c->out;
    spry_answer a;
    int found = 0;

    if (!c->db || c->o.again ||
        spry_records_find(c->db, &a, &found, c->key, out->machine.fingerprint,
                          c->o.calls, 0) != SPRY_OK ||
        !found)
        return 0;
    if (spry_way_parse(&out->best, a.schedule) != SPRY_OK ||
        spry_way_parse(&out->baseline, a.baseline) != SPRY_OK)
        return 0; /* of another version: choose anew */
    out->baseline_seconds = a.baseline_seconds;
    out->seconds = a.seconds;
    out->speedup = a.speedup;
    out->low = a.low;
    out->high = a.high;
    out->make_seconds = a.pack_seconds;
    out->changed = strcmp(a.schedule, a.baseline) != 0;
    out->looked_up = out->measured = 1;
    return 1;
}

/* ---- remembering ---- */

static spry_status add_record(sp_chooser *c, const spry_way_trial *t)
{
    char text[SPRY_WAY_TEXT], about[128];
    const spry_network *n = c->n;
    spry_record r = {.problem = c->key,
                     .about = about,
                     .schedule = spry_way_text(text, &t->way),
                     .machine = c->out->machine.fingerprint,
                     .compiler = "built-in",
                     .verdict = t->verdict,
                     .noise = spry_machine_grade(&c->out->machine),
                     .seconds = t->seconds,
                     .speedup = t->speedup,
                     .low = t->low,
                     .high = fmin(t->high, 1e6),
                     .pack_seconds = t->make_seconds,
                     .when = (int64_t)time(NULL),
                     .samples = t->verdict == SPRY_VERDICT_OK,
                     .sample = &t->seconds};

    snprintf(about, sizeof about,
             "network of %lld layers, %lld edges, batch %lld, raced with %lld",
             (long long)n->layers, (long long)n->edges,
             (long long)c->out->batch, (long long)c->out->raced);
    return spry_records_add(c->db, &r);
}

static spry_status add_answer(sp_chooser *c)
{
    char best[SPRY_WAY_TEXT], baseline[SPRY_WAY_TEXT];
    const spry_choice *out = c->out;
    spry_answer a = {.problem = c->key,
                     .machine = out->machine.fingerprint,
                     .baseline = spry_way_text(baseline, &out->baseline),
                     .schedule = spry_way_text(best, &out->best),
                     .baseline_seconds = out->baseline_seconds,
                     .seconds = out->seconds,
                     .speedup = out->speedup,
                     .low = out->low,
                     .high = fmin(out->high, 1e6),
                     .pack_seconds = out->make_seconds,
                     .tuning_seconds = out->tuning_seconds,
                     .calls = c->o.calls,
                     .when = (int64_t)time(NULL)};

    return spry_records_answer(c->db, &a);
}

void sp_choose_remember(sp_chooser *c)
{
    spry_status s;

    if (!c->db)
        return;
    s = spry_records_batch(c->db);
    for (int i = 0; s == SPRY_OK && i < c->out->trials; i++)
        s = add_record(c, &c->out->trial[i]);
    if (s == SPRY_OK && !c->out->stopped)
        s = add_answer(c);
    if (s == SPRY_OK)
        s = spry_records_commit(c->db);
    if (s != SPRY_OK)
        note(c, "the result could not be stored");
}
