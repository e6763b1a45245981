/* crowd.c - a thousand workers over a few connections. */
#include "crowd.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static const char MACHINE[] = "0000000000000002";
enum { EACH = CROWD / CROWD_CONNECTIONS, BEATS = 2 };

typedef struct {
    sp_enrolled who;
    sp_lease lease; /* id 0: none */
    int beats;
    double due; /* when it acts next */
} member;

/* What goes over one connection. */
typedef struct {
    const crowd_plan *plan;
    atomic_llong *done; /* of all */
    sp_postgres *c;
    member member[EACH];
    crowd_tally tally;
    sp_rng rng;
    double begun;
} share;

static double part_of(const share *x)
{
    return (sp_seconds() - x->begun) / x->plan->seconds;
}

static int is_over(const share *x)
{
    return part_of(x) >= 1 ||
           (x->plan->jobs > 0 && atomic_load(x->done) >= x->plan->jobs) ||
           (x->plan->silent && x->tally.taken == EACH);
}

static spry_status take(share *x, member *m)
{
    spry_status s = sp_queue_take(x->c, &m->lease, &m->who, MACHINE);
    double part = part_of(x);

    x->tally.asked++;
    m->beats = 0;
    m->due = sp_seconds();
    if (!m->lease.id) {
        x->tally.none++;
        m->due += m->lease.pause * (0.5 + sp_rng_unit(&x->rng));
        return s;
    }
    x->tally.taken++;
    x->tally.first += part < 0.25;
    x->tally.last += part > 0.75;
    if (x->plan->silent)
        m->due = HUGE_VAL;
    return s;
}

/* A sign of life, or the end of the job. */
static spry_status go_on(share *x, member *m)
{
    int ours = 0;
    spry_status s;

    m->due = sp_seconds();
    if (m->beats++ < BEATS) {
        s = sp_queue_beat(x->c, &m->who, &m->lease, &ours);
    } else {
        s = sp_queue_finish(x->c, &m->who, &m->lease, NULL, 0, &ours, NULL);
        m->lease.id = 0;
        x->tally.done += ours;
        atomic_fetch_add(x->done, ours);
    }
    if (!ours)
        m->lease.id = 0;
    x->tally.lost += !ours;
    return s;
}

static void wait_for(double due, double end)
{
    double rest = (due < end ? due : end) - sp_seconds();
    struct timespec t = {0, 20000000};

    if (rest > 0 && rest < 0.02)
        t.tv_nsec = (long)(1e9 * rest);
    if (rest > 0)
        nanosleep(&t, NULL);
}

static spry_status enroll(share *x)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < EACH; i++)
        s = sp_queue_enroll(x->c, &x->member[i].who, "simulated", MACHINE);
    return s;
}

static void *run_share(void *payload)
{
    share *x = payload;
    spry_status s = sp_postgres_open(&x->c, x->plan->uri);

    if (s == SPRY_OK)
        s = enroll(x);
    x->begun = sp_seconds();
    while (s == SPRY_OK && !is_over(x)) {
        member *next = &x->member[0];

        for (int i = 1; i < EACH; i++)
            if (x->member[i].due < next->due)
                next = &x->member[i];
        if (next->due > sp_seconds())
            wait_for(next->due, x->begun + x->plan->seconds);
        else
            s = next->lease.id ? go_on(x, next) : take(x, next);
    }
    x->tally.seconds = sp_seconds() - x->begun;
    x->tally.status = s;
    if (s != SPRY_OK)
        snprintf(x->tally.why, sizeof x->tally.why, "%s", spry_message());
    sp_postgres_close(x->c);
    return NULL;
}

static void add(crowd_tally *sum, const crowd_tally *t)
{
    sum->taken += t->taken;
    sum->done += t->done;
    sum->asked += t->asked;
    sum->none += t->none;
    sum->lost += t->lost;
    sum->first += t->first;
    sum->last += t->last;
    sum->seconds = fmax(sum->seconds, t->seconds);
    if (sum->status == SPRY_OK && t->status != SPRY_OK) {
        sum->status = t->status;
        snprintf(sum->why, sizeof sum->why, "%s", t->why);
    }
}

crowd_tally crowd_run(const crowd_plan *plan)
{
    pthread_t thread[CROWD_CONNECTIONS];
    share *x = sp_alloc(CROWD_CONNECTIONS, sizeof *x);
    crowd_tally sum = {0};
    atomic_llong done = 0;
    int started = 0;

    if (!x) {
        sum.status = sp_fail_memory(sizeof *x);
        return sum;
    }
    for (int i = 0; i < CROWD_CONNECTIONS; i++) {
        x[i].plan = plan;
        x[i].done = &done;
        x[i].rng = sp_rng_seed((uint64_t)i + 1);
        if (pthread_create(&thread[i], NULL, run_share, &x[i]) != 0)
            break;
        started++;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
        add(&sum, &x[i].tally);
    }
    if (started < CROWD_CONNECTIONS)
        sum.status = SPRY_SYSTEM;
    sp_free(x);
    return sum;
}
