/* transfer.c - is what was learned on one machine worth something on another?
 *
 * From stored records, within twenty minutes: those of others in the data
 * folder, and a store that TRANSFER_STORE names, with records of the same
 * suite on another machine. QUICK=1 takes three minutes and says little;
 * TRANSFER_PARTS=map,ginkgo,autosparse,bilstm,given,four,few runs some parts
 * only, TRANSFER_OPS=spmv some operations (a store need not have the others),
 * TRANSFER_SEEDS=2 draws records less often. */
#include "transfer/transfer.h"

#include <stdio.h>
#include <stdlib.h>

#include "contest/figures.h"

double elapsed(const bench *b)
{
    return sp_seconds() - b->begun;
}

static int bounded(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static int asked(const char *part)
{
    return bench_listed("TRANSFER_PARTS", part);
}

/* What a part took, behind what it printed. */
static void run(const char *part, void (*table)(bench *b), bench *b)
{
    double begin = elapsed(b);

    if (!asked(part))
        return;
    table(b);
    printf("(%s: %.0f s)\n", part, elapsed(b) - begin);
}

static void curves(bench *b)
{
    few_shots(b, asked("four"), asked("few"));
}

int main(void)
{
    static bench b;
    const char *seeds = getenv("TRANSFER_SEEDS");

    setvbuf(stdout, NULL, _IOLBF, 0);
    b.begun = sp_seconds();
    b.quick = bench_quick();
    b.seeds = b.quick ? 2 : SEEDS;
    b.ops = take_operations(b.quick ? 1 : OPS);
    if (b.ops == 0) {
        printf("TRANSFER_OPS names none of spmv, spmm and sddmm\n");
        return 1;
    }
    if (seeds)
        b.seeds = bounded((int)strtol(seeds, NULL, 10), 1, SEEDS);
    if (asked("map") || asked("bilstm") || asked("four") || asked("few") ||
        asked("given"))
        load_tasks(&b);
    else
        enter_data();
    print_tasks(&b);
    printf("(read after %.0f s)\n", elapsed(&b));
    run("map", heat_map, &b);
    run("ginkgo", devices, &b);
    run("autosparse", configurations, &b);
    run("bilstm", sequences, &b);
    run("given", given_models, &b);
    run(asked("few") ? "few" : "four", curves, &b);
    bench_aim_most("minutes", elapsed(&b) / 60, 20);
    free_tasks(&b);
    return 0;
}
