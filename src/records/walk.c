/* walk.c - rows into the store and rows out of it, one at a time.
 *
 * No row leaves the store unless its contents still give its id: one that
 * rotted on the disk is skipped and reported, the others are not its
 * hostages. */
#include "records/internal.h"

#include <limits.h>
#include <string.h>

/* ---- in ---- */

/* Samples are stored as little-endian doubles. */
static int bind_reals(sqlite3_stmt *q, int column, const sp_value *v)
{
    uint8_t *bytes = sp_alloc_raw(v->count, 8);
    int code;

    if (!bytes)
        return SQLITE_NOMEM;
    for (int i = 0; i < v->count; i++)
        sp_little_endian(bytes + 8 * (size_t)i, &v->reals[i]);
    code = sqlite3_bind_blob64(q, column, bytes, 8 * (sqlite3_uint64)v->count,
                               SQLITE_TRANSIENT);
    sp_free(bytes);
    return code;
}

/* The caller's text outlives the statement's step. */
static int bind_value(sqlite3_stmt *q, int column, const sp_value *v)
{
    switch (v->type) {
    case SP_VALUE_TEXT:
        return sqlite3_bind_text(q, column, v->text, -1, SQLITE_STATIC);
    case SP_VALUE_REAL: return sqlite3_bind_double(q, column, v->real);
    case SP_VALUE_INTEGER: return sqlite3_bind_int64(q, column, v->integer);
    case SP_VALUE_REALS: return bind_reals(q, column, v);
    }
    return SQLITE_MISUSE;
}

static spry_status bind_row(sqlite3_stmt *q, const sp_table_shape *shape,
                            const sp_stored_row *row, const char *id)
{
    int code = sqlite3_bind_text(q, 1, id, -1, SQLITE_STATIC);

    for (int i = 0; i < shape->fields && code == SQLITE_OK; i++) {
        sp_value v = sp_column_get(&shape->field[i], row);

        code = bind_value(q, i + 2, &v);
    }
    if (code == SQLITE_OK)
        return SPRY_OK;
    return sp_fail(SPRY_SYSTEM, "a %s cannot be stored: %s", shape->table,
                   sqlite3_errstr(code));
}

spry_status sp_row_insert(spry_records *db, const sp_table_shape *shape,
                          sp_statement how, const sp_stored_row *row,
                          const char *id, int *added)
{
    sqlite3_stmt *q = NULL;
    spry_status s = sp_store_statement(&q, db, how);

    *added = 0;
    if (s == SPRY_OK)
        s = bind_row(q, shape, row, id);
    if (s == SPRY_OK && sqlite3_step(q) != SQLITE_DONE)
        s = sp_store_fail(db);
    if (s == SPRY_OK)
        *added = sqlite3_changes(db->sql);
    sqlite3_reset(q);
    return s;
}

spry_status sp_row_add(spry_records *db, const sp_table_shape *shape,
                       const sp_stored_row *row, const char *id, int *added)
{
    char own[SP_ID];
    spry_status s = sp_row_valid(shape, row);

    *added = 0;
    if (s == SPRY_OK)
        s = shape->identify(own, shape, row);
    if (s == SPRY_OK && id && strcmp(id, own) != 0)
        s = sp_fail(SPRY_INPUT, "%s %s: its contents give %s", shape->table, id,
                    own);
    return s == SPRY_OK ? sp_row_insert(db, shape, shape->add, row, own, added)
                        : s;
}

/* ---- out ---- */

spry_status sp_sample_room(spry_records *db, int64_t n)
{
    double *more;

    if (n <= db->sample_room)
        return SPRY_OK;
    more = sp_grow(db->sample, 0, n, sizeof *more);
    if (!more)
        return sp_fail_memory((size_t)n * sizeof *more);
    db->sample = more;
    db->sample_room = n;
    return SPRY_OK;
}

static spry_status load_reals(sp_value *v, spry_records *db,
                              const uint8_t *blob, int bytes)
{
    spry_status s = sp_sample_room(db, bytes / 8);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < bytes / 8; i++) {
        uint64_t bits = 0;

        for (int k = 0; k < 8; k++)
            bits |= (uint64_t)blob[8 * i + k] << 8 * k;
        memcpy(&db->sample[i], &bits, sizeof bits);
    }
    v->reals = db->sample;
    v->count = bytes / 8;
    return bytes % 8 ? SPRY_STORE : SPRY_OK;
}

/* SPRY_STORE when the column does not hold what it should. */
static spry_status load_value(sp_value *v, spry_records *db, sqlite3_stmt *q,
                              int column)
{
    static const int types[] = {[SP_VALUE_TEXT] = SQLITE_TEXT,
                                [SP_VALUE_REAL] = SQLITE_FLOAT,
                                [SP_VALUE_INTEGER] = SQLITE_INTEGER,
                                [SP_VALUE_REALS] = SQLITE_BLOB};

    if (sqlite3_column_type(q, column) != types[v->type])
        return SPRY_STORE;
    switch (v->type) {
    case SP_VALUE_TEXT:
        v->text = (const char *)sqlite3_column_text(q, column);
        if (!v->text)
            return sp_fail(SPRY_SYSTEM, "%s: not enough memory", db->path);
        return strlen(v->text) == (size_t)sqlite3_column_bytes(q, column)
                   ? SPRY_OK
                   : SPRY_STORE;
    case SP_VALUE_REAL: v->real = sqlite3_column_double(q, column); break;
    case SP_VALUE_INTEGER: v->integer = sqlite3_column_int64(q, column); break;
    case SP_VALUE_REALS:
        return load_reals(v, db, sqlite3_column_blob(q, column),
                          sqlite3_column_bytes(q, column));
    }
    return SPRY_OK;
}

/* The row under q. SPRY_STORE when it is damaged; any other failure is not
 * the row's fault. */
static spry_status load_row(sp_stored_row *row, spry_records *db,
                            const sp_table_shape *shape, sqlite3_stmt *q)
{
    const char *id = (const char *)sqlite3_column_text(q, 0);
    char own[SP_ID];
    spry_status s;

    memset(row, 0, sizeof *row);
    for (int i = 0; i < shape->fields; i++) {
        sp_value v = {.type = sp_column_type(&shape->field[i])};

        s = load_value(&v, db, q, i + 1);
        if (s == SPRY_OK && !sp_column_set(&shape->field[i], row, &v))
            s = SPRY_STORE;
        if (s == SPRY_STORE)
            return sp_fail(s, "%s %s: \"%s\" is damaged", shape->table,
                           id ? id : "?", shape->field[i].name);
        if (s != SPRY_OK)
            return s;
    }
    s = sp_row_valid(shape, row);
    if (s == SPRY_OK)
        s = shape->identify(own, shape, row);
    if (s != SPRY_OK)
        return s == SPRY_SYSTEM ? s : SPRY_STORE;
    if (!id || strcmp(id, own) != 0)
        return sp_fail(SPRY_STORE, "%s %s: its contents give %s", shape->table,
                       id ? id : "?", own);
    return SPRY_OK;
}

static void note_damage(sp_damage *damage)
{
    if (damage->bad++ == 0)
        snprintf(damage->why, sizeof damage->why, "%s", spry_message());
}

spry_status sp_walk(spry_records *db, const sp_table_shape *shape,
                    sqlite3_stmt *q, sp_row_visit *visit, void *payload,
                    sp_damage *damage)
{
    spry_status s = SPRY_OK;
    int code = SQLITE_DONE;

    while (s == SPRY_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        sp_stored_row row;

        s = load_row(&row, db, shape, q);
        if (s == SPRY_OK)
            s = visit(shape, &row, (const char *)sqlite3_column_text(q, 0),
                      payload);
        else if (s == SPRY_STORE) {
            note_damage(damage);
            s = SPRY_OK;
        }
    }
    if (s == SPRY_OK && code != SQLITE_DONE)
        s = sp_store_fail(db);
    sqlite3_reset(q);
    return s;
}

spry_status sp_walk_all(spry_records *db, sp_row_visit *visit, void *payload,
                        sp_damage *damage)
{
    spry_status s = SPRY_OK;

    for (int i = 0; i < SP_SHAPES && s == SPRY_OK; i++) {
        sqlite3_stmt *q;

        if (sp_shapes[i].since > db->version)
            continue; /* an older store, only read */
        s = sp_store_statement(&q, db, sp_shapes[i].all);
        if (s == SPRY_OK)
            s = sp_walk(db, &sp_shapes[i], q, visit, payload, damage);
    }
    return s;
}

void sp_damage_say(const sp_damage *damage, const char *path)
{
    if (damage->bad)
        sp_fail(SPRY_STORE, "%s: %lld damaged rows skipped, the first: %s",
                path, (long long)damage->bad, damage->why);
}
