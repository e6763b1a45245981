/* bench-fleet - a queue that loses nothing.
 *
 * A real PostgreSQL in a folder of its own (fsync as the server likes it: on).
 *
 *   kills     10,000 tiny jobs, 6 workers, 100 SIGKILLs of workers and 5 of
 *             the server: what was lost, what was done twice
 *   release   how long after the end of a lease the job is another's
 *   hostile   lines that are no jobs
 *   roles     tables that a worker may read
 *   thousand  1,000 workers over 16 connections: jobs a second, before and
 *             after the dead rows have piled up; all leases ending at once
 *
 * QUICK=1 does a tenth of it; bench-fleet PART... does these alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contest/figures.h"
#include "fleet/fleet.h"

/* ---- the server ---- */

/* Run the script with one action; its first line into out if that is not
 * NULL. Returns its exit code. */
static int script(const char *action, const char *folder, char *out, int size)
{
    int fd[2], status = 0;
    ssize_t n = 0;
    pid_t child;

    if (pipe(fd) != 0 || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        dup2(fd[1], 1);
        close(fd[0]);
        execl(BENCH_SOURCE "/tools/postgres.sh", "postgres.sh", action, folder,
              (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    if (out) {
        n = read(fd[0], out, (size_t)size - 1);
        out[n > 0 ? n : 0] = 0;
        out[strcspn(out, "\n")] = 0;
    }
    close(fd[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void server_start(bench_server *s, int quick)
{
    const char *tmp = getenv("TMPDIR");
    int code;

    s->quick = quick;
    snprintf(s->folder, sizeof s->folder, "%.200s/spry-bench-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(s->folder))
        exit(1);
    code = script("start", s->folder, s->uri, sizeof s->uri);
    if (code == 77) {
        printf("left out: %s\n", s->uri);
        rmdir(s->folder);
        exit(0);
    }
    if (code != 0)
        exit(1);
}

void server_kill(const bench_server *s)
{
    script("kill", s->folder, NULL, 0);
    script("again", s->folder, NULL, 0);
}

void server_stop(const bench_server *s)
{
    script("stop", s->folder, NULL, 0);
}

/* ---- helpers ---- */

static const bench_server *running;

void must(spry_status s, const char *what)
{
    if (s == SPRY_OK)
        return;
    printf("%s: %s\n", what, spry_message());
    if (running)
        server_stop(running);
    exit(1);
}

static spry_status take_number(const sp_cell *cell, int count, void *payload)
{
    if (count > 0)
        *(double *)payload =
            cell->type == SP_CELL_REAL ? cell->real : (double)cell->integer;
    return SPRY_OK;
}

double ask_number(sp_postgres *c, const char *sql)
{
    double x = 0;

    must(sp_postgres_ask(c, sql, NULL, 0, take_number, &x, NULL), sql);
    return x;
}

/* ---- hostile jobs and roles ---- */

static void hostile_part(const bench_server *s)
{
    (void)s;

    FILE *f = popen(BENCH_SOURCE "/tests/cli/hostile_jobs", "r");
    char line[1024];
    int all = 0, refused = 0;
    spry_job job;

    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        all++;
        if (spry_job_parse(&job, line) == SPRY_USAGE && *spry_message())
            refused++;
        else
            printf("          taken: %s\n", line);
    }
    if (f)
        pclose(f);
    printf("hostile   %d of %d lines refused with a sentence\n", refused, all);
    bench_aim_least("fleet_hostile_refused", refused == all ? refused : 0, 50);
}

static void roles_part(const bench_server *s)
{
    sp_postgres *c = NULL;
    double open;

    must(sp_postgres_open(&c, s->uri), "roles");
    open = ask_number(
        c, "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid ="
           " c.relnamespace WHERE n.nspname = 'spry' AND c.relkind = 'r' AND"
           " has_table_privilege('spry_worker', c.oid,"
           " 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')");
    printf("roles     a worker may touch %g tables\n", open);
    bench_aim_most("fleet_worker_tables", open, 0);
    sp_postgres_close(c);
}

static const struct {
    const char *name;
    void (*run)(const bench_server *s);
} parts[] = {{"hostile", hostile_part},
             {"roles", roles_part},
             {"release", release_part},
             {"thousand", simulate_part},
             {"kills", kill_part}};
enum { PARTS = sizeof parts / sizeof *parts };

static int is_asked(const char *name, int argc, char **argv)
{
    int asked = argc < 2;

    for (int i = 1; i < argc; i++)
        asked |= !strcmp(argv[i], name);
    return asked;
}

int main(int argc, char **argv)
{
    spry_fleet_options o = SPRY_FLEET_DEFAULTS;
    bench_server s;
    int roles;

    setvbuf(stdout, NULL, _IOLBF, 0);
    server_start(&s, bench_quick());
    running = &s;
    o.lease = 2;
    o.tries = 100;
    must(spry_fleet_init(s.uri, &o, &roles), "init");
    for (int i = 0; i < PARTS; i++)
        if (is_asked(parts[i].name, argc, argv))
            parts[i].run(&s);
    server_stop(&s);
    return 0;
}
