/* member.h - a small network beside the trees.
 *
 * It learns the same lesson and is wrong elsewhere: the mean of both is right
 * more often than either, and where they differ, neither is to be trusted. */
#ifndef SP_MEMBER_H
#define SP_MEMBER_H

#include "model/net.h"

enum { SP_MEMBER_WIDTH = 128, SP_MEMBER_BLOCKS = 2 };

typedef struct {
    sp_scaler scaler;
    sp_dense first, block[SP_MEMBER_BLOCKS], last;
} sp_member;

/* Weights whose names begin with `name`; sp_nn_status says if all is well. */
void sp_member_make(sp_member *m, sp_nn *nn, const char *name);

/* 1: nn has weights of that name already. */
int sp_member_known(const sp_nn *nn, const char *name);

/* Fit a member that was made; its scores are then logarithms of time over the
 * baseline's. Weights of nn that are not frozen are those of the member. */
spry_status sp_member_learn(sp_member *m, sp_nn *nn, const sp_lesson *l,
                            const sp_lesson_table *train,
                            const sp_lesson_table *test);

/* Scores [rows, 1]. */
sp_tensor *sp_member_pass(sp_tape *t, const void *member, const float *x,
                          int64_t rows);

#endif
