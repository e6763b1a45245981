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

/* All rows of a store as that document. */
spry_status sp_server_rows(sp_buf *json, spry_records *db, int64_t *rows);

#endif
