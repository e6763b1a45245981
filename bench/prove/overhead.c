/* overhead.c - what a call of a plan costs beside the same loop called directly,
 * and what it costs to find an answer in a large store. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "contest/figures.h"
#include "measure/measure.h"
#include "prove/prove.h"
#include "spry.h"

enum { ROUNDS = 31, CALLS = 20000 };

/* One row with one entry, as plain as can be. */
typedef struct {
    int64_t rows;
    const int64_t *start;
    const int32_t *col;
    const double *val;
} compressed;

static void multiply(const compressed *A, const double *x, double *y)
{
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0;

        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            sum += A->val[k] * x[A->col[k]];
        y[i] = sum;
    }
}

static void (*volatile directly)(const compressed *, const double *,
                                 double *) = multiply;

static double seconds_directly(void)
{
    static const int64_t start[] = {0, 1};
    static const int32_t col[] = {0};
    static const double val[] = {2}, x[] = {3};
    const compressed A = {1, start, col, val};
    double y, begun = sp_seconds();

    for (int i = 0; i < CALLS; i++)
        directly(&A, x, &y);
    return (sp_seconds() - begun) / CALLS;
}

static double seconds_of_plan(const spry_plan *plan)
{
    double x = 3, y, begun = sp_seconds();

    for (int i = 0; i < CALLS; i++)
        (void)spry_run(plan, &x, &y);
    return (sp_seconds() - begun) / CALLS;
}

/* The median of what a call takes longer; in turns, so that what slows the
 * machine down slows both. */
static void prove_calls(void)
{
    double plain[ROUNDS], more[ROUNDS];
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    spry_status s = spry_matrix_generate(&A, "uniform,rows=1,nnz=1", 1);

    if (s == SPRY_OK)
        s = spry_problem_spmv(&p, A, SPRY_F64);
    if (s == SPRY_OK)
        s = spry_plan_from(&plan, p, "csr threads=1", NULL);
    for (int i = 0; s == SPRY_OK && i < ROUNDS; i++) {
        plain[i] = seconds_directly();
        more[i] = seconds_of_plan(plan) - plain[i];
    }
    if (s == SPRY_OK) {
        printf("one entry: %.1f ns directly, %.1f ns more by spry_run\n",
               1e9 * sp_median(plain, ROUNDS), 1e9 * sp_median(more, ROUNDS));
        bench_aim_most("call_overhead_ns", 1e9 * sp_median(more, ROUNDS), 100);
    } else {
        bench_aim_unknown("call_overhead_ns", 100, spry_message());
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void key_of(char key[64], int i)
{
    snprintf(key, 64, "spmv-1-f32-%08x%024d", (unsigned)i * 2654435761u, i);
}

/* As many records, and an answer for each tenth of their problems. */
static spry_status fill(spry_records *db, int records)
{
    const char *machine = "0011223344556677";
    double sample = 1e-3;
    char key[64];
    spry_status s = spry_records_batch(db);

    for (int i = 0; s == SPRY_OK && i < records; i++) {
        spry_record r = {.problem = key,
                         .about = "",
                         .schedule = "csr threads=1",
                         .machine = machine,
                         .compiler = "built-in",
                         .noise = 'A',
                         .seconds = 1e-3,
                         .when = 1700000000 + i,
                         .samples = 1,
                         .sample = &sample};
        spry_answer a = {.problem = key,
                         .machine = machine,
                         .baseline = "csr threads=1",
                         .schedule = "csr threads=1",
                         .baseline_seconds = 1e-3,
                         .seconds = 1e-3,
                         .speedup = 1,
                         .low = 1,
                         .high = 1,
                         .effort = SPRY_MEASURE,
                         .when = r.when,
                         .kernel = ""};

        key_of(key, i);
        s = spry_records_add(db, &r);
        if (s == SPRY_OK && i % 10 == 0)
            s = spry_records_answer(db, &a);
    }
    return s == SPRY_OK ? spry_records_commit(db) : s;
}

/* Milliseconds of each of many lookups; -1: an answer was not found. */
static double look_up(spry_records *db, int records)
{
    enum { LOOKUPS = 1000 };
    static double ms[LOOKUPS];
    sp_rng rng = sp_rng_seed(1);
    char key[64];

    for (int i = 0; i < LOOKUPS; i++) {
        spry_answer a;
        double begun;
        int found = 0;

        key_of(key, 10 * (int)sp_rng_below(&rng, (uint64_t)records / 10));
        begun = sp_seconds();
        if (spry_records_find(db, &a, &found, key, "0011223344556677", 0,
                              SPRY_MEASURE) != SPRY_OK ||
            !found)
            return -1;
        ms[i] = 1e3 * (sp_seconds() - begun);
    }
    printf("%d records, %d answers: a lookup takes %.4f ms, %.4f for 99 of "
           "100\n",
           records, records / 10, sp_median(ms, LOOKUPS),
           sp_quantile(ms, LOOKUPS, 0.99));
    return sp_median(ms, LOOKUPS);
}

static void prove_lookups(const char *folder)
{
    int records = prove_count(10000, 100000);
    spry_records *db = NULL;
    char path[4096];
    double ms = -1;

    snprintf(path, sizeof path, "%s/overhead.db", folder);
    if (spry_records_open(&db, path) == SPRY_OK && fill(db, records) == SPRY_OK)
        ms = look_up(db, records);
    if (ms >= 0)
        bench_aim_most("answer_found_ms", ms, 1);
    else
        bench_aim_unknown("answer_found_ms", 1, spry_message());
    spry_records_close(db);
}

void prove_overhead(const char *folder)
{
    prove_calls();
    prove_lookups(folder);
}
