/* problem.c - what every problem answers, whatever its kind. */
#include "problem/problem.h"

#include "base/base.h"

void spry_problem_free(spry_problem *p)
{
    if (p)
        p->kind->free(p);
}

const char *spry_problem_key(const spry_problem *p)
{
    SP_NEED_OR("", p);
    return p->key;
}

double spry_problem_flops(const spry_problem *p)
{
    SP_NEED_OR(0, p);
    return p->kind->flops(p);
}

double spry_problem_bytes(const spry_problem *p)
{
    SP_NEED_OR(0, p);
    return p->kind->bytes(p);
}

int64_t spry_problem_input_size(const spry_problem *p, int which)
{
    SP_NEED_OR(0, p);
    if (which < 0 || which > 1)
        return 0;
    return p->kind->input_size(p, which);
}

int64_t spry_problem_output_size(const spry_problem *p)
{
    SP_NEED_OR(0, p);
    return p->kind->output_size(p);
}

spry_status sp_operands_check(const spry_problem *p, const sp_operands *f)
{
    size_t element = (size_t)spry_problem_type(p);
    size_t B = element * (size_t)p->kind->input_size(p, 0);
    size_t D = element * (size_t)p->kind->input_size(p, 1);
    size_t C = element * (size_t)p->kind->output_size(p);

    SP_REFUSE(B > 0 && !f->B, "the dense operand B is NULL");
    SP_REFUSE(D > 0 && !f->D, "the dense operand D is NULL");
    SP_REFUSE(C > 0 && !f->C, "the result C is NULL");
    SP_REFUSE(sp_overlap(f->C, C, f->B, B) || sp_overlap(f->C, C, f->D, D),
              "the result C lies over a dense operand");
    return SPRY_OK;
}

spry_status spry_problem_reference(const spry_problem *p, double alpha,
                                   const void *B, const void *D, double beta,
                                   void *C)
{
    SP_NEED(p);

    sp_operands f = {alpha, beta, B, D, C};
    spry_status s = sp_operands_check(p, &f);

    return s == SPRY_OK ? p->kind->reference(p, &f) : s;
}
