/* search.c - what each search strategy finds and how much it asks.
 *
 * Nothing is timed but the searches: a strategy is good when the schedules it
 * finds are, by the model that it asks, as fast as the best that there are.
 * The model is the one that spry tune would use. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "learn/learn.h"

enum { WIDTH = 32, STRATEGIES = 8, DOMAINS = 2 };

static const char *const recipes[] = {
    "uniform,rows=20000,nnz=400000",
    "banded,rows=30000,band=40,density=0.3",
    "stencil27,nx=24",
    "rmat,scale=14,degree=8",
    "powerlaw,rows=20000,nnz=300000,exponent=2.2",
    "blocks,rows=12000,nnz=300000,r=4,c=8,fill=1",
    "hypersparse,rows=200000,nnz=60000",
    "pruned,rows=2000,cols=2000,density=0.05",
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static const struct {
    spry_op op;
    spry_type type;
} problems[] = {
    {SPRY_SPMM, SPRY_F32}, {SPRY_SPMV, SPRY_F64}, {SPRY_SDDMM, SPRY_F32}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Sums over matrices. */
typedef struct {
    double best, mean; /* log of predicted seconds over exhaustive's */
    double worst;      /* of best */
    double asked, seconds;
    int count;
} tally;

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spry_status make(spry_problem **p, const spry_matrix *A, int i)
{
    return spry_problem_make(p, problems[i].op, A, WIDTH, problems[i].type);
}

/* Logs of the best and of the mean prediction; 0: nothing was found. */
static int search(double *best, double *mean, tally *t, const sp_strategy *how,
                  sp_space *s)
{
    sp_candidate top[TOP];
    double begun = cpu_seconds();
    int64_t asked = 0;
    int count = 0;

    s->asked = &asked;
    if (how->find(top, &count, TOP, s) != SPRY_OK)
        count = 0;
    s->asked = NULL;
    if (count == 0)
        return 0;
    t->asked += (double)asked;
    t->seconds += cpu_seconds() - begun;
    *best = log(top[0].predicted);
    *mean = 0;
    for (int i = 0; i < count; i++)
        *mean += log(top[i].predicted) / count;
    return 1;
}

static void compare(tally *t, asker *a, sp_domain domain, sp_nests *nests)
{
    sp_space s = ask_space(a, domain, domain == SP_NESTS ? nests : NULL);
    double all = 0, all_mean = 0;

    for (int i = 0; i < sp_strategy_count; i++) {
        double best, mean;

        if (!search(&best, &mean, &t[i], &sp_strategies[i], &s))
            continue;
        if (i == 0) {
            all = best;
            all_mean = mean;
        }
        t[i].best += best - all;
        t[i].mean += mean - all_mean;
        t[i].worst = fmax(t[i].worst, best - all);
        t[i].count++;
    }
}

static void ask_all(tally t[DOMAINS][STRATEGIES], const spry_machine *m, int i,
                    const sp_cost *c, sp_nests *nests)
{
    for (int k = 0; k < RECIPES; k++) {
        spry_matrix *A;
        spry_problem *p;
        asker a;

        if (spry_matrix_generate(&A, recipes[k], 1) != SPRY_OK)
            continue;
        if (make(&p, A, i) == SPRY_OK && ask_open(&a, p, m, c) == SPRY_OK) {
            compare(t[0], &a, SP_FAMILIES, nests);
            compare(t[1], &a, SP_NESTS, nests);
            ask_close(&a);
        }
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

static void print(tally t[DOMAINS][STRATEGIES], spry_op op)
{
    static const char *const domain[] = {"formats", "nests"};

    printf("\n%s, predicted seconds over those of exhaustive search\n"
           "space    strategy      best  worst   top %d      asked      time\n",
           spry_op_name(op), TOP);
    for (int d = 0; d < DOMAINS; d++)
        for (int i = 0; i < sp_strategy_count; i++) {
            const tally *x = &t[d][i];
            double n = fmax(1, x->count);

            printf("%-8s %-10s  %6.3f %6.3f  %6.3f  %9.0f  %6.0f ms\n",
                   domain[d], sp_strategies[i].name, exp(x->best / n),
                   exp(x->worst), exp(x->mean / n), x->asked / n,
                   1e3 * x->seconds / n);
        }
    fflush(stdout);
}

static sp_nests *table(spry_op op, const sp_cost *c, int threads)
{
    spry_space s = {.op = op, .splits = {6, 6}, .threads = threads};
    sp_nests *n = NULL;

    if (sp_nests_make(&n, &s) != SPRY_OK || sp_nests_embed(n, c) != SPRY_OK ||
        sp_nests_link(n, 12, 40, 1) != SPRY_OK) {
        sp_nests_free(n);
        return NULL;
    }
    return n;
}

int main(void)
{
    spry_machine m;

    if (spry_machine_detect(&m) != SPRY_OK)
        return 1;
    for (int i = 0; i < PROBLEMS; i++) {
        tally t[DOMAINS][STRATEGIES];
        sp_cost *c = NULL;
        sp_nests *nests;

        memset(t, 0, sizeof t);
        if (sp_cost_find(&c, problems[i].op) != SPRY_OK || !c) {
            printf("%s: no model\n", spry_op_name(problems[i].op));
            continue;
        }
        nests = table(problems[i].op, c, m.threads);
        ask_all(t, &m, i, c, nests);
        print(t, problems[i].op);
        sp_nests_free(nests);
        sp_cost_free(c);
    }
    return 0;
}
