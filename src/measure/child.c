/* child.c - run what may crash, hang or exit where it can do no harm.
 *
 * The child is a fork: it has all data of its parent at no cost and may
 * spoil its copy. Its work runs on a new thread, which has no OpenMP threads
 * yet whatever the forking one had (base/fork.c). The parent sleeps
 * on a pidfd, so that it does not disturb what the child measures. */
#define _GNU_SOURCE /* syscall, MAP_ANONYMOUS */
#include "measure/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "measure/internal.h"

static const double POLL_SECONDS = 0.05;

struct sp_pulse {
    atomic_llong beats, item;
    atomic_int finished;
};

/* ---- shared memory ---- */

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + page()) / page() * page();
}

/* The pulse, then a page that nobody may touch, then the data: a kernel that
 * writes before its results dies instead of faking a pulse. */
spry_status sp_shared_open(sp_shared *out, size_t bytes)
{
    size_t size = 2 * page() + whole_pages(bytes);
    char *p;

    *out = (sp_shared){0};
    p = size < bytes ? MAP_FAILED
                     : mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return sp_fail_memory(bytes);
    mprotect(p + page(), page(), PROT_NONE);
    *out = (sp_shared){p + 2 * page(), bytes, (struct sp_pulse *)(void *)p};
    return SPRY_OK;
}

void sp_shared_close(sp_shared *s)
{
    if (s->pulse)
        munmap(s->pulse, 2 * page() + whole_pages(s->bytes));
    *s = (sp_shared){0};
}

void sp_child_beat(sp_shared *shared, int64_t item)
{
    atomic_store(&shared->pulse->item, item);
    atomic_fetch_add(&shared->pulse->beats, 1);
}

/* ---- the child's side ---- */

typedef struct {
    const sp_child_job *job;
    sp_shared *shared;
} task;

static void *run_work(void *at)
{
    task *t = at;

    t->job->work(t->shared, t->job->arg);
    atomic_store(&t->shared->pulse->finished, 1);
    return NULL;
}

/* Signals as in a new program, but Ctrl-C is for the parent to judge. */
static void reset_signals(void)
{
    static const int usual[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
                                SIGABRT, SIGTERM, SIGALRM, SIGPIPE};
    sigset_t none;

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        signal(usual[i], SIG_DFL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Nothing of the parent's - its store, its terminal - is in reach. */
static void drop_files(void)
{
    int null = open("/dev/null", O_RDWR);

    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
#endif
    for (long fd = 3, most = sysconf(_SC_OPEN_MAX); fd < most; fd++) {
        if (fd == 1 << 16)
            return;
        close((int)fd);
    }
}

static void limit(int what, rlim_t to)
{
    struct rlimit r = {to, to};

    setrlimit(what, &r);
}

static _Noreturn void be_child(const sp_child_job *job, sp_shared *shared,
                               pid_t parent)
{
    task t = {job, shared};
    pthread_t thread;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        _exit(127);
    reset_signals();
    drop_files();
    limit(RLIMIT_CORE, 0);
    sp_group_stay();
    if (job->memory > 0)
        limit(RLIMIT_AS, (rlim_t)job->memory);
    if (pthread_create(&thread, NULL, run_work, &t) != 0)
        _exit(127);
    pthread_join(thread, NULL);
    _exit(0);
}

/* ---- the parent's side ---- */

/* A descriptor that becomes readable when pid ends; -1 on old systems. */
static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Sleep until the child ends or for some seconds; without a pidfd for
 * shorter times. */
static void doze(int fd, double seconds)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (fd < 0 && seconds > 0.002)
        seconds = 0.002;
    poll(&p, fd >= 0, (int)(seconds * 1000) + 1);
}

/* Has it ended? It stays a zombie, so its id cannot be another's yet. */
static int has_ended(pid_t pid)
{
    siginfo_t info = {0};
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

    return rc != 0 ? errno != EINTR : info.si_pid == pid;
}

/* Processor time of all its threads; a machine at other work does not count. */
static double worked(pid_t pid)
{
    clockid_t clock;
    struct timespec t;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Wait for the end, a stop, or too long a silence. */
static sp_child_end watch(pid_t pid, const sp_child_job *job,
                          const struct sp_pulse *pulse)
{
    int fd = open_pidfd(pid);
    double last = sp_seconds(), done = 0;
    long long beats = 0;
    sp_child_end end = SP_CHILD_OK;

    while (end == SP_CHILD_OK && !has_ended(pid)) {
        long long now_beats = atomic_load(&pulse->beats);
        double left;

        if (now_beats != beats) {
            last = sp_seconds();
            done = job->cpu > 0 ? worked(pid) : 0;
        }
        beats = now_beats;
        left = last + job->seconds - sp_seconds();
        if (job->cpu > 0 && worked(pid) > done + job->cpu)
            left = 0;
        if (job->stop && job->stop(job->stop_arg))
            end = SP_CHILD_STOPPED;
        else if (left <= 0)
            end = SP_CHILD_TIMEOUT;
        else
            doze(fd, left < POLL_SECONDS ? left : POLL_SECONDS);
    }
    if (fd >= 0)
        close(fd);
    return end;
}

/* The child and all it started, which is in its group; then the verdict. */
static void reap(sp_child_verdict *out, pid_t pid, const struct sp_pulse *pulse)
{
    int status = 0;

    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    out->item = atomic_load(&pulse->item);
    if (out->end != SP_CHILD_OK)
        return;
    if (WIFSIGNALED(status)) {
        out->end = SP_CHILD_CRASH;
        out->code = WTERMSIG(status);
    } else if (!atomic_load(&pulse->finished) || WEXITSTATUS(status) != 0) {
        out->end = SP_CHILD_EXITED;
        out->code = WEXITSTATUS(status);
    }
}

spry_status sp_child_run(sp_child_verdict *out, const sp_child_job *job,
                         sp_shared *shared)
{
    pid_t parent = getpid(), pid;

    *out = (sp_child_verdict){0};
    atomic_store(&shared->pulse->beats, 0);
    atomic_store(&shared->pulse->item, 0);
    atomic_store(&shared->pulse->finished, 0);
    sp_fork_watch();
    pid = fork();
    if (pid < 0)
        return sp_fail_errno(SPRY_SYSTEM, "cannot start a child process");
    if (pid == 0)
        be_child(job, shared, parent);
    setpgid(pid, pid); /* whoever of us two comes first */
    out->end = watch(pid, job, shared->pulse);
    reap(out, pid, shared->pulse);
    return SPRY_OK;
}

const char *sp_child_end_name(sp_child_end end)
{
    static const char *const names[] = {
        [SP_CHILD_OK] = "ok",           [SP_CHILD_CRASH] = "crash",
        [SP_CHILD_TIMEOUT] = "timeout", [SP_CHILD_EXITED] = "exited",
        [SP_CHILD_STOPPED] = "stopped",
    };

    return names[end];
}
