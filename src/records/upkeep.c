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

static spry_status merge_open(spry_records *db, spry_records *other, merger *m)
{
    sp_damage damage = {0};
    spry_status s =
        other->engine->check(other, &damage.bad, damage.why, sizeof damage.why);

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
    if (!same_file(db->path, other))
        s = sp_store_open(from, other, SP_MUST_EXIST);
    if (s == SPRY_OK && from->connection && from->version > 0)
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
    spry_status s =
        db->engine->check(db, &damage.bad, damage.why, sizeof damage.why);

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
    sp_cell arg = sp_cell_integer(before);

    return sp_store_ask(db, SP_DROP_FAILURES, &arg, 1, NULL, NULL, dropped);
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
    return s == SPRY_OK ? db->engine->compact(db) : s;
}
