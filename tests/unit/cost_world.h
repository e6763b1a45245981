/* cost_world.h - a small world in which times follow a rule. */
#ifndef SPRY_COST_WORLD_H
#define SPRY_COST_WORLD_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "model/guess.h"
#include "spry/model.h"
#include "spry/space.h"

enum { SUBJECTS = 16, HELD = 5, EACH = 40, FAMILIES = 20 };

/* ---- a small world with a rule ---- */

typedef struct {
    spry_matrix *A[SUBJECTS];
    spry_problem *p[SUBJECTS];
    spry_machine m;
    sp_subject subject[SUBJECTS];
    sp_example row[SUBJECTS * EACH];
    int64_t start[SUBJECTS + 1], held_start[HELD + 1];
    sp_examples train, test;
} world;

/* The same world wherever the test runs. */
static const char card[] = "name Test CPU\ncores 2\nthreads 2\nisa avx2\n"
                           "cache_bytes 32768 524288 33554432\n"
                           "cache_sharing 1 1 2\nat 1 2\n"
                           "read 1e10 1.8e10\ntriad 9e9 1.6e10\n";

static const char *const kinds[] = {"uniform", "blocks", "powerlaw"};

/* Families and nests, in turns. */
static inline spry_schedule point(int i, spry_op op, const spry_schedule *nests)
{
    static const char *const family[] = {"csr",
                                         "csr tile=1",
                                         "csr tile=2",
                                         "csr tile=4 unroll=2",
                                         "csr tile=4 threads=2",
                                         "csr threads=2",
                                         "csr tile=2 prefetch=8",
                                         "bcsr r=2 c=2 tile=1",
                                         "bcsr r=4 c=4 tile=2",
                                         "dcsr tile=2"};
    static const char *const vector[] = {"csr",
                                         "csr unroll=2",
                                         "csr unroll=4",
                                         "csr threads=2",
                                         "csr unroll=4 threads=2",
                                         "csr prefetch=8",
                                         "csr prefetch=16",
                                         "bcsr r=2 c=2",
                                         "bcsr r=4 c=4",
                                         "dcsr unroll=2"};
    spry_schedule x;

    if (i >= FAMILIES)
        return nests[i - FAMILIES];
    check_ok(spry_schedule_parse(&x, op == SPRY_SPMM ? family[i / 2]
                                                     : vector[i / 2]));
    if (i % 2 && x.threads > 1)
        x.chunk = 64;
    else if (i % 2 && x.prefetch == 0 && x.format != SPRY_BCSR)
        x.prefetch = 4;
    return x;
}

/* The rule: the bound, times something that depends on the schedule, and
 * something on both. No model is told it. */
static inline double rule(const spry_prediction *prediction,
                          const spry_schedule *x, const sp_subject *s)
{
    double t = log(prediction->seconds);

    t += x->format == SPRY_SUPER ? 0.3 * x->super.split[0] - 0.5 : 0;
    t += x->prefetch ? -0.4 : 0.2;
    t += x->threads > 1 && s->task.nnz < 20000 ? 1.5 : 0;
    return t + (x->format == SPRY_BCSR ? 0.8 : 0);
}

static inline void open_world(world *w, spry_op op)
{
    spry_schedule nests[EACH - FAMILIES];

    memset(w, 0, sizeof *w);
    check_ok(spry_machine_parse(&w->m, card, "card"));
    for (int k = 0; k < SUBJECTS; k++) {
        char spec[96];
        int rows = 500 + 300 * k;
        sp_example *row = w->row + k * EACH;

        snprintf(spec, sizeof spec, "gen:%s,rows=%d,nnz=%d", kinds[k % 3], rows,
                 rows * (4 + k % 5));
        check_ok(spry_matrix_read(&w->A[k], spec));
        if (op == SPRY_SPMM)
            check_ok(spry_problem_spmm(&w->p[k], w->A[k], 32, SPRY_F32));
        else
            check_ok(spry_problem_spmv(&w->p[k], w->A[k], SPRY_F32));
        check_ok(sp_subject_of(&w->subject[k], sp_sparse_of(w->p[k]), &w->m));
        spry_space space = spry_space_of(w->p[k], 2);
        spry_space_sample(nests, EACH - FAMILIES, &space, SPRY_SAMPLE_WACO,
                          (uint64_t)k);
        for (int i = 0; i < EACH; i++) {
            spry_prediction prediction = {.size = sizeof prediction};

            row[i].subject = k < SUBJECTS - HELD ? k : k - (SUBJECTS - HELD);
            row[i].x = point(i, op, nests);
            row[i].noise = 0.01;
            if (spry_predict(&prediction, w->p[k], &row[i].x, &w->m) !=
                SPRY_OK) {
                row[i].verdict = 4;
                row[i].log_seconds = row[i].log_speedup = nan("");
                continue;
            }
            row[i].log_seconds = rule(&prediction, &row[i].x, &w->subject[k]);
            row[i].log_speedup = log(w->subject[k].plain) - row[i].log_seconds;
        }
    }
    for (int k = 0; k <= SUBJECTS; k++)
        w->start[k] = k * EACH;
    for (int k = 0; k <= HELD; k++)
        w->held_start[k] = k * EACH;
    w->train = (sp_examples){SUBJECTS - HELD, (SUBJECTS - HELD) * EACH,
                             w->subject, w->row, w->start};
    w->test = (sp_examples){HELD, HELD * EACH, w->subject + SUBJECTS - HELD,
                            w->row + (SUBJECTS - HELD) * EACH, w->held_start};
}

static inline void close_world(world *w)
{
    for (int k = 0; k < SUBJECTS; k++) {
        spry_problem_free(w->p[k]);
        spry_matrix_free(w->A[k]);
    }
}

#endif
