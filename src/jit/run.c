/* run.c - a program and its arguments to its exit code and what it said.
 *
 * No shell ever sees the arguments. The child leads a process group, so that
 * a compiler that hangs is ended together with the passes it started. */
#define _GNU_SOURCE /* pipe2, environ */
#include "base/unconst.h"
#include "jit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAID_MAX = 16 << 10, TICK_MS = 20 };

/* Variables that change what a compiler makes of the same text; the key of a
 * kernel would not know of them. TMPDIR and LC_ALL are ours to set. */
static const char *const dropped[] = {
    "CPATH=",  "C_INCLUDE_PATH=",      "GCC_COMPARE_DEBUG=",
    "LC_ALL=", "DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES=",
    "TMPDIR=",
};

static int is_dropped(const char *entry)
{
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (strncmp(entry, dropped[i], strlen(dropped[i])) == 0)
            return 1;
    return 0;
}

/* Our environment, cleaned; entries are borrowed. NULL without memory. */
static const char **child_environment(const char *tmpdir)
{
    int64_t count = 0, n = 0;
    const char **env;

    while (environ && environ[count])
        count++;
    env = sp_alloc(count + 3, sizeof *env);
    if (!env)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        if (!is_dropped(environ[i]))
            env[n++] = environ[i];
    env[n++] = "LC_ALL=C"; /* "error:" is what compile.c looks for */
    if (tmpdir[0])
        env[n++] = tmpdir;
    return env;
}

/* Signals as a fresh program expects them, whatever our host did; a group of
 * its own, or ours. */
static void child_attributes(posix_spawnattr_t *attr, short group)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF | group);
}

/* Start it with an empty stdin and both outputs into `out`. 0 or errno. */
static int start_in(short group, pid_t *pid, const char *const argv[],
                    const char **env, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int failed = posix_spawn_file_actions_init(&files);

    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attr);
    if (!failed) {
        child_attributes(&attr, group);
        failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null",
                                                  O_RDONLY, 0);
        if (!failed)
            failed = posix_spawn_file_actions_adddup2(&files, out, 1);
        if (!failed)
            failed = posix_spawn_file_actions_adddup2(&files, out, 2);
        if (!failed) /* the prototype lacks const, the promise does not */
            failed = posix_spawn(pid, argv[0], &files, &attr, sp_unconst(argv),
                                 sp_unconst(env));
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* In a group of its own, so that all of it can be ended at once. A candidate on
 * trial may not make one; what it starts ends with the trial. */
static int start(pid_t *pid, const char *const argv[], const char **env,
                 int out)
{
    int failed = start_in(POSIX_SPAWN_SETPGROUP, pid, argv, env, out);

    return failed == EPERM ? start_in(0, pid, argv, env, out) : failed;
}

static void end_all(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

/* Take what is there to read, waiting a tick for it. 0 at the end of it. */
static int listen(sp_buf *said, int in)
{
    struct pollfd p = {.fd = in, .events = POLLIN};
    char piece[4096];
    ssize_t n;

    if (poll(&p, 1, TICK_MS) <= 0)
        return 1;
    n = read(in, piece, sizeof piece);
    if (n > 0 && said->len < SAID_MAX)
        sp_buf_bytes(said, piece, (size_t)n);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Listen until it ends. A helper it left behind may hold the pipe open, so
 * the end is the child's, not the pipe's. */
static spry_status attend(int *code, sp_buf *said, pid_t pid, int in,
                          double seconds, const char *name)
{
    double deadline = sp_seconds() + seconds;
    int open = 1, status = 0;

    for (;;) {
        pid_t ended;

        if (open)
            open = listen(said, in);
        else
            nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid)
            break;
        if (ended < 0 && errno != EINTR)
            return sp_fail_errno(SPRY_SYSTEM, "cannot learn how %s ended",
                                 name);
        if (sp_seconds() > deadline) {
            end_all(pid);
            waitpid(pid, &status, 0);
            return sp_fail(SPRY_TIMEOUT, "%s did not end in %g s", name,
                           seconds);
        }
    }
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    while (open && said->len < SAID_MAX) {
        size_t before = said->len;

        open = listen(said, in) && said->len > before;
    }
    return SPRY_OK;
}

spry_status sp_run(int *code, sp_buf *said, const char *const argv[],
                   const char *temp, double seconds)
{
    char tmpdir[SP_PATH + 8] = "";
    const char **env;
    int ends[2], failed;
    pid_t pid = 0;
    spry_status s;

    *code = -1;
    if (temp)
        snprintf(tmpdir, sizeof tmpdir, "TMPDIR=%s", temp);
    env = child_environment(tmpdir);
    if (!env)
        return sp_fail_memory(sizeof *env);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        sp_free(env);
        return sp_fail_errno(SPRY_SYSTEM, "cannot make a pipe");
    }
    failed = start(&pid, argv, env, ends[1]);
    close(ends[1]);
    sp_free(env);
    errno = failed;
    s = failed ? sp_fail_errno(SPRY_SYSTEM, "cannot run %s", argv[0])
               : attend(code, said, pid, ends[0], seconds, argv[0]);
    close(ends[0]);
    return s;
}
