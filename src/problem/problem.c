/* problem.c - what every problem answers, whatever its kind. */
#include "problem/problem.h"

void spry_problem_free(spry_problem *p)
{
    if (p)
        p->kind->free(p);
}

const char *spry_problem_key(const spry_problem *p)
{
    return p->key;
}

double spry_problem_flops(const spry_problem *p)
{
    return p->kind->flops(p);
}

double spry_problem_bytes(const spry_problem *p)
{
    return p->kind->bytes(p);
}

int64_t spry_problem_input_size(const spry_problem *p, int which)
{
    return p->kind->input_size(p, which);
}

int64_t spry_problem_output_size(const spry_problem *p)
{
    return p->kind->output_size(p);
}

spry_status spry_problem_reference(const spry_problem *p, double alpha,
                                   const void *B, const void *D, double beta,
                                   void *C)
{
    sp_operands f = {alpha, beta, B, D, C};

    return p->kind->reference(p, &f);
}
