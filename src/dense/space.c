/* space.c - all ways to compute an operator. */
#include "base/base.h"
#include "dense/internal.h"

typedef struct {
    const sp_dense_problem *p;
    const spry_machine *m;
    sp_dense_way *list;
    int count, room, failed;
} walk;

static void add(walk *w, const sp_dense_way *x)
{
    if (w->failed || sp_dense_way_legal(w->p, x, w->m) != SPRY_OK)
        return;
    if (w->count == w->room) {
        sp_dense_way *more =
            sp_grow(w->list, w->count, 2 * w->room + 64, sizeof *more);

        if (!more) {
            w->failed = 1;
            return;
        }
        w->list = more;
        w->room = 2 * w->room + 64;
    }
    w->list[w->count++] = *x;
}

spry_status sp_dense_ways(sp_dense_way **out, int *count,
                          const sp_dense_problem *p, const spry_machine *m)
{
    walk w = {.p = p, .m = m};
    sp_dense_way x = {.algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};

    add(&w, &x);
    x.threads = m->threads;
    if (m->threads > 1)
        add(&w, &x);
    *out = w.list;
    *count = w.count;
    if (!w.failed)
        return SPRY_OK;
    sp_free(w.list);
    *out = NULL;
    return sp_fail_memory(0);
}
