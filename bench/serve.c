/* serve.c - a build of spry that tunes and runs what it is told, for a race
 * against another build; see against.c.
 *
 * Each line on stdin is answered by one on stdout:
 *
 *     matrix PATH OP COLS TYPE   ok SCHEDULE       tune it, nothing remembered
 *     network PATH BATCH         ok SCHEDULE
 *     way PATH BATCH SCHEDULE    ok SCHEDULE       a network, not tuned
 *     run TIMES                  ran SECONDS       of all runs together
 *
 * or by "no" and a sentence. PATH is a file or gen:SPEC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/operands.h"
#include "spry.h"

enum { LINE = 4096 };

typedef struct {
    spry_matrix *A;
    spry_network *net;
    spry_problem *p;
    spry_plan *plan;
    void *B, *D, *C;
} job;

static void close_job(job *j)
{
    spry_plan_free(j->plan);
    spry_problem_free(j->p);
    spry_matrix_free(j->A);
    spry_network_free(j->net);
    sp_free(j->B);
    sp_free(j->D);
    sp_free(j->C);
    *j = (job){0};
}

/* Random numbers in -1 .. 1. */
static void *operand(const spry_problem *p, int which)
{
    int64_t count = spry_problem_input_size(p, which);
    spry_type type = spry_problem_type(p);
    void *x = sp_alloc(count, type);
    sp_rng r = sp_rng_seed((uint64_t)which + 1);

    for (int64_t i = 0; x && i < count; i++) {
        double v = 2 * sp_rng_unit(&r) - 1;

        if (type == SPRY_F32)
            ((float *)x)[i] = (float)v;
        else
            ((double *)x)[i] = v;
    }
    return x;
}

/* Tuned, or as `way` says. */
static spry_status make_plan(job *j, const char *way)
{
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_status s;

    opt.again = 1;
    s = way ? spry_plan_from(&j->plan, j->p, way, NULL)
            : spry_tune(&j->plan, j->p, &opt);
    if (s != SPRY_OK)
        return s;
    j->B = operand(j->p, 0);
    j->D = operand(j->p, 1);
    j->C = sp_alloc(spry_problem_output_size(j->p), spry_problem_type(j->p));
    return j->B && j->D && j->C ? SPRY_OK : sp_fail_memory(1);
}

static spry_status open_matrix(job *j, const char *path, const char *op,
                               int64_t cols, const char *type)
{
    bench_case c = {.op = SPRY_SPMV};
    spry_status s = spry_op_parse(&c.op, op);

    if (s == SPRY_OK)
        s = spry_type_parse(&c.type, type);
    if (s == SPRY_OK)
        s = spry_matrix_read(&j->A, path);
    if (s != SPRY_OK)
        return s;
    c.n = c.op == SPRY_SPMV ? 1 : cols;
    return bench_problem(&j->p, j->A, &c);
}

static spry_status open_network(job *j, const char *path, int64_t batch)
{
    spry_status s = spry_network_read(&j->net, path, NULL);

    return s == SPRY_OK ? spry_problem_network(&j->p, j->net, batch) : s;
}

static spry_status run(const job *j, int times, double *seconds)
{
    double begun = sp_seconds();
    spry_status s = j->plan ? SPRY_OK : sp_fail(SPRY_USAGE, "nothing to run");

    for (int i = 0; s == SPRY_OK && i < times; i++)
        s = spry_run_scaled(j->plan, 1, j->B, j->D, 0, j->C);
    *seconds = sp_seconds() - begun;
    return s;
}

/* Answer one line. */
static spry_status obey(job *j, char *line)
{
    char path[LINE], op[16], type[16];
    const char *way = NULL;
    long long number;
    int at = 0;
    double seconds;
    spry_status s;

    if (sscanf(line, "run %lld", &number) == 1) {
        s = run(j, (int)number, &seconds);
        if (s == SPRY_OK)
            printf("ran %.17g\n", seconds);
        return s;
    }
    close_job(j);
    if (sscanf(line, "matrix %4095s %15s %lld %15s", path, op, &number, type) ==
        4)
        s = open_matrix(j, path, op, number, type);
    else if (sscanf(line, "network %4095s %lld", path, &number) == 2)
        s = open_network(j, path, number);
    else if (sscanf(line, "way %4095s %lld %n", path, &number, &at) == 2 &&
             at > 0) {
        way = line + at;
        s = open_network(j, path, number);
    } else
        s = sp_fail(SPRY_USAGE, "not understood: %.60s", line);
    if (s == SPRY_OK)
        s = make_plan(j, way);
    if (s == SPRY_OK)
        printf("ok %s\n", spry_plan_text(j->plan));
    return s;
}

int main(void)
{
    char line[LINE];
    job j = {0};

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (obey(&j, line) != SPRY_OK)
            printf("no %s\n", spry_message());
        fflush(stdout);
    }
    close_job(&j);
    return 0;
}
