/* report.h - results of bench-peers: rows, and the tables made of them. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "../contest/match.h"
#include "spry/machine.h"

/* ---- what is measured ---- */

enum {
    OP_SPMV,
    OP_SPMM_32,
    OP_SPMM_128,
    OP_SPMM_256,
    OP_SDDMM_32,
    OP_SDDMM_128,
    OPERATIONS,
    COMBINATIONS = 4
};

extern const struct bench_operation {
    spry_op op;
    int64_t n;
    const char *name;
} bench_operations[OPERATIONS];

extern const struct bench_combination {
    spry_type type;
    int threads;
} bench_combinations[COMBINATIONS];

/* ---- rows ---- */

/* Contestants: spry, the plain loop, then the peers of peers/table.c. */
enum { WHO_SPRY, WHO_PLAIN, WHO_PEERS, WHOS = 16, MOST_ROWS = 2048 };

typedef struct {
    char name[64];
    int generated, operation, combination;
    sp_interval base;   /* the plain loop's time / ours */
    sp_interval peer;   /* the fastest peer's; mid 0: there was none */
    int best;           /* who that is */
    double ratio[WHOS]; /* everybody's time / ours; 0: did not run */
    double seconds;     /* ours */
    double flops;
    double plan_bytes; /* that must move at least, in our format */
    double csr_bytes;  /* and in everybody else's */
    double limit;      /* bytes or operations a second of the triad (spmv) or of
                     multiply-adds, in the same race; 0: of this machine */
} bench_row;

typedef struct {
    spry_machine machine; /* probed in this run */
    int whos;
    const char *who[WHOS];
    bench_row row[MOST_ROWS]; /* [rows] */
    int rows;
    double setup[WHOS];  /* seconds, summed over `opened` problems */
    int opened[WHOS];    /* problems it was ready for */
    int wrong[WHOS];     /* that it got wrong */
    int too_large[WHOS]; /* whose copies would have been too large */
    int failed, skipped;
    double tune_memory; /* see growth.c; 0: not measured */
} bench_report;

/* Bytes of the largest cache. */
double bench_last_cache(const spry_machine *m);

void bench_print_row(const bench_report *r, const bench_row *row,
                     const char *schedule);
void bench_print_tables(const bench_report *r);
void bench_print_aims(const bench_report *r);
/* To the file that PEERS_SVG names, if it names one (chart.c). */
void bench_write_chart(const bench_report *r);
/* To the file that PEERS_CSV names, if it names one (csv.c). */
void bench_write_csv(const bench_report *r);

/* ---- rows that have something in common ---- */

enum { ANY = -1 };

typedef struct {
    int generated;       /* 1, 0 or ANY */
    int operation;       /* index, or ANY */
    int op;              /* spry_op, or ANY */
    int type;            /* spry_type, or ANY */
    int threads;         /* or ANY */
    const char *name;    /* of the matrix, or NULL */
    int memory_resident; /* 1: only those, ANY */
} bench_filter;

#define BENCH_EVERY                        \
    {                                      \
        ANY, ANY, ANY, ANY, ANY, NULL, ANY \
    }

/* One number of a row; 0: it has none. */
typedef double bench_number(const bench_report *r, const bench_row *row,
                            int who);
bench_number bench_base_ratio, bench_peer_ratio, bench_who_ratio;
bench_number bench_memory_fraction;  /* compulsory bytes/s of the triad's */
bench_number bench_compute_fraction; /* FLOP/s of the multiply-add peak */

/* Geometric mean over the rows that pass, and how many they are. */
sp_interval bench_mean(const bench_report *r, const bench_filter *f,
                       bench_number *number, int who, int *count);

/* ---- growth (growth.c) ---- */

/* Time per nonzero from 1e4 nonzeros on, and the peak memory of a tune. */
void bench_growth(bench_report *r, const spry_machine *m, int quick,
                  double deadline);

#endif
