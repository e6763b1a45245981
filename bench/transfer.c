/* transfer.c - is what was learned on one machine worth something on another?
 *
 * From stored records, within twenty minutes: those of others in the data
 * folder, and a store that TRANSFER_STORE names, with records of the same
 * suite on another machine. QUICK=1 takes three minutes and says little;
 * TRANSFER_PARTS=map,ginkgo,autosparse,bilstm,given,four,few runs some parts
 * only, TRANSFER_SEEDS=2 draws records less often. */
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

int main(void)
{
    static bench b;

    setvbuf(stdout, NULL, _IOLBF, 0);
    b.begun = sp_seconds();
    b.quick = bench_quick();
    b.seeds = b.quick ? 2 : SEEDS;
    b.ops = b.quick ? 1 : OPS;
    if (getenv("TRANSFER_SEEDS"))
        b.seeds = bounded(atoi(getenv("TRANSFER_SEEDS")), 1, SEEDS);
    if (asked("map") || asked("bilstm") || asked("four") || asked("few") ||
        asked("given"))
        load_tasks(&b);
    else
        enter_data();
    print_tasks(&b);
    if (asked("map"))
        heat_map(&b);
    if (asked("ginkgo"))
        devices(&b);
    if (asked("autosparse"))
        configurations(&b);
    if (asked("bilstm"))
        sequences(&b);
    if (asked("given"))
        given_models(&b);
    if (asked("four") || asked("few"))
        few_shots(&b, asked("four"), asked("few"));
    printf("\n%.0f s in all\n", elapsed(&b));
    free_tasks(&b);
    return 0;
}
