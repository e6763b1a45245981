/* slower.c - what tunes chose, raced against the plain loop again, each in a
 * fresh process. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/prove.h"
#include "spry.h"

enum { KINDS = 7 };
static char said[4096];            /* what the fresh process prints */
static const double SLOWER = 0.98; /* of the plain loop's speed */

static void spec_of(char out[96], int i)
{
    int step = i / KINDS % 40, rows = 3000 + 700 * step;

    switch (i % KINDS) {
    case 0: snprintf(out, 96, "uniform,rows=%d,nnz=%d", rows, 12 * rows); break;
    case 1: snprintf(out, 96, "banded,rows=%d,band=40", rows); break;
    case 2: snprintf(out, 96, "stencil5,nx=%d", 40 + 4 * step); break;
    case 3: snprintf(out, 96, "rmat,scale=11,degree=%d", 4 + step / 2); break;
    case 4: snprintf(out, 96, "arrow,rows=%d", rows); break;
    case 5: snprintf(out, 96, "stencil27,nx=%d", 10 + step / 2); break;
    default: snprintf(out, 96, "blocks,rows=%d", rows);
    }
}

static spry_status open_one(spry_matrix **A, spry_problem **p, const char *spec,
                            int i)
{
    spry_status s = spry_matrix_generate(A, spec, (uint64_t)i + 1);

    if (s == SPRY_OK)
        s = i % 2 ? spry_problem_spmm(p, *A, 16, SPRY_F32)
                  : spry_problem_spmv(p, *A, SPRY_F64);
    return s;
}

/* argv: "fresh", the spec, its number, the plain loop, the choice. */
int prove_fresh(int argc, char **argv)
{
    const spry_plan *race[2];
    spry_plan *plain = NULL, *choice = NULL;
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_score score[2];
    spry_status s;

    if (argc != 5)
        return 2;
    s = open_one(&A, &p, argv[1], (int)strtol(argv[2], NULL, 10));
    if (s == SPRY_OK)
        s = spry_plan_from(&plain, p, argv[3], NULL);
    if (s == SPRY_OK)
        s = spry_plan_from(&choice, p, argv[4], NULL);
    race[0] = plain;
    race[1] = choice;
    if (s == SPRY_OK)
        s = spry_race(score, race, 2, 61, 1);
    if (s == SPRY_OK)
        printf("%.6g %.6g %.6g\n", score[1].speedup, score[1].low,
               score[1].high);
    else
        fprintf(stderr, "%s\n", spry_message());
    spry_plan_free(choice);
    spry_plan_free(plain);
    spry_problem_free(p);
    spry_matrix_free(A);
    return (int)s;
}

/* Ask the fresh process; 0: it had no answer. */
static int ask_fresh(double out[3], const char *spec, int i,
                     const spry_tuning *t)
{
    char number[16];
    const char *const word[PROVE_WORDS] = {"fresh", spec, number, t->baseline,
                                           t->best};
    char line[128] = "", *at = line;
    int ok;
    FILE *f;

    snprintf(number, sizeof number, "%d", i);
    ok = prove_self(said, word);
    f = fopen(said, "r");
    ok = ok && f && fgets(line, sizeof line, f);
    for (int k = 0; k < 3; k++) {
        out[k] = strtod(at, &at);
        ok = ok && out[k] > 0;
    }
    if (f)
        fclose(f);
    return ok;
}

typedef struct {
    int changed, slower, surely, failed, timed;
    double sum;
} verdicts;

static void weigh(verdicts *v, const char *spec, const spry_tuning *t,
                  const double r[3])
{
    v->changed += t->changed;
    v->slower += r[0] < SLOWER;
    v->surely += r[2] < SLOWER;
    v->sum += log(r[0]);
    v->timed++;
    if (r[0] < SLOWER)
        printf("%s: %s, %.2f [%.2f, %.2f] of %s\n", spec, t->best, r[0], r[1],
               r[2], t->baseline);
}

/* A tune or a race that gave no answer is one that failed. */
static void judge(verdicts *v, int i)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    char spec[96];
    double r[3] = {1, 1, 1};

    spec_of(spec, i);
    o.again = 1;
    if (open_one(&A, &p, spec, i) != SPRY_OK ||
        spry_tune(&plan, p, &o) != SPRY_OK) {
        v->failed++;
        printf("%s: %s\n", spec, spry_message());
    } else {
        const spry_tuning *t = spry_plan_tuning(plan);

        if (!t->changed || ask_fresh(r, spec, i, t)) {
            weigh(v, spec, t, r);
        } else {
            v->failed++;
            printf("%s: %s: no answer from a fresh process\n", spec, t->best);
        }
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void judge_all(const char *name, int from, int count)
{
    verdicts v = {0};

    for (int i = from; i < from + count; i++)
        judge(&v, i);
    printf("%s: %d problems, %d changed, %.2f times as fast in the mean, %d "
           "slower by more than 2 %%, %d surely, %d without an answer, which "
           "count as slower\n",
           name, count, v.changed, v.timed ? exp(v.sum / v.timed) : 0, v.slower,
           v.surely, v.failed);
    bench_aim_most(name, (double)(v.slower + v.failed) / count, 0.01);
}

static void begin(const char *folder)
{
    snprintf(said, sizeof said, "%s/slower.said", folder);
    setenv("SPRY_HOME", folder, 1);
}

void prove_slower(const char *folder)
{
    begin(folder);
    judge_all("slower_share_idle", 0, prove_count(4, 200));
}

void prove_slower_loaded(const char *folder)
{
    int count = prove_count(4, 200);

    begin(folder);
    prove_load_begin();
    judge_all("slower_share_under_load", count, count);
    prove_load_end();
}
