/* hostile.c - work that does its worst, in the child where trials run. The
 * tuner goes on, in time, with its files as they were and nobody left over. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "measure/measure.h"
#include "prove/prove.h"

/* Without a sign of life, then it is ended. */
static const double LIMIT = 0.1, GRACE = 0.5;
static const int64_t MEMORY = (int64_t)1 << 32;

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
        (void)!write(STDOUT_FILENO, "aim forged 1 1 met\n", 19);
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

void prove_hostile(const char *folder)
{
    int each = prove_count(3, 100), good = 0, zombies = 0;
    double late = 0;
    char path[4096];
    sp_file after = {0};

    snprintf(path, sizeof path, "%s/ours", folder);
    parents_file = open(path, O_RDWR | O_CREAT, 0600);
    fflush(stdout);
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < each; i++)
            good += contained(k, &late);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        zombies++;
    close(parents_file);
    if (sp_file_read(&after, path, 1 << 20) != SPRY_OK || after.len != 0)
        zombies++;
    sp_file_free(&after);
    printf("%d kinds of hostile work x %d: %d contained, %d left over, at most "
           "%.2f s after their time\n",
           (int)KINDS, each, good, zombies, late);
    bench_aim_most("hostile_not_contained", KINDS * each - good + zombies, 0);
    bench_aim_most("hostile_seconds_late", late, GRACE);
}
