/* simulate.c - a thousand workers over a few connections: what the queue is
 * asked to do is real, the measuring takes no time. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "../contest/figures.h"
#include "fleet.h"

enum { CONNECTIONS = 16, WORKERS = 1008, EACH = WORKERS / CONNECTIONS };

typedef struct {
    const char *uri;
    double seconds;
    int64_t worker; /* the first of EACH */
    int64_t taken, asked, first, last;
    double begun;
    double done_at;
    int storm; /* take one job each, then stop */
    spry_status s;
} share;

/* One job of a simulated worker: lease, two signs of life, result. */
static spry_status one_job(share *x, sp_postgres *c, int64_t worker)
{
    sp_lease l;
    int ours;
    spry_status s = sp_queue_take(c, &l, worker, "0000000000000002");

    x->asked++;
    if (s != SPRY_OK || !l.id)
        return s;
    x->taken++;
    if (x->storm)
        return s;
    for (int i = 0; s == SPRY_OK && i < 2; i++)
        s = sp_queue_beat(c, worker, &l, &ours);
    if (s == SPRY_OK)
        s = sp_queue_finish(c, worker, &l, NULL, 0, &ours, NULL);
    return s;
}

static void *run_share(void *payload)
{
    share *x = payload;
    sp_postgres *c = NULL;
    double part = 0;

    x->s = sp_postgres_open(&c, x->uri);
    x->begun = sp_seconds();
    for (int i = 0; x->s == SPRY_OK && part < 1; i++) {
        int64_t before = x->taken;

        x->s = one_job(x, c, x->worker + i % EACH);
        part = (sp_seconds() - x->begun) / x->seconds;
        if (part < 0.25)
            x->first += x->taken - before;
        else if (part > 0.75)
            x->last += x->taken - before;
        if (x->storm && x->taken == EACH)
            break;
    }
    x->done_at = sp_seconds();
    sp_postgres_close(c);
    return NULL;
}

/* All shares at once; the sum of what they did. */
static share run_all(const bench_server *s, sp_postgres *c, double seconds,
                     int storm)
{
    pthread_t thread[CONNECTIONS];
    share part[CONNECTIONS], sum = {0};
    char sql[256];
    int64_t first;

    snprintf(sql, sizeof sql,
             "INSERT INTO spry.worker(name, machine, version) SELECT"
             " 'simulated', '0000000000000002', '' FROM generate_series(1, %d)",
             (int)WORKERS);
    must(sp_postgres_run(c, sql), "workers");
    first =
        (int64_t)ask_number(c, "SELECT max(id) FROM spry.worker") - WORKERS + 1;
    for (int i = 0; i < CONNECTIONS; i++) {
        part[i] = (share){.uri = s->uri,
                          .seconds = seconds,
                          .worker = first + (int64_t)i * EACH,
                          .storm = storm};
        pthread_create(&thread[i], NULL, run_share, &part[i]);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        pthread_join(thread[i], NULL);
        if (part[i].s != SPRY_OK)
            printf("          a share failed: %s\n",
                   spry_status_name(part[i].s));
        sum.taken += part[i].taken;
        sum.asked += part[i].asked;
        sum.first += part[i].first;
        sum.last += part[i].last;
        sum.done_at =
            part[i].done_at > sum.done_at ? part[i].done_at : sum.done_at;
    }
    return sum;
}

static void fill_queue(sp_postgres *c, int jobs)
{
    char sql[256];

    must(sp_postgres_run(c, "TRUNCATE spry.job, spry.queue, spry.outcome,"
                            " spry.late"),
         "empty");
    snprintf(sql, sizeof sql,
             "INSERT INTO spry.job(work, machine) SELECT 'survey %d ' || i, ''"
             " FROM generate_series(1, %d) i",
             jobs, jobs);
    must(sp_postgres_run(c, sql), "jobs");
    must(sp_postgres_run(c, "INSERT INTO spry.queue(id, machine, priority)"
                            " SELECT id, '', 0 FROM spry.job"),
         "queue");
    must(sp_postgres_run(c, "ANALYZE spry.queue, spry.job"), "analyze");
}

static void rate_part(const bench_server *s, sp_postgres *c)
{
    double seconds = s->quick ? 10 : 60, quarter = seconds / 4, before, after;
    share all;

    fill_queue(c, s->quick ? 120000 : 600000); /* more than can be done */
    before = ask_number(c, "SELECT pg_total_relation_size('spry.queue')");
    all = run_all(s, c, seconds, 0);
    after = ask_number(c, "SELECT pg_total_relation_size('spry.queue')");
    printf("thousand  %d workers over %d connections, %g s: %.0f jobs a second "
           "(lease, two\n          signs of life, result); %.0f in the first "
           "quarter, %.0f in the last;\n          the queue's table grew by "
           "%.2f; %.0f dead rows are left of %.0f updates\n",
           (int)WORKERS, (int)CONNECTIONS, seconds, (double)all.taken / seconds,
           (double)all.first / quarter, (double)all.last / quarter,
           after / before,
           ask_number(c, "SELECT n_dead_tup FROM pg_stat_user_tables WHERE"
                         " relname = 'queue'"),
           ask_number(c, "SELECT n_tup_upd FROM pg_stat_user_tables WHERE"
                         " relname = 'queue'"));
    if (ask_number(c, "SELECT count(*) FROM spry.queue WHERE state = 0") == 0)
        printf(
            "          the queue ran empty: the last quarter says nothing\n");
    bench_aim_least("fleet_rate", (double)all.taken / seconds, 200);
    bench_aim_least("fleet_rate_kept", (double)all.last / (double)all.first,
                    0.8);
    bench_aim_most("fleet_queue_growth", after / before, 2);
}

/* All have a lease, all leases end at once, and all ask for another job. */
static void storm_part(const bench_server *s, sp_postgres *c)
{
    double begun;
    share all;

    fill_queue(c, WORKERS);
    must(sp_postgres_run(c, "UPDATE spry.queue SET state = 1, tries = 1,"
                            " token = nextval('spry.token'),"
                            " until = clock_timestamp()"),
         "leases");
    begun = sp_seconds();
    all = run_all(s, c, 20, 1);
    printf("storm     %d leases end at once: all are given out again after "
           "%.2f s, %.0f questions\n",
           (int)WORKERS, all.done_at - begun, (double)all.asked);
    bench_aim_least("fleet_storm_leases", (double)all.taken, WORKERS);
    bench_aim_most("fleet_storm_seconds", all.done_at - begun, 5);
}

void simulate_part(const bench_server *s)
{
    sp_postgres *c = NULL;

    must(sp_postgres_open(&c, s->uri), "thousand");
    rate_part(s, c);
    storm_part(s, c);
    sp_postgres_close(c);
}
