/* stats_threes.c - how many aligned 3 x 3 and 6 x 6 blocks hold an entry:
 * what meshes with three or six unknowns per node are made of.
 *
 * Six rows at a time; every block column remembers the last group of rows
 * that touched it. */
#include "matrix/stats.h"

#include <omp.h>
#include <string.h>

enum { SIDE = 3, TWICE = 6 };

/* One thread's memory and counts. */
typedef struct {
    int64_t *last3, *last6; /* group of rows + 1, by block column */
    int64_t threes, sixes;
} tally;

static void count_row(tally *t, const spry_matrix *m, int64_t i)
{
    int64_t group3 = i / SIDE + 1, group6 = i / TWICE + 1;

    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
        int64_t block = sp_col(m, k) / SIDE;

        if (t->last3[block] == group3)
            continue;
        t->last3[block] = group3;
        t->threes++;
        if (t->last6[block / 2] != group6) {
            t->last6[block / 2] = group6;
            t->sixes++;
        }
    }
}

static int tally_open(tally *t, const spry_matrix *m)
{
    t->last3 = sp_alloc(m->cols / SIDE + 1, sizeof *t->last3);
    t->last6 = sp_alloc(m->cols / TWICE + 1, sizeof *t->last6);
    return t->last3 && t->last6;
}

/* Every thread has a run of whole groups. */
static void count_all(tally *t, int threads, const spry_matrix *m)
{
    int64_t groups = m->rows / TWICE + 1;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int k = 0; k < threads; k++) {
        int64_t from = groups * k / threads * TWICE;
        int64_t to = groups * (k + 1) / threads * TWICE;

        for (int64_t i = from; i < to && i < m->rows; i++)
            count_row(&t[k], m, i);
    }
}

/* A matrix far wider than it has entries has no blocks worth counting: each
 * entry passes for one. */
spry_status sp_stats_threes(spry_stats *s, const spry_matrix *m)
{
    int threads = omp_get_max_threads(), ready = 1;
    tally *t;

    s->threes = s->sixes = m->nnz;
    if (m->cols / SIDE > sp_stats_plain(m))
        return SPRY_OK;
    t = sp_alloc(threads, sizeof *t);
    if (!t)
        return sp_fail_memory((size_t)threads * sizeof *t);
    for (int k = 0; k < threads && ready; k++)
        ready = tally_open(&t[k], m);
    if (ready) {
        count_all(t, threads, m);
        s->threes = s->sixes = 0;
    }
    for (int k = 0; k < threads; k++) {
        s->threes += t[k].threes;
        s->sixes += t[k].sixes;
        sp_free(t[k].last3);
        sp_free(t[k].last6);
    }
    sp_free(t);
    return ready ? SPRY_OK : sp_fail_memory((size_t)m->cols * 4);
}
