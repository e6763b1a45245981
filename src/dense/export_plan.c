/* export_plan.c - one dense operator as C that stands alone. */
#include <string.h>

#include "dense/export.h"
#include "dense/internal.h"

enum { OPERANDS = 4 + SPRY_STEPS };

/* The next input of the exported function, if there is one of that size. */
static sp_export_place take(sp_export_operand *list, int *count,
                            const char *name, int64_t floats)
{
    sp_export_operand *o = &list[*count];

    if (floats <= 0)
        return (sp_export_place){0};
    o->name = name;
    o->count = floats;
    snprintf(o->shape, sizeof o->shape, "%lld floats", (long long)floats);
    return (sp_export_place){'i', (*count)++, 0};
}

spry_status sp_export_plan(const sp_dense_plan *plan, const char *dir,
                           const char *name)
{
    static const char *const more[SPRY_STEPS] = {"step0", "step1", "step2",
                                                 "step3", "step4", "step5"};
    const spry_operator *op = &plan->p->op;
    sp_export_operand in[OPERANDS] = {{0}}, out = {.name = "out"};
    sp_export_step step = {
        .plan = plan, .shares = plan->x.threads, .out = {'o', 0, 0}};
    char about[SPRY_OPERATOR_TEXT + SPRY_SCHEDULE_TEXT + 8];
    char text[SPRY_OPERATOR_TEXT];
    sp_export x = {.about = about,
                   .step = &step,
                   .input = in,
                   .output = &out,
                   .steps = 1,
                   .outputs = 1,
                   .threads = plan->x.threads,
                   .isa = plan->machine.isa};

    spry_operator_text(text, sizeof text, op);
    snprintf(about, sizeof about, "%s as %s", text, plan->head.text);
    step.in = take(in, &x.inputs, "in", sp_dense_in(op));
    step.b = take(in, &x.inputs, "b", sp_dense_b(op));
    step.add = take(in, &x.inputs, "add", sp_dense_add(op));
    for (int i = 0; i < op->steps; i++)
        step.more[i] = take(in, &x.inputs, more[i], sp_dense_more(op, i));
    out.count = sp_dense_out(op);
    snprintf(out.shape, sizeof out.shape, "%lld floats", (long long)out.count);
    return sp_export_write(&x, dir, name);
}
