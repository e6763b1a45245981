/* stop.c - Ctrl-C once asks, twice ends.
 *
 * What is measured stays in the store either way: every record is committed
 * before the next begins. */
#include "cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void on_signal(int signal_number)
{
    int code = 128 + signal_number;

    if (asked)
        _exit(code);
    asked = code;
}

void stop_watch(void)
{
    struct sigaction a;

    memset(&a, 0, sizeof a);
    a.sa_handler = on_signal;
    a.sa_flags = SA_RESTART;
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

int stop_asked(void)
{
    return asked;
}
