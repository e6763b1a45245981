/* hostile.c - work that does its worst, in the child where trials run. The
 * tuner goes on, in time, with its files as they were and nobody left over. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "measure/measure.h"
#include "prove/prove.h"

/* Without a sign of life, then it is ended. */
static const double LIMIT = 0.1, GRACE = 0.5;
static const int64_t MEMORY = (int64_t)1 << 32;
enum { BOMB = 300 };

static int parents_file; /* open in the parent */

static volatile int *volatile nowhere; /* as a kernel's operand gone wrong */

static void reach_nowhere(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    *nowhere = 1;
}

static void never_end(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (volatile int i = 0;; i++)
        ;
}

static void stop_itself(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    raise(SIGSTOP);
}

static void leave_children(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (int i = 0; i < 8; i++)
        if (fork() == 0)
            for (;;)
                pause();
    for (;;)
        pause();
}

/* Where no signal to the child's group would find it. */
static void leave_the_session(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0)
            (void)setsid();
    }
    for (;;)
        pause();
}

/* All of them fork and half of them leave, as long as there are not too many
 * for the machine. */
static void fork_for_ever(sp_shared *s, void *arg)
{
    atomic_int *born = s->data;

    (void)arg;
    while (atomic_fetch_add(born, 1) < BOMB)
        if (fork() == 0 && atomic_load(born) % 2)
            (void)setsid();
    for (;;)
        pause();
}

static void take_memory(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (;;) {
        char *p = malloc((size_t)1 << 28);

        if (!p)
            abort();
        memset(p, 1, 4096);
    }
}

static void write_out_of_bounds(sp_shared *s, void *arg)
{
    volatile char *p = s->data;

    (void)arg;
    for (size_t i = 0;; i += 4096)
        p[s->bytes + i] = 1;
}

static void smash_stack(sp_shared *s, void *arg)
{
    volatile char here[16], *volatile p = here;

    (void)s;
    (void)arg;
    for (int i = 0; i < 1 << 24; i++)
        p[i] = 1; /* NOLINT: that is the point */
    (void)here[3];
}

static void close_all(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    abort();
}

static void talk_and_leave(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (int i = 0; i < 1000; i++)
        for (int fd = 1; fd < 3; fd++)
            (void)!write(fd, "aim forged 1 1 met\n", 19);
    _exit(0); /* as if all had gone well */
}

static void write_to_files(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    for (int fd = 3; fd < 64; fd++)
        (void)!write(fd, "overwritten", 11);
    (void)!write(parents_file, "overwritten", 11);
    abort();
}

static const struct {
    const char *name;
    void (*work)(sp_shared *, void *);
} kinds[] = {
    {"reads nowhere", reach_nowhere},
    {"never ends", never_end},
    {"stops itself", stop_itself},
    {"leaves children", leave_children},
    {"leaves its session", leave_the_session},
    {"forks for ever", fork_for_ever},
    {"takes all memory", take_memory},
    {"writes too far", write_out_of_bounds},
    {"smashes its stack", smash_stack},
    {"closes all files", close_all},
    {"says it is done", talk_and_leave},
    {"writes to files", write_to_files},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* 1: the child's end is known for what it is, and in time. */
static int contained(int kind, double *late)
{
    sp_child_job job = {
        .work = kinds[kind].work, .seconds = LIMIT, .memory = MEMORY};
    sp_child_verdict v = {.end = SP_CHILD_OK};
    sp_shared shared;
    double begun = sp_seconds();
    int good;

    if (sp_shared_open(&shared, 4096) != SPRY_OK)
        return 0;
    good = sp_child_run(&v, &job, &shared) == SPRY_OK && v.end != SP_CHILD_OK;
    *late = fmax(*late, sp_seconds() - begun - LIMIT);
    sp_shared_close(&shared);
    return good;
}

/* The id of a child of ours, by /proc; 0: there is none. */
static pid_t a_child(void)
{
    char path[64], line[64] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    if (!f)
        return 0;
    (void)!fgets(line, sizeof line, f);
    fclose(f);
    return (pid_t)strtol(line, NULL, 10);
}

/* Descendants whose parents are gone are ours (a subreaper's): bury them and
 * wait until all have died. Those that have not are counted and ended. */
static int survivors(void)
{
    double until = sp_seconds() + GRACE;
    int alive = 0, unseen;
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 && sp_seconds() < until)
        if (pid == 0)
            poll(NULL, 0, 1);
    unseen = pid == 0;
    while (pid >= 0 && (pid = a_child()) > 0) {
        alive++;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return alive ? alive : unseen;
}

/* What was written into the file, or that it is gone. */
static int touched(const char *path)
{
    struct stat st;

    return stat(path, &st) != 0 || st.st_size != 0;
}

/* The three things that must stay empty. */
typedef struct {
    char ours[4096], said[4096], temp[4096];
    int out, err; /* where they went before */
} traps;

static int set_traps(traps *t, const char *folder)
{
    int said;

    snprintf(t->ours, sizeof t->ours, "%s/ours", folder);
    snprintf(t->said, sizeof t->said, "%s/said", folder);
    snprintf(t->temp, sizeof t->temp, "%s/temp", folder);
    fflush(NULL);
    parents_file = open(t->ours, O_RDWR | O_CREAT, 0600);
    said = open(t->said, O_RDWR | O_CREAT | O_APPEND, 0600);
    t->out = dup(STDOUT_FILENO);
    t->err = dup(STDERR_FILENO);
    return parents_file >= 0 && said >= 0 && t->out >= 0 && t->err >= 0 &&
           mkdir(t->temp, 0700) == 0 && setenv("TMPDIR", t->temp, 1) == 0 &&
           dup2(said, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0 &&
           close(said) == 0;
}

/* How many of them are not empty. */
static int look_at_traps(const traps *t)
{
    dup2(t->out, STDOUT_FILENO);
    dup2(t->err, STDERR_FILENO);
    close(t->out);
    close(t->err);
    close(parents_file);
    return touched(t->ours) + touched(t->said) + (rmdir(t->temp) != 0);
}

void prove_hostile(const char *folder)
{
    int each = prove_count(3, 100), good = 0, left = 0, spoilt;
    const char *temp = getenv("TMPDIR");
    double late = 0;
    traps t;

    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
        !set_traps(&t, folder)) {
        bench_aim_unknown("hostile_not_contained", 0, "no traps can be set");
        return;
    }
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < each; i++) {
            good += contained(k, &late);
            left += survivors();
        }
    spoilt = look_at_traps(&t);
    if (!temp || setenv("TMPDIR", temp, 1) != 0)
        unsetenv("TMPDIR");
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    printf("%d kinds of hostile work x %d: %d contained, %d processes left "
           "over, %d of our file, our output and the temporary files touched, "
           "at most %.2f s after their time\n",
           (int)KINDS, each, good, left, spoilt, late);
    bench_aim_most("hostile_not_contained", KINDS * each - good + left + spoilt,
                   0);
    bench_aim_most("hostile_seconds_late", late, GRACE);
}
