/* records.c - the door: facts in, facts out, and what was concluded. */
#include "spry/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/internal.h"

/* ---- open and close ---- */

static spry_status open_at(spry_records *db, const char *path)
{
    char own[4096];
    spry_status s = SPRY_OK;

    if (!path) {
        s = sp_store_place(own, sizeof own);
        path = own;
    } else if (!*path || strlen(path) >= sizeof own)
        s = sp_fail(SPRY_USAGE, "the path of the store is %s",
                    *path ? "too long" : "empty");
    return s == SPRY_OK ? sp_store_open(db, path, SP_MAY_CREATE) : s;
}

spry_status spry_records_open(spry_records **out, const char *path)
{
    SP_NEED_NEW(out);

    spry_records *db = sp_alloc(1, sizeof *db);
    spry_status s;

    if (!db)
        return sp_fail_memory(sizeof *db);
    s = open_at(db, path);
    if (s == SPRY_OK) {
        *out = db;
        return s;
    }
    spry_records_close(db);
    return path ? s
                : sp_fail(s, "%s; SPRY_HOME names a better place",
                          spry_message());
}

void spry_records_close(spry_records *db)
{
    if (db)
        sp_store_close(db);
    sp_free(db);
}

const char *spry_records_path(const spry_records *db)
{
    SP_NEED_OR("", db);
    return db->path;
}

/* ---- records ---- */

spry_status spry_records_add(spry_records *db, const spry_record *r)
{
    SP_NEED(db, r);

    sp_stored_row row = {.record = *r};
    int added;

    if ((!r->probe || !*r->probe) && r->machine &&
        strcmp(r->machine, db->machine) == 0)
        row.record.probe = db->probe;
    return sp_row_add(db, sp_record_shape, &row, NULL, &added);
}

spry_status spry_records_batch(spry_records *db)
{
    SP_NEED(db);

    spry_status s = sp_store_begin(db);

    db->batch = db->batch || s == SPRY_OK;
    return s;
}

spry_status spry_records_commit(spry_records *db)
{
    SP_NEED(db);
    if (!db->batch)
        return sp_fail(SPRY_USAGE, "%s: no batch is open", db->path);
    db->batch = 0;
    return sp_store_end(db, SPRY_OK);
}

typedef struct {
    spry_records_visit *visit;
    void *payload;
} visitor;

static spry_status visit_record(const sp_table_shape *shape,
                                const sp_stored_row *row, const char *id,
                                void *payload)
{
    const visitor *v = payload;
    spry_record r = row->record;

    (void)shape;
    snprintf(r.id, sizeof r.id, "%s", id);
    return v->visit(&r, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_records_each(spry_records *db, const char *problem,
                              const char *machine, spry_records_visit *visit,
                              void *payload)
{
    SP_NEED(db);
    SP_REFUSE(!visit, "spry_records_each: visit is NULL");

    visitor v = {visit, payload};
    /* Above every text that begins with `problem`: with the last character
     * of Unicode behind it. */
    sp_buf above = {0};
    spry_status s;

    sp_buf_printf(&above, "%s\xf4\x8f\xbf\xbf", problem ? problem : "");
    if (above.failed)
        s = sp_fail_memory(above.cap);
    else {
        sp_cell arg[] = {sp_cell_text(problem ? problem : ""),
                         sp_cell_text(above.data), sp_cell_text(machine)};
        sp_question q = {SP_SOME_RECORDS, arg, 3};

        s = sp_walk_told(db, sp_record_shape, &q, visit_record, &v);
    }
    sp_buf_free(&above);
    return s == SPRY_STOPPED ? SPRY_OK : s;
}

static spry_status take_counts(const sp_cell *cell, int count, void *payload)
{
    int64_t **out = payload;

    for (int i = 0; i < count && i < 3; i++)
        if (out[i])
            *out[i] = cell[i].integer;
    return SPRY_OK;
}

spry_status spry_records_count(spry_records *db, int64_t *records,
                               int64_t *answers, int64_t *machines)
{
    SP_NEED(db);
    int64_t *out[] = {records, answers, machines};

    return sp_store_ask(db, SP_COUNTS, NULL, 0, take_counts, out, NULL);
}

/* ---- answers ---- */

spry_status spry_records_answer(spry_records *db, const spry_answer *a)
{
    SP_NEED(db, a);

    sp_stored_row row = {.answer = *a};
    int added;

    return sp_row_add(db, sp_answer_shape, &row, NULL, &added);
}

int sp_calls_class(double calls)
{
    return calls > 0 ? ilogb(fmax(calls, 1)) : -1;
}

typedef struct {
    spry_records *db;
    spry_answer *out;
    int bucket;
} seeker;

/* Copy the texts of *a to where they outlive the statement. */
static spry_status keep_texts(spry_records *db, spry_answer *a)
{
    const char **text[] = {&a->problem, &a->machine, &a->baseline, &a->schedule,
                           &a->kernel};
    enum { TEXTS = sizeof text / sizeof text[0] };
    size_t bytes = 0;
    char *to;

    for (int i = 0; i < TEXTS; i++)
        bytes += strlen(*text[i]) + 1;
    to = sp_alloc_raw((int64_t)bytes, 1);
    if (!to)
        return sp_fail_memory(bytes);
    sp_free(db->texts);
    db->texts = to;
    for (int i = 0; i < TEXTS; i++) {
        size_t n = strlen(*text[i]) + 1;

        *text[i] = memcpy(to, *text[i], n);
        to += n;
    }
    return SPRY_OK;
}

static spry_status seek(const sp_table_shape *shape, const sp_stored_row *row,
                        const char *id, void *payload)
{
    const seeker *k = payload;
    spry_answer a = row->answer;
    spry_status s;

    (void)shape;
    (void)id;
    if (sp_calls_class(a.calls) != k->bucket)
        return SPRY_OK;
    s = keep_texts(k->db, &a);
    if (s != SPRY_OK)
        return s;
    *k->out = a;
    return SPRY_STOPPED;
}

spry_status spry_records_find(spry_records *db, spry_answer *out, int *found,
                              const char *problem, const char *machine,
                              double calls, int effort)
{
    SP_NEED(db, out, found, problem, machine);
    SP_REFUSE(effort < 0, "%d is no effort", effort);

    seeker k = {db, out, sp_calls_class(calls)};
    sp_cell arg[] = {sp_cell_text(problem), sp_cell_text(machine),
                     sp_cell_integer(effort)};
    sp_question q = {SP_ANSWERS_FOR, arg, 3};
    spry_status s;

    *found = 0;
    s = sp_walk_told(db, sp_answer_shape, &q, seek, &k);
    *found = s == SPRY_STOPPED;
    return *found ? SPRY_OK : s;
}

/* ---- machines ---- */

typedef struct {
    spry_machine *out;
    const char *text; /* not NULL: is it this one? */
    int found;
} machine_seeker;

static spry_status take_machine(const sp_table_shape *shape,
                                const sp_stored_row *row, const char *id,
                                void *payload)
{
    machine_seeker *k = payload;

    (void)id;
    k->found = !k->text || strcmp(k->text, row->machine.text) == 0;
    return k->out ? spry_machine_parse(k->out, row->machine.text, shape->table)
                  : SPRY_OK;
}

static spry_status find_card(spry_records *db, const sp_table_shape *shape,
                             machine_seeker *k, const char *id)
{
    sp_cell arg = sp_cell_text(id);
    sp_question q = {shape == sp_probe_shape ? SP_ONE_PROBE : SP_ONE_MACHINE,
                     &arg, 1};

    return sp_walk_told(db, shape, &q, take_machine, k);
}

/* A card in its table, unless it is there already. */
static spry_status keep_card(spry_records *db, const sp_table_shape *shape,
                             sp_statement how, const sp_stored_row *row,
                             char id[SP_ID])
{
    machine_seeker k = {.text = row->machine.text};
    int added;
    spry_status s = shape->identify(id, shape, row);

    if (s == SPRY_OK)
        s = find_card(db, shape, &k, id);
    return s == SPRY_OK && !k.found
               ? sp_row_insert(db, shape, how, row, id, &added)
               : s;
}

/* New measurements replace old ones; a machine only detected never does.
 * Every card that was measured stays as a probe: records name theirs. */
spry_status spry_records_put_machine(spry_records *db, const spry_machine *m)
{
    SP_NEED(db, m);

    sp_stored_row row;
    char *text, id[SP_ID];
    spry_status s = spry_machine_text(&text, m);

    if (s != SPRY_OK)
        return s;
    row.machine.text = text;
    *db->machine = *db->probe = 0;
    s = keep_card(db, sp_machine_shape,
                  m->probed ? SP_REPLACE_MACHINE : SP_ADD_MACHINE, &row, id);
    if (s == SPRY_OK && m->probed && db->version >= sp_probe_shape->since)
        s = keep_card(db, sp_probe_shape, SP_ADD_PROBE, &row, db->probe);
    if (s == SPRY_OK)
        snprintf(db->machine, sizeof db->machine, "%s", m->fingerprint);
    free(text);
    return s;
}

spry_status spry_records_get_machine(spry_records *db, spry_machine *out,
                                     int *found, const char *fingerprint)
{
    SP_NEED(db, out, found, fingerprint);

    machine_seeker k = {.out = out};
    spry_status s = find_card(db, sp_machine_shape, &k, fingerprint);

    *found = s == SPRY_OK && k.found;
    return s;
}

spry_status spry_records_get_probe(spry_records *db, spry_machine *out,
                                   int *found, const char *probe,
                                   const char *fingerprint)
{
    SP_NEED(db, out, found, fingerprint);

    machine_seeker k = {.out = out};
    spry_status s = SPRY_OK;

    if (probe && *probe && db->version >= sp_probe_shape->since)
        s = find_card(db, sp_probe_shape, &k, probe);
    *found = s == SPRY_OK && k.found;
    return s == SPRY_OK && !*found
               ? spry_records_get_machine(db, out, found, fingerprint)
               : s;
}

/* ---- all answers ---- */

typedef struct {
    spry_answer_visit *visit;
    void *payload;
} answer_visitor;

static spry_status visit_answer(const sp_table_shape *shape,
                                const sp_stored_row *row, const char *id,
                                void *payload)
{
    const answer_visitor *v = payload;

    (void)shape;
    (void)id;
    return v->visit(&row->answer, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_records_each_answer(spry_records *db, spry_answer_visit *visit,
                                     void *payload)
{
    SP_NEED(db);
    SP_REFUSE(!visit, "spry_records_each_answer: visit is NULL");

    answer_visitor v = {visit, payload};

    return sp_walk_table(db, sp_answer_shape, visit_answer, &v);
}
