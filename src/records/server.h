/* server.h - the store's tables on a server: made, and filled by others.
 *
 * Who may not write tables hands rows to a function of the server as one JSON
 * document, {"record": [{"id": ..., "problem": ...}], "machine": ...}. */
#ifndef SP_RECORDS_SERVER_H
#define SP_RECORDS_SERVER_H

#include "base/base.h"
#include "spry/records.h"

/* The statements that make the tables in the schema spry, or bring them up to
 * date, and the function spry.add_rows(jsonb), which counts what was new. */
void sp_server_tables(sp_buf *sql);

/* The schema that this spry knows; and SPRY_STORE, with a sentence, where a
 * server's is another than the known one. */
int sp_server_version(void);
spry_status sp_server_known(const char *name, int64_t version, int known);

/* All rows of a store as that document. */
spry_status sp_server_rows(sp_buf *json, spry_records *db, int64_t *rows);

/* The same in documents that end with the row that makes them longer than
 * `most` bytes: PostgreSQL reads none beyond 256 MB. */
typedef spry_status sp_rows_visit(const char *json, void *payload);
spry_status sp_server_rows_in_parts(spry_records *db, size_t most,
                                    sp_rows_visit *visit, void *payload);

#endif
