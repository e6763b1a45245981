/* blas.c - what learned models multiply with, for those who ask. */
#include "nn/nn.h"
#include "spry/model.h"

const char *spry_model_blas(void)
{
    return sp_nn_blas();
}

double spry_model_blas_share(void)
{
    return sp_nn_blas_share();
}
