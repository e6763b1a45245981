/* test_team.c - every share is computed once, however many there are, and the
 * next job begins only when all are done. */
#include "check.h"

#include <stdatomic.h>
#include <time.h>

#include "graph/team.h"

enum { MOST = 100, TURNS = 300 };

typedef struct {
    atomic_int done[MOST];
    atomic_int all;
    int slow; /* the share that takes long; -1: none */
} tally;

static void count(void *arg, int share)
{
    tally *t = arg;

    if (share == t->slow)
        nanosleep(&(struct timespec){0, 300000}, NULL);
    atomic_fetch_add(&t->done[share], 1);
    atomic_fetch_add(&t->all, 1);
}

static void run_turns(int threads, int slow)
{
    static const int counts[] = {1, 2, 3, 31, 32, 33, 64, 100};
    sp_team *team;

    check_ok(sp_team_open(&team, threads));
    for (int turn = 0; turn < TURNS; turn++) {
        int shares = counts[turn % 8];
        tally t = {.slow = slow < shares ? slow : -1};

        sp_team_run(team, count, &t, shares);
        assert_int_equal(atomic_load(&t.all), shares);
        for (int i = 0; i < shares; i++)
            assert_int_equal(atomic_load(&t.done[i]), 1);
        if (turn % 50 == 0) /* until all sleep */
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    sp_team_close(team);
}

static void once_each(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++)
        run_turns(threads, -1);
}

/* Those who wait for it sleep, the caller too. */
static void slow_share(void **state)
{
    (void)state;
    run_turns(2, 0);
    run_turns(3, 1);
}

static void never_used(void **state)
{
    sp_team *team;

    (void)state;
    check_ok(sp_team_open(&team, 4));
    sp_team_close(team);
    sp_team_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_each),
                                       cmocka_unit_test(slow_share),
                                       cmocka_unit_test(never_used)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
