/* fleet.c - a database made ready, and jobs put into its queue. */
#include "spry/fleet.h"

#include <string.h>

#include "fleet/internal.h"
#include "records/server.h"
#include "spry/records.h"

const char *spry_fleet_library(void)
{
    static char about[32];
    int version;

    if (sp_postgres_ready(&version) != SPRY_OK)
        return NULL;
    snprintf(about, sizeof about, "libpq %d.%d", version / 10000,
             version % 10000);
    return about;
}

/* ---- init ---- */

static spry_status take_flag(const sp_cell *cell, int count, void *payload)
{
    if (count > 0)
        *(int *)payload = (int)cell->integer;
    return SPRY_OK;
}

/* What was not said stays as it is, or is the usual in a new database. */
static spry_status keep_settings(sp_postgres *c, const spry_fleet_options *o)
{
    sp_cell arg[] = {sp_cell_real(o->lease), sp_cell_integer(o->tries),
                     sp_cell_integer(SP_QUEUE_VERSION)};

    return sp_postgres_ask(
        c,
        "INSERT INTO spry.setting AS s(one, lease, tries, version)"
        " VALUES (1, coalesce(nullif($1, 0), 60),"
        "  coalesce(nullif($2, 0), 5)::int, $3::int)"
        " ON CONFLICT (one) DO UPDATE SET version = excluded.version,"
        " lease = coalesce(nullif($1, 0), s.lease),"
        " tries = coalesce(nullif($2, 0), s.tries)::int",
        arg, 3, NULL, NULL, NULL);
}

/* One transaction; others who do the same wait for it. */
static spry_status make_all(sp_postgres *c, const spry_fleet_options *o)
{
    sp_buf tables = {0};
    spry_status s = sp_postgres_begin(c, "BEGIN");

    if (s != SPRY_OK)
        return s;
    sp_server_tables(&tables);
    s = sp_postgres_run(c, "SELECT pg_advisory_xact_lock(1397772889)");
    if (s == SPRY_OK)
        s = tables.failed ? sp_fail_memory(tables.cap)
                          : sp_postgres_run(c, tables.data);
    for (int i = 0; s == SPRY_OK && sp_fleet_schema[i]; i++)
        s = sp_postgres_run(c, sp_fleet_schema[i]);
    if (s == SPRY_OK)
        s = keep_settings(c, o);
    sp_buf_free(&tables);
    return sp_postgres_end(c, s);
}

static spry_status need_uri(const char *uri)
{
    if (!sp_postgres_uri(uri))
        return sp_fail(SPRY_USAGE,
                       "a fleet's store is postgresql://..., not a file");
    return SPRY_OK;
}

spry_status spry_fleet_init(const char *uri, const spry_fleet_options *opt,
                            int *roles)
{
    SP_NEED(uri, roles);

    spry_fleet_options o = SPRY_FLEET_DEFAULTS;
    sp_postgres *c = NULL;
    spry_status s = SP_TAKE_OPTIONS(&o, opt);

    *roles = 0;
    if (s != SPRY_OK)
        return s;
    SP_REFUSE((!(o.lease >= 1 && o.lease <= 3600) && o.lease != 0) ||
                  o.tries < 0 || o.tries > 100,
              "a lease lasts 1 to 3600 s and a job is tried 1 to 100 times");
    s = need_uri(uri);
    if (s == SPRY_OK)
        s = sp_postgres_open(&c, uri);
    if (s == SPRY_OK)
        s = make_all(c, &o);
    if (s == SPRY_OK)
        s = sp_postgres_ask(c,
                            "SELECT count(*) = 3 FROM pg_roles WHERE rolname IN"
                            " ('spry_reader', 'spry_submitter', 'spry_worker')",
                            NULL, 0, take_flag, roles, NULL);
    sp_postgres_close(c);
    return s;
}

/* ---- open ---- */

static spry_status take_versions(const sp_cell *cell, int count, void *payload)
{
    int64_t *out = payload;

    for (int i = 0; i < 2 && i < count; i++)
        out[i] = cell[i].integer;
    return SPRY_OK;
}

/* Its tables and its queue are those that this spry knows. */
static spry_status check_versions(sp_postgres *c)
{
    int64_t has[2] = {0, 0};
    spry_status s = sp_postgres_ask(c, "SELECT store, queue FROM spry.schema()",
                                    NULL, 0, take_versions, has, NULL);

    if (s == SPRY_OK)
        s = sp_server_known(sp_postgres_name(c), has[0], sp_server_version());
    return s == SPRY_OK
               ? sp_server_known(sp_postgres_name(c), has[1], SP_QUEUE_VERSION)
               : s;
}

spry_status spry_fleet_open(spry_fleet **out, const char *uri)
{
    SP_NEED_NEW(out, uri);

    spry_fleet *f;
    spry_status s = need_uri(uri);

    if (s != SPRY_OK)
        return s;
    f = sp_alloc(1, sizeof *f);
    if (!f)
        return sp_fail_memory(sizeof *f);
    s = sp_postgres_open(&f->server, uri); /* not if it is too long */
    if (s == SPRY_OK)
        s = check_versions(f->server);
    if (s == SPRY_OK) {
        snprintf(f->uri, sizeof f->uri, "%s", uri);
        *out = f;
    } else
        spry_fleet_close(f);
    return s;
}

void spry_fleet_close(spry_fleet *f)
{
    if (!f)
        return;
    sp_postgres_close(f->server);
    memset(f->uri, 0, sizeof f->uri);
    sp_free(f);
}

const char *spry_fleet_name(const spry_fleet *f)
{
    SP_NEED_OR("", f);
    return sp_postgres_name(f->server);
}

/* ---- submit ---- */

typedef struct {
    int64_t id;
    int added;
} submitted;

static spry_status take_submitted(const sp_cell *cell, int count, void *payload)
{
    submitted *x = payload;

    if (count > 1) {
        x->id = cell[0].integer;
        x->added = cell[1].integer != 0;
    }
    return SPRY_OK;
}

spry_status spry_fleet_submit(spry_fleet *f, const spry_job *job, int priority,
                              const char *machine, int64_t *id, int *added)
{
    SP_NEED(f, job, id, added);

    char text[SPRY_JOB_TEXT];
    submitted x = {0, 0};
    spry_status s = spry_job_text(text, job);
    sp_cell arg[] = {sp_cell_text(text), sp_cell_integer(priority),
                     sp_cell_text(machine ? machine : "")};

    *id = 0;
    *added = 0;
    if (s != SPRY_OK)
        return s;
    SP_REFUSE(priority < -1000 || priority > 1000,
              "a priority lies within -1000 and 1000, not %d", priority);
    arg[0] = sp_cell_text(text);
    s = sp_postgres_ask(f->server,
                        "SELECT job, added FROM spry.submit($1, $2::int, $3)",
                        arg, 3, take_submitted, &x, NULL);
    *id = x.id;
    *added = x.added;
    return s;
}

/* ---- upload ---- */

typedef struct {
    sp_postgres *server;
    int64_t *added;
} uploading;

static spry_status take_count(const sp_cell *cell, int count, void *payload)
{
    if (count > 0)
        *(int64_t *)payload += cell->integer;
    return SPRY_OK;
}

static spry_status upload_part(const char *json, void *payload)
{
    const uploading *u = payload;
    sp_cell arg = sp_cell_text(json);

    return sp_postgres_ask(u->server, "SELECT spry.upload($1::jsonb)", &arg, 1,
                           take_count, u->added, NULL);
}

spry_status spry_fleet_upload(spry_fleet *f, const char *store, int64_t *added)
{
    SP_NEED(f, store, added);

    static const size_t PART = (size_t)1 << 24;
    spry_records *db = NULL;
    uploading u = {f->server, added};
    spry_status s;

    *added = 0;
    s = spry_records_open(&db, store);
    if (s == SPRY_OK)
        s = sp_server_rows_in_parts(db, PART, upload_part, &u);
    spry_records_close(db);
    return s;
}
