/* strategies.c - the ways to search, as a table. */
#include "search/internal.h"

#include <string.h>

const sp_strategy sp_strategies[] = {
    {"exhaustive", "every point, illegal branches cut", sp_search_exhaustive,
     SP_TABLE_HALVES},
    {"descent", "from every shape downhill, a parameter at a time",
     sp_search_descent, SP_TABLE_NONE},
    {"graph", "a walk over points joined to those like them", sp_search_graph,
     SP_TABLE_GRAPH},
    {"evolve", "a population that mutates", sp_search_evolve, SP_TABLE_NONE},
    {"random", "points drawn by chance", sp_search_random, SP_TABLE_NONE},
};
const int sp_strategy_count = sizeof sp_strategies / sizeof sp_strategies[0];

const sp_strategy *sp_strategy_find(const char *name)
{
    for (int i = 0; i < sp_strategy_count; i++)
        if (strcmp(sp_strategies[i].name, name) == 0)
            return &sp_strategies[i];
    return NULL;
}

spry_status sp_strategy_named(const sp_strategy **out, const char *name)
{
    char list[256] = "";
    size_t used = 0;

    *out = sp_strategy_find(name);
    if (*out)
        return SPRY_OK;
    for (int i = 0; i < sp_strategy_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i ? ", " : "", sp_strategies[i].name);
    return sp_fail(SPRY_USAGE, "no search '%.40s'; there are %s", name, list);
}
