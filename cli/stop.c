/* stop.c - Ctrl-C once asks, twice ends.
 *
 * What is measured stays in the store either way: every record is committed
 * before the next begins. */
#include "cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked, patience;

static void on_signal(int signal_number)
{
    int code = 128 + signal_number;

    if (asked)
        _exit(code);
    asked = code;
    if (patience)
        alarm((unsigned)patience);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    _exit(asked);
}

static void listen_to(int signal_number, void (*handler)(int))
{
    struct sigaction a;

    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    a.sa_flags = SA_RESTART;
    sigemptyset(&a.sa_mask);
    sigaction(signal_number, &a, NULL);
}

void stop_watch(void)
{
    listen_to(SIGINT, on_signal);
    listen_to(SIGTERM, on_signal);
}

void stop_within(int seconds)
{
    patience = seconds;
    listen_to(SIGALRM, on_alarm);
    stop_watch();
    if (asked) /* a moment ago */
        alarm((unsigned)seconds);
}

int stop_asked(void)
{
    return asked;
}
