/* growth.c - how time per nonzero and memory grow with the matrix.
 *
 * Memory is that of a tune in a process which holds the matrix already: the
 * most that it, or a child it tried something in, had resident, less what
 * was resident before and less the dense operands, in units of the matrix as
 * compressed rows in the problem's type. A child counts with all it shares
 * with its parent. */
#define _DEFAULT_SOURCE /* getrusage in full */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../contest/sizes.h"
#include "base/base.h"
#include "report.h"

static const double LIMIT = 8, QUICK_LIMIT = 1.5; /* seconds to tune */
static const double RACE_SHARE = 0.3, CHILD_SECONDS = 120;
static const bench_case spmm_32 = {SPRY_SPMM, 32, SPRY_F32, 1};

/* ---- time ---- */

static spry_status one_size(const bench_size *z, const spry_machine *m,
                            double limit)
{
    spry_matrix *A;
    bench_match match;
    double budget;
    spry_status s = spry_matrix_generate(&A, z->spec, 1);

    if (s != SPRY_OK)
        return s;
    budget = bench_budget(A, &spmm_32, limit);
    s = bench_match_open(&match, A, &spmm_32, m, budget);
    if (s == SPRY_OK) {
        s = bench_match_race(&match, RACE_SHARE * budget, 0);
        if (s == SPRY_OK)
            printf("%-8s %9lld  %10.3f  %10.3f  %5.2f  %s\n", z->kind,
                   (long long)A->nnz,
                   1e9 * match.entrant[BENCH_PLAN].seconds / (double)A->nnz,
                   1e9 * match.entrant[match.base].seconds / (double)A->nnz,
                   match.entrant[match.base].ratio.mid,
                   spry_plan_text(match.plan));
        bench_match_close(&match);
    }
    spry_matrix_free(A);
    fflush(stdout);
    return s;
}

/* ---- memory ---- */

typedef struct {
    double matrix, dense, grown; /* bytes */
    int done;
} memory;

typedef struct {
    const char *spec;
    double seconds;
} memory_job;

/* A line of /proc/self/status, kB -> bytes; 0 when it is not there. */
static double status_bytes(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    size_t n = strlen(key);

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0)
            kilobytes = strtod(line + n + 1, NULL); /* behind the colon */
    if (f)
        fclose(f);
    return kilobytes * 1024;
}

/* Let the high-water mark start from here. */
static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static double peak_bytes(void)
{
    struct rusage children;
    double own = status_bytes("VmHWM"), theirs = 0;

    if (getrusage(RUSAGE_CHILDREN, &children) == 0)
        theirs = (double)children.ru_maxrss * 1024;
    return own > theirs ? own : theirs;
}

/* In a process of its own. */
static void tune_and_look(sp_shared *shared, void *arg)
{
    const memory_job *job = arg;
    memory *out = shared->data;
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;
    double before;

    opt.seconds = job->seconds;
    opt.threads = spmm_32.threads;
    opt.store = ":memory:";
    if (spry_matrix_generate(&A, job->spec, 1) != SPRY_OK ||
        bench_problem(&p, A, &spmm_32) != SPRY_OK)
        return;
    forget_peak();
    before = status_bytes("VmRSS");
    if (spry_tune(&plan, p, &opt) != SPRY_OK)
        return;
    out->matrix = (double)A->nnz * 8 + (double)(A->rows + 1) * 4;
    out->dense = bench_dense_bytes(A, &spmm_32);
    out->grown = peak_bytes() - before;
    out->done = 1;
}

static void one_memory(bench_report *r, const char *spec, double seconds)
{
    memory_job what = {spec, seconds};
    sp_child_job job = {
        .work = tune_and_look, .arg = &what, .seconds = CHILD_SECONDS};
    sp_child_verdict verdict;
    sp_shared shared;
    memory m = {0};

    if (sp_shared_open(&shared, sizeof m) != SPRY_OK)
        return;
    if (sp_child_run(&verdict, &job, &shared) == SPRY_OK)
        m = *(memory *)shared.data;
    sp_shared_close(&shared);
    if (!m.done || m.matrix == 0) {
        printf("memory of a tune: not measured\n");
        return;
    }
    r->tune_memory = (m.grown - m.dense) / m.matrix;
    printf("tune of %s: peak %.0f MB beyond the matrix, %.0f of them dense "
           "operands; the rest is %.2f times the matrix (%.0f MB)\n",
           spec, m.grown / 1e6, m.dense / 1e6, r->tune_memory, m.matrix / 1e6);
}

void bench_growth(bench_report *r, const spry_machine *m, int quick,
                  double deadline)
{
    double most = quick ? 1e6 : 5e7, limit = quick ? QUICK_LIMIT : LIMIT;

    printf("\ngrowth, spmm-32 f32 1\n%-8s %9s  %10s  %10s  ratio\n", "kind",
           "nonzeros", "spry ns/nz", "plain");
    for (int i = 0; i < BENCH_SIZES; i++) {
        if (bench_sizes[i].nnz > most || sp_seconds() > deadline)
            continue;
        if (one_size(&bench_sizes[i], m, limit) != SPRY_OK) {
            printf("%s: %s\n", bench_sizes[i].spec, spry_message());
            r->failed++;
        }
    }
    one_memory(r, "uniform rows=625k nnz=10M", limit);
}
