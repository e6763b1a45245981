/* server.c - the engine of stores that are a PostgreSQL database. */
#include "records/server.h"

#include <string.h>

#include "postgres/postgres.h"
#include "records/internal.h"

static const char SCHEMA[] = "spry.";

static spry_status take_version(const sp_cell *cell, int count, void *payload)
{
    if (count > 0)
        *(int64_t *)payload = cell->integer;
    return SPRY_OK;
}

spry_status sp_server_known(const char *name, int64_t version, int known)
{
    if (version > known)
        return sp_fail(SPRY_STORE,
                       "%s: made by a newer spry (schema %lld, this one knows "
                       "%d); left as it is",
                       name, (long long)version, known);
    if (version < known)
        return sp_fail(SPRY_STORE,
                       "%s: made by an older spry; spry fleet init brings it "
                       "up to date",
                       name);
    return SPRY_OK;
}

int sp_server_version(void)
{
    return SP_SCHEMA;
}

static spry_status open_server(spry_records *db, const char *path,
                               sp_open_mode mode)
{
    sp_postgres *c = NULL;
    int64_t version = 0;
    spry_status s;

    (void)mode; /* spry fleet init creates, roles say who may write */
    sp_postgres_redact(db->path, sizeof db->path, path);
    s = sp_postgres_open(&c, path);
    db->connection = c;
    if (s == SPRY_OK)
        s = sp_postgres_ask(c, "SELECT version FROM spry.store", NULL, 0,
                            take_version, &version, NULL);
    if (s == SPRY_OK)
        s = sp_server_known(db->path, version, SP_SCHEMA);
    db->version = (int)version;
    return s;
}

static void close_server(spry_records *db)
{
    sp_postgres_close(db->connection);
}

static spry_status begin_server(spry_records *db, sp_access how)
{
    return sp_postgres_begin(
        db->connection,
        how == SP_TO_WRITE
            ? "BEGIN"
            : "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

static spry_status end_server(spry_records *db, spry_status s)
{
    return sp_postgres_end(db->connection, s);
}

/* Clocks of machines differ: claims go by the server's. */
static const char server_clock[] =
    "extract(epoch FROM clock_timestamp())::double precision";

/* now, the third argument, becomes the server's. */
static spry_status by_server_clock(sp_buf *text)
{
    sp_buf out = {0};

    for (const char *at = text->data; *at; at++)
        if (strncmp(at, "$3", 2) == 0) {
            sp_buf_add(&out, server_clock);
            at++;
        } else
            sp_buf_bytes(&out, at, 1);
    sp_buf_free(text);
    *text = out;
    return out.failed ? sp_fail_memory(out.cap) : SPRY_OK;
}

static spry_status ask_server(spry_records *db, sp_statement which,
                              const sp_cell *arg, int args,
                              sp_cells_visit *visit, void *payload,
                              int64_t *changes)
{
    sp_buf text = {0};
    spry_status s = sp_statement_text(&text, which, SP_SCHEMA, SCHEMA);

    if (s == SPRY_OK && which == SP_CLAIM)
        s = by_server_clock(&text);
    if (s == SPRY_OK)
        s = sp_postgres_ask(db->connection, text.data, arg, args, visit,
                            payload, changes);
    sp_buf_free(&text);
    return s;
}

/* Pages are the server's business. */
static spry_status check_server(spry_records *db, int64_t *bad, char *why,
                                size_t size)
{
    (void)db;
    (void)bad;
    (void)why;
    (void)size;
    return SPRY_OK;
}

static spry_status compact_server(spry_records *db)
{
    return sp_postgres_run(db->connection, "VACUUM spry.record");
}

const sp_engine sp_server_engine = {open_server,   close_server, begin_server,
                                    end_server,    ask_server,   check_server,
                                    compact_server};

/* ---- tables ---- */

static const char *type_of(const sp_table_column *f)
{
    static const char *const types[] = {
        [SP_VALUE_TEXT] = "text COLLATE \"C\"",
        [SP_VALUE_REAL] = "double precision",
        [SP_VALUE_INTEGER] = "bigint",
        [SP_VALUE_REALS] = "bytea",
    };

    return types[sp_column_type(f)];
}

static void make_table(sp_buf *sql, const sp_table_shape *shape)
{
    sp_buf_printf(sql,
                  "CREATE TABLE IF NOT EXISTS spry.%s("
                  "%s text COLLATE \"C\" PRIMARY KEY",
                  shape->table, shape->id_name);
    for (int i = 0; i < shape->fields; i++)
        sp_buf_printf(sql, ", %s %s NOT NULL%s", shape->field[i].name,
                      type_of(&shape->field[i]),
                      shape->field[i].kind == SP_COLUMN_LATER ? " DEFAULT ''"
                                                              : "");
    if (shape == sp_answer_shape) /* which of a second was the later one */
        sp_buf_add(sql, ", rowid bigint GENERATED ALWAYS AS IDENTITY");
    sp_buf_add(sql, ");\n");
    for (int i = 0; i < shape->fields; i++) /* made by an older spry */
        if (shape->field[i].kind == SP_COLUMN_LATER)
            sp_buf_printf(sql,
                          "ALTER TABLE spry.%s ADD COLUMN IF NOT EXISTS %s %s "
                          "NOT NULL DEFAULT '';\n",
                          shape->table, shape->field[i].name,
                          type_of(&shape->field[i]));
}

/* A field out of the JSON object r. */
static void read_field(sp_buf *sql, const sp_table_column *f)
{
    switch (sp_column_type(f)) {
    case SP_VALUE_TEXT:
        sp_buf_printf(sql, ", coalesce(r->>'%s', '')", f->name);
        break;
    case SP_VALUE_REAL:
        sp_buf_printf(sql, ", (r->>'%s')::double precision", f->name);
        break;
    case SP_VALUE_INTEGER:
        sp_buf_printf(sql, ", (r->>'%s')::bigint", f->name);
        break;
    case SP_VALUE_REALS:
        sp_buf_printf(sql, ", decode(r->>'%s', 'hex')", f->name);
        break;
    }
}

static void fill_table(sp_buf *sql, const sp_table_shape *shape)
{
    sp_buf_printf(sql, "INSERT INTO spry.%s(%s", shape->table, shape->id_name);
    for (int i = 0; i < shape->fields; i++)
        sp_buf_printf(sql, ", %s", shape->field[i].name);
    sp_buf_printf(sql, ") SELECT r->>'%s'", shape->id_name);
    for (int i = 0; i < shape->fields; i++)
        read_field(sql, &shape->field[i]);
    /* In one order, so that two who add the same rows do not wait for each
     * other; answers of one second stay in theirs. */
    sp_buf_printf(sql,
                  " FROM jsonb_array_elements(given->'%s') AS r%s"
                  " ON CONFLICT DO NOTHING;\n"
                  "GET DIAGNOSTICS n = ROW_COUNT; added := added + n;\n",
                  shape->table, shape == sp_answer_shape ? "" : " ORDER BY 1");
}

/* The place of all tables; a newer one is left as it is. */
static void make_schema(sp_buf *sql)
{
    sp_buf_printf(
        sql,
        "CREATE SCHEMA IF NOT EXISTS spry;\n"
        "CREATE TABLE IF NOT EXISTS spry.store("
        "one integer PRIMARY KEY CHECK (one = 1), version bigint NOT NULL);\n"
        "DO $body$\nDECLARE v bigint;\nBEGIN\n"
        "SELECT version INTO v FROM spry.store;\n"
        "IF v > %d THEN RAISE EXCEPTION 'made by a newer spry (schema %%, this "
        "one knows %d); left as it is', v; END IF;\nEND $body$;\n"
        "INSERT INTO spry.store VALUES (1, %d) ON CONFLICT (one) DO UPDATE "
        "SET version = excluded.version;\n",
        (int)SP_SCHEMA, (int)SP_SCHEMA, (int)SP_SCHEMA);
}

void sp_server_tables(sp_buf *sql)
{
    make_schema(sql);
    for (int i = 0; i < SP_SHAPES; i++)
        make_table(sql, &sp_shapes[i]);
    sp_buf_add(
        sql,
        "CREATE TABLE IF NOT EXISTS spry.claim(work text COLLATE \"C\" PRIMARY "
        "KEY, owner text NOT NULL, until double precision NOT NULL);\n"
        "CREATE INDEX IF NOT EXISTS record_of ON spry.record(problem, "
        "machine);\n"
        "CREATE INDEX IF NOT EXISTS record_at ON spry.record(at, id);\n"
        "CREATE INDEX IF NOT EXISTS answer_of ON spry.answer(problem, "
        "machine);\n"
        "CREATE INDEX IF NOT EXISTS problem_of ON spry.problem(problem);\n"
        "CREATE OR REPLACE FUNCTION spry.add_rows(given jsonb) RETURNS bigint "
        "LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$\n"
        "DECLARE n bigint; added bigint := 0;\nBEGIN\n"
        "IF pg_column_size(given) > 67108864 THEN RAISE EXCEPTION 'more than "
        "64 MB of rows at once'; END IF;\n");
    for (int i = 0; i < SP_SHAPES; i++)
        fill_table(sql, &sp_shapes[i]);
    sp_buf_add(sql, "RETURN added;\nEND $body$;\n"
                    "REVOKE ALL ON FUNCTION spry.add_rows(jsonb) FROM "
                    "PUBLIC;\n");
}

/* ---- rows ---- */

typedef struct {
    sp_buf *out;
    sp_json json;
    const sp_table_shape *shape; /* whose list is open */
    spry_records *db;
    int64_t rows;
    size_t most; /* bytes of a part */
    sp_rows_visit *visit;
    void *payload;
} row_writer;

static void write_cell(sp_json *j, const char *name, const sp_cell *c)
{
    static const char digits[] = "0123456789abcdef";
    sp_buf hex = {0};

    switch (c->type) {
    case SP_CELL_TEXT: sp_json_text(j, name, c->data); break;
    case SP_CELL_REAL: sp_json_number(j, name, c->real); break;
    case SP_CELL_INTEGER: sp_json_integer(j, name, c->integer); break;
    case SP_CELL_BYTES:
        for (size_t i = 0; i < c->length; i++) {
            unsigned byte = (unsigned char)c->data[i];

            sp_buf_bytes(&hex, &digits[byte >> 4], 1);
            sp_buf_bytes(&hex, &digits[byte & 15], 1);
        }
        sp_json_text(j, name, hex.data ? hex.data : "");
        j->out->failed |= hex.failed;
        sp_buf_free(&hex);
        break;
    case SP_CELL_NULL: break;
    }
}

static void open_part(row_writer *w)
{
    w->json = (sp_json){.out = w->out, .first = 1};
    w->shape = NULL;
    sp_json_open(&w->json, NULL, '{');
}

static spry_status close_part(row_writer *w)
{
    if (w->shape)
        sp_json_close(&w->json, ']');
    sp_json_close(&w->json, '}');
    return w->out->failed ? sp_fail_memory(w->out->cap) : SPRY_OK;
}

/* What there is goes out, and another part begins. */
static spry_status give_part(row_writer *w)
{
    spry_status s = close_part(w);

    if (s == SPRY_OK)
        s = w->visit(w->out->data, w->payload);
    w->out->len = 0;
    open_part(w);
    return s;
}

static spry_status write_row(const sp_table_shape *shape,
                             const sp_stored_row *row, const char *id,
                             void *payload)
{
    row_writer *w = payload;
    sp_cell cell[SP_CELLS];
    spry_status s = sp_row_cells(cell, w->db, shape, row, id);

    if (s != SPRY_OK)
        return s;
    if (w->shape != shape) {
        if (w->shape)
            sp_json_close(&w->json, ']');
        sp_json_open(&w->json, shape->table, '[');
        w->shape = shape;
    }
    w->rows++;
    sp_json_open(&w->json, NULL, '{');
    write_cell(&w->json, shape->id_name, &cell[0]);
    for (int i = 0; i < shape->fields; i++)
        write_cell(&w->json, shape->field[i].name, &cell[i + 1]);
    sp_json_close(&w->json, '}');
    if (w->visit && w->out->len >= w->most)
        return give_part(w);
    return w->out->failed ? sp_fail_memory(w->out->cap) : SPRY_OK;
}

spry_status sp_server_rows(sp_buf *json, spry_records *db, int64_t *rows)
{
    row_writer w = {.out = json, .db = db};
    sp_damage damage = {0};
    spry_status s;

    open_part(&w);
    s = sp_walk_all(db, write_row, &w, &damage);
    *rows = w.rows;
    return s == SPRY_OK ? close_part(&w) : s;
}

spry_status sp_server_rows_in_parts(spry_records *db, size_t most,
                                    sp_rows_visit *visit, void *payload)
{
    sp_buf json = {0};
    row_writer w = {.out = &json,
                    .db = db,
                    .most = most,
                    .visit = visit,
                    .payload = payload};
    sp_damage damage = {0};
    spry_status s;

    open_part(&w);
    s = sp_walk_all(db, write_row, &w, &damage);
    if (s == SPRY_OK && w.shape)
        s = give_part(&w);
    sp_buf_free(&json);
    return s;
}
