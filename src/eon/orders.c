/* orders.c - all edge orders by name: the plain ones, then the learned one. */
#include <string.h>

#include "eon/eon.h"
#include "eon/internal.h"

static const sp_order *order_at(int i)
{
    int plain = 0;

    while (sp_plain_order(plain))
        plain++;
    return i == plain ? &sp_order_eon : sp_plain_order(i);
}

const char *spry_order_name(int i)
{
    return order_at(i) ? order_at(i)->name : NULL;
}

const char *spry_order_help(int i)
{
    return order_at(i) ? order_at(i)->help : NULL;
}

static const sp_order *find_order(const char *name)
{
    for (int i = 0; order_at(i); i++)
        if (strcmp(order_at(i)->name, name) == 0)
            return order_at(i);
    return NULL;
}

static spry_status unknown_order(const char *name)
{
    char list[256] = "";
    size_t used = 0;

    for (int i = 0; order_at(i) && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i ? ", " : "", order_at(i)->name);
    return sp_fail(SPRY_USAGE, "no edge order '%.40s'; there are %s", name,
                   list);
}

spry_status spry_order_make(int32_t *edge, const spry_network *n,
                            const char *name, const spry_order_options *given)
{
    SP_NEED(edge, n, name);

    const sp_order *order = find_order(name);

    return order ? sp_order_make(edge, n, order, given) : unknown_order(name);
}

static spry_status count_order(int64_t *out, int32_t *edge,
                               const spry_network *n, const char *name,
                               const spry_order_options *o)
{
    spry_status s = spry_order_make(edge, n, name, o);

    return s == SPRY_OK ? sp_order_count(out, edge, n, o->memory) : s;
}

spry_status sp_order_io(int64_t *out, const spry_network *n, const char *name,
                        int64_t memory)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int32_t *edge = sp_alloc_raw(n->edges, sizeof *edge);
    spry_status s =
        edge ? SPRY_OK : sp_fail_memory((size_t)n->edges * sizeof *edge);

    *out = 0;
    o.memory = memory;
    if (s == SPRY_OK)
        s = name ? count_order(out, edge, n, name, &o)
                 : sp_order_best(out, edge, n, &o);
    sp_free(edge);
    return s;
}
