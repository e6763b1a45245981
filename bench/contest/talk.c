/* talk.c - pipes to and from a process that was started for the purpose. */
#include "talk.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

extern char **environ;

static int spawn(bench_talk *t, char *const *argv, int in, int out, int quiet)
{
    posix_spawn_file_actions_t actions;
    int failed;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    failed = posix_spawn(&t->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return !failed;
}

static void hang_up(bench_talk *t)
{
    close(t->to);
    close(t->from);
}

int bench_talk_start(bench_talk *t, char *const *argv, int quiet)
{
    int to[2], from[2], started;

    t->pid = -1;
    if (pipe(to) != 0)
        return 0;
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        return 0;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    /* Another process that kept them would keep this one from ending. */
    (void)fcntl(to[1], F_SETFD, FD_CLOEXEC);
    (void)fcntl(from[0], F_SETFD, FD_CLOEXEC);
    started = spawn(t, argv, to[0], from[1], quiet);
    close(to[0]);
    close(from[1]);
    t->to = to[1];
    t->from = from[0];
    if (started)
        return 1;
    hang_up(t);
    t->pid = -1;
    return 0;
}

void bench_talk_end(bench_talk *t)
{
    if (t->pid > 0) {
        hang_up(t);
        (void)kill(t->pid, SIGKILL);
        (void)waitpid(t->pid, NULL, 0);
    }
    t->pid = -1;
}

void bench_talk_close(bench_talk *t)
{
    if (t->pid > 0) {
        hang_up(t);
        (void)waitpid(t->pid, NULL, 0);
    }
    t->pid = -1;
}

int bench_talk_say(bench_talk *t, const char *question)
{
    size_t n = strlen(question);

    if (t->pid > 0 && write(t->to, question, n) == (ssize_t)n)
        return 1;
    bench_talk_end(t);
    return 0;
}

int bench_talk_hear(bench_talk *t, char *line, size_t size, double seconds)
{
    double end = sp_seconds() + seconds;
    size_t n = 0;

    while (t->pid > 0 && n + 1 < size && sp_seconds() < end) {
        struct pollfd p = {.fd = t->from, .events = POLLIN};

        if (poll(&p, 1, 100) <= 0)
            continue;
        if (read(t->from, line + n, 1) != 1)
            break;
        if (line[n] == '\n') {
            line[n] = 0;
            return 1;
        }
        n++;
    }
    line[n] = 0;
    bench_talk_end(t);
    return 0;
}

int bench_talk_ask(bench_talk *t, const char *question, char *answer,
                   size_t size, double seconds)
{
    return bench_talk_say(t, question) &&
           bench_talk_hear(t, answer, size, seconds);
}
