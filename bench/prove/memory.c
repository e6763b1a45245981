/* memory.c - every allocation of a tune refused in turn, once and from then
 * on: an error or an answer, never a crash, and nothing is left allocated. */
#define _DEFAULT_SOURCE /* setenv, MAP_ANONYMOUS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/prove.h"
#include "spry.h"

enum { FINE = 0, LEAKED = 11, ODD, BROKEN, UNREACHED };

/* A file, since writing one allocates; its machine is probed already, so that
 * all of the budget goes to candidates. */
static char store[4096];
static const double WARM = 10;
static double budget = 1; /* more where that measures nothing */
static int trials;        /* of the last tune */

/* Allocations until one is refused; shared, since trials allocate in
 * children. */
static _Atomic(long long) *count;

static spry_status tune_for(const spry_problem *p, spry_effort effort,
                            double seconds)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    o.effort = effort;
    o.store = store;
    o.seconds = seconds;
    o.again = effort != SPRY_LOOKUP;
    s = spry_tune(&plan, p, &o);
    if (s != SPRY_OK && plan)
        abort();
    trials = plan ? spry_plan_tuning(plan)->trials : 0;
    spry_plan_free(plan);
    return s;
}

static spry_status tune(const spry_problem *p, spry_effort effort)
{
    return tune_for(p, effort, budget);
}

/* In a process of its own, since it may crash. Afterwards the count tells
 * whether the tune came to its n-th allocation. */
static int refuse(const spry_problem *p, int64_t n, int on, spry_effort effort)
{
    int64_t live = sp_alloc_live();
    spry_status s;

    long long left;

    sp_alloc_refuse(n, on);
    s = tune(p, effort);
    left = *count;
    sp_alloc_refuse(0, 0);
    if (left > on)
        return s == SPRY_OK ? UNREACHED : ODD;
    if (s != SPRY_OK && s != SPRY_SYSTEM && s != SPRY_BUDGET)
        return ODD;
    if (sp_alloc_live() != live)
        return LEAKED;
    return tune(p, SPRY_LOOKUP) == SPRY_OK ? FINE : BROKEN;
}

static int in_child(const spry_problem *p, int64_t n, int on,
                    spry_effort effort)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(30);
        _exit(refuse(p, n, on, effort));
    }
    status = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
                 ? WEXITSTATUS(status)
                 : -1;
    sp_alloc_refuse(0, 0); /* a crash leaves the count as it was */
    return status;
}

typedef struct {
    int tried, all, crashed, odd, leaked, broken;
} faults;

static void judge(faults *f, int end, int64_t n, int on)
{
    f->tried += end != UNREACHED;
    f->crashed += end == -1;
    f->odd += end == ODD;
    f->leaked += end == LEAKED;
    f->broken += end == BROKEN;
    if (end != FINE && end != UNREACHED)
        printf("allocation %lld refused%s: %s\n", (long long)n,
               on ? " and all after it" : "",
               end == -1       ? "crash"
               : end == ODD    ? "an odd status"
               : end == LEAKED ? "memory is lost"
                               : "the next tune fails");
}

static int64_t count_once(const spry_problem *p, spry_effort effort)
{
    const int64_t large = 1 << 22;
    int64_t left;

    (void)tune(p, effort); /* what is kept for good is kept now */
    sp_alloc_refuse(large, 0);
    (void)tune(p, effort);
    left = *count;
    sp_alloc_refuse(0, 0);
    return large - left;
}

/* How often a tune allocates, its children included. On a busy machine it needs
 * more time to measure several. */
static int64_t allocations_of(const spry_problem *p, spry_effort effort)
{
    int64_t n = count_once(p, effort);

    while (effort >= SPRY_MEASURE && trials < 4 && budget < 8) {
        budget *= 2;
        n = count_once(p, effort);
    }
    return n;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Each of them once, in an order that is spread evenly over all from the first
 * on, until the seconds are over. */
static void sweep(faults *f, const spry_problem *p, spry_effort effort,
                  double seconds)
{
    int64_t all = allocations_of(p, effort), step = all * 618 / 1000 + 1;
    double until = sp_seconds() + seconds;
    int before = f->tried, measured = trials, unreached = 0;

    while (greatest_common_divisor(step, all) > 1)
        step++;
    for (int64_t i = 0, n = 0; i < all && sp_seconds() < until; i++) {
        n = (n + step) % all;
        for (int on = 0; on < 2; on++) {
            int end = in_child(p, n + 1, on, effort);

            judge(f, end, n + 1, on);
            unreached += end == UNREACHED;
        }
    }
    f->all += 2 * (int)all - unreached;
    printf("a tune of effort %d, %d trials: %lld allocations; refused once or "
           "from then on: %d of %d\n",
           (int)effort, measured, (long long)all, f->tried - before,
           2 * (int)all - unreached);
    fflush(stdout);
}

/* A model that learns from what is measured, in the folder: the shipped one,
 * as it is found from the top of the sources. */
static void take_model(const char *folder)
{
    char path[4096];
    char piece[1 << 14];
    size_t n;
    FILE *from = fopen("models/cost-spmm.spry", "rb"), *to;

    snprintf(path, sizeof path, "%s/cost-spmm.spry", folder);
    to = fopen(path, "wb");
    while (from && to && (n = fread(piece, 1, sizeof piece, from)) > 0)
        fwrite(piece, 1, n, to);
    printf("a model that learns: %s\n", from && to ? "yes" : "there is none");
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    if (!from)
        remove(path);
    setenv("SPRY_MODELS", folder, 1);
}

void prove_memory(const char *folder)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    faults f = {0};

    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED) {
        bench_aim_unknown("refusals_tried", 0, "no memory can be shared");
        return;
    }
    sp_alloc_count_in(count);
    setenv("SPRY_HOME", folder, 1);
    snprintf(store, sizeof store, "%s/memory.db", folder);
    take_model(folder);
    if (spry_matrix_generate(&A, "uniform,rows=2000,nnz=40000", 1) != SPRY_OK ||
        spry_problem_spmm(&p, A, 8, SPRY_F32) != SPRY_OK ||
        tune_for(p, SPRY_MEASURE, WARM) != SPRY_OK) {
        printf("%s\n", spry_message());
        bench_aim_most("refused_allocations_not_survived", 1, 0);
        return;
    }
    sweep(&f, p, SPRY_LOOKUP, prove_count(1, 60));
    sweep(&f, p, SPRY_PREDICT, prove_count(3, 120));
    sweep(&f, p, SPRY_MEASURE, prove_count(5, 300));
    printf("%d refusals of %d: %d crashes, %d odd, %d leaks, %d broken after\n",
           f.tried, f.all, f.crashed, f.odd, f.leaked, f.broken);
    bench_aim_least("refusals_tried", f.tried, f.all);
    bench_aim_most("refused_allocations_not_survived",
                   f.crashed + f.odd + f.leaked + f.broken, 0);
    spry_problem_free(p);
    spry_matrix_free(A);
    sp_alloc_count_in(NULL);
}
