/* kernels_ends.h - the vectors of kernels_body.h, and what becomes of a sum. */
#ifndef SP_FORM_KERNELS_ENDS_H
#define SP_FORM_KERNELS_ENDS_H

#include "form/internal.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

typedef float vec __attribute__((vector_size(32), may_alias));
typedef int32_t bits __attribute__((vector_size(32), may_alias));
typedef float vec4 __attribute__((vector_size(16), may_alias));

/* A sum that the compiler shall not take apart again, to add the same number
 * to every index instead. */
INLINE const float *whole(const float *x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* Linear, ReLU and clamp as one: what lies outside 0 .. high becomes an end,
 * where there are ends. NaN lies nowhere and stays, as in sp_activate. */
typedef struct {
    float high;
    bits ends;
    bits always; /* add the bias to 0 as well */
    int curved;  /* the rest is done on what was stored */
} ending;

INLINE ending ending_of(spry_activation a, int bias_on_nonzero)
{
    bits all = (bits){0} - 1, none = {0};
    spry_curve c = a.curve;

    return (ending){c == SPRY_CLAMP ? a.limit : INFINITY,
                    c == SPRY_RELU || c == SPRY_CLAMP ? all : none,
                    bias_on_nonzero ? none : all,
                    c == SPRY_TANH || c == SPRY_SIGMOID};
}

INLINE vec finish(vec sum, vec bias, const ending *e)
{
    vec zero = {0}, high = zero + e->high;
    bits under, over;

    sum += (vec)((e->always | (sum != zero)) & (bits)bias);
    under = (sum <= zero) & e->ends;
    over = (sum >= high) & e->ends;
    return (vec)(~under & ((over & (bits)high) | (~over & (bits)sum)));
}

/* Here, not inlined: it is as slow as it is rare. */
static __attribute__((noinline)) void bend(float *x, int count,
                                           spry_activation a, uint32_t *alive)
{
    for (int i = 0; i < count; i++) {
        x[i] = sp_activate(a, x[i]);
        alive[i] |= x[i] != 0;
    }
}

#endif
