/* strategies.c - the ways to search, as a table. */
#include "search/internal.h"

#include <string.h>

const sp_strategy sp_strategies[] = {
    {"exhaustive", "every point, illegal branches cut", sp_search_exhaustive},
    {"descent", "from every shape downhill, a parameter at a time",
     sp_search_descent},
    {"graph", "a walk over points joined to those like them", sp_search_graph},
    {"evolve", "a population that mutates", sp_search_evolve},
    {"anneal", "a point that wanders, ever colder", sp_search_anneal},
    {"random", "points drawn by chance", sp_search_random},
};
const int sp_strategy_count = sizeof sp_strategies / sizeof sp_strategies[0];

const sp_strategy *sp_strategy_find(const char *name)
{
    for (int i = 0; i < sp_strategy_count; i++)
        if (strcmp(sp_strategies[i].name, name) == 0)
            return &sp_strategies[i];
    return NULL;
}
