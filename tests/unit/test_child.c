/* test_child.c - children that do their worst; the parent carries on. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/measure.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Run work; afterwards no child, no zombie, no file may be left. */
static sp_child_verdict run_child(void (*work)(sp_shared *, void *),
                                  sp_shared *s, double seconds)
{
    sp_child_job job = {.work = work, .seconds = seconds};
    sp_child_verdict v;
    int files = open_files();

    check_ok(sp_child_run(&v, &job, s));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_files(), files);
    return v;
}

static int open_shared(void **state)
{
    static sp_shared s;

    *state = &s;
    return sp_shared_open(&s, 4096) == SPRY_OK ? 0 : -1;
}

static int close_shared(void **state)
{
    sp_shared_close(*state);
    return 0;
}

/* ---- work that ends well ---- */

static void add_in_parallel(sp_shared *s, void *arg)
{
    int *out = s->data, total = 0, threads = 0;

    (void)arg;
#pragma omp parallel num_threads(4) reduction(+ : total, threads)
    {
        threads++;
#pragma omp for
        for (int i = 0; i < 1000; i++)
            total += i;
    }
    out[0] = total;
    out[1] = threads;
}

/* Three times, the parent's own pool in use before each. */
static void openmp_works_in_children(void **state)
{
    sp_shared *s = *state, here = {0};
    int there[2] = {0}, *out = s->data;

    here.data = there;
    for (int i = 0; i < 3; i++) {
        add_in_parallel(&here, NULL);
        assert_int_equal(there[0], 499500);
        memset(out, 0, 2 * sizeof *out);
        assert_int_equal(run_child(add_in_parallel, s, 20).end, SP_CHILD_OK);
        assert_int_equal(out[0], 499500);
        assert_int_equal(out[1], there[1]);
    }
}

static void beat_and_sleep(sp_shared *s, void *arg)
{
    (void)arg;
    for (int i = 1; i <= 32; i++) {
        sp_child_beat(s, i);
        poll(NULL, 0, 100);
    }
}

/* It lasts longer than the limit, no silence does. */
static void beats_restart_the_limit(void **state)
{
    sp_child_verdict v = run_child(beat_and_sleep, *state, 3);

    assert_int_equal(v.end, SP_CHILD_OK);
    assert_int_equal(v.item, 32);
}

/* ---- crashes ---- */

static void crash_by_segv(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    raise(SIGSEGV);
}

static void crash_by_abort(sp_shared *s, void *arg)
{
    (void)arg;
    sp_child_beat(s, 7);
    abort();
}

static void crash_before_results(sp_shared *s, void *arg)
{
    volatile char *p = s->data;

    (void)arg;
    p[-1] = 1;
}

static void crashes_are_verdicts(void **state)
{
    sp_child_verdict v = run_child(crash_by_segv, *state, 20);

    assert_int_equal(v.end, SP_CHILD_CRASH);
    assert_int_equal(v.code, SIGSEGV);
    v = run_child(crash_by_abort, *state, 20);
    assert_int_equal(v.end, SP_CHILD_CRASH);
    assert_int_equal(v.code, SIGABRT);
    assert_int_equal(v.item, 7);
    v = run_child(crash_before_results, *state, 20);
    assert_int_equal(v.end, SP_CHILD_CRASH);
    assert_int_equal(v.code, SIGSEGV);
}

/* ---- hangs ---- */

static void loop_for_ever(sp_shared *s, void *arg)
{
    volatile int go = 1;

    (void)arg;
    sp_child_beat(s, 3);
    while (go)
        continue;
}

static void wait_for_ever(sp_shared *s, void *arg)
{
    (void)arg;
    sp_child_beat(s, 3);
    for (;;)
        pause();
}

static void stop_itself(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    kill(getpid(), SIGSTOP);
}

static void deaf_and_endless(sp_shared *s, void *arg)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    loop_for_ever(s, arg);
}

static void hangs_are_verdicts(void **state)
{
    sp_child_verdict v =
        run_child(wait_for_ever, *state, unless_emulated(3, 20));

    assert_int_equal(v.end, SP_CHILD_TIMEOUT);
    assert_int_equal(v.item, 3); /* it had begun */
    v = run_child(stop_itself, *state, 0.1);
    assert_int_equal(v.end, SP_CHILD_TIMEOUT);
    v = run_child(deaf_and_endless, *state, 0.1);
    assert_int_equal(v.end, SP_CHILD_TIMEOUT);
}

static int after_some(void *arg)
{
    return --*(int *)arg < 0;
}

static void callers_can_stop_a_child(void **state)
{
    int patience = 2;
    sp_child_job job = {.work = loop_for_ever,
                        .seconds = 60,
                        .stop = after_some,
                        .stop_arg = &patience};
    sp_child_verdict v;

    check_ok(sp_child_run(&v, &job, *state));
    assert_int_equal(v.end, SP_CHILD_STOPPED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void sleep_a_while(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    usleep(500000);
}

/* Who works too long is ended, who only waits for others is not. */
static void work_can_be_limited(void **state)
{
    sp_child_job job = {.work = loop_for_ever, .seconds = 60, .cpu = 0.1};
    sp_child_verdict v;

    check_ok(sp_child_run(&v, &job, *state));
    assert_int_equal(v.end, SP_CHILD_TIMEOUT);
    job.work = sleep_a_while;
    check_ok(sp_child_run(&v, &job, *state));
    assert_int_equal(v.end, SP_CHILD_OK);
}

static void interrupt_itself(sp_shared *s, void *arg)
{
    (void)arg;
    kill(getpid(), SIGINT);
    kill(getpid(), SIGQUIT);
    *(int *)s->data = 1;
}

static void interrupts_are_for_the_parent(void **state)
{
    sp_shared *s = *state;

    assert_int_equal(run_child(interrupt_itself, s, 20).end, SP_CHILD_OK);
    assert_int_equal(*(int *)s->data, 1);
}

/* ---- other mischief ---- */

static void exit_quietly(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    _exit(0);
}

static void exit_with_five(sp_shared *s, void *arg)
{
    (void)s;
    (void)arg;
    exit(5);
}

static void leaving_is_not_finishing(void **state)
{
    sp_child_verdict v = run_child(exit_quietly, *state, 20);

    assert_int_equal(v.end, SP_CHILD_EXITED);
    assert_int_equal(v.code, 0);
    v = run_child(exit_with_five, *state, 20);
    assert_int_equal(v.end, SP_CHILD_EXITED);
    assert_int_equal(v.code, 5);
    assert_string_equal(sp_child_end_name(v.end), "exited");
}

static void close_everything(sp_shared *s, void *arg)
{
    (void)arg;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    *(int *)s->data = 1;
}

static void chatter(sp_shared *s, void *arg)
{
    (void)arg;
    for (int i = 0; i < 10000; i++) {
        ssize_t n = write(1, "junk\n", 5) + write(2, "junk\n", 5);

        *(int *)s->data += n == 10;
    }
}

/* The lowest free descriptor is 3: nothing else was inherited. */
static void look_for_files(sp_shared *s, void *arg)
{
    (void)arg;
    *(int *)s->data = dup(0);
}

static void files_are_out_of_reach(void **state)
{
    sp_shared *s = *state;
    int *out = s->data, extra = dup(0);

    assert_int_equal(run_child(close_everything, s, 20).end, SP_CHILD_OK);
    assert_int_equal(*out, 1);
    *out = 0;
    assert_int_equal(run_child(chatter, s, 20).end, SP_CHILD_OK);
    assert_int_equal(*out, 10000); /* all of it written, to nowhere */
    assert_int_equal(run_child(look_for_files, s, 20).end, SP_CHILD_OK);
    assert_int_equal(*out, 3);
    close(extra);
}

static void leave_a_child_behind(sp_shared *s, void *arg)
{
    pid_t pid = fork();

    (void)arg;
    if (pid == 0)
        for (;;)
            pause();
    *(pid_t *)s->data = pid;
}

/* Dead: gone, or a zombie that init has not buried yet. */
static int is_dead(pid_t pid)
{
    char path[64], text[256] = "";
    FILE *f;
    int dead;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (!f)
        return 1;
    dead = !fgets(text, sizeof text, f) || strstr(text, ") Z");
    fclose(f);
    return dead;
}

static void grandchildren_are_ended(void **state)
{
    sp_shared *s = *state;
    pid_t pid;
    int tries = 0;

    assert_int_equal(run_child(leave_a_child_behind, s, 20).end, SP_CHILD_OK);
    pid = *(pid_t *)s->data;
    assert_true(pid > 0);
    while (!is_dead(pid) && tries++ < 500)
        poll(NULL, 0, 10);
    assert_true(is_dead(pid));
}

/* In a session of its own no signal to the group would reach it. */
static void leave_the_group(sp_shared *s, void *arg)
{
    pid_t *out = s->data, pid = fork();

    (void)arg;
    if (pid == 0) {
        out[1] = setsid() < 0 && setpgid(0, 0) < 0;
        out[2] = 1;
        for (;;)
            pause();
    }
    out[0] = pid;
    for (int i = 0; i < 2000 && !((volatile pid_t *)out)[2]; i++)
        usleep(10000);
}

static void grandchildren_cannot_leave_the_group(void **state)
{
    sp_shared *s = *state;
    const pid_t *out = s->data;
    int tries = 0;

    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 || getenv("SPRY_EMULATOR"))
        skip_because("this system cannot filter system calls");
    assert_int_equal(run_child(leave_the_group, s, 30).end, SP_CHILD_OK);
    assert_true(out[0] > 0);
    assert_int_equal(out[2], 1);
    while (out[1] && !is_dead(out[0]) && tries++ < 500)
        poll(NULL, 0, 10);
    if (!is_dead(out[0])) {
        kill(out[0], SIGKILL);
        fail_msg("a grandchild lives on");
    }
}

static void take_all_memory(sp_shared *s, void *arg)
{
    (void)arg;
    for (int64_t i = 0; i < 1 << 20; i++) {
        char *volatile block = malloc(64 << 20);

        if (!block) {
            *(int *)s->data = 1;
            return;
        }
    }
}

static void memory_can_be_limited(void **state)
{
    sp_shared *s = *state;
    sp_child_job job = {
        .work = take_all_memory, .seconds = 20, .memory = (int64_t)4 << 30};
    sp_child_verdict v;

#ifdef __SANITIZE_ADDRESS__
    skip_because("a sanitizer maps terabytes for itself");
#endif
    if (getenv("SPRY_EMULATOR"))
        skip_because("the emulator does not limit the memory of its guest");
    check_ok(sp_child_run(&v, &job, s));
    assert_int_equal(v.end, SP_CHILD_OK);
    assert_int_equal(*(int *)s->data, 1);
}

#define child_test(f) \
    cmocka_unit_test_setup_teardown(f, open_shared, close_shared)

int main(void)
{
    const struct CMUnitTest tests[] = {
        child_test(openmp_works_in_children),
        child_test(beats_restart_the_limit),
        child_test(crashes_are_verdicts),
        child_test(hangs_are_verdicts),
        child_test(callers_can_stop_a_child),
        child_test(work_can_be_limited),
        child_test(interrupts_are_for_the_parent),
        child_test(leaving_is_not_finishing),
        child_test(files_are_out_of_reach),
        child_test(grandchildren_are_ended),
        child_test(grandchildren_cannot_leave_the_group),
        child_test(memory_can_be_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
