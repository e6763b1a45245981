/* upkeep.c - stores united, checked and thinned out. */
#include "spry/records.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "records/internal.h"

/* ---- merge ---- */

typedef struct {
    spry_records *into;
    int64_t added;
} merger;

static spry_status add_row(const sp_table_shape *shape,
                           const sp_stored_row *row, const char *id,
                           void *payload)
{
    merger *m = payload;
    int added;
    spry_status s = sp_row_add(m->into, shape, row, id, &added);

    m->added += added;
    return s;
}

static int same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* A row is checked as it is read; this finds pages that are not rows. */
static spry_status check_pages(spry_records *db, int64_t *bad, char *why,
                               size_t size)
{
    sqlite3_stmt *q = NULL;
    int code =
        sqlite3_prepare_v2(db->sql, "PRAGMA integrity_check", -1, &q, NULL);

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        const char *line;

        code = sqlite3_step(q);
        line =
            code == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : "ok";
        if (line && strcmp(line, "ok") != 0 && (*bad)++ == 0)
            snprintf(why, size, "%s", line);
    }
    sqlite3_finalize(q);
    return code == SQLITE_DONE ? SPRY_OK : sp_store_fail(db);
}

static spry_status merge_open(spry_records *db, spry_records *other, merger *m)
{
    sp_damage damage = {0};
    spry_status s =
        check_pages(other, &damage.bad, damage.why, sizeof damage.why);

    if (s == SPRY_OK && damage.bad)
        s = sp_fail(SPRY_STORE, "%s: damaged: %s", other->path, damage.why);
    if (s == SPRY_OK)
        s = sp_store_begin(db);
    if (s != SPRY_OK)
        return s;
    s = sp_store_end(db, sp_walk_all(other, add_row, m, &damage));
    if (s == SPRY_OK)
        sp_damage_say(&damage, other->path);
    return s;
}

spry_status spry_records_merge(spry_records *db, const char *other,
                               int64_t *added)
{
    SP_NEED(db, other);

    spry_records *from = sp_alloc(1, sizeof *from);
    merger m = {db, 0};
    spry_status s = SPRY_OK;

    if (added)
        *added = 0;
    if (!from)
        return sp_fail_memory(sizeof *from);
    if (snprintf(from->path, sizeof from->path, "%s", other) >=
        (int)sizeof from->path)
        s = sp_fail(SPRY_USAGE, "the path of the other store is too long");
    else if (!same_file(db->path, other))
        s = sp_store_open(from, SP_MUST_EXIST);
    if (s == SPRY_OK && from->sql && from->version > 0)
        s = merge_open(db, from, &m);
    if (s == SPRY_OK && added)
        *added = m.added;
    spry_records_close(from);
    return s;
}

/* ---- check ---- */

static spry_status pass(const sp_table_shape *shape, const sp_stored_row *row,
                        const char *id, void *payload)
{
    (void)shape;
    (void)row;
    (void)id;
    (void)payload;
    return SPRY_OK;
}

spry_status spry_records_check(spry_records *db, int64_t *bad)
{
    SP_NEED(db);

    sp_damage damage = {0};
    spry_status s = check_pages(db, &damage.bad, damage.why, sizeof damage.why);

    if (s == SPRY_OK)
        s = sp_walk_all(db, pass, NULL, &damage);
    if (bad)
        *bad = damage.bad + (s == SPRY_STORE);
    if (s != SPRY_OK || !damage.bad)
        return s;
    return sp_fail(SPRY_STORE, "%s: %lld damages, the first: %s", db->path,
                   (long long)damage.bad, damage.why);
}

/* ---- gc ---- */

/* Names the failures we know: a verdict of a later version stays. */
static spry_status drop_failures(spry_records *db, int64_t before,
                                 int64_t *dropped)
{
    sqlite3_stmt *q;
    spry_status s = sp_store_statement(&q, db, SP_DROP_FAILURES);

    if (s != SPRY_OK)
        return s;
    if (sqlite3_bind_int64(q, 1, before) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_DONE)
        s = sp_store_fail(db);
    else
        *dropped = sqlite3_changes(db->sql);
    sqlite3_reset(q);
    return s;
}

spry_status spry_records_gc(spry_records *db, int days, int64_t *dropped)
{
    SP_NEED(db);
    int64_t count = 0, now = (int64_t)time(NULL);
    spry_status s;

    if (dropped)
        *dropped = 0;
    if (days < 0)
        return sp_fail(SPRY_USAGE, "%d days are no age", days);
    s = sp_store_begin(db);
    if (s != SPRY_OK)
        return s;
    s = drop_failures(db, now - (int64_t)days * 86400, &count);
    s = sp_store_end(db, s);
    if (s == SPRY_OK && dropped)
        *dropped = count;
    return s == SPRY_OK ? sp_store_run(db, "VACUUM") : s;
}
