/* fleet_fixture.h - a PostgreSQL of a test's own, with an empty queue in it;
 * where there is none, or the processor is emulated, its cases are skipped. */
#ifndef SPRY_TEST_FLEET_FIXTURE_H
#define SPRY_TEST_FLEET_FIXTURE_H

#include "check.h"

#include <stdio.h>
#include <string.h>

#include "fleet/internal.h"
#include "folder.h"

static char uri[512], place[TEST_FOLDER], missing[256];
static sp_postgres *server;

static inline int postgres_script(const char *action, char *out, size_t size)
{
    char command[600], line[512] = "";
    FILE *f;

    snprintf(command, sizeof command,
             SPRY_TEST_DATA "/../../tools/postgres.sh %s %s %s", action, place,
             strcmp(action, "start") == 0 ? "fsync=off" : "");
    f = popen(command, "r"); /* NOLINT: words of this test */
    if (!f)
        return -1;
    if (!fgets(line, sizeof line, f))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    if (out)
        snprintf(out, size, "%s", line);
    return pclose(f);
}

static inline int start_server(void **state)
{
    (void)state;
    snprintf(missing, sizeof missing, "workers are not emulated");
    if (getenv("SPRY_EMULATOR") || !make_folder(place))
        return 0;
    if (postgres_script("start", uri, sizeof uri) != 0 ||
        strncmp(uri, "postgresql:", 11) != 0) {
        snprintf(missing, sizeof missing, "%.200s",
                 *uri ? uri : "no PostgreSQL could be started");
        *uri = 0;
    } else if (sp_postgres_open(&server, uri) != SPRY_OK) {
        snprintf(missing, sizeof missing, "%.200s", spry_message());
        *uri = 0;
    }
    return 0;
}

static inline int stop_server(void **state)
{
    (void)state;
    sp_postgres_close(server);
    if (*place)
        postgres_script("stop", NULL, 0);
    return 0;
}

/* ---- what is asked of it ---- */

static inline void run(const char *sql)
{
    check_ok(sp_postgres_run(server, sql));
}

static inline spry_status take_number(const sp_cell *cell, int count,
                                      void *payload)
{
    if (count > 0 && cell->type == SP_CELL_REAL)
        *(double *)payload = cell->real;
    return SPRY_OK;
}

static inline double number(const char *sql)
{
    double x = -1;
    char real[600];

    snprintf(real, sizeof real, "SELECT (%s)::double precision", sql);
    check_ok(sp_postgres_ask(server, real, NULL, 0, take_number, &x, NULL));
    return x;
}

/* An empty queue, leases of an hour. Skips where there is no server. */
static inline void need_queue(void)
{
    spry_fleet_options o = SPRY_FLEET_DEFAULTS;
    int roles;

    if (!*uri)
        skip_because(missing);
    o.lease = 3600;
    o.tries = 5;
    run("DROP SCHEMA IF EXISTS spry CASCADE");
    check_ok(spry_fleet_init(uri, &o, &roles));
}

/* Jobs that are ready; their words do not matter here. */
static inline void fill_queue(int jobs)
{
    char sql[512];

    snprintf(sql, sizeof sql,
             "WITH j AS (INSERT INTO spry.job(work, machine) SELECT 'job ' ||"
             " i || clock_timestamp(), '' FROM generate_series(1, %d) i"
             " RETURNING id) INSERT INTO spry.queue(id, machine, priority)"
             " SELECT id, '', 0 FROM j",
             jobs);
    run(sql);
}

/* Leases that ran out are noticed by whoever comes next, at once. */
static inline void sweep_now(void)
{
    run("UPDATE spry.setting SET swept = 'epoch'");
}

#endif
