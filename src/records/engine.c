/* engine.c - one door, two engines: files by SQLite, URIs by PostgreSQL. */
#include "postgres/postgres.h"
#include "records/internal.h"
#include "records/records.h"

int spry_records_is_server(const char *path)
{
    return sp_postgres_uri(path) || sp_postgres_near_uri(path);
}

spry_status sp_store_open(spry_records *db, const char *path, sp_open_mode mode)
{
    if (sp_postgres_near_uri(path)) /* not shown: it may hold a password */
        return sp_fail(SPRY_USAGE, "a store is the path of a file or "
                                   "postgresql://USER@HOST/NAME, and this is "
                                   "neither");
    db->engine = sp_postgres_uri(path) ? &sp_server_engine : &sp_file_engine;
    return db->engine->open(db, path, mode);
}

void sp_store_until(spry_records *db, double until)
{
    if (db && db->engine == &sp_server_engine)
        sp_postgres_until(db->connection, until);
}

void sp_store_close(spry_records *db)
{
    if (db->engine)
        db->engine->close(db);
    sp_free(db->texts);
    sp_free(db->sample);
    sp_free(db->bytes);
}

spry_status sp_store_ask(spry_records *db, sp_statement which,
                         const sp_cell *arg, int args, sp_cells_visit *visit,
                         void *payload, int64_t *changes)
{
    return db->engine->ask(db, which, arg, args, visit, payload, changes);
}

spry_status sp_store_begin(spry_records *db)
{
    if (db->batch)
        return sp_fail(SPRY_USAGE, "%s: a batch is open; commit it first",
                       db->path);
    return db->engine->begin(db, SP_TO_WRITE);
}

spry_status sp_store_end(spry_records *db, spry_status s)
{
    return db->engine->end(db, s);
}
