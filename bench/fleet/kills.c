/* kills.c - workers and the server end at random moments; every job is done
 * once. And how soon the job of one that is gone is another's. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../contest/figures.h"
#include "fleet.h"
#include "spry/machine.h"

enum { WORKERS = 6 };

static void rest(double seconds)
{
    struct timespec t = {(time_t)seconds,
                         (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&t, NULL);
}

/* A worker as `spry fleet work` is one, on a machine of its own name. */
static pid_t start_worker(const bench_server *s, int number)
{
    spry_fleet_work_options o = SPRY_FLEET_WORK_DEFAULTS;
    spry_fleet_worked w = {.size = sizeof w};
    spry_fleet *f = NULL;
    spry_machine m;
    pid_t child = fork();

    if (child != 0)
        return child;
    if (spry_machine_detect(&m) != SPRY_OK)
        _exit(1);
    snprintf(m.fingerprint, sizeof m.fingerprint, "%016x", (unsigned)number);
    o.machine = &m;
    o.idle_exit = 1;
    while (spry_fleet_open(&f, s->uri) != SPRY_OK)
        rest(0.1); /* the server is away */
    _exit(spry_fleet_work(&w, f, &o) == SPRY_OK ? 0 : 1);
}

static void submit(const bench_server *s, int jobs)
{
    spry_fleet *f = NULL;
    spry_job job;

    must(spry_fleet_open(&f, s->uri), "submit");
    for (int i = 0; i < jobs; i++) {
        char text[128];
        int64_t id;
        int added;

        snprintf(text, sizeof text,
                 "survey matrix=gen:uniform,rows=40,nnz=60#%d op=spmv", i);
        must(spry_job_parse(&job, text), text);
        must(spry_fleet_submit(f, &job, 0, NULL, &id, &added), text);
    }
    spry_fleet_close(f);
}

typedef struct {
    pid_t worker[WORKERS];
    int killed, servers;
    int exits; /* of workers by themselves, before all was done */
    sp_rng rng;
} fight;

static void replace_dead(fight *x, const bench_server *s, int open)
{
    for (int i = 0; i < WORKERS; i++)
        if (x->worker[i] > 0 && waitpid(x->worker[i], NULL, WNOHANG) > 0) {
            x->exits += open;
            x->worker[i] = open ? start_worker(s, i) : 0;
        }
}

static void kill_one(fight *x, const bench_server *s)
{
    int i = (int)sp_rng_below(&x->rng, WORKERS);

    if (x->worker[i] <= 0)
        return;
    kill(x->worker[i], SIGKILL);
    waitpid(x->worker[i], NULL, 0);
    x->killed++;
    x->worker[i] = start_worker(s, i);
}

/* ---- what ended, and how often ---- */

/* Every end of a job that is committed leaves a row of its own, whatever the
 * queue itself believes: what is stored twice has the same ids. */
static void watch_ends(sp_postgres *c)
{
    must(sp_postgres_run(
             c, "DROP SCHEMA IF EXISTS watch CASCADE; CREATE SCHEMA watch;"
                "CREATE TABLE watch.ended(job bigint, token bigint);"
                "CREATE FUNCTION watch.note() RETURNS trigger LANGUAGE plpgsql"
                " AS $$ BEGIN INSERT INTO watch.ended VALUES (new.id,"
                " new.token); RETURN NULL; END $$;"
                "CREATE TRIGGER ended AFTER UPDATE ON spry.queue FOR EACH ROW"
                " WHEN (new.state = 2) EXECUTE FUNCTION watch.note()"),
         "watch");
}

static double ended_again(sp_postgres *c)
{
    return ask_number(c, "SELECT count(*) - count(DISTINCT job) FROM"
                         " watch.ended");
}

/* It would have seen it: one job ends once more. */
static void check_watch(sp_postgres *c)
{
    double before = ended_again(c);

    must(sp_postgres_run(c, "UPDATE spry.queue SET state = 2 WHERE id ="
                            " (SELECT min(job) FROM watch.ended)"),
         "once more");
    bench_aim_least("fleet_double_is_seen", ended_again(c) - before, 1);
}

static void report(sp_postgres *c, const fight *x, int jobs, int servers,
                   double seconds)
{
    double done = ask_number(c, "SELECT count(*) FROM spry.outcome o JOIN"
                                " spry.job j ON j.id = o.job WHERE o.done AND"
                                " j.work LIKE 'survey matrix=gen:uniform%'");
    double failed = ask_number(c, "SELECT count(*) FROM spry.outcome"
                                  " WHERE NOT done");
    double kept = ask_number(c, "SELECT count(*) FROM spry.problem"
                                " WHERE source LIKE 'gen:uniform%'");
    double twice = ended_again(c);
    double again = ask_number(c, "SELECT count(*) FROM spry.queue q JOIN"
                                 " spry.job j ON j.id = q.id WHERE q.tries > 1"
                                 " AND j.work LIKE 'survey%'");
    double late = ask_number(c, "SELECT count(*) FROM spry.late");

    printf("kills     %d jobs, %d workers killed %d times, server %d times: "
           "%.0f done, %.0f failed,\n          %.0f given out again, %.0f late "
           "results refused; %.0f s, %.0f jobs a second\n",
           jobs, WORKERS, x->killed, x->servers, done, failed, again, late,
           seconds, jobs / seconds);
    bench_aim_most("fleet_jobs_lost", jobs - kept, 0);
    bench_aim_most("fleet_jobs_unfinished", jobs - done, 0);
    bench_aim_most("fleet_jobs_double", twice, 0);
    bench_aim_least("fleet_kills_of_workers", x->killed, jobs / 100.0);
    bench_aim_least("fleet_kills_of_server", x->servers, servers);
    bench_aim_least("fleet_given_again", again, 1);
    check_watch(c);
}

void kill_part(const bench_server *s)
{
    int jobs = s->quick ? 1000 : 10000, kills = jobs / 100;
    int servers = s->quick ? 1 : 5;
    fight x = {.rng = sp_rng_seed(1)};
    sp_postgres *c = NULL;
    double begun, open = jobs;

    must(sp_postgres_open(&c, s->uri), "kills");
    must(sp_postgres_run(c, "TRUNCATE spry.job, spry.queue, spry.outcome,"
                            " spry.late, spry.problem"),
         "empty");
    submit(s, jobs);
    watch_ends(c);
    begun = sp_seconds();
    for (int i = 0; i < WORKERS; i++)
        x.worker[i] = start_worker(s, i);
    /* A kill for every hundredth of the jobs that is done, until all are. */
    while (open > 0 && sp_seconds() - begun < 1000) {
        double part = 1 - open / jobs;

        rest(0.05);
        while (x.killed < kills && x.killed < part * kills + 1)
            kill_one(&x, s);
        if (x.servers < servers && part * (servers + 1) > x.servers + 1) {
            server_kill(s);
            x.servers++;
        }
        open = ask_number(c, "SELECT count(*) FROM spry.queue WHERE state < 2");
        replace_dead(&x, s, open > 0);
    }
    for (int i = 0; i < WORKERS; i++)
        if (x.worker[i] > 0) {
            kill(x.worker[i], SIGTERM);
            waitpid(x.worker[i], NULL, 0);
        }
    report(c, &x, jobs, servers, sp_seconds() - begun);
    sp_postgres_close(c);
}

/* ---- release ---- */

/* One takes all jobs and is never heard of again; another asks as workers do.
 */
void release_part(const bench_server *s)
{
    int jobs = s->quick ? 5 : 20;
    double worst = 0, lease = 0, taken[64] = {0};
    sp_postgres *a = NULL, *b = NULL;
    sp_enrolled gone, there;
    int64_t id[64] = {0};
    sp_lease l;

    must(sp_postgres_open(&a, s->uri), "release");
    must(sp_postgres_open(&b, s->uri), "release");
    must(sp_queue_enroll(a, &gone, "gone", "0000000000000001"), "enroll");
    must(sp_queue_enroll(b, &there, "there", "0000000000000001"), "enroll");
    must(sp_postgres_run(
             a, "SELECT spry.submit('survey matrix=gen:arrow,rows=' || i || "
                "'#1', 0, '') FROM generate_series(10, 64) i"),
         "jobs");
    must(sp_postgres_run(b, "UPDATE spry.queue SET machine = 'nobody' WHERE id"
                            " NOT IN (SELECT id FROM spry.queue ORDER BY id"
                            " LIMIT 20)"),
         "jobs");
    for (int i = 0; i < jobs; i++) {
        must(sp_queue_take(a, &l, &gone, "0000000000000001"), "take");
        id[i] = l.id;
        taken[i] = sp_seconds();
        lease = l.lease;
        rest(0.037); /* not all at once */
    }
    must(sp_postgres_run(b, "UPDATE spry.queue SET machine = 'nobody'"
                            " WHERE state = 0"),
         "jobs");
    for (int got = 0; got < jobs;) {
        must(sp_queue_take(b, &l, &there, "0000000000000001"), "take");
        for (int i = 0; l.id && i < jobs; i++)
            if (id[i] == l.id) {
                double over = sp_seconds() - taken[i] - lease;

                worst = over > worst ? over : worst;
                got++;
            }
        if (!l.id)
            rest(1.5 * l.pause); /* the longest a worker waits */
    }
    printf("release   %d jobs of a worker that is gone: another has them %.2f "
           "s after the lease of %g s at the latest\n",
           jobs, worst, lease);
    bench_aim_most("fleet_release_seconds", worst, 1);
    sp_postgres_close(a);
    sp_postgres_close(b);
}
