/* transfer.c - is what was learned on one machine worth something on another?
 *
 * From stored records, within twenty minutes: those of others in the data
 * folder, and a store that TRANSFER_STORE names, with records of the same
 * suite on another machine. QUICK=1 takes three minutes and says little. */
#include "transfer/transfer.h"

#include <stdio.h>

#include "contest/figures.h"

double elapsed(const bench *b)
{
    return sp_seconds() - b->begun;
}

int main(void)
{
    static bench b;

    setvbuf(stdout, NULL, _IOLBF, 0);
    b.begun = sp_seconds();
    b.quick = bench_quick();
    b.seeds = b.quick ? 2 : SEEDS;
    b.ops = b.quick ? 1 : OPS;
    load_tasks(&b);
    print_tasks(&b);
    heat_map(&b);
    devices(&b);
    configurations(&b);
    sequences(&b);
    few_shots(&b);
    printf("\n%.0f s in all\n", elapsed(&b));
    free_tasks(&b);
    return 0;
}
