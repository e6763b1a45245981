/* families.c - the families of problems, one row each. */
#include "base/base.h"
#include "dense/dense.h"
#include "inference/inference.h"
#include "sparse/sparse.h"
#include "spry/tune.h"
#include "tune/heat.h"

static const sp_family *const families[] = {
    &sp_family_sparse, &sp_family_inference, &sp_family_dense};

const sp_family *sp_family_of(const spry_problem *p)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i]->kind == p->kind)
            return families[i];
    return NULL;
}

spry_status sp_family_need(const sp_family **out, const spry_problem *p)
{
    *out = sp_family_of(p);
    return *out ? SPRY_OK
                : sp_fail(SPRY_USAGE, "no family computes a %s", p->kind->name);
}

double sp_family_whole(const sp_family *f, const void *oracle)
{
    return f->whole && oracle ? f->whole(oracle) : 1;
}

spry_status spry_plan_from(spry_plan **out, const spry_problem *p,
                           const char *text, const spry_machine *m)
{
    SP_NEED_NEW(out, p, text);

    const sp_family *family;
    spry_machine here;
    spry_status s = sp_family_need(&family, p);

    if (s == SPRY_OK && !m)
        s = spry_machine_detect(&here);
    return s == SPRY_OK ? family->make(out, p, text, m ? m : &here, NULL) : s;
}

spry_status spry_explain(spry_prediction *out, const spry_problem *p,
                         const char *text, const spry_machine *m)
{
    SP_NEED(out, p, text, m);
    SP_ROOM(out);

    spry_prediction whole = {.size = sizeof whole};
    const sp_family *family;
    spry_status s = sp_family_need(&family, p);

    if (s == SPRY_OK && !family->explain)
        s = sp_fail(SPRY_USAGE, "nobody predicts a %s", p->kind->name);
    if (s == SPRY_OK)
        s = family->explain(&whole, p, text, m);
    SP_GIVE(out, &whole);
    return s;
}
