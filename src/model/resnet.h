/* resnet.h - a small network beside the trees.
 *
 * It learns from the same examples and is wrong elsewhere: the mean of both is right
 * more often than either, and where they differ, neither is to be trusted. */
#ifndef SP_RESNET_H
#define SP_RESNET_H

#include "model/net.h"

enum { SP_RESNET_WIDTH = 128, SP_RESNET_BLOCKS = 2 };

typedef struct {
    sp_scaler scaler;
    sp_dense first, block[SP_RESNET_BLOCKS], last;
} sp_resnet;

/* Weights whose names begin with `name`; sp_nn_status says if all is well. */
void sp_resnet_make(sp_resnet *m, sp_nn *nn, const char *name);

/* 1: nn has weights of that name already. */
int sp_resnet_known(const sp_nn *nn, const char *name);

/* Fit a network that was made; its scores are then logarithms of time over the
 * baseline's. Weights of nn that are not frozen are its own. */
spry_status sp_resnet_learn(sp_resnet *m, sp_nn *nn, const sp_fitting *l,
                            const sp_dataset *train, const sp_dataset *test);

/* Scores [rows, 1]. */
sp_tensor *sp_resnet_pass(sp_tape *t, const void *net, const float *x,
                          int64_t rows);

#endif
