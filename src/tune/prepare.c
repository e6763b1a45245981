/* prepare.c - the machine, the store and the compiler, or a note. */
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "machine/machine.h"
#include "records/records.h"
#include "tune/internal.h"

void sp_tuner_note(sp_tuner *t, const char *sentence)
{
    size_t at = strlen(t->note);

    snprintf(t->note + at, sizeof t->note - at, "%s%s", at ? "; " : "",
             sentence);
}

double sp_tuner_left(const sp_tuner *t)
{
    return t->deadline - sp_seconds();
}

/* A store that the caller names must be one. The user's own may be missing or
 * out of reach: a tune works without, but forgets. */
static spry_status open_own_store(sp_tuner *t)
{
    spry_status s = spry_records_open(&t->db, t->opt.store);
    char why[400];

    if (s == SPRY_OK || t->opt.store)
        return s;
    snprintf(why, sizeof why, "nothing is remembered: %.350s", spry_message());
    sp_tuner_note(t, why);
    t->db = NULL;
    return SPRY_OK;
}

void sp_site_useless(char *note, size_t size)
{
    snprintf(note, size, "the site's store is of no use: %.350s",
             spry_message());
    sp_message_clear();
}

spry_status sp_tune_open_stores(sp_tuner *t)
{
    char why[400];
    spry_status s = open_own_store(t);

    if (s != SPRY_OK || sp_site_open(&t->site) == SPRY_OK)
        return s;
    sp_site_useless(why, sizeof why);
    sp_tuner_note(t, why);
    return SPRY_OK;
}

int sp_tune_known_machine(spry_machine *out, sp_tuner *t)
{
    spry_records *from[] = {t->db, t->site};
    int found = 0;

    for (int i = 0; i < 2 && !found; i++)
        found = from[i] &&
                spry_records_get_machine(from[i], out, &found,
                                         t->m.fingerprint) == SPRY_OK &&
                found && out->probed;
    return found;
}

static void note_probe(sp_tuner *t)
{
    char note[400];

    snprintf(
        note, sizeof note,
        "the budget leaves no time to probe the machine; spry probe%s%.300s"
        " does it once",
        t->opt.store && t->db ? " --store " : "",
        t->opt.store && t->db ? spry_records_path(t->db) : "");
    sp_tuner_note(t, note);
}

/* A machine is probed once; then the store knows it. If that was a noisy
 * hour it is probed again, and the better numbers stay. */
static void know_machine(sp_tuner *t)
{
    spry_machine known;
    int found;

    found = sp_tune_known_machine(&known, t);
    if (found && (spry_machine_grade(&known) != 'D' ||
                  !sp_budget_has_time_to_probe(t))) {
        t->m = known;
        if (t->db)
            (void)spry_records_put_machine(t->db, &t->m);
        return;
    }
    if (!sp_budget_has_time_to_probe(t)) {
        note_probe(t);
        if (t->db) /* its name at least */
            (void)spry_records_put_machine(t->db, &t->m);
        return;
    }
    if (t->opt.machine || spry_machine_probe(&t->m) != SPRY_OK)
        return; /* the model has defaults */
    if (found)
        sp_machine_merge(&t->m, &known);
    if (t->db)
        (void)spry_records_put_machine(t->db, &t->m);
}

/* Two probes at a time would measure each other: the second thread waits, and
 * finds what the first one found. */
void sp_tune_know_machine(sp_tuner *t)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

    if (t->m.probed || t->opt.effort == SPRY_LOOKUP)
        return;
    pthread_mutex_lock(&turn);
    know_machine(t);
    pthread_mutex_unlock(&turn);
}

spry_status sp_tune_prepare(sp_tuner *t)
{
    spry_status s = SPRY_OK;

    if (t->opt.machine)
        t->m = *t->opt.machine;
    else
        s = spry_machine_detect(&t->m);
    if (s == SPRY_OK && t->opt.threads)
        s = spry_machine_limit(&t->m, t->opt.threads, t->m.isa);
    return s;
}
