/* budget.c - is a budget kept?
 *
 * Problems from 1e4 to 4e6 entries times budgets from 0.2 to 5 s, each tuned
 * anew. Kept is what took no longer than the library promises, a fifth more or
 * 0.3 s, nor than a twentieth more or 0.5 s, which is less above 2.5 s; refused,
 * and that at once, is fine as well: SPRY_BUDGET says what is needed. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "contest/figures.h"
#include "contest/folder.h"
#include "spry.h"

static const char *const matrices[] = {
    "gen:uniform,rows=1,nnz=1",
    "gen:stencil5,nx=50",
    "gen:stencil5,nx=300",
    "gen:arrow,rows=20000",
    "gen:rmat,scale=13,degree=8",
    "gen:rmat,scale=16,degree=16",
    "gen:banded,rows=50000,band=60,density=0.3",
    "gen:stencil27,nx=40",
    "gen:uniform,rows=200000,nnz=4000000",
};
enum { MATRICES = sizeof matrices / sizeof matrices[0] };

/* 0: spmv, of f64; else columns of spmm, of f32. */
static const int64_t columns[] = {0, 32, 128};
enum { WIDTHS = sizeof columns / sizeof columns[0] };

static const double budgets[] = {0.2, 0.3, 0.5, 1, 2, 5};
enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

typedef struct {
    int kept, refused, over, failed, late_refusals;
    double worst; /* seconds over what is allowed */
} tally;

static double allowed(double budget)
{
    double promised = fmax(0.2 * budget, 0.3);
    double wanted = fmax(0.05 * budget, 0.5);

    return budget + fmin(promised, wanted);
}

static void tune_one(tally *t, const spry_problem *p, double budget,
                     const char *what)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    double begun = sp_seconds(), took;
    spry_status s;

    o.seconds = budget;
    o.again = 1;
    s = spry_tune(&plan, p, &o);
    took = sp_seconds() - begun;
    t->refused += s == SPRY_BUDGET;
    t->late_refusals += s == SPRY_BUDGET && took > allowed(budget);
    t->failed += s != SPRY_OK && s != SPRY_BUDGET;
    if (s == SPRY_OK && took <= allowed(budget))
        t->kept++;
    else if (s == SPRY_OK)
        t->over++;
    t->worst = fmax(t->worst, took - allowed(budget));
    printf("%-44s %4.1f s  %6.2f s  %s\n", what, budget, took,
           s == SPRY_BUDGET         ? spry_message()
           : s != SPRY_OK           ? spry_message()
           : took > allowed(budget) ? "OVER"
                                    : spry_plan_text(plan));
    fflush(stdout);
    spry_plan_free(plan);
}

static spry_status tune_matrix(tally *t, const char *spec, int step)
{
    spry_matrix *m;
    spry_status s = spry_matrix_read(&m, spec);

    for (int w = 0; s == SPRY_OK && w < WIDTHS; w += step) {
        spry_problem *p;
        char what[80];

        s = columns[w] ? spry_problem_spmm(&p, m, columns[w], SPRY_F32)
                       : spry_problem_spmv(&p, m, SPRY_F64);
        if (s != SPRY_OK)
            break;
        snprintf(what, sizeof what, "%s %lld", spec, (long long)columns[w]);
        for (int b = w % 2; b < BUDGETS; b += step)
            tune_one(t, p, budgets[b], what);
        spry_problem_free(p);
    }
    spry_matrix_free(m);
    return s;
}

int main(void)
{
    int step = bench_quick() ? 2 : 1, all;
    char folder[BENCH_FOLDER];
    spry_machine m[2];
    tally t = {0};
    spry_status s = SPRY_OK;

    if (!bench_folder(folder) || setenv("SPRY_HOME", folder, 1) != 0)
        return 1;
    if (bench_machines(m) == SPRY_OK)
        bench_print_machine(&m[1]);
    t.worst = -HUGE_VAL;
    for (int i = 0; s == SPRY_OK && i < MATRICES; i += step)
        s = tune_matrix(&t, matrices[i], step);
    bench_folder_remove(folder);
    if (s != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return (int)s;
    }
    all = t.kept + t.over + t.refused + t.failed;
    printf("%d tunes: %d kept, %d refused (%d of them late), %d over, %d "
           "failed; the worst ended %.2f s before it had to\n",
           all, t.kept, t.refused, t.late_refusals, t.over, t.failed, -t.worst);
    bench_aim_least("budget_kept_or_refused",
                    (double)(t.kept + t.refused - t.late_refusals) / all, 0.99);
    bench_aim_most("budget_refused", (double)t.refused / all, 0.25);
    return 0;
}
