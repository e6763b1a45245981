/* super_mutate.c - a step from one nest to another. */
#include "schedule/super.h"

enum { SPLITS = 8, CHUNKS = 9 };

static int below(sp_rng *r, int n)
{
    return (int)sp_rng_below(r, (uint64_t)n);
}

static int place_of(const spry_super *s, int loop)
{
    int q = 0;

    while (q < s->loops && s->order[q] != loop)
        q++;
    return q;
}

/* Another split of one index; its inner loop comes or goes. */
static void mutate_split(spry_super *s, int index, sp_rng *r)
{
    int loop = 2 * index + 1;

    if (!s->split[index]) {
        int q = place_of(s, 2 * index) + 1;

        q += below(r, s->loops + 1 - q);
        for (int t = s->loops++; t > q; t--)
            s->order[t] = s->order[t - 1];
        s->order[q] = (uint8_t)loop;
    }
    s->split[index] = (uint8_t)below(r, SPLITS);
    sp_super_settle(s);
}

static void swap_neighbours(spry_super *s, sp_rng *r)
{
    int q = below(r, s->loops - 1);
    uint8_t t = s->order[q];

    s->order[q] = s->order[q + 1];
    s->order[q + 1] = t;
}

static void mutate_sharing(spry_schedule *x, const spry_machine *m, sp_rng *r)
{
    x->threads = 1 + below(r, m->threads > 1 ? m->threads : 1);
    x->super.parallel = 0;
    x->chunk = 0;
    if (x->threads > 1) {
        x->super.parallel =
            (uint8_t)(1 + x->super.order[below(r, x->super.loops)]);
        x->chunk = below(r, 2) ? 1 << below(r, CHUNKS) : 0;
    }
}

void sp_super_mutate(spry_schedule *x, spry_op op, const spry_machine *m,
                     sp_rng *r)
{
    const sp_operation *d = sp_operation_of(op);
    int level = x->super.order[below(r, x->super.loops)];

    switch (below(r, 4)) {
    case 0: mutate_split(&x->super, sp_loop_index(level), r); break;
    case 1: swap_neighbours(&x->super, r); break;
    case 2:
        if (sp_is_sparse(d, sp_loop_index(level)))
            x->super.dense ^= (uint16_t)(1u << level);
        break;
    default: mutate_sharing(x, m, r);
    }
}
