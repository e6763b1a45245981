/* pack.c - what packing costs, in runs of the plain SpMM-32 loop.
 *
 * Every class is packed for the formats that win most often, on all threads;
 * a pack and a serial plain run take turns, and their ratio is the price. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "classes.h"
#include "measure/measure.h"
#include "spry.h"

enum { ROUNDS = 7, COLUMNS = 32 };
static const double GOAL = 10;

/* sell is a format of spmv; its price is in the same unit. */
static const struct {
    spry_op op;
    const char *schedule;
} families[] = {
    {SPRY_SPMM, "csr tile=4"},
    {SPRY_SPMM, "csr tile=4 index=16"},
    {SPRY_SPMM, "csr tile=4 index=16 panel=4096"},
    {SPRY_SPMM, "bcsr tile=4 r=2"},
    {SPRY_SPMM, "bcsr tile=2 r=4 c=4"},
    {SPRY_SPMM, "dcsr tile=4"},
    {SPRY_SPMV, "sell slice=4 sigma=4096"},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

typedef struct {
    spry_problem *spmm, *spmv;
    spry_plan *plain;
    float *B, *C;
    spry_machine m;
} subject;

static double plain_seconds(const subject *s)
{
    double begun = sp_seconds();

    (void)spry_run(s->plain, s->B, s->C);
    return sp_seconds() - begun;
}

/* The median of pack / plain; < 0: this format does not suit the matrix. */
static double price(const subject *s, int family)
{
    const spry_problem *p =
        families[family].op == SPRY_SPMM ? s->spmm : s->spmv;
    double ratio[ROUNDS];
    spry_schedule x;

    if (spry_schedule_parse(&x, families[family].schedule) != SPRY_OK)
        return -1;
    for (int i = 0; i < ROUNDS; i++) {
        double plain = plain_seconds(s);
        spry_plan *plan;

        if (spry_plan_make(&plan, p, &x, &s->m) != SPRY_OK)
            return -1;
        ratio[i] = spry_plan_pack_seconds(plan) / plain;
        spry_plan_free(plan);
    }
    return sp_median(ratio, ROUNDS);
}

static spry_status open_subject(subject *s, const spry_matrix *A)
{
    spry_schedule plain = spry_schedule_baseline(1);
    spry_status status = spry_problem_spmm(&s->spmm, A, COLUMNS, SPRY_F32);

    if (status == SPRY_OK)
        status = spry_problem_spmv(&s->spmv, A, SPRY_F32);
    if (status == SPRY_OK)
        status = spry_plan_make(&s->plain, s->spmm, &plain, &s->m);
    s->B = sp_alloc(A->cols * COLUMNS, sizeof *s->B);
    s->C = sp_alloc(A->rows * COLUMNS, sizeof *s->C);
    if (status == SPRY_OK && (!s->B || !s->C))
        status = sp_fail_memory((size_t)(A->rows + A->cols) * COLUMNS * 4);
    if (status == SPRY_OK)
        (void)plain_seconds(s); /* pages are touched, caches are warm */
    return status;
}

static void close_subject(subject *s)
{
    spry_plan_free(s->plain);
    spry_problem_free(s->spmm);
    spry_problem_free(s->spmv);
    sp_free(s->B);
    sp_free(s->C);
}

/* A line of the table; the dearest format of this class. */
static double one_class(int c, const spry_machine *m)
{
    subject s = {.m = *m};
    spry_matrix *A;
    double most = 0;

    if (spry_matrix_generate(&A, bench_classes[c].spec, BENCH_SEED) != SPRY_OK)
        return 0;
    printf("%-15s", bench_classes[c].name);
    if (open_subject(&s, A) == SPRY_OK)
        for (int f = 0; f < FAMILIES; f++) {
            double runs = price(&s, f);

            if (runs < 0)
                printf(" %6s", "-");
            else
                printf(" %6.2f", runs);
            most = runs > most ? runs : most;
            fflush(stdout);
        }
    printf("\n");
    close_subject(&s);
    spry_matrix_free(A);
    return most;
}

int main(void)
{
    spry_machine m;
    double worst = 0;

    if (spry_machine_detect(&m) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    printf("packing on %d threads, in serial plain SpMM-%d runs, f32\n",
           m.threads, COLUMNS);
    for (int f = 0; f < FAMILIES; f++)
        printf("%*s%d  %s\n", 15, "", f + 1, families[f].schedule);
    printf("%-15s", "");
    for (int f = 0; f < FAMILIES; f++)
        printf(" %6d", f + 1);
    printf("\n");
    for (int c = 0; c < BENCH_CLASSES; c++) {
        double most = one_class(c, &m);

        worst = most > worst ? most : worst;
    }
    printf("aim pack_runs %.2f %g %s\n", worst, GOAL,
           worst <= GOAL ? "met" : "short");
    return 0;
}
