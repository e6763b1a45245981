/* refill.c - a plan goes on with other values on the same pattern. */
#include <string.h>

#include "base/base.h"
#include "plan/sparse.h"

spry_status sp_sparse_refill(sp_sparse_plan *plan, const void *values)
{
    sp_slots *slots = plan->slots;
    spry_status s = SPRY_OK;

    if (!slots)
        s = sp_slots_make(&slots, plan->p, &plan->x,
                          sp_codegen_lanes(plan->spec.isa, plan->p->type),
                          plan->threads);
    if (s != SPRY_OK)
        return s;
    s = sp_packed_refill(plan->packed, slots, plan->p, plan->x.palette, values);
    if (s != SPRY_OK && !plan->slots)
        sp_slots_free(slots); /* still as its matrix is */
    else
        plan->slots = slots;
    return s;
}

/* Values in the order they were given become values in p's order; 0 when
 * there is no memory. */
static int follow(void *value, const sp_sparse *p)
{
    size_t bytes = (size_t)p->A->nnz * p->type;
    void *given = sp_alloc_raw(p->A->nnz, p->type);

    if (!given)
        return 0;
    memcpy(given, value, bytes);
    for (int64_t e = 0; e < p->A->nnz; e++)
        sp_dense_put(p, value, e, sp_dense_get(p, given, p->order[e]));
    sp_free(given);
    return 1;
}

spry_status sp_present_open(sp_present *out, const sp_sparse_plan *plan)
{
    const sp_sparse *p = plan->p;

    *out = (sp_present){.p = *p, .A = *p->A};
    if (!plan->slots)
        return SPRY_OK;
    out->value = sp_alloc_raw(p->A->nnz, p->type);
    if (!out->value)
        return sp_fail_memory((size_t)p->A->nnz * p->type);
    sp_packed_values(out->value, plan->packed, plan->slots, p, plan->x.palette);
    if (p->order && !follow(out->value, p)) {
        sp_free(out->value);
        out->value = NULL;
        return sp_fail_memory((size_t)p->A->nnz * p->type);
    }
    out->A.val = out->value;
    out->A.type = p->type;
    out->p.A = &out->A;
    return SPRY_OK;
}

void sp_present_close(sp_present *now)
{
    sp_free(now->value);
}
