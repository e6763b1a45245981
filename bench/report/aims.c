/* aims.c - rows -> one line per figure that spry wants to reach. */
#include <math.h>
#include <stdio.h>

#include "../contest/figures.h"
#include "report.h"

static const double NOT_BELOW = 0.98;

/* Real matrices: three quarters of the gain, in log scale. */
static const double REAL_SHARE = 0.75;

static const struct {
    const char *name;
    int operation, op, type;
    double goal;
} over_plain[] = {
    {"spmm32", OP_SPMM_32, ANY, ANY, 2.5},
    {"spmm128", OP_SPMM_128, ANY, ANY, 2.2},
    {"spmm256", OP_SPMM_256, ANY, ANY, 1.8},
    {"sddmm", ANY, SPRY_SDDMM, ANY, 1.7},
    {"spmv_f32", OP_SPMV, ANY, SPRY_F32, 1.7},
    {"spmv_f64", OP_SPMV, ANY, SPRY_F64, 1.4},
};

static const struct {
    const char *name;
    int op;
    double goal;
} over_peers[] = {{"peers_spmm", SPRY_SPMM, 1.6},
                  {"peers_spmv", SPRY_SPMV, 1.3},
                  {"peers_sddmm", SPRY_SDDMM, 1.5}};

static void aim_mean(const bench_report *r, const char *name,
                     const bench_filter *f, bench_number *number, double goal)
{
    int n;
    double mean = bench_mean(r, f, number, WHO_SPRY, &n).mid;

    if (n > 0)
        bench_aim_least(name, mean, goal);
    else
        bench_aim_unknown(name, goal,
                          f->memory_resident != ANY
                              ? "no problem was larger than the last cache"
                              : "no such problem was run");
}

static void aims_over_plain(const bench_report *r, const char *prefix,
                            int generated, double share)
{
    for (size_t i = 0; i < sizeof over_plain / sizeof over_plain[0]; i++) {
        bench_filter f = BENCH_EVERY;
        char name[64];

        f.generated = generated;
        f.operation = over_plain[i].operation;
        f.op = over_plain[i].op;
        f.type = over_plain[i].type;
        snprintf(name, sizeof name, "%s_%s", prefix, over_plain[i].name);
        aim_mean(r, name, &f, bench_base_ratio, pow(over_plain[i].goal, share));
    }
}

static void aims_over_peers(const bench_report *r)
{
    for (size_t i = 0; i < sizeof over_peers / sizeof over_peers[0]; i++) {
        bench_filter f = BENCH_EVERY;

        f.op = over_peers[i].op;
        aim_mean(r, over_peers[i].name, &f, bench_peer_ratio,
                 over_peers[i].goal);
    }
}

static double worst_ratio(const bench_report *r)
{
    double worst = HUGE_VAL;

    for (int i = 0; i < r->rows; i++)
        worst = fmin(worst, r->row[i].base.mid);
    return worst;
}

static void aim_slower(const bench_report *r)
{
    static const char name[] = "peers_slower_share";
    static const double most = 0.03;
    int slower = 0, n = 0;

    for (int i = 0; i < r->rows; i++)
        if (r->row[i].peer.mid > 0) {
            slower += r->row[i].peer.mid < NOT_BELOW;
            n++;
        }
    if (n > 0)
        bench_aim_most(name, (double)slower / n, most);
    else
        bench_aim_unknown(name, most, "no peer took part");
}

static void aims_of_the_bound(const bench_report *r)
{
    bench_filter f = BENCH_EVERY;

    f.operation = OP_SPMV;
    f.memory_resident = 1;
    aim_mean(r, "spmv_memory_fraction", &f, bench_memory_fraction, 0.80);
    f.memory_resident = ANY;
    f.operation = OP_SPMM_128;
    f.type = SPRY_F32;
    f.name = "resident-l2";
    aim_mean(r, "spmm128_l2_fma_fraction", &f, bench_compute_fraction, 0.45);
    f.name = "resident-blocks";
    aim_mean(r, "spmm128_blocks_fma_fraction", &f, bench_compute_fraction,
             0.60);
}

void bench_print_aims(const bench_report *r)
{
    printf("\n");
    aims_over_plain(r, "classes", 1, 1);
    aims_over_plain(r, "real", 0, REAL_SHARE);
    if (r->rows > 0)
        bench_aim_least("worst_vs_baseline", worst_ratio(r), NOT_BELOW);
    else
        bench_aim_unknown("worst_vs_baseline", NOT_BELOW, "no problem was run");
    aims_over_peers(r);
    aim_slower(r);
    aims_of_the_bound(r);
    if (r->tune_memory > 0)
        bench_aim_most("tune_memory", r->tune_memory, 4);
    else
        bench_aim_unknown("tune_memory", 4, "its tune did not end");
}
