/* site.c - the store that a site gives all of its users: looked up when their
 * own has no answer, and never written. */
#include "base/site.h"
#include "records/internal.h"
#include "records/records.h"

spry_status sp_site_open(spry_records **out)
{
    spry_records *db = sp_alloc(1, sizeof *db);
    char path[sizeof db->path];
    spry_status s;

    *out = NULL;
    if (!db)
        return sp_fail_memory(sizeof *db);
    if (!sp_site_path(path, sizeof path, "store", "SPRY_SITE_STORE")) {
        spry_records_close(db);
        return SPRY_OK;
    }
    s = sp_store_open(db, path, SP_ONLY_READ);
    if (s == SPRY_OK && db->version > 0) {
        *out = db;
        return SPRY_OK;
    }
    if (s == SPRY_OK)
        s = sp_fail(SPRY_STORE, "%s: empty, not a record store", path);
    spry_records_close(db);
    return s;
}
