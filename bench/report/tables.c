/* tables.c - rows -> what the reader sees. */
#include <math.h>
#include <stdio.h>

#include "report.h"

static const double NOT_BELOW = 0.98;

void bench_print_row(const bench_report *r, const bench_row *row,
                     const char *schedule)
{
    const struct bench_combination *k = &bench_combinations[row->combination];

    printf("%-20s %-9s %s %d  %5.2f [%5.2f, %5.2f]  ", row->name,
           bench_operations[row->operation].name, spry_type_name(k->type),
           k->threads, row->base.mid, row->base.low, row->base.high);
    if (row->peer.mid > 0)
        printf("%5.2f [%5.2f, %5.2f] %-11s", row->peer.mid, row->peer.low,
               row->peer.high, r->who[row->best]);
    if (row->limit > 0)
        printf("  %3.0f %%",
               100 * (bench_operations[row->operation].op == SPRY_SPMV
                          ? bench_memory_fraction(r, row, WHO_SPRY)
                          : bench_compute_fraction(r, row, WHO_SPRY)));
    else
        printf("      -");
    printf("  %s\n", schedule);
    fflush(stdout);
}

/* ---- by operation, type and threads ---- */

static int in_cell(const bench_row *row, int o, int k)
{
    return row->operation == o && row->combination == k;
}

/* The row with the least (sign 1) or largest (-1) number of a cell. */
static const bench_row *extreme(const bench_report *r, int o, int k,
                                bench_number *number, int sign)
{
    const bench_row *found = NULL;
    double best = HUGE_VAL;

    for (int i = 0; i < r->rows; i++) {
        double v = in_cell(&r->row[i], o, k) ? number(r, &r->row[i], 0) : 0;

        if (v > 0 && sign * v < best) {
            best = sign * v;
            found = &r->row[i];
        }
    }
    return found;
}

static void print_cell(const bench_report *r, int o, int k,
                       bench_number *number, const char *against)
{
    const struct bench_combination *c = &bench_combinations[k];
    bench_filter f = BENCH_EVERY;
    const bench_row *worst = extreme(r, o, k, number, 1);
    const bench_row *best = extreme(r, o, k, number, -1);
    sp_interval v;
    int n;

    f.operation = o;
    f.type = (int)c->type;
    f.threads = c->threads;
    v = bench_mean(r, &f, number, 0, &n);
    if (!worst || !best)
        return;
    printf("%-9s %s %d  %-9s %5.2f [%5.2f, %5.2f] of %3d   "
           "worst %5.2f %s, best %5.2f %s\n",
           bench_operations[o].name, spry_type_name(c->type), c->threads,
           against, v.mid, v.low, v.high, n, number(r, worst, 0), worst->name,
           number(r, best, 0), best->name);
}

static void print_cells(const bench_report *r)
{
    printf("\ngeometric mean of (their time / spry's) [95 %% interval]\n");
    for (int o = 0; o < OPERATIONS; o++)
        for (int k = 0; k < COMBINATIONS; k++) {
            print_cell(r, o, k, bench_base_ratio, "baseline");
            print_cell(r, o, k, bench_peer_ratio, "best peer");
        }
}

/* ---- by contestant ---- */

static int times_best(const bench_report *r, int who)
{
    int n = 0;

    for (int i = 0; i < r->rows; i++)
        n += r->row[i].peer.mid > 0 && r->row[i].best == who;
    return n;
}

static void print_whos(const bench_report *r)
{
    bench_filter every = BENCH_EVERY;

    printf("\n%-12s their time / spry's       problems  best peer  "
           "setup s  wrong  too large\n",
           "contestant");
    for (int who = WHO_PLAIN; who < r->whos; who++) {
        int n;
        sp_interval v = bench_mean(r, &every, bench_who_ratio, who, &n);

        if (n == 0 && r->wrong[who] == 0 && r->too_large[who] == 0)
            continue;
        printf("%-12s %7.2f [%6.2f, %6.2f]  %7d  %8d  %8.2f  %5d  %9d\n",
               r->who[who], v.mid, v.low, v.high, n, times_best(r, who),
               r->opened[who] ? r->setup[who] / r->opened[who] : 0,
               r->wrong[who], r->too_large[who]);
    }
}

static void print_fraction(const bench_report *r, const bench_filter *f,
                           bench_number *number, int who)
{
    int n;
    sp_interval v = bench_mean(r, f, number, who, &n);

    if (n)
        printf("  %6.3f of %3d", v.mid, n);
    else
        printf("  %13s", "-");
}

/* Bytes are those of the chosen format for spry, of CSR for all others. */
static void print_bounds(const bench_report *r)
{
    static const int products[] = {OP_SPMM_32, OP_SPMM_128, OP_SPMM_256};

    printf("\n%-12s  share of the triad  share of the multiply-add peak\n",
           "contestant");
    printf("%-12s  %13s  %13s  %13s  %13s\n", "", "spmv, memory", "spmm-32",
           "spmm-128", "spmm-256");
    for (int who = 0; who < r->whos; who++) {
        bench_filter f = BENCH_EVERY;

        printf("%-12s", r->who[who]);
        f.operation = OP_SPMV;
        f.memory_resident = 1;
        print_fraction(r, &f, bench_memory_fraction, who);
        f.memory_resident = ANY;
        for (int i = 0; i < 3; i++) {
            f.operation = products[i];
            print_fraction(r, &f, bench_compute_fraction, who);
        }
        printf("\n");
    }
}

/* ---- what lost ---- */

static void print_losses(const bench_report *r)
{
    int n = 0;

    printf("\nbelow %.2f:\n", NOT_BELOW);
    for (int i = 0; i < r->rows; i++) {
        const bench_row *row = &r->row[i];
        const struct bench_combination *k =
            &bench_combinations[row->combination];
        int peer = row->peer.mid > 0 && row->peer.mid < NOT_BELOW;

        if (row->base.mid >= NOT_BELOW && !peer)
            continue;
        printf("  %s %s %s %d", row->name,
               bench_operations[row->operation].name, spry_type_name(k->type),
               k->threads);
        if (row->base.mid < NOT_BELOW)
            printf("  baseline %.2f", row->base.mid);
        if (peer)
            printf("  %s %.2f", r->who[row->best], row->peer.mid);
        printf("\n");
        n++;
    }
    printf("  %d of %d problems\n", n, r->rows);
}

void bench_print_tables(const bench_report *r)
{
    print_cells(r);
    print_whos(r);
    print_bounds(r);
    print_losses(r);
    printf("\n%d problems, %d failed, %d left out\n", r->rows, r->failed,
           r->skipped);
}
