/* rate.c - how fast labels are collected, on matrices of 1e5 entries. */
#include <stdio.h>

#include "learn.h"

static const char *const specs[] = {"uniform rows=20000 nnz=100000",
                                    "powerlaw rows=15000 nnz=100000",
                                    "banded rows=5000 band=20"};
enum { SPECS = sizeof specs / sizeof specs[0], EACH = 100, FEWER = 30 };

static spry_status make_problem(spry_problem **out, const spry_matrix *A,
                                spry_op op)
{
    return spry_problem_make(out, op, A, 128, SPRY_F32);
}

/* Trials that were verified and timed, and the seconds all trials took. */
static spry_status collect(const bench *b, const spry_matrix *A, spry_op op,
                           spry_collect_options *o, double *labels,
                           double *seconds)
{
    spry_records *db = NULL;
    spry_problem *p = NULL;
    spry_collected c = {.size = sizeof c};
    spry_status s = spry_records_open(&db, ":memory:");

    o->schedules = b->quick ? FEWER : EACH;
    o->machine = &b->m;
    if (s == SPRY_OK)
        s = make_problem(&p, A, op);
    if (s == SPRY_OK)
        s = spry_collect(&c, db, p, "", NULL, o);
    if (s == SPRY_OK) {
        *labels += c.verdict[SPRY_VERDICT_OK] + c.verdict[SPRY_VERDICT_SLOW];
        *seconds += c.seconds;
    }
    spry_problem_free(p);
    spry_records_close(db);
    return s;
}

double collect_rate(const bench *b)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    double all = 0, time = 0;
    spry_status s = spry_kernels_open(&o.kernels);

    printf("\nlabels a second, matrices of 1e5 entries:");
    for (int op = 0; s == SPRY_OK && op < OPS; op++) {
        double labels = 0, seconds = 0;

        for (int i = 0; s == SPRY_OK && i < SPECS; i++) {
            spry_matrix *A = NULL;

            s = spry_matrix_generate(&A, specs[i], 1);
            if (s == SPRY_OK)
                s = collect(b, A, b->f[op].op, &o, &labels, &seconds);
            spry_matrix_free(A);
        }
        if (s == SPRY_OK)
            printf(" %s %.1f", spry_op_name(b->f[op].op), labels / seconds);
        all += labels;
        time += seconds;
    }
    printf("%s\n", s == SPRY_OK ? "" : spry_message());
    spry_kernels_close(o.kernels);
    return time > 0 ? all / time : 0;
}
