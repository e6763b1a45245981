/* spare.c - a second plan of a stage, beside the one it runs by: two ways run
 * in turns, and weights are packed once for each. */
#include "graph/executor.h"

void sp_spare_exchange(spry_executor *e, sp_spare *spare)
{
    sp_ready_stage *x = &e->stage[spare->stage], was = *x;

    x->plan = spare->plan;
    x->dense = spare->dense;
    x->shares = spare->shares;
    x->scratch = spare->scratch;
    x->kept = spare->kept;
    spare->plan = was.plan;
    spare->dense = was.dense;
    spare->shares = was.shares;
    spare->scratch = was.scratch;
    spare->kept = was.kept;
}

spry_status sp_spare_make(sp_spare *out, spry_executor *e, int stage,
                          const char *text)
{
    spry_status s;

    *out = (sp_spare){.stage = stage};
    sp_spare_exchange(e, out);
    s = sp_executor_bind(e, stage, text);
    if (s == SPRY_OK)
        s = sp_executor_room(e);
    sp_spare_exchange(e, out);
    return s;
}

void sp_spare_free(sp_spare *spare)
{
    spry_plan_free(spare->plan);
    spare->plan = NULL;
}
