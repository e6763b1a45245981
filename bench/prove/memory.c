/* memory.c - every allocation of a tune refused in turn, once and from then
 * on: an error or an answer, never a crash, and nothing is left allocated. */
#define _DEFAULT_SOURCE /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/prove.h"
#include "spry.h"

enum { FINE = 0, LEAKED = 11, ODD = 12, BROKEN = 13 };

/* A file, since writing one allocates; its machine is probed already, so that
 * all of the budget goes to candidates. */
static char store[4096];
static const double BUDGET = 1.5, WARM = 10;

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
    spry_plan_free(plan);
    return s;
}

static spry_status tune(const spry_problem *p, spry_effort effort)
{
    return tune_for(p, effort, BUDGET);
}

/* In a process of its own, since it may crash. */
static int refuse(const spry_problem *p, int64_t n, int on, spry_effort effort)
{
    int64_t live = sp_alloc_live();
    spry_status s;

    sp_alloc_refuse(n, on);
    s = tune(p, effort);
    sp_alloc_refuse(0, 0);
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
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

typedef struct {
    int asked, crashed, odd, leaked, broken;
} faults;

static void count(faults *f, int end, int64_t n, int on)
{
    f->asked++;
    f->crashed += end == -1;
    f->odd += end == ODD;
    f->leaked += end == LEAKED;
    f->broken += end == BROKEN;
    if (end != FINE)
        printf("allocation %lld refused%s: %s\n", (long long)n,
               on ? " and all after it" : "",
               end == -1       ? "crash"
               : end == ODD    ? "an odd status"
               : end == LEAKED ? "memory is lost"
                               : "the next tune fails");
}

/* Trials allocate in children, which begin with what is left of the number. */
enum { IN_CHILDREN = 60 };

/* How often a tune allocates: what is left of a large number, afterwards. */
static int64_t allocations_of(const spry_problem *p, spry_effort effort)
{
    const int64_t large = 1 << 22;
    int64_t left = 0;
    void *block;

    (void)tune(p, effort); /* what is kept for good is kept now */
    sp_alloc_refuse(large, 0);
    (void)tune(p, effort);
    while (left < large && (block = sp_alloc_raw(1, 1))) {
        sp_free(block);
        left++;
    }
    sp_alloc_refuse(0, 0);
    return large - 1 - left;
}

static void sweep(faults *f, const spry_problem *p, spry_effort effort,
                  int most)
{
    int64_t own = allocations_of(p, effort), last = own, step;

    if (effort >= SPRY_MEASURE)
        last += IN_CHILDREN;
    step = last / most + 1;
    printf("a tune of effort %d allocates %lld times, and in children; every "
           "%lld. up to the %lld. is refused\n",
           (int)effort, (long long)own, (long long)step, (long long)last);
    fflush(stdout);
    for (int64_t n = 1; n <= last; n += step)
        for (int on = 0; on < 2; on++)
            count(f, in_child(p, n, on, effort), n, on);
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
    sweep(&f, p, SPRY_LOOKUP, prove_count(12, 100000));
    sweep(&f, p, SPRY_PREDICT, prove_count(10, 5000));
    sweep(&f, p, SPRY_MEASURE, prove_count(2, 200));
    printf("%d refusals: %d crashes, %d odd, %d leaks, %d broken after\n",
           f.asked, f.crashed, f.odd, f.leaked, f.broken);
    bench_aim_most("refused_allocations_not_survived",
                   f.crashed + f.odd + f.leaked + f.broken, 0);
    spry_problem_free(p);
    spry_matrix_free(A);
}
