/* nest.c - which nests of its loops compute an operation.
 *
 * Any order of the loops is legal that has every block before what is inside
 * it, and every level may be dense or compressed. */
#include "schedule/super.h"

#define BIT(index) (1u << (index))

const char *sp_loop_name(char out[3], const spry_super *s, int loop)
{
    int index = sp_loop_index(loop), split = s->split[index] > 0;

    out[0] = "ijkl"[index];
    out[1] = split ? (sp_loop_inner(loop) ? '0' : '1') : '\0';
    out[2] = '\0';
    return out;
}

/* Bit `index` for every index of the operation. */
static unsigned members(const sp_operation *d)
{
    unsigned set = d->dense >= 0 ? BIT(d->dense) : 0;

    for (int i = 0; i < d->modes; i++)
        set |= BIT(d->sparse[i]);
    return set;
}

/* Each loop at most once, blocks before their inside; `seen` collects them. */
static const char *order_fault(const spry_super *s, unsigned *seen)
{
    *seen = 0;
    if (s->loops < 1 || s->loops > SPRY_LOOPS)
        return "a super schedule needs loops=";
    for (int q = 0; q < s->loops; q++) {
        int loop = s->order[q];

        if (loop >= SPRY_LOOPS || *seen & BIT(loop))
            return "a loop stands twice in the nest";
        if (sp_loop_inner(loop) && !(*seen & BIT(loop - 1)))
            return "a block's loop must stand before the loop inside it";
        *seen |= BIT(loop);
    }
    for (int q = s->loops; q < SPRY_LOOPS; q++)
        if (s->order[q])
            return "there are more loops than the nest has";
    return NULL;
}

/* The loops seen are those of the indices, split ones twice. */
static const char *index_fault(const spry_super *s, unsigned set, unsigned seen)
{
    for (int i = 0; i < SPRY_INDICES; i++) {
        int outer = seen >> (2 * i) & 1, inner = seen >> (2 * i + 1) & 1;

        if (s->split[i] > SP_SPLIT_MOST)
            return "blocks are at most 2^30 long";
        if (!(set >> i & 1) && (outer || inner || s->split[i]))
            return "the operation has no such index";
        if ((set >> i & 1) && !outer)
            return "an index of the operation has no loop";
        if ((set >> i & 1) && inner != (s->split[i] > 0))
            return "an index has two loops exactly if it is split";
    }
    return NULL;
}

const char *sp_super_fault(const spry_schedule *x, spry_op op)
{
    const sp_operation *d = sp_operation_of(op);
    const spry_super *s = &x->super;
    unsigned seen;
    const char *fault = order_fault(s, &seen);

    if (!fault)
        fault = index_fault(s, members(d), seen);
    if (fault)
        return fault;
    if (s->dense & ~seen || (d->dense >= 0 && s->dense >> (2 * d->dense) & 3))
        return "only levels of the sparse operand are dense or compressed";
    if (s->parallel &&
        (s->parallel > SPRY_LOOPS || !(seen >> (s->parallel - 1) & 1)))
        return "the parallel loop is not in the nest";
    if ((x->threads > 1) != (s->parallel > 0))
        return "several threads need a parallel loop, one must not have it";
    if (x->index == 8 || x->index == 16)
        return "super schedules have 32- or 64-bit indices";
    return NULL;
}

void sp_super_settle(spry_super *s)
{
    int kept = 0, shared = s->parallel - 1;

    if (shared >= 0 && sp_loop_inner(shared) &&
        !s->split[sp_loop_index(shared)])
        s->parallel--; /* the loop that is left of the index */

    for (int q = 0; q < s->loops; q++) {
        int loop = s->order[q];

        if (sp_loop_inner(loop) && s->split[sp_loop_index(loop)] == 0)
            s->dense &= (uint16_t)~BIT(loop);
        else
            s->order[kept++] = (uint8_t)loop;
    }
    for (int q = kept; q < s->loops; q++)
        s->order[q] = 0;
    s->loops = (uint8_t)kept;
}

spry_schedule sp_super_fixed_csr(spry_op op, int threads)
{
    const sp_operation *d = sp_operation_of(op);
    spry_schedule x = sp_schedule_default(SPRY_SUPER);
    spry_super *s = &x.super;

    for (int i = 0; i < d->modes; i++)
        s->order[s->loops++] = (uint8_t)(2 * d->sparse[i]);
    if (d->dense >= 0)
        s->order[s->loops++] = (uint8_t)(2 * d->dense);
    s->dense = BIT(2 * SP_I);
    x.threads = threads;
    if (threads > 1) {
        s->parallel = 1 + 2 * SP_I;
        x.chunk = d->chunk;
    }
    return x;
}
