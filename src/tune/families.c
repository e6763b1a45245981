/* families.c - the families of problems, one row each. */
#include "sparse/sparse.h"
#include "tune/heat.h"

static const sp_family *const families[] = {&sp_family_sparse};

const sp_family *sp_family_of(const spry_problem *p)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i]->kind == p->kind)
            return families[i];
    return NULL;
}
