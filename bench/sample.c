/* sample.c - how few records teach as much?
 *
 * The certificate of every way of sampling: models learn from a share of the
 * records of the groups that teach and are graded on all records of those held
 * out, until every problem was. LEARN_STORE names a store whose records are
 * used (of others', imported, for instance; run it where their matrices are
 * found); without it those of a Xeon in the data folder are, and where that is
 * not there some minutes go into measuring a suite. LEARN_OPS=spmv names some
 * operations; QUICK=1 is of one operation, and keeps 30 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest/figures.h"
#include "spry.h"

#ifndef BENCH_DATA
#define BENCH_DATA "."
#endif
static const char stored[] = "records/spry_xeon_emr/suite.jsonl.gz";

enum { SHARES = 4, WAYS = 8, LINES = 1 + SHARES * WAYS };
static const double shares[SHARES] = {0.5, 0.3, 0.2, 0.1};

/* Measure generated matrices, one operation, until the time is over. */
static spry_status measure(spry_records *db, const spry_machine *m,
                           double seconds)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    spry_status s = SPRY_OK;
    const char *source;
    spry_collected c = {.size = sizeof c};

    o.machine = m;
    for (int i = 0;
         s == SPRY_OK && seconds > 0 && (source = spry_suite("default", i));
         i++) {
        spry_matrix *A = NULL;
        spry_problem *p = NULL;

        o.seconds = seconds;
        s = spry_matrix_read(&A, source);
        if (s == SPRY_OK)
            s = spry_problem_spmv(&p, A, SPRY_F32);
        if (s == SPRY_OK)
            s = spry_collect(&c, db, p, source, NULL, &o);
        if (s == SPRY_OK)
            seconds -= c.seconds;
        spry_problem_free(p);
        spry_matrix_free(A);
    }
    return s;
}

static void print_line(const spry_certificate *l, const spry_certificate *all)
{
    const spry_grades *g = &l->grades;

    printf("%-9s %6.1f %% %8lld  %.3f  %.3f  %.3f  %+6.2f  %+6.2f  %6.1f s  "
           "%lld\n",
           l == all ? "all" : l->way,
           100 * (double)l->kept / fmax(1, (double)l->records),
           (long long)l->kept, g->pairwise, g->top1, g->top5,
           100 * (all->grades.pairwise - g->pairwise),
           100 * (all->grades.top1 - g->top1), l->seconds,
           (long long)g->problems);
}

/* The largest share dropped within half a point of pairs and one of top-1. */
static double dropped(const spry_certificate *l, int count, const char *way)
{
    double most = 0;

    for (int i = 1; i < count; i++) {
        double gone = 1 - (double)l[i].kept / fmax(1, (double)l[i].records);

        if (strcmp(l[i].way, way) == 0 && gone > most &&
            l[0].grades.pairwise - l[i].grades.pairwise <= 0.005 &&
            l[0].grades.top1 - l[i].grades.top1 <= 0.01)
            most = gone;
    }
    return most;
}

static spry_status certify(spry_records *db, spry_op op)
{
    static spry_certificate line[LINES];
    spry_sample_options o = SPRY_SAMPLE_DEFAULTS;
    int few = bench_quick() ? 1 : SHARES, count = 1;
    char name[64];
    spry_status s;

    o.op = op;
    o.threads = 1; /* tables are small: a second thread is only waited for */
    line[0] = (spry_certificate){.way = "random", .share = 1};
    for (int w = 0; spry_sample_way(w) && w < WAYS; w++)
        for (int k = 0; k < few; k++)
            line[count++] = (spry_certificate){
                .way = spry_sample_way(w), .share = shares[few == 1 ? 1 : k]};
    s = spry_sample_certify(line, count, db, &o);
    if (s != SPRY_OK)
        return s;
    printf("\n%s, %s, records over all turns\n%-9s %8s %8s  pairs  top-1  "
           "top-5    pairs   top-1    fitting  problems\n",
           spry_op_name(op), o.kind, "", "kept", "records");
    for (int i = 0; i < count; i++)
        print_line(&line[i], line);
    for (int w = 0; spry_sample_way(w); w++) {
        snprintf(name, sizeof name, "%s-dropped-%s", spry_op_name(op),
                 spry_sample_way(w));
        bench_aim_least(name, dropped(line, count, spry_sample_way(w)), 0.7);
    }
    return SPRY_OK;
}

/* Records to learn from: of a store, of the data folder, or measured now. */
static spry_status find_records(spry_records **db, const char *path, int *ops)
{
    spry_machine m[2];
    spry_status s = spry_records_open(db, path ? path : ":memory:");

    if (s != SPRY_OK || path)
        return s;
    if (chdir(BENCH_DATA) == 0 && access(stored, R_OK) == 0) {
        printf("records of %s\n", stored);
        return spry_records_import(*db, stored, NULL, NULL);
    }
    *ops = 1; /* there is time to measure one */
    s = bench_machines(m);
    if (s == SPRY_OK) {
        bench_print_machine(&m[1]);
        s = measure(*db, &m[1], bench_quick() ? 110 : 600);
    }
    return s;
}

int main(void)
{
    static const spry_op ops[] = {SPRY_SPMV, SPRY_SPMM, SPRY_SDDMM};
    spry_records *db = NULL;
    int count = bench_quick() ? 1 : 3;
    spry_status s;

    setvbuf(stdout, NULL, _IOLBF, 0);
    s = find_records(&db, getenv("LEARN_STORE"), &count);
    for (int i = 0; i < count && s == SPRY_OK; i++)
        if (bench_listed("LEARN_OPS", spry_op_name(ops[i])))
            s = certify(db, ops[i]);
    if (s != SPRY_OK)
        printf("%s\n", spry_message());
    spry_records_close(db);
    return s != SPRY_OK;
}
