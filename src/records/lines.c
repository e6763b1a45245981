/* lines.c - a store to JSON lines and back; docs/formats.md is the standard. */
#include "spry/records.h"

#include <math.h>
#include <string.h>

#include "records/internal.h"
#include "records/records.h"

/* ---- out ---- */

static void write_value(sp_json *j, const char *name, const sp_value *v)
{
    switch (v->type) {
    case SP_VALUE_TEXT: sp_json_text(j, name, v->text); break;
    case SP_VALUE_REAL: sp_json_number(j, name, v->real); break;
    case SP_VALUE_INTEGER: sp_json_integer(j, name, v->integer); break;
    case SP_VALUE_REALS:
        sp_json_open(j, name, '[');
        for (int i = 0; i < v->count; i++)
            sp_json_number(j, NULL, v->reals[i]);
        sp_json_close(j, ']');
        break;
    }
}

typedef struct {
    FILE *f;
    sp_buf line;
    int64_t rows; /* written */
} line_writer;

/* What a column is called in a line, whose own "kind" is its table. */
static const char *member_of(const sp_table_column *f)
{
    return strcmp(f->name, "kind") == 0 ? "model" : f->name;
}

void sp_row_to_json(sp_buf *out, const sp_table_shape *shape,
                    const sp_stored_row *row, const char *id)
{
    sp_json j = {.out = out};

    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "kind", shape->table);
    sp_json_text(&j, shape->id_name, id);
    for (int i = 0; i < shape->fields; i++) {
        sp_value v = sp_column_get(&shape->field[i], row);

        if (shape->field[i].kind == SP_COLUMN_LATER && !*v.text)
            continue;
        write_value(&j, member_of(&shape->field[i]), &v);
    }
    sp_json_close(&j, '}');
}

static spry_status write_row(const sp_table_shape *shape,
                             const sp_stored_row *row, const char *id,
                             void *payload)
{
    line_writer *w = payload;

    w->line.len = 0;
    sp_row_to_json(&w->line, shape, row, id);
    sp_buf_add(&w->line, "\n");
    if (w->line.failed)
        return sp_fail_memory(w->line.cap);
    if (fwrite(w->line.data, 1, w->line.len, w->f) != w->line.len)
        return sp_fail_errno(SPRY_SYSTEM, "cannot write the records");
    w->rows++;
    return SPRY_OK;
}

/* All rows as they are at one moment. */
static spry_status write_lines(spry_records *db, FILE *f, int64_t *rows)
{
    line_writer w = {.f = f};
    sp_damage damage = {0};
    spry_status s = db->batch ? SPRY_OK : db->engine->begin(db, SP_TO_READ);

    if (s == SPRY_OK)
        s = sp_walk_all(db, write_row, &w, &damage);
    if (!db->batch)
        s = sp_store_end(db, s);
    sp_buf_free(&w.line);
    *rows = w.rows;
    if (s == SPRY_OK)
        sp_damage_say(&damage, db->path);
    return s;
}

spry_status spry_records_export(spry_records *db, const char *path)
{
    return spry_records_export_rows(db, path, NULL);
}

spry_status spry_records_export_rows(spry_records *db, const char *path,
                                     int64_t *rows)
{
    SP_NEED(db, path);

    char why[1024];
    int64_t written;
    sp_writer w;
    spry_status s = sp_writer_open(&w, path);

    if (rows)
        *rows = 0;
    if (s != SPRY_OK)
        return s;
    s = write_lines(db, w.f, &written);
    if (s == SPRY_OK) {
        s = sp_writer_close(&w, 1);
        if (rows && s == SPRY_OK)
            *rows = written;
        return s;
    }
    snprintf(why, sizeof why, "%s", spry_message());
    sp_writer_close(&w, 0);
    return sp_fail(s, "%s", why);
}

/* ---- in ---- */

static spry_status read_reals(sp_value *v, spry_records *db,
                              const sp_json_doc *doc, const sp_json_value *list)
{
    const sp_json_value *item = list + 1;
    spry_status s = sp_sample_room(db, list->count);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < list->count; i++) {
        if (item->kind != SP_JSON_NUMBER)
            return SPRY_INPUT;
        db->sample[i] = item->number;
        item = &doc->value[item->next];
    }
    v->reals = db->sample;
    v->count = list->count;
    return SPRY_OK;
}

/* SPRY_INPUT when member is not of the value's type. */
static spry_status read_value(sp_value *v, spry_records *db,
                              const sp_json_doc *doc,
                              const sp_json_value *member)
{
    static const sp_json_kind kinds[] = {[SP_VALUE_TEXT] = SP_JSON_STRING,
                                         [SP_VALUE_REAL] = SP_JSON_NUMBER,
                                         [SP_VALUE_INTEGER] = SP_JSON_NUMBER,
                                         [SP_VALUE_REALS] = SP_JSON_ARRAY};

    if (!member || member->kind != kinds[v->type])
        return SPRY_INPUT;
    if (v->type == SP_VALUE_REALS)
        return read_reals(v, db, doc, member);
    v->text = member->text;
    v->real = member->number;
    if (v->type == SP_VALUE_INTEGER) {
        if (!(fabs(v->real) <= 0x1p53) || v->real != floor(v->real))
            return SPRY_INPUT;
        v->integer = (int64_t)v->real;
    }
    return SPRY_OK;
}

spry_status sp_row_from_json(sp_stored_row *row, spry_records *db,
                             const sp_table_shape *shape,
                             const sp_json_doc *doc)
{
    memset(row, 0, sizeof *row);
    for (int i = 0; i < shape->fields; i++) {
        const sp_table_column *f = &shape->field[i];
        sp_value v = {.type = sp_column_type(f)};
        const sp_json_value *member =
            sp_json_get(doc, doc->value, member_of(f));
        spry_status s;

        if (f->kind == SP_COLUMN_LATER && !member) {
            v.text = "";
            s = SPRY_OK;
        } else
            s = read_value(&v, db, doc, member);
        if (s == SPRY_OK && !sp_column_set(f, row, &v))
            s = SPRY_INPUT;
        if (s == SPRY_INPUT)
            return sp_fail(s, "a %s with no or a wrong \"%s\"", shape->table,
                           member_of(f));
        if (s != SPRY_OK)
            return s;
    }
    return SPRY_OK;
}

static spry_status import_doc(spry_records *db, const sp_json_doc *doc,
                              int *added)
{
    const char *kind = sp_json_get_text(doc, doc->value, "kind", "");

    for (int i = 0; i < SP_SHAPES; i++) {
        const sp_table_shape *shape = &sp_shapes[i];
        sp_stored_row row;
        spry_status s;

        if (strcmp(shape->table, kind) != 0)
            continue;
        s = sp_row_from_json(&row, db, shape, doc);
        return s == SPRY_OK ? sp_row_add(db, shape, &row,
                                         sp_json_get_text(doc, doc->value,
                                                          shape->id_name, NULL),
                                         added)
                            : s;
    }
    return sp_fail(SPRY_INPUT, "\"%.40s\" is no kind of line", kind);
}

/* SPRY_INPUT or SPRY_USAGE when the line is at fault. */
static spry_status import_line(spry_records *db, const char *line, size_t len,
                               int *added)
{
    sp_json_doc doc;
    spry_status s = sp_json_parse(&doc, line, len);

    *added = 0;
    if (s != SPRY_OK)
        return s;
    s = import_doc(db, &doc, added);
    sp_json_free(&doc);
    return s;
}

typedef struct {
    int64_t added, good, bad;
    char why[1024]; /* about the first */
} tally;

static void note_bad_line(tally *t, const char *path, int64_t line)
{
    if (t->bad++ == 0)
        snprintf(t->why, sizeof t->why, "%s:%lld: %s", path, (long long)line,
                 spry_message());
}

static spry_status import_text(spry_records *db, const sp_file *file,
                               const char *path, tally *t)
{
    const char *at = file->data, *end = file->data + file->len;
    spry_status s = SPRY_OK;

    for (int64_t line = 1; at < end && s == SPRY_OK; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        int added = 0, blank;

        stop = stop ? stop : end;
        blank = strspn(at, " \t\r") >= (size_t)(stop - at);
        s = blank ? SPRY_OK : import_line(db, at, (size_t)(stop - at), &added);
        t->added += added;
        t->good += !blank && s == SPRY_OK;
        if (s == SPRY_INPUT || s == SPRY_USAGE) {
            note_bad_line(t, path, line);
            s = SPRY_OK;
        }
        at = stop + 1;
    }
    return s;
}

spry_status spry_records_import(spry_records *db, const char *path,
                                int64_t *added, int64_t *bad)
{
    SP_NEED(db, path);

    const size_t limit = (size_t)1 << 32;
    sp_file file;
    spry_status s = sp_file_read(&file, path, limit);

    if (s != SPRY_OK)
        return s;
    s = sp_lines_import(db, &file, path, added, bad);
    sp_file_free(&file);
    return s;
}

spry_status sp_lines_import(spry_records *db, const sp_file *file,
                            const char *path, int64_t *added, int64_t *bad)
{
    tally t = {0};
    spry_status s = sp_store_begin(db);

    if (s == SPRY_OK)
        s = sp_store_end(db, import_text(db, file, path, &t));
    if (added)
        *added = s == SPRY_OK ? t.added : 0;
    if (bad)
        *bad = t.bad;
    if (s == SPRY_OK && t.bad && !t.good)
        s = sp_fail(SPRY_INPUT, "%s (and no line of it is a record)", t.why);
    else if (s == SPRY_OK && t.bad)
        sp_fail(s, "%s (%lld lines skipped)", t.why, (long long)t.bad);
    return s;
}
