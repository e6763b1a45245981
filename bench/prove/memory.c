/* memory.c - every allocation of a tune refused in turn, once and from then
 * on: an error or an answer, never a crash, and nothing is left allocated. */
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

static spry_status tune(const spry_problem *p, spry_effort effort)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    o.effort = effort;
    o.store = ":memory:";
    o.seconds = 0.4;
    s = spry_tune(&plan, p, &o);
    if (s != SPRY_OK && plan)
        abort();
    spry_plan_free(plan);
    return s;
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
    int64_t last = allocations_of(p, effort), step = last / most + 1;

    printf("a tune of effort %d allocates %lld times; every %lld. is refused\n",
           (int)effort, (long long)last, (long long)step);
    for (int64_t n = 1; n <= last; n += step)
        for (int on = 0; on < 2; on++)
            count(f, in_child(p, n, on, effort), n, on);
}

void prove_memory(const char *folder)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    faults f = {0};

    (void)folder;
    if (spry_matrix_generate(&A, "uniform,rows=400,nnz=4000", 1) != SPRY_OK ||
        spry_problem_spmm(&p, A, 8, SPRY_F32) != SPRY_OK)
        return;
    sweep(&f, p, SPRY_LOOKUP, prove_count(12, 100000));
    sweep(&f, p, SPRY_PREDICT, prove_count(10, 5000));
    sweep(&f, p, SPRY_MEASURE, prove_count(2, 300));
    printf("%d refusals: %d crashes, %d odd, %d leaks, %d broken after\n",
           f.asked, f.crashed, f.odd, f.leaked, f.broken);
    bench_aim_most("refused_allocations_not_survived",
                   f.crashed + f.odd + f.leaked + f.broken, 0);
    spry_problem_free(p);
    spry_matrix_free(A);
}
