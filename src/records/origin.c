/* origin.c - where problems came from, and who is at work on which. */
#include "spry/records.h"

#include <errno.h>
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

    return sp_walk_table(db, sp_origin_shape, visit_origin, &v);
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

typedef struct {
    const char *host;
    int gone;
} claim_owner;

/* A claim that stands does so in vain if its owner is gone. */
static spry_status look_at_owner(const sp_cell *cell, int count, void *payload)
{
    claim_owner *c = payload;

    c->gone =
        count > 0 && cell->type == SP_CELL_TEXT && is_gone(cell->data, c->host);
    return SPRY_OK;
}

spry_status spry_records_claim(spry_records *db, const char *work,
                               double seconds, int *got)
{
    SP_NEED(db, work, got);

    char host[OWNER], owner[OWNER];
    claim_owner standing = {host, 0};
    int64_t changes = 0;
    sp_cell arg[5] = {sp_cell_text(work)};
    spry_status s;

    *got = 0;
    our_name(host, owner);
    s = sp_store_ask(db, SP_CLAIM_OF, arg, 1, look_at_owner, &standing, NULL);
    if (s != SPRY_OK)
        return s;
    arg[1] = sp_cell_text(owner);
    arg[2] = sp_cell_real((double)time(NULL));
    arg[3] = sp_cell_real(seconds);
    arg[4] = sp_cell_integer(standing.gone);
    s = sp_store_ask(db, SP_CLAIM, arg, 5, NULL, NULL, &changes);
    *got = s == SPRY_OK && changes > 0;
    return s;
}
