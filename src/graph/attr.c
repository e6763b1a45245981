/* attr.c - attributes of nodes, by name. */
#include "graph/internal.h"

#include <string.h>

const sp_attr *sp_attr_find(const sp_opnode *n, const char *name)
{
    for (int i = 0; i < n->attrs; i++)
        if (strcmp(n->attr[i].name, name) == 0)
            return &n->attr[i];
    return NULL;
}

int64_t sp_attr_int(const sp_opnode *n, const char *name, int64_t otherwise)
{
    const sp_attr *a = sp_attr_find(n, name);

    return a && a->kind == SP_ATTR_INT ? a->whole : otherwise;
}

double sp_attr_real(const sp_opnode *n, const char *name, double otherwise)
{
    const sp_attr *a = sp_attr_find(n, name);

    return a && a->kind == SP_ATTR_REAL ? a->real : otherwise;
}

const char *sp_attr_word(const sp_opnode *n, const char *name,
                         const char *otherwise)
{
    const sp_attr *a = sp_attr_find(n, name);

    return a && a->kind == SP_ATTR_TEXT ? a->text : otherwise;
}

int sp_attr_choice(const sp_opnode *n, const char *name,
                   const char *const *names, int otherwise)
{
    const char *word = sp_attr_word(n, name, names[otherwise]);

    for (int i = 0; names[i]; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}
