/* report.c - the doors, and the parts of a report as they are collected. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "spry/dense.h"

/* ---- texts, each once ---- */

static uint64_t hash_of(const char *text)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, text, strlen(text));
    return h.a;
}

/* Where the text is, or the free place it belongs to. */
static int *slot_of(const sp_report *r, const char *text)
{
    uint64_t at = hash_of(text);

    for (;; at++) {
        int *slot = &r->slot[at & (uint64_t)(r->slots - 1)];

        if (*slot < 0 || strcmp(r->text[*slot], text) == 0)
            return slot;
    }
}

static void no_memory(sp_report *r)
{
    if (r->status == SPRY_OK)
        r->status = sp_fail_memory(1);
}

/* Twice the room for texts; slots stay half empty. */
static int make_room(sp_report *r)
{
    int room = r->text_room ? 2 * r->text_room : 256;
    char **text = sp_grow(r->text, r->texts, room, sizeof *text);
    int *slot = sp_alloc(2 * room, sizeof *slot);

    if (text)
        r->text = text;
    if (!text || !slot) {
        sp_free(slot);
        return 0;
    }
    sp_free(r->slot);
    r->slot = slot;
    r->slots = 2 * room;
    r->text_room = room;
    for (int i = 0; i < r->slots; i++)
        slot[i] = -1;
    for (int i = 0; i < r->texts; i++)
        *slot_of(r, r->text[i]) = i;
    return 1;
}

int sp_report_text(sp_report *r, const char *text)
{
    int *slot;
    char *copy;

    text = text ? text : "";
    if (r->status != SPRY_OK)
        return 0;
    if (r->texts == r->text_room && !make_room(r)) {
        no_memory(r);
        return 0;
    }
    slot = slot_of(r, text);
    if (*slot >= 0)
        return *slot;
    copy = sp_alloc((int64_t)strlen(text) + 1, 1);
    if (!copy) {
        no_memory(r);
        return 0;
    }
    strcpy(copy, text);
    r->text[r->texts] = copy;
    *slot = r->texts;
    return r->texts++;
}

/* ---- cases ---- */

/* From the newest on: what comes next mostly belongs to the last one. */
static sp_report_case *find_case(const sp_report *r, int problem, int machine)
{
    for (int i = r->cases - 1; i >= 0; i--)
        if (r->one[i].problem == problem && r->one[i].machine == machine)
            return &r->one[i];
    return NULL;
}

sp_report_case *sp_report_case_of(sp_report *r, const char *problem,
                                  const char *machine)
{
    int p = sp_report_text(r, problem), m = sp_report_text(r, machine);
    sp_report_case *c = r->status == SPRY_OK ? find_case(r, p, m) : NULL;

    if (c || r->status != SPRY_OK)
        return c;
    if (r->cases == r->case_room) {
        int room = r->case_room ? 2 * r->case_room : 16;
        sp_report_case *grown = sp_grow(r->one, r->cases, room, sizeof *grown);

        if (!grown) {
            no_memory(r);
            return NULL;
        }
        r->one = grown;
        r->case_room = room;
    }
    c = &r->one[r->cases++];
    *c = (sp_report_case){.problem = p, .machine = m};
    c->about = c->source = c->op = c->type = c->model = sp_report_text(r, "");
    return c;
}

void sp_report_count(sp_report_case *c, const spry_problem *p)
{
    if (!spry_problem_operator(p))
        return;
    c->flops = spry_problem_flops(p);
    c->moved = spry_problem_bytes(p);
}

void sp_report_add_trial(sp_report *r, sp_report_case *c,
                         const sp_report_trial *t)
{
    if (r->status != SPRY_OK)
        return;
    if (c->trials == c->room) {
        int room = c->room ? 2 * c->room : 32;
        sp_report_trial *grown =
            sp_grow(c->trial, c->trials, room, sizeof *grown);

        if (!grown) {
            no_memory(r);
            return;
        }
        c->trial = grown;
        c->room = room;
    }
    c->trial[c->trials++] = *t;
}

void sp_report_add_machine(sp_report *r, const spry_machine *m)
{
    spry_machine *grown;

    if (r->status != SPRY_OK)
        return;
    grown = sp_grow(r->machine, r->machines, r->machines + 1, sizeof *grown);
    if (!grown) {
        no_memory(r);
        return;
    }
    r->machine = grown;
    r->machine[r->machines++] = *m;
}

const spry_machine *sp_report_machine(const sp_report *r,
                                      const sp_report_case *c)
{
    for (int i = 0; i < r->machines; i++)
        if (strcmp(r->machine[i].fingerprint, r->text[c->machine]) == 0)
            return &r->machine[i];
    return NULL;
}

int sp_report_is_probed(const sp_report *r, const sp_report_case *c)
{
    const spry_machine *m = sp_report_machine(r, c);

    return m && m->probed;
}

void sp_report_free(sp_report *r)
{
    for (int i = 0; i < r->texts; i++)
        sp_free(r->text[i]);
    for (int i = 0; i < r->cases; i++) {
        sp_free(r->one[i].trial);
        sp_buf_free(&r->one[i].picture);
    }
    sp_free(r->text);
    sp_free(r->slot);
    sp_free(r->machine);
    sp_free(r->peer);
    sp_free(r->one);
    memset(r, 0, sizeof *r);
}

/* ---- the doors ---- */

static spry_status read_options(spry_report_options *o,
                                const spry_report_options *given)
{
    static const spry_report_options defaults = SPRY_REPORT_DEFAULTS;

    *o = defaults;
    if (SP_TAKE_OPTIONS(o, given) != SPRY_OK)
        return SPRY_USAGE;
    if (!o->title)
        o->title = "What spry found";
    return SPRY_OK;
}

/* Write the page and let go of the report. */
static spry_status write_page(const char *path, sp_report *r, const char *title)
{
    sp_buf page = {0};
    spry_status s = r->status;

    if (s == SPRY_OK) {
        sp_report_finish(r);
        sp_report_page(&page, r, title);
        s = page.failed ? sp_fail_memory(page.len) : r->status;
    }
    if (s == SPRY_OK)
        s = sp_file_write(path, page.data, page.len);
    sp_buf_free(&page);
    sp_report_free(r);
    return s;
}

spry_status spry_report_store(const char *path, spry_records *db,
                              const spry_report_options *options)
{
    SP_NEED(path, db);

    spry_report_options o;
    sp_report r = {0};

    if (read_options(&o, options) != SPRY_OK)
        return SPRY_USAGE;
    r.store = o.store ? o.store : spry_records_path(db);
    sp_report_read(&r, db, o.problem);
    if (r.status == SPRY_OK && r.cases == 0)
        r.status = sp_fail(SPRY_INPUT, "%s: nothing is recorded there%s%s",
                           spry_records_path(db), o.problem ? " of " : "",
                           o.problem ? o.problem : "");
    sp_report_read_peers(&r, o.peers);
    return write_page(path, &r, o.title);
}

spry_status spry_report_plan(const char *path, const spry_plan *plan,
                             const char *source,
                             const spry_report_options *options)
{
    SP_NEED(path, plan);

    spry_report_options o;
    sp_report r = {0};

    if (read_options(&o, options) != SPRY_OK)
        return SPRY_USAGE;
    r.store = o.store;
    sp_report_tell(&r, plan, source);
    sp_report_read_peers(&r, o.peers);
    return write_page(path, &r, o.title);
}
