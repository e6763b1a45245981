/* origin.c - where problems came from, and who is at work on which. */
#include "spry/records.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "records/internal.h"

/* ---- origins ---- */

spry_status spry_records_put_origin(spry_records *db, const spry_origin *o)
{
    SP_NEED(db, o);

    sp_stored_row row = {.origin = *o};
    int added;

    return sp_row_add(db, sp_origin_shape, &row, NULL, &added);
}

typedef struct {
    spry_origin_visit *visit;
    void *payload;
} visitor;

static spry_status visit_origin(const sp_table_shape *shape,
                                const sp_stored_row *row, const char *id,
                                void *payload)
{
    const visitor *v = payload;

    (void)shape;
    (void)id;
    return v->visit(&row->origin, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_records_each_origin(spry_records *db, spry_origin_visit *visit,
                                     void *payload)
{
    SP_NEED(db);
    SP_REFUSE(!visit, "spry_records_each_origin: visit is NULL");

    visitor v = {visit, payload};
    sp_damage damage = {0};
    sqlite3_stmt *q;
    spry_status s;

    if (db->version < sp_origin_shape->since)
        return SPRY_OK; /* an older store, only read */
    s = sp_store_statement(&q, db, SP_ALL_ORIGINS);
    if (s == SPRY_OK)
        s = sp_walk(db, sp_origin_shape, q, visit_origin, &v, &damage);
    sp_damage_say(&damage, db->path);
    return s == SPRY_STOPPED ? SPRY_OK : s;
}

/* ---- claims ---- */

enum { OWNER = 300 };

static void our_name(char host[OWNER], char owner[OWNER])
{
    if (gethostname(host, 256) != 0)
        snprintf(host, OWNER, "?");
    host[255] = 0;
    snprintf(owner, OWNER, "%.255s %ld", host, (long)getpid());
}

/* Does the owner run on this host no more? */
static int is_gone(const char *owner, const char *host)
{
    size_t n = strlen(host);

    return strncmp(owner, host, n) == 0 && owner[n] == ' ' &&
           kill((pid_t)strtol(owner + n, NULL, 10), 0) != 0 && errno == ESRCH;
}

/* What counts as now for a claim that stands: its owner may be gone. */
static spry_status time_for(spry_records *db, double *now, const char *work,
                            const char *host)
{
    sqlite3_stmt *q;
    spry_status s = sp_store_statement(&q, db, SP_CLAIM_OF);
    const char *owner;

    *now = (double)time(NULL);
    if (s != SPRY_OK)
        return s;
    sqlite3_bind_text(q, 1, work, -1, SQLITE_STATIC);
    if (sqlite3_step(q) == SQLITE_ROW) {
        owner = (const char *)sqlite3_column_text(q, 0);
        if (owner && is_gone(owner, host))
            *now = HUGE_VAL;
    }
    sqlite3_reset(q);
    return SPRY_OK;
}

spry_status spry_records_claim(spry_records *db, const char *work,
                               double seconds, int *got)
{
    SP_NEED(db, work, got);

    char host[OWNER], owner[OWNER];
    double now;
    sqlite3_stmt *q = NULL;
    spry_status s;

    *got = 0;
    our_name(host, owner);
    s = time_for(db, &now, work, host);
    if (s == SPRY_OK)
        s = sp_store_statement(&q, db, SP_CLAIM);
    if (s != SPRY_OK)
        return s;
    sqlite3_bind_text(q, 1, work, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 2, owner, -1, SQLITE_STATIC);
    sqlite3_bind_double(q, 3, (double)time(NULL) + seconds);
    sqlite3_bind_double(q, 4, now);
    if (sqlite3_step(q) != SQLITE_DONE)
        s = sp_store_fail(db);
    else
        *got = sqlite3_changes(db->sql) > 0;
    sqlite3_reset(q);
    return s;
}
