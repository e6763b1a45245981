/* postgres.h - a connection to a PostgreSQL server, by libpq.
 *
 * libpq is opened when the first connection is asked for, so that spry starts
 * without it and works where it is not installed. A connection that is lost
 * outside of a transaction is made again and the statement is sent again:
 * whatever spry sends may be done twice. Nothing said of a connection ever
 * holds a password. */
#ifndef SP_POSTGRES_H
#define SP_POSTGRES_H

#include "base/base.h"
#include "base/cell.h"

typedef struct sp_postgres sp_postgres;

/* Does it begin as the URI of a server does? */
int sp_postgres_uri(const char *text);

/* Is it none, but meant to be one? It may hold a password, so it is no file's
 * name and is not to be shown: host=h password=p, Postgresql://u:p@h. */
int sp_postgres_near_uri(const char *text);

/* NULL, or what is wrong with a URI that libpq would read in another way than
 * who wrote it, so that its sentences may quote a password. */
const char *sp_postgres_uri_fault(const char *uri);

/* The URI without its passwords; cut to size. Returns out. */
char *sp_postgres_redact(char *out, size_t size, const char *uri);

/* SPRY_SYSTEM and a sentence where libpq is not to be had; else *version is
 * its number, 150020 for 15.20. version may be NULL. */
spry_status sp_postgres_ready(int *version);

/* Connect. SPRY_STORE when the server cannot be reached or refuses. */
spry_status sp_postgres_open(sp_postgres **out, const char *uri);
void sp_postgres_close(sp_postgres *c);
/* In a forked child: let go of the parent's connection without a word. */
void sp_postgres_abandon(sp_postgres *c);

/* The URI, redacted. */
const char *sp_postgres_name(const sp_postgres *c);

/* How long a lost connection is tried again; asked to stop now and then.
 * 20 s and no questions when not said. */
void sp_postgres_patience(sp_postgres *c, double seconds,
                          int (*stop)(void *payload), void *payload);

/* Somebody waits for us until then (sp_seconds): a lost connection is tried
 * again for a quarter of what is left, and is not tried again after that. */
void sp_postgres_until(sp_postgres *c, double until);

/* One statement with its arguments, $1 ...; visit and changes may be NULL. */
spry_status sp_postgres_ask(sp_postgres *c, const char *sql, const sp_cell *arg,
                            int args, sp_cells_visit *visit, void *payload,
                            int64_t *changes);
/* Statements without arguments and results. */
spry_status sp_postgres_run(sp_postgres *c, const char *sql);
/* Begin by a statement ("BEGIN"); end commits when s is SPRY_OK, else takes
 * all back and returns s. */
spry_status sp_postgres_begin(sp_postgres *c, const char *sql);
spry_status sp_postgres_end(sp_postgres *c, spry_status s);

/* Is the connection gone? */
int sp_postgres_lost(const sp_postgres *c);

#endif
