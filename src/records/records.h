/* records.h - what a site gives all of its users: a store behind their own,
 * and a lock file. Both are read, never written. And readers of bytes that are
 * at hand already. */
#ifndef SP_RECORDS_H
#define SP_RECORDS_H

#include "base/base.h"
#include "spry/records.h"

/* The site's store: $SPRY_SITE_STORE, else what site.conf says. *out is NULL,
 * and all is well, when there is none. */
spry_status sp_site_open(spry_records **out);

/* Somebody waits for an answer until then (sp_seconds): a server that is away
 * is waited for a part of what is left, and only once. db may be NULL. */
void sp_store_until(spry_records *db, double until);

/* spry_records_import of what `path` holds. */
spry_status sp_lines_import(spry_records *db, const sp_file *file,
                            const char *path, int64_t *added, int64_t *bad);

/* An answer of a lock file; its texts live until it is freed. */
typedef struct {
    spry_answer answer;
    int found;
    int elsewhere; /* answers for this problem on other machines */
    sp_json_doc doc;
} sp_locked;

/* For as many calls, else for very many. SPRY_INPUT when the file is no lock
 * file, or was changed after it was written. */
spry_status sp_lock_find(sp_locked *out, const char *path, const char *problem,
                         const char *machine, double calls);
/* The same in what `path` holds. */
spry_status sp_lock_search(sp_locked *out, const sp_file *file,
                           const char *path, const spry_answer *want);
void sp_locked_free(sp_locked *x);

#endif
