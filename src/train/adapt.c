/* adapt.c - a model that was trained elsewhere, and the records of one
 * machine: what it learns there lies in a file beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapt/adapt.h"
#include "train/internal.h"

/* ---- what to adapt, and to what ---- */

typedef struct {
    const spry_adapt_options *opt;
    spry_op op;
    char machine[24];
    int threads;
    sp_cost *cost;
    sp_pretrained source;
    sp_data d;
    sp_dataset all;
    sp_slice quiet; /* of them what was measured well */
    int64_t *group; /* [subjects of quiet] */
} work;

static void work_close(work *w)
{
    sp_free(w->group);
    sp_slice_free(&w->quiet);
    sp_dataset_free(&w->all);
    sp_data_close(&w->d);
    sp_pretrained_free(&w->source);
    sp_cost_free(w->cost);
}

static spry_status find_machine(work *w)
{
    const char *asked = w->opt->machine;
    spry_machine m;
    spry_status s;

    if (asked && strcmp(asked, "here") != 0) {
        snprintf(w->machine, sizeof w->machine, "%s", asked);
        return SPRY_OK;
    }
    s = spry_machine_detect(&m);
    if (s == SPRY_OK)
        snprintf(w->machine, sizeof w->machine, "%s", m.fingerprint);
    return s;
}

static spry_status find_model(work *w)
{
    spry_status s = w->opt->model ? sp_cost_load(&w->cost, w->opt->model)
                                  : sp_cost_find(&w->cost, w->opt->op);

    if (s != SPRY_OK)
        return s;
    if (!w->cost)
        return sp_fail(SPRY_USAGE,
                       "there is no model of %s to adapt; spry train makes one",
                       spry_op_name(w->opt->op));
    w->op = w->cost->op;
    return sp_pretrained_of(&w->source, w->cost);
}

/* Whose records there are, in a sentence. */
static spry_status nobody(const work *w, spry_records *db)
{
    sp_data all;
    char known[200] = "";
    size_t at = 0;

    if (sp_data_open(&all, db, w->op, NULL, 1) != SPRY_OK)
        return SPRY_FAIL;
    for (int64_t i = 0; i < all.e.subjects; i++)
        if (!strstr(known, all.machine[i]) && at + 40 < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s",
                                   at ? ", " : "", all.machine[i]);
    sp_data_close(&all);
    return sp_fail(SPRY_USAGE,
                   "the store has no records of %s on the machine %s%s%s; the "
                   "model stays as it is",
                   spry_op_name(w->op), w->machine,
                   at ? "; it has those of " : "", known);
}

/* What was measured so badly that its interval is this wide teaches nothing. */
static const double LOUD = 0.5;

/* Rows that are worth something, and the group of every subject that has
 * any. */
static spry_status take_quiet(work *w)
{
    const sp_dataset *t = &w->all;
    int64_t n = t->e->subjects, at = 0, groups = 0;
    uint8_t *keep = sp_alloc(t->rows + 1, 1);
    int64_t *from = sp_alloc(n + 1, sizeof *from);
    spry_status s = SPRY_OK;

    w->group = sp_alloc(n + 1, sizeof *w->group);
    if (!keep || !from || !w->group)
        s = sp_fail_memory((size_t)t->rows);
    for (int64_t k = 0; s == SPRY_OK && k < n; k++) {
        int kept = 0;
        int64_t j = 0;

        for (int64_t i = t->start[k]; i < t->start[k + 1]; i++)
            kept |= keep[i] = (double)t->noise[i] <= LOUD;
        if (!kept)
            continue;
        while (j < at && strcmp(w->d.group[from[j]], w->d.group[k]) != 0)
            j++;
        w->group[at] = j < at ? w->group[j] : groups++;
        from[at++] = k;
    }
    if (s == SPRY_OK)
        s = sp_slice_new(&w->quiet, t, keep);
    sp_free(keep);
    sp_free(from);
    return s;
}

static spry_status find_records(work *w, spry_records *db)
{
    spry_status s = sp_data_open(&w->d, db, w->op, w->machine, w->threads);

    if (s == SPRY_OK && w->d.e.subjects == 0)
        return nobody(w, db);
    if (s == SPRY_OK)
        s = sp_dataset_new(&w->all, &w->d.e, w->threads);
    return s == SPRY_OK ? take_quiet(w) : s;
}

static spry_status work_open(work *w, spry_records *db,
                             const spry_adapt_options *opt)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    spry_status s;

    *w = (work){.opt = opt};
    w->threads = opt->threads > 0 ? opt->threads : online > 0 ? (int)online : 1;
    s = find_machine(w);
    if (s == SPRY_OK)
        s = find_model(w);
    if (s == SPRY_OK)
        s = find_records(w, db);
    if (s != SPRY_OK)
        work_close(w);
    return s;
}

/* ---- learned ---- */

static void tell(spry_adapted *out, const sp_local_card *c)
{
    snprintf(out->op, sizeof out->op, "%s", c->op);
    snprintf(out->machine, sizeof out->machine, "%s", c->machine);
    snprintf(out->method, sizeof out->method, "%s", c->method);
    snprintf(out->date, sizeof out->date, "%s", c->date);
    out->records = c->records;
    out->problems = c->problems;
    out->before = c->before;
    out->after = c->after;
}

static spry_status path_of(spry_adapted *out, const work *w)
{
    char *slash;

    if (w->opt->out)
        snprintf(out->path, sizeof out->path, "%s", w->opt->out);
    else if (!sp_local_path(out->path, sizeof out->path, w->op, w->machine))
        return sp_fail(SPRY_SYSTEM, "there is nowhere to keep what is learned");
    slash = strrchr(out->path, '/');
    if (w->opt->out || !slash)
        return SPRY_OK;
    *slash = 0;
    if (sp_make_dirs(out->path, 0700) != SPRY_OK)
        return SPRY_SYSTEM;
    *slash = '/';
    return SPRY_OK;
}

static spry_status adapt(spry_adapted *out, work *w)
{
    sp_adapting how = {.threads = w->threads, .seed = w->opt->seed};
    sp_local_card card = {.records = 0};
    sp_adapted_way chosen;
    sp_local *l = NULL;
    spry_status s = SPRY_OK;

    if (w->opt->method)
        s = sp_correction_named(&how.way, w->opt->method);
    if (s == SPRY_OK)
        s = sp_adapt_choose(&chosen, &w->source, &w->quiet.t, w->group, &how);
    if (s != SPRY_OK)
        return s;
    snprintf(card.op, sizeof card.op, "%s", spry_op_name(w->op));
    snprintf(card.machine, sizeof card.machine, "%s", w->machine);
    sp_cost_hash(card.source, w->cost);
    s = sp_adapt_make(&l, &w->source, &w->quiet.t, &how, &chosen, &card);
    if (s == SPRY_OK)
        s = path_of(out, w);
    if (s == SPRY_OK)
        s = sp_local_save(l, out->path);
    if (s == SPRY_OK)
        tell(out, &l->card);
    sp_local_free(l);
    return s;
}

static spry_status take_options(spry_adapt_options *o,
                                const spry_adapt_options *opt)
{
    static const spry_adapt_options defaults = SPRY_ADAPT_DEFAULTS;

    *o = defaults;
    if (SP_TAKE_OPTIONS(o, opt) != SPRY_OK)
        return SPRY_USAGE;
    SP_REFUSE(!sp_operation_of(o->op), "there is no operation %d", (int)o->op);
    SP_REFUSE(o->threads < 0, "%d threads", o->threads);
    return SPRY_OK;
}

spry_status spry_adapt(spry_adapted *out, spry_records *db,
                       const spry_adapt_options *opt)
{
    SP_NEED(out, db);
    SP_ROOM(out);

    spry_adapted whole = {.seconds = 0};
    spry_adapt_options o;
    double begin = sp_seconds();
    spry_status s = take_options(&o, opt);
    work w;

    if (s == SPRY_OK)
        s = work_open(&w, db, &o);
    if (s != SPRY_OK)
        return s;
    s = adapt(&whole, &w);
    work_close(&w);
    whole.seconds = sp_seconds() - begin;
    SP_GIVE(out, &whole);
    return s;
}

/* ---- shown and forgotten ---- */

/* This machine when none is named. */
static spry_status local_path(char *out, size_t size, spry_op op,
                              const char *machine)
{
    spry_machine m;
    spry_status s = machine ? SPRY_OK : spry_machine_detect(&m);

    SP_REFUSE((int)op < 0 || (int)op >= SPRY_OPS, "there is no operation %d",
              (int)op);

    if (s == SPRY_OK &&
        !sp_local_path(out, size, op, machine ? machine : m.fingerprint))
        s = sp_fail(SPRY_SYSTEM, "there is nowhere to keep what is learned");
    return s;
}

spry_status spry_adapted_info(spry_adapted *out, int *found, spry_op op,
                              const char *machine)
{
    SP_NEED(out, found);
    SP_ROOM(out);

    spry_adapted whole = {.seconds = 0};
    sp_local *l = NULL;
    spry_status s;

    *found = 0;
    s = local_path(whole.path, sizeof whole.path, op, machine);
    SP_GIVE(out, &whole);
    if (s != SPRY_OK || access(whole.path, F_OK) != 0)
        return s;
    s = sp_local_load(&l, whole.path, NULL);
    if (s != SPRY_OK)
        return s;
    *found = 1;
    tell(&whole, &l->card);
    SP_GIVE(out, &whole);
    sp_local_free(l);
    return SPRY_OK;
}

spry_status spry_adapted_forget(int *found, spry_op op, const char *machine)
{
    SP_NEED(found);

    char path[4096];
    spry_status s;

    *found = 0;
    s = local_path(path, sizeof path, op, machine);
    if (s != SPRY_OK || access(path, F_OK) != 0)
        return s;
    if (remove(path) != 0)
        return sp_fail(SPRY_SYSTEM, "%s cannot be removed", path);
    *found = 1;
    return SPRY_OK;
}
