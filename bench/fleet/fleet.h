/* fleet.h - what the parts of bench-fleet share. */
#ifndef BENCH_FLEET_H
#define BENCH_FLEET_H

#include <stdint.h>

#include "fleet/internal.h"

/* The server of this run, and how much of everything there is to be. */
typedef struct {
    char uri[512], folder[256];
    int quick;
} bench_server;

/* Start it, or leave with a sentence where there is none. */
void server_start(bench_server *s, int quick);
void server_kill(const bench_server *s); /* and start it again */
void server_stop(const bench_server *s);

/* Ends the program with the library's sentence when that failed. */
void must(spry_status s, const char *what);

/* One number out of the database. */
double ask_number(sp_postgres *c, const char *sql);

/* ---- the parts ---- */

void kill_part(const bench_server *s);     /* every job once, whoever dies */
void release_part(const bench_server *s);  /* how soon a job is another's */
void simulate_part(const bench_server *s); /* 1,000 workers */

#endif
