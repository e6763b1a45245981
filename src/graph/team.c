/* team.c - threads that wait for shares of work.
 *
 * A share is whose who claims it first: each thread its own if it is free,
 * then what others have not begun. So a thread that sleeps, or whose core has
 * other work, is not waited for; the caller computes its share instead. Who is
 * stopped in the middle of one must be waited for: when that cost more than
 * the others won, the caller works alone for a while. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getcpu, CPU_CLR */
#endif
#include "graph/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define LOOK_OUT 50e-6 /* seconds before a thread goes to sleep */

/* What a job is, and what of it nobody has claimed: one word, so that a thread
 * that comes late claims nothing of a job it does not know. The upper half is
 * the job's number; the lower has a bit for each free share, or, if they are
 * more than bits (COUNTED), how many are free. */
enum { BITS = 32 };
#define FREE    (((uint64_t)1 << BITS) - 1)
#define COUNTED ((uint64_t)1 << 63)

/* Seconds: lost in all before the caller works alone; for how long, at first
 * and at most. */
#define LOST          0.3e-3
#define ALONE         5e-3
#define ALONE_AT_MOST 0.3

struct sp_team {
    _Alignas(64) atomic_uint_fast64_t turn;
    _Alignas(64) atomic_int open;   /* shares that are not done */
    atomic_int waiting;             /* is the caller asleep? */
    _Alignas(64) atomic_int asleep; /* is some thread? */
    atomic_int closing;
    atomic_int next; /* who a new thread is */
    atomic_int core; /* the caller's, of this turn; -1: not known */
    int threads;
    sp_job *job; /* these two do not change while a share is open */
    void *arg;
    /* Seconds won by the others, lately and since the caller was alone; until
     * when it is alone, and for how long the next time. */
    double won, won_since, alone_until, alone;
    pthread_t *thread; /* [threads - 1] */
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t number_of(uint64_t turn)
{
    return turn & ~FREE;
}

/* The word of the next job. */
static uint64_t turn_after(uint64_t turn, int count)
{
    uint64_t number = (number_of(turn) + FREE + 1) & ~COUNTED;

    return count > BITS ? number | COUNTED | (uint64_t)count
                        : number | (((uint64_t)1 << count) - 1);
}

/* A share that is mine now, my own if it is free; -1: all are claimed. */
static int claim(sp_team *t, int me, uint64_t number)
{
    uint_fast64_t turn = atomic_load(&t->turn), next;
    uint64_t mine = me < BITS ? (uint64_t)1 << me : 0, left, bit;

    do {
        left = turn & FREE;
        if (number_of(turn) != number || !left)
            return -1;
        bit = left & mine ? mine : left & (~left + 1);
        next = turn & COUNTED ? turn - 1 : turn & ~bit;
    } while (!atomic_compare_exchange_weak(&t->turn, &turn, next));
    return number & COUNTED ? (int)left - 1 : __builtin_ctzll(bit);
}

static void finish_share(sp_team *t)
{
    if (atomic_fetch_sub(&t->open, 1) == 1 && atomic_load(&t->waiting)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_signal(&t->end);
        pthread_mutex_unlock(&t->lock);
    }
}

/* How many shares were mine? */
static int work(sp_team *t, int me, uint64_t number)
{
    int i, mine = 0;

    while ((i = claim(t, me, number)) >= 0) {
        t->job(t->arg, i);
        finish_share(t);
        mine++;
    }
    return mine;
}

/* The number of the job after `last`. */
static uint64_t await_turn(sp_team *t, uint64_t last)
{
    double until = sp_seconds() + LOOK_OUT;
    uint64_t now;

    for (int i = 1; (now = number_of(atomic_load(&t->turn))) == last; i++) {
        pause_briefly();
        if (i % 64 || sp_seconds() < until)
            continue;
        pthread_mutex_lock(&t->lock);
        atomic_store(&t->asleep, 1);
        while ((now = number_of(atomic_load(&t->turn))) == last) {
            pthread_cond_wait(&t->begin, &t->lock);
            atomic_store(&t->asleep, 1);
        }
        pthread_mutex_unlock(&t->lock);
        break;
    }
    return now;
}

/* ---- where threads run ----
 *
 * A system with other work may wake a thread on the core of the caller that
 * waits for it: both then share one core and wait for each other. Such a
 * thread goes to any other core that it may use. */

#ifdef __linux__
typedef cpu_set_t core_set;

static int core_now(void)
{
    return sched_getcpu();
}

static void cores_allowed(core_set *out)
{
    if (sched_getaffinity(0, sizeof *out, out) != 0)
        CPU_ZERO(out);
}

static void leave_core(int core, const core_set *may)
{
    core_set others = *may;

    if (core < 0 || core >= CPU_SETSIZE || core != core_now())
        return;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) > 0)
        (void)sched_setaffinity(0, sizeof others, &others);
}
#else
typedef int core_set;

static int core_now(void)
{
    return -1;
}

static void cores_allowed(core_set *out)
{
    *out = 0;
}

static void leave_core(int core, const core_set *may)
{
    (void)core;
    (void)may;
}
#endif

static void *live(void *arg)
{
    sp_team *t = arg;
    core_set may;
    int me = atomic_fetch_add(&t->next, 1);
    uint64_t number = 0;

    cores_allowed(&may);
    for (;;) {
        number = await_turn(t, number);
        if (atomic_load(&t->closing))
            return NULL;
        leave_core(atomic_load(&t->core), &may);
        (void)work(t, me, number);
    }
}

static void begin_turn(sp_team *t, uint64_t turn)
{
    atomic_store(&t->turn, turn);
    if (atomic_exchange(&t->asleep, 0)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->begin);
        pthread_mutex_unlock(&t->lock);
    }
}

static void await_end(sp_team *t)
{
    double until = sp_seconds() + LOOK_OUT;

    for (int i = 1; atomic_load(&t->open) > 0; i++) {
        pause_briefly();
        if (i % 64 || sp_seconds() < until)
            continue;
        pthread_mutex_lock(&t->lock);
        atomic_store(&t->waiting, 1);
        while (atomic_load(&t->open) > 0)
            pthread_cond_wait(&t->end, &t->lock);
        atomic_store(&t->waiting, 0);
        pthread_mutex_unlock(&t->lock);
    }
}

/* Did the others win time? They computed `others` shares, each of which takes
 * the caller so many seconds, and were waited for. */
static void judge(sp_team *t, int others, double each, double waited)
{
    double won = others * each - waited;

    t->won = t->won + won < LOST ? t->won + won : LOST;
    t->won_since += won;
    if (t->won_since > 10 * t->alone)
        t->alone = ALONE;
    if (t->won > -LOST)
        return;
    t->alone_until = sp_seconds() + t->alone;
    t->alone = 2 * t->alone < ALONE_AT_MOST ? 2 * t->alone : ALONE_AT_MOST;
    t->won = t->won_since = 0;
}

void sp_team_run(sp_team *t, sp_job *job, void *arg, int count)
{
    uint64_t turn = turn_after(atomic_load(&t->turn), count);
    double begun = count > 1 && t->threads > 1 ? sp_seconds() : 0, worked;
    int mine;

    if (count <= 1 || t->threads == 1 || begun < t->alone_until) {
        for (int i = 0; i < count; i++)
            job(arg, i);
        return;
    }
    t->job = job;
    t->arg = arg;
    atomic_store(&t->open, count);
    atomic_store_explicit(&t->core, core_now(), memory_order_relaxed);
    begin_turn(t, turn);
    mine = work(t, 0, number_of(turn));
    worked = sp_seconds();
    await_end(t);
    judge(t, count - mine, mine ? (worked - begun) / mine : 0,
          sp_seconds() - worked);
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
    t->alone = ALONE;
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
    begin_turn(t, turn_after(atomic_load(&t->turn), 0));
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
