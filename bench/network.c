/* network.c - sparse networks: everything that is claimed of them.
 *
 *   bench-network [batch1|batches|challenge|orders|learned]
 *
 * All parts without an argument; QUICK=1 takes three minutes. Ratios are of
 * pairs in one race. The last lines are the aims. */
#include <stdio.h>
#include <string.h>

#include "contest/figures.h"
#include "network/challenge.h"
#include "network/learned.h"
#include "network/meet.h"
#include "network/parts.h"

static void aims_single(const figures *f)
{
    bench_aim_least("batch1-edges-per-second", f->one, 2.5e9);
    bench_aim_least("batch1-over-algorithm-1", f->over_destination, 4);
    if (f->over_scipy > 0) {
        bench_aim_least("batch1-over-scipy", f->over_scipy, 3);
        bench_aim_least("batch1-compiled-over-scipy", f->compiled_over_scipy,
                        20);
    }
    if (f->over_torch > 0)
        bench_aim_least("batch1-over-pytorch", f->over_torch, 40);
}

static void aims_batches(const figures *f)
{
    bench_aim_least("batch64-edges-per-second", f->plain[0], 22e9);
    bench_aim_least("batch1024-edges-per-second", f->plain[1], 22e9);
    bench_aim_least("batch64-shared-edges-per-second", f->shared[0], 33e9);
    bench_aim_least("batch1024-shared-edges-per-second", f->shared[1], 33e9);
    bench_aim_least("two-threads-over-one", f->two_over_one, 1.8);
}

static void aims_orders(const figures *f)
{
    bench_aim_least("official-counters", f->counters, 1);
    bench_aim_most("ego-half-seconds", f->ego_half_seconds, 3);
    bench_aim_most("ego-half-bytes", f->ego_half_bytes, 500e6);
    bench_aim_most("ego-radix-seconds", f->ego_radix_seconds, 5);
    bench_aim("blocked-over-ego", f->blocked_over_ego, 1,
              f->blocked_over_ego > 1);
    bench_aim("blocked-over-destination", f->blocked_over_destination, 1,
              f->blocked_over_destination > 1);
    bench_aim("annealed-over-blocked", f->annealed, 1, f->annealed > 1);
    if (f->wide_bytes > 0)
        bench_aim_most("wide-streamed-bytes", f->wide_bytes, 1e9);
}

static const struct {
    const char *name;
    void (*run)(figures *f, int quick);
    void (*aims)(const figures *f);
} parts[] = {{"orders", bench_orders, aims_orders}, /* forks: before threads */
             {"batch1", bench_single, aims_single},
             {"batches", bench_batches, aims_batches}};
enum { PARTS = sizeof parts / sizeof parts[0] };

int main(int argc, char **argv)
{
    figures f = {0};
    int quick = bench_quick();
    int wanted[PARTS];

    for (int i = 0; i < PARTS; i++) {
        wanted[i] = argc < 2 || strcmp(argv[1], parts[i].name) == 0;
        if (wanted[i])
            parts[i].run(&f, quick);
    }
    printf("\n");
    if (argc < 2 || strcmp(argv[1], "challenge") == 0)
        bench_challenge(quick);
    if (argc < 2 || strcmp(argv[1], "learned") == 0)
        bench_learned(quick);
    for (int i = 0; i < PARTS; i++)
        if (wanted[i])
            parts[i].aims(&f);
    return 0;
}
