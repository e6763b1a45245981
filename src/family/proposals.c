/* proposals.c - a list of ways to compute, each once. */
#include <string.h>

#include "base/base.h"
#include "family/family.h"

static int has_text(const sp_proposals *l, const char *text)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->list[i].text, text) == 0)
            return 1;
    return 0;
}

int sp_proposals_add(sp_proposals *l, const sp_proposal *x)
{
    if (l->count == l->most || has_text(l, x->text))
        return 0;
    l->list[l->count++] = *x;
    return 1;
}

spry_status sp_search_all(const char *name)
{
    return strcmp(name, "exhaustive") == 0
               ? SPRY_OK
               : sp_fail(SPRY_USAGE,
                         "the ways are few here: the search is exhaustive, "
                         "not '%.40s'",
                         name);
}
