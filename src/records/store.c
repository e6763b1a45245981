/* store.c - a path to a connection with the right schema, or a sentence.
 *
 * Nothing is written to a file before it is known to be ours or empty. On a
 * local disk the journal is WAL, so readers and the writer pass each other;
 * on a network file system, where WAL's shared memory does not work, it is
 * the rollback journal. */
#include "records/internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SCHEMA = 5,
    APPLICATION = 0x53505259, /* "SPRY" */
    PATIENCE = 10000,         /* ms to wait for another process */
    KERNELS_SINCE = 5         /* the schema that brought answers' kernels */
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

    "CREATE TABLE probe(id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);"
    "ALTER TABLE record ADD COLUMN probe TEXT NOT NULL DEFAULT '';",

    "ALTER TABLE answer ADD COLUMN kernel TEXT NOT NULL DEFAULT '';",
};

#define RECORD                                                         \
    "id, problem, about, schedule, machine, compiler, verdict, noise," \
    " seconds, speedup, low, high, pack_seconds, bytes, at, samples, "
#define SOME_RECORDS                                    \
    " FROM record WHERE problem >= ?1 AND problem < ?2" \
    " AND (?3 IS NULL OR machine = ?3) ORDER BY at, id"
#define ANSWER                                                             \
    "id, problem, machine, baseline, schedule, baseline_seconds, seconds," \
    " speedup, low, high, pack_seconds, tuning_seconds, calls, effort, at, "
#define SOME_ANSWERS                                   \
    " FROM answer WHERE problem = ?1 AND machine = ?2" \
    " AND effort >= ?3 ORDER BY at DESC, rowid DESC"
#define FROZEN_ANSWERS \
    " FROM answer ORDER BY problem, machine, at DESC, rowid DESC"

#define CURVE  "id, run, kind, op, round, loss, tested, regret, seconds, at"
#define ORIGIN "id, problem, source, base, op, type, n, rows, cols, nnz"

static const char *const statements[SP_STATEMENTS] = {
    [SP_ADD_RECORD] = "INSERT OR IGNORE INTO record(" RECORD
                      "probe) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SP_ADD_ANSWER] = "INSERT OR IGNORE INTO answer(" ANSWER
                      "kernel) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SP_ADD_MACHINE] =
        "INSERT OR IGNORE INTO machine(fingerprint, text) VALUES (?,?)",
    [SP_ADD_ORIGIN] = "INSERT OR IGNORE INTO problem(" ORIGIN
                      ") VALUES (?,?,?,?,?,?,?,?,?,?)",
    [SP_ADD_CURVE] =
        "INSERT OR IGNORE INTO curve(" CURVE ") VALUES (?,?,?,?,?,?,?,?,?,?)",
    [SP_ALL_CURVES] = "SELECT " CURVE " FROM curve ORDER BY at, run, round",
    [SP_ADD_PROBE] = "INSERT OR IGNORE INTO probe(id, text) VALUES (?,?)",
    [SP_ALL_PROBES] = "SELECT id, text FROM probe ORDER BY id",
    [SP_ALL_RECORDS] = "SELECT " RECORD "probe FROM record ORDER BY at, id",
    [SP_ALL_ANSWERS] = "SELECT " ANSWER "kernel FROM answer ORDER BY at, id",
    [SP_ALL_MACHINES] =
        "SELECT fingerprint, text FROM machine ORDER BY fingerprint",
    [SP_ALL_ORIGINS] = "SELECT " ORIGIN " FROM problem ORDER BY problem, id",
    [SP_SOME_RECORDS] = "SELECT " RECORD "probe" SOME_RECORDS,
    [SP_ANSWERS_FOR] = "SELECT " ANSWER "kernel" SOME_ANSWERS,
    [SP_FROZEN_ANSWERS] = "SELECT " ANSWER "kernel" FROZEN_ANSWERS,
    [SP_ONE_MACHINE] =
        "SELECT fingerprint, text FROM machine WHERE fingerprint = ?1",
    [SP_ONE_PROBE] = "SELECT id, text FROM probe WHERE id = ?1",
    [SP_REPLACE_MACHINE] = "INSERT OR REPLACE INTO machine(fingerprint, text)"
                           " VALUES (?,?)",
    [SP_DROP_FAILURES] = "DELETE FROM record WHERE at < ?1 AND verdict IN"
                         " ('wrong', 'crash', 'timeout', 'infeasible')",
    [SP_COUNTS] = "SELECT (SELECT count(*) FROM record),"
                  " (SELECT count(*) FROM answer),"
                  " (SELECT count(*) FROM machine)",
    [SP_CLAIM] = "INSERT INTO claim(work, owner, until) VALUES (?1, ?2, ?3)"
                 " ON CONFLICT(work) DO UPDATE SET owner = ?2, until = ?3"
                 " WHERE owner = ?2 OR until <= ?4",
    [SP_CLAIM_OF] = "SELECT owner, until FROM claim WHERE work = ?1",
};

/* For a store from before records kept their probe, which is only read. */
static const char *const before_probes[SP_STATEMENTS] = {
    [SP_ALL_RECORDS] = "SELECT " RECORD "'' FROM record ORDER BY at, id",
    [SP_SOME_RECORDS] = "SELECT " RECORD "''" SOME_RECORDS,
};

/* The same from before answers named their kernel. */
static const char *const before_kernels[SP_STATEMENTS] = {
    [SP_ALL_ANSWERS] = "SELECT " ANSWER "'' FROM answer ORDER BY at, id",
    [SP_ANSWERS_FOR] = "SELECT " ANSWER "''" SOME_ANSWERS,
    [SP_FROZEN_ANSWERS] = "SELECT " ANSWER "''" FROZEN_ANSWERS,
};

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

spry_status sp_store_fail(const spry_records *db)
{
    int code = sqlite3_errcode(db->sql) & 0xff;
    const char *text = sqlite3_errmsg(db->sql);

    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].code == code)
            return sp_fail(failures[i].status, "%s: %s (%s)", db->path,
                           failures[i].means, text);
    return sp_fail(SPRY_STORE, "%s: %s", db->path, text);
}

/* ---- statements and transactions ---- */

spry_status sp_store_run(spry_records *db, const char *sql)
{
    return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK
               ? SPRY_OK
               : sp_store_fail(db);
}

spry_status sp_store_statement(sqlite3_stmt **out, spry_records *db,
                               sp_statement which)
{
    sqlite3_stmt **kept = &db->statement[which];
    const char *text = statements[which];

    if (db->version < sp_probe_shape->since && before_probes[which])
        text = before_probes[which];
    if (db->version < KERNELS_SINCE && before_kernels[which])
        text = before_kernels[which];
    if (!*kept &&
        sqlite3_prepare_v3(db->sql, text, -1, SQLITE_PREPARE_PERSISTENT, kept,
                           NULL) != SQLITE_OK)
        return sp_store_fail(db);
    sqlite3_reset(*kept);
    sqlite3_clear_bindings(*kept);
    *out = *kept;
    return SPRY_OK;
}

spry_status sp_store_begin(spry_records *db)
{
    if (db->batch)
        return sp_fail(SPRY_USAGE, "%s: a batch is open; commit it first",
                       db->path);
    return sp_store_run(db, "BEGIN IMMEDIATE");
}

spry_status sp_store_end(spry_records *db, spry_status s)
{
    if (s == SPRY_OK)
        s = sp_store_run(db, "COMMIT");
    if (!sqlite3_get_autocommit(db->sql))
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    return s;
}

/* The first column of the first row, as a number. */
static spry_status ask(spry_records *db, int64_t *out, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int code = sqlite3_prepare_v2(db->sql, sql, -1, &q, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(q, 0);
    return sqlite3_finalize(q) == SQLITE_OK && code == SQLITE_ROW
               ? SPRY_OK
               : sp_store_fail(db);
}

/* ---- opening ---- */

static spry_status connect_to(spry_records *db, const char *name, int flags)
{
    sqlite3_close(db->sql);
    db->sql = NULL;
    if (sqlite3_open_v2(name, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return sp_store_fail(db);
    sqlite3_busy_timeout(db->sql, PATIENCE);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return sp_store_run(db, "PRAGMA synchronous = FULL;"
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
        s = sp_store_run(db, "BEGIN");
    return s == SPRY_OK ? sp_store_end(db, identify(db)) : s;
}

/* Changing the journal does not wait for others by itself. */
static spry_status choose_journal(spry_records *db)
{
    const char *sql = sp_store_on_network(db->path)
                          ? "PRAGMA journal_mode = DELETE"
                          : "PRAGMA journal_mode = WAL";
    spry_status s = sp_store_run(db, sql);

    for (int waited = 0; waited < PATIENCE && s != SPRY_OK &&
                         (sqlite3_errcode(db->sql) & 0xff) == SQLITE_BUSY;
         waited += 10) {
        sqlite3_sleep(10);
        s = sp_store_run(db, sql);
    }
    return s;
}

static spry_status bring_up_to_date(spry_records *db)
{
    char mark[96];
    spry_status s = sp_store_begin(db);

    if (s != SPRY_OK)
        return s;
    s = identify(db); /* another process may have been faster */
    snprintf(mark, sizeof mark,
             "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION, SCHEMA);
    for (int v = db->version; s == SPRY_OK && v < SCHEMA; v++)
        s = sp_store_run(db, schema[v]);
    if (s == SPRY_OK && db->version < SCHEMA)
        s = sp_store_run(db, mark);
    s = sp_store_end(db, s);
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

spry_status sp_store_open(spry_records *db, sp_open_mode mode)
{
    int create = mode == SP_MAY_CREATE ? SQLITE_OPEN_CREATE : 0;
    int fixed;
    spry_status s;

    if (is_fragment(db->path))
        return sp_fail(SPRY_STORE,
                       "%s: not a record store; left as it is; " ASIDE,
                       db->path);
    if (mode == SP_ONLY_READ)
        return connect_to_read(db);
    if (create)
        make_private(db->path);
    s = connect_and_identify(db, db->path, SQLITE_OPEN_READWRITE | create);
    fixed = db->sql && sqlite3_db_readonly(db->sql, "main") == 1;
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

void sp_store_close(spry_records *db)
{
    for (int i = 0; i < SP_STATEMENTS; i++)
        sqlite3_finalize(db->statement[i]);
    sqlite3_close(db->sql);
    sp_free(db->texts);
    sp_free(db->sample);
}
