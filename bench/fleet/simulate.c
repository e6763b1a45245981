/* simulate.c - what a thousand workers ask of the queue. */
#include <stdio.h>

#include "../contest/figures.h"
#include "crowd.h"
#include "fleet.h"

static crowd_tally run_crowd(const crowd_plan *plan)
{
    crowd_tally t = crowd_run(plan);

    if (t.status != SPRY_OK)
        printf("          a share failed: %s\n", t.why);
    return t;
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
    crowd_plan plan = {.uri = s->uri, .seconds = seconds};
    crowd_tally all;

    fill_queue(c, s->quick ? 120000 : 600000); /* more than can be done */
    before = ask_number(c, "SELECT pg_total_relation_size('spry.queue')");
    all = run_crowd(&plan);
    after = ask_number(c, "SELECT pg_total_relation_size('spry.queue')");
    printf("thousand  %d workers over %d connections, %g s: %.0f jobs a second "
           "(lease, two\n          signs of life, result); %.0f in the first "
           "quarter, %.0f in the last;\n          the queue's table grew by "
           "%.2f; %.0f dead rows are left of %.0f updates\n",
           (int)CROWD, (int)CROWD_CONNECTIONS, seconds,
           (double)all.taken / seconds, (double)all.first / quarter,
           (double)all.last / quarter, after / before,
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

/* All have a lease, all leases end at once, and as many others ask. */
static void storm_part(const bench_server *s, sp_postgres *c)
{
    crowd_plan plan = {.uri = s->uri, .seconds = 60, .silent = 1};
    crowd_tally gone, all;

    fill_queue(c, CROWD);
    gone = run_crowd(&plan);
    must(sp_postgres_run(c, "UPDATE spry.queue SET until = clock_timestamp()"),
         "leases");
    all = run_crowd(&plan);
    printf("storm     %.0f leases end at once: all are given out again after "
           "%.2f s, %.0f questions,\n          %.0f of them in vain\n",
           (double)gone.taken, all.seconds, (double)all.asked,
           (double)all.none);
    bench_aim_least("fleet_storm_leases", (double)all.taken, CROWD);
    bench_aim_most("fleet_storm_seconds", all.seconds, 5);
}

void simulate_part(const bench_server *s)
{
    sp_postgres *c = NULL;

    must(sp_postgres_open(&c, s->uri), "thousand");
    rate_part(s, c);
    storm_part(s, c);
    sp_postgres_close(c);
}
