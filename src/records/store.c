/* store.c - a path to a connection with the right schema, or a sentence.
 *
 * Nothing is written to a file before it is known to be ours or empty. On a
 * local disk the journal is WAL, so readers and the writer pass each other;
 * on a network file system, where WAL's shared memory does not work, it is
 * the rollback journal. */
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/internal.h"

enum {
    SCHEMA = SP_SCHEMA,
    APPLICATION = 0x53505259, /* "SPRY" */
    PATIENCE = 10000          /* ms to wait for another process */
};

/* By the version that brought them: a new store has them all, an older one
 * is brought up to date. */
static const char *const schema[SCHEMA] = {
    "CREATE TABLE machine("
    "  fingerprint TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);"
    "CREATE TABLE record("
    "  id TEXT PRIMARY KEY NOT NULL, problem TEXT NOT NULL,"
    "  about TEXT NOT NULL, schedule TEXT NOT NULL, machine TEXT NOT NULL,"
    "  compiler TEXT NOT NULL, verdict TEXT NOT NULL, noise TEXT NOT NULL,"
    "  seconds REAL NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL,"
    "  high REAL NOT NULL, pack_seconds REAL NOT NULL, bytes REAL NOT NULL,"
    "  at INTEGER NOT NULL, samples BLOB NOT NULL);"
    "CREATE INDEX record_of ON record(problem, machine);"
    "CREATE TABLE answer("
    "  id TEXT PRIMARY KEY NOT NULL, problem TEXT NOT NULL,"
    "  machine TEXT NOT NULL, baseline TEXT NOT NULL, schedule TEXT NOT NULL,"
    "  baseline_seconds REAL NOT NULL, seconds REAL NOT NULL,"
    "  speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,"
    "  pack_seconds REAL NOT NULL, tuning_seconds REAL NOT NULL,"
    "  calls REAL NOT NULL, effort INTEGER NOT NULL, at INTEGER NOT NULL);"
    "CREATE INDEX answer_of ON answer(problem, machine);",

    "CREATE TABLE problem("
    "  id TEXT PRIMARY KEY NOT NULL, problem TEXT NOT NULL,"
    "  source TEXT NOT NULL, base TEXT NOT NULL, op TEXT NOT NULL,"
    "  type TEXT NOT NULL, n INTEGER NOT NULL, rows INTEGER NOT NULL,"
    "  cols INTEGER NOT NULL, nnz INTEGER NOT NULL);"
    "CREATE INDEX problem_of ON problem(problem);"
    "CREATE TABLE claim("
    "  work TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL,"
    "  until REAL NOT NULL);",

    "CREATE TABLE IF NOT EXISTS curve("
    "  id TEXT PRIMARY KEY NOT NULL, run TEXT NOT NULL, kind TEXT NOT NULL,"
    "  op TEXT NOT NULL, round INTEGER NOT NULL, loss REAL NOT NULL,"
    "  tested INTEGER NOT NULL, regret REAL NOT NULL, seconds REAL NOT NULL,"
    "  at INTEGER NOT NULL);",

    ("CREATE TABLE probe(id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);"
     "ALTER TABLE record ADD COLUMN probe TEXT NOT NULL DEFAULT '';"),

    "ALTER TABLE answer ADD COLUMN kernel TEXT NOT NULL DEFAULT '';",
};

typedef struct {
    sqlite3 *sql;
    sqlite3_stmt *statement[SP_STATEMENTS]; /* kept prepared */
} file_store;

static file_store *of(const spry_records *db)
{
    return db->connection;
}

/* ---- failures ---- */

#define ASIDE "move it aside and a new one is begun"
static const struct {
    int code;
    spry_status status;
    const char *means;
} failures[] = {
    {SQLITE_BUSY, SPRY_STORE, "locked by another process"},
    {SQLITE_LOCKED, SPRY_STORE, "locked by another process"},
    {SQLITE_NOTADB, SPRY_STORE, "not a record store; left as it is; " ASIDE},
    {SQLITE_CORRUPT, SPRY_STORE, "damaged; left as it is; " ASIDE},
    {SQLITE_FULL, SPRY_SYSTEM, "no space left"},
    {SQLITE_READONLY, SPRY_SYSTEM, "may only be read"},
    {SQLITE_CANTOPEN, SPRY_SYSTEM, "cannot be opened"},
    {SQLITE_PERM, SPRY_SYSTEM, "no permission"},
    {SQLITE_IOERR, SPRY_SYSTEM, "cannot be read or written"},
    {SQLITE_NOMEM, SPRY_SYSTEM, "not enough memory"},
};

static spry_status store_fail(const spry_records *db)
{
    int code = sqlite3_errcode(of(db)->sql) & 0xff;
    const char *text = sqlite3_errmsg(of(db)->sql);

    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].code == code)
            return sp_fail(failures[i].status, "%s: %s (%s)", db->path,
                           failures[i].means, text);
    return sp_fail(SPRY_STORE, "%s: %s", db->path, text);
}

/* ---- statements and transactions ---- */

/* Statements without results. */
static spry_status run(spry_records *db, const char *sql)
{
    return sqlite3_exec(of(db)->sql, sql, NULL, NULL, NULL) == SQLITE_OK
               ? SPRY_OK
               : store_fail(db);
}

/* Ready to be bound. */
static spry_status prepare(sqlite3_stmt **out, spry_records *db,
                           sp_statement which)
{
    sqlite3_stmt **kept = &of(db)->statement[which];
    sp_buf text = {0};
    spry_status s = SPRY_OK;

    if (!*kept) {
        s = sp_statement_text(&text, which, db->version, "");
        if (s == SPRY_OK && sqlite3_prepare_v3(of(db)->sql, text.data, -1,
                                               SQLITE_PREPARE_PERSISTENT, kept,
                                               NULL) != SQLITE_OK)
            s = store_fail(db);
        sp_buf_free(&text);
    }
    if (s != SPRY_OK)
        return s;
    sqlite3_reset(*kept);
    sqlite3_clear_bindings(*kept);
    *out = *kept;
    return SPRY_OK;
}

/* The caller's data outlive the statement's steps. */
static int bind_cell(sqlite3_stmt *q, int column, const sp_cell *c)
{
    switch (c->type) {
    case SP_CELL_NULL: return sqlite3_bind_null(q, column);
    case SP_CELL_TEXT:
        return sqlite3_bind_text(q, column, c->data, (int)c->length,
                                 SQLITE_STATIC);
    case SP_CELL_REAL: return sqlite3_bind_double(q, column, c->real);
    case SP_CELL_INTEGER: return sqlite3_bind_int64(q, column, c->integer);
    case SP_CELL_BYTES:
        return sqlite3_bind_blob64(q, column, c->data ? c->data : "",
                                   (sqlite3_uint64)c->length, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static spry_status load_cell(sp_cell *out, const spry_records *db,
                             sqlite3_stmt *q, int column)
{
    *out = (sp_cell){.type = SP_CELL_NULL};
    switch (sqlite3_column_type(q, column)) {
    case SQLITE_TEXT:
        out->type = SP_CELL_TEXT;
        out->data = (const char *)sqlite3_column_text(q, column);
        if (!out->data)
            return sp_fail(SPRY_SYSTEM, "%s: not enough memory", db->path);
        break;
    case SQLITE_BLOB:
        out->type = SP_CELL_BYTES;
        out->data = sqlite3_column_blob(q, column);
        break;
    case SQLITE_FLOAT:
        *out = sp_cell_real(sqlite3_column_double(q, column));
        return SPRY_OK;
    case SQLITE_INTEGER:
        *out = sp_cell_integer(sqlite3_column_int64(q, column));
        return SPRY_OK;
    default: return SPRY_OK;
    }
    out->length = (size_t)sqlite3_column_bytes(q, column);
    return SPRY_OK;
}

static spry_status visit_row(spry_records *db, sqlite3_stmt *q,
                             sp_cells_visit *visit, void *payload)
{
    enum { COLUMNS = 24 };
    sp_cell cell[COLUMNS];
    int n = sqlite3_column_count(q);
    spry_status s = SPRY_OK;

    n = n < COLUMNS ? n : COLUMNS;
    for (int i = 0; s == SPRY_OK && i < n; i++)
        s = load_cell(&cell[i], db, q, i);
    return s == SPRY_OK && visit ? visit(cell, n, payload) : s;
}

static spry_status ask_file(spry_records *db, sp_statement which,
                            const sp_cell *arg, int args, sp_cells_visit *visit,
                            void *payload, int64_t *changes)
{
    sqlite3_stmt *q = NULL;
    spry_status s = prepare(&q, db, which);
    int code = SQLITE_DONE;

    for (int i = 0; s == SPRY_OK && i < args; i++)
        if (bind_cell(q, i + 1, &arg[i]) != SQLITE_OK)
            s = store_fail(db);
    while (s == SPRY_OK && (code = sqlite3_step(q)) == SQLITE_ROW)
        s = visit_row(db, q, visit, payload);
    if (s == SPRY_OK && code != SQLITE_DONE)
        s = store_fail(db);
    if (s == SPRY_OK && changes)
        *changes = sqlite3_changes(of(db)->sql);
    sqlite3_reset(q);
    return s;
}

static spry_status begin_file(spry_records *db, sp_access how)
{
    return run(db, how == SP_TO_WRITE ? "BEGIN IMMEDIATE" : "BEGIN");
}

static spry_status end_file(spry_records *db, spry_status s)
{
    if (s == SPRY_OK)
        s = run(db, "COMMIT");
    if (!sqlite3_get_autocommit(of(db)->sql))
        sqlite3_exec(of(db)->sql, "ROLLBACK", NULL, NULL, NULL);
    return s;
}

/* The first column of the first row, as a number. */
static spry_status ask(spry_records *db, int64_t *out, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int code = sqlite3_prepare_v2(of(db)->sql, sql, -1, &q, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(q, 0);
    return sqlite3_finalize(q) == SQLITE_OK && code == SQLITE_ROW
               ? SPRY_OK
               : store_fail(db);
}

/* ---- opening ---- */

static spry_status connect_to(spry_records *db, const char *name, int flags)
{
    sqlite3_close(of(db)->sql);
    of(db)->sql = NULL;
    if (sqlite3_open_v2(name, &of(db)->sql, flags | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return store_fail(db);
    sqlite3_busy_timeout(of(db)->sql, PATIENCE);
    sqlite3_db_config(of(db)->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return run(db, "PRAGMA synchronous = FULL;"
                   "PRAGMA trusted_schema = OFF;"
                   "PRAGMA cell_size_check = ON");
}

/* Whose file is it, and of which version? 0: nobody's yet. To be called in a transaction,
 * since another process may be writing the schema just now. */
static spry_status identify(spry_records *db)
{
    int64_t application = 0, version = 0, things = 0;
    spry_status s = ask(db, &application, "PRAGMA application_id");

    if (s == SPRY_OK)
        s = ask(db, &version, "PRAGMA user_version");
    if (s == SPRY_OK)
        s = ask(db, &things, "SELECT count(*) FROM sqlite_master");
    db->version = 0;
    if (s != SPRY_OK || (application == 0 && version == 0 && things == 0))
        return s;
    if (application != APPLICATION || version < 1)
        return sp_fail(SPRY_STORE,
                       "%s: belongs to another program; left as it is; " ASIDE,
                       db->path);
    if (version > SCHEMA)
        return sp_fail(SPRY_STORE,
                       "%s: written by a newer spry (schema %lld, this one "
                       "knows %d); left as it is",
                       db->path, (long long)version, SCHEMA);
    db->version = (int)version;
    return SPRY_OK;
}

static spry_status connect_and_identify(spry_records *db, const char *name,
                                        int flags)
{
    spry_status s = connect_to(db, name, flags);

    if (s == SPRY_OK)
        s = run(db, "BEGIN");
    return s == SPRY_OK ? end_file(db, identify(db)) : s;
}

/* Changing the journal does not wait for others by itself. */
static spry_status choose_journal(spry_records *db)
{
    const char *sql = sp_store_on_network(db->path)
                          ? "PRAGMA journal_mode = DELETE"
                          : "PRAGMA journal_mode = WAL";
    spry_status s = run(db, sql);

    for (int waited = 0; waited < PATIENCE && s != SPRY_OK &&
                         (sqlite3_errcode(of(db)->sql) & 0xff) == SQLITE_BUSY;
         waited += 10) {
        sqlite3_sleep(10);
        s = run(db, sql);
    }
    return s;
}

static spry_status bring_up_to_date(spry_records *db)
{
    char mark[96];
    spry_status s = begin_file(db, SP_TO_WRITE);

    if (s != SPRY_OK)
        return s;
    s = identify(db); /* another process may have been faster */
    snprintf(mark, sizeof mark,
             "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION, SCHEMA);
    for (int v = db->version; s == SPRY_OK && v < SCHEMA; v++)
        s = run(db, schema[v]);
    if (s == SPRY_OK && db->version < SCHEMA)
        s = run(db, mark);
    s = end_file(db, s);
    if (s == SPRY_OK)
        db->version = SCHEMA;
    return s;
}

/* Even reading a WAL store writes beside it. Where that is forbidden and no
 * WAL is left over, read the file as one that nobody changes. */
static spry_status connect_immutable(spry_records *db)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789/._-"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    sp_buf uri = {0}, wal = {0};
    struct stat st;
    spry_status s;

    sp_buf_printf(&wal, "%s-wal", db->path);
    sp_buf_add(&uri, "file:");
    for (const char *p = db->path; *p; p++)
        sp_buf_printf(&uri, strchr(plain, *p) ? "%c" : "%%%02X",
                      (unsigned char)*p);
    sp_buf_add(&uri, "?immutable=1");
    if (wal.failed || uri.failed)
        s = sp_fail_memory(strlen(db->path));
    else if (stat(wal.data, &st) == 0 && st.st_size > 0)
        s = SPRY_SYSTEM; /* the sentence of the first try stands */
    else
        s = connect_and_identify(db, uri.data,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    sp_buf_free(&wal);
    sp_buf_free(&uri);
    return s;
}

/* As it is, without a trace. Only while somebody writes into it, and its WAL
 * holds what the file does not, is it opened as others open it. */
static spry_status connect_to_read(spry_records *db)
{
    spry_status s = connect_immutable(db);

    return s == SPRY_SYSTEM
               ? connect_and_identify(db, db->path, SQLITE_OPEN_READONLY)
               : s;
}

/* SQLite takes a file of one byte for an empty one. */
static int is_fragment(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
           st.st_size < 512;
}

/* A new store, which only its user may read; SQLite gives what it writes
 * beside it the same mode. What is there, or cannot be made, is SQLite's to
 * judge. */
static void make_private(const char *path)
{
    int fd;

    if (strcmp(path, ":memory:") == 0)
        return;
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    (void)fchmod(fd, 0600);
    close(fd);
}

static spry_status open_file(spry_records *db, const char *path,
                             sp_open_mode mode)
{
    int create = mode == SP_MAY_CREATE ? SQLITE_OPEN_CREATE : 0;
    int fixed;
    spry_status s;

    db->connection = sp_alloc(1, sizeof(file_store));
    if (!db->connection)
        return sp_fail_memory(sizeof(file_store));
    if (snprintf(db->path, sizeof db->path, "%s", path) >= (int)sizeof db->path)
        return sp_fail(SPRY_USAGE, "the path of the store is too long");
    if (is_fragment(db->path))
        return sp_fail(SPRY_STORE,
                       "%s: not a record store; left as it is; " ASIDE,
                       db->path);
    if (mode == SP_ONLY_READ)
        return connect_to_read(db);
    if (create)
        make_private(db->path);
    s = connect_and_identify(db, db->path, SQLITE_OPEN_READWRITE | create);
    fixed = of(db)->sql && sqlite3_db_readonly(of(db)->sql, "main") == 1;
    if (s == SPRY_SYSTEM && fixed)
        s = connect_immutable(db);
    if (s != SPRY_OK || !create)
        return s;
    if (fixed && db->version == 0)
        return sp_fail(SPRY_SYSTEM, "%s: empty, and may only be read",
                       db->path);
    if (fixed)
        return SPRY_OK;
    s = choose_journal(db);
    return s == SPRY_OK && db->version < SCHEMA ? bring_up_to_date(db) : s;
}

static void close_file(spry_records *db)
{
    file_store *f = of(db);

    if (!f)
        return;
    for (int i = 0; i < SP_STATEMENTS; i++)
        sqlite3_finalize(f->statement[i]);
    sqlite3_close(f->sql);
    sp_free(f);
}

/* ---- upkeep ---- */

/* A row is checked as it is read; this finds pages that are not rows. */
static spry_status check_file(spry_records *db, int64_t *bad, char *why,
                              size_t size)
{
    sqlite3_stmt *q = NULL;
    int code =
        sqlite3_prepare_v2(of(db)->sql, "PRAGMA integrity_check", -1, &q, NULL);

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        const char *line;

        code = sqlite3_step(q);
        line =
            code == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : "ok";
        if (line && strcmp(line, "ok") != 0 && (*bad)++ == 0)
            snprintf(why, size, "%s", line);
    }
    sqlite3_finalize(q);
    return code == SQLITE_DONE ? SPRY_OK : store_fail(db);
}

static spry_status compact_file(spry_records *db)
{
    return run(db, "VACUUM");
}

const sp_engine sp_file_engine = {open_file, close_file, begin_file,  end_file,
                                  ask_file,  check_file, compact_file};
