/* team.c - threads that wait for shares of work. */
#include "graph/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define LOOK_OUT 50e-6 /* seconds before a thread goes to sleep */

struct sp_team {
    int threads;
    pthread_t *thread; /* [threads - 1] */
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    atomic_uint turn;   /* jobs begun */
    atomic_int working; /* threads not yet done with this one */
    atomic_int asleep;  /* threads, and whether the caller is */
    atomic_int waiting;
    atomic_int closing;
    atomic_int next; /* who a new thread is */
    sp_job *job;
    void *arg;
    int count;
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void work(sp_team *t, int me)
{
    for (int i = me; i < t->count; i += t->threads)
        t->job(t->arg, i);
}

/* The turn after `last`. */
static unsigned await_turn(sp_team *t, unsigned last)
{
    double until = sp_seconds() + LOOK_OUT;
    unsigned turn;

    for (int i = 1; (turn = atomic_load(&t->turn)) == last; i++) {
        pause_briefly();
        if (i % 64 || sp_seconds() < until)
            continue;
        pthread_mutex_lock(&t->lock);
        atomic_fetch_add(&t->asleep, 1);
        while ((turn = atomic_load(&t->turn)) == last)
            pthread_cond_wait(&t->begin, &t->lock);
        atomic_fetch_sub(&t->asleep, 1);
        pthread_mutex_unlock(&t->lock);
        break;
    }
    return turn;
}

static void done(sp_team *t)
{
    if (atomic_fetch_sub(&t->working, 1) == 1 && atomic_load(&t->waiting)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_signal(&t->end);
        pthread_mutex_unlock(&t->lock);
    }
}

static void *live(void *arg)
{
    sp_team *t = arg;
    int me = atomic_fetch_add(&t->next, 1);
    unsigned turn = 0;

    for (;;) {
        turn = await_turn(t, turn);
        if (atomic_load(&t->closing))
            return NULL;
        work(t, me);
        done(t);
    }
}

static void begin_turn(sp_team *t)
{
    atomic_fetch_add(&t->turn, 1);
    if (atomic_load(&t->asleep)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->begin);
        pthread_mutex_unlock(&t->lock);
    }
}

static void await_end(sp_team *t)
{
    double until = sp_seconds() + LOOK_OUT;

    for (int i = 1; atomic_load(&t->working) > 0; i++) {
        pause_briefly();
        if (i % 64 || sp_seconds() < until)
            continue;
        pthread_mutex_lock(&t->lock);
        atomic_store(&t->waiting, 1);
        while (atomic_load(&t->working) > 0)
            pthread_cond_wait(&t->end, &t->lock);
        atomic_store(&t->waiting, 0);
        pthread_mutex_unlock(&t->lock);
    }
}

void sp_team_run(sp_team *t, sp_job *job, void *arg, int count)
{
    if (count <= 1 || t->threads == 1) {
        for (int i = 0; i < count; i++)
            job(arg, i);
        return;
    }
    t->job = job;
    t->arg = arg;
    t->count = count;
    atomic_store(&t->working, t->threads - 1);
    begin_turn(t);
    work(t, 0);
    await_end(t);
}

spry_status sp_team_open(sp_team **out, int threads)
{
    sp_team *t = sp_alloc(1, sizeof *t);
    int started = 1;

    *out = NULL;
    if (!t)
        return sp_fail_memory(sizeof *t);
    t->thread = sp_alloc(threads, sizeof *t->thread);
    if (!t->thread) {
        sp_free(t);
        return sp_fail_memory((size_t)threads * sizeof *t->thread);
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begin, NULL);
    pthread_cond_init(&t->end, NULL);
    atomic_store(&t->next, 1);
    t->threads = threads;
    while (started < threads &&
           pthread_create(&t->thread[started - 1], NULL, live, t) == 0)
        started++;
    t->threads = started; /* nobody works before the first turn */
    *out = t;
    return SPRY_OK;
}

void sp_team_close(sp_team *t)
{
    if (!t)
        return;
    atomic_store(&t->closing, 1);
    begin_turn(t);
    for (int i = 1; i < t->threads; i++)
        pthread_join(t->thread[i - 1], NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->begin);
    pthread_cond_destroy(&t->end);
    sp_free(t->thread);
    sp_free(t);
}

/* ---- forks ---- */

static atomic_uint forks;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

unsigned sp_team_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    return atomic_load(&forks);
}

void sp_team_forget(sp_team *t)
{
    if (t)
        sp_free(t->thread);
    sp_free(t);
}
