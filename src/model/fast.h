/* fast.h - the factored head: a score whose halves meet only at the end.
 *
 *   score = b + sum over h of w_h max(0, P_h + S_h)
 *
 * P is what a small network makes of problem and machine, S of the schedule;
 * S of a whole space is computed once, and then a score is a few dozen
 * operations. */
#ifndef SP_FAST_H
#define SP_FAST_H

#include "model/net.h"

enum { SP_FAST_WIDTH = 32, SP_FAST_HIDDEN = 64 };

typedef struct {
    sp_scaler problem_scale, schedule_scale;
    sp_dense problem[2], schedule[2], last;
} sp_fast;

/* Tensors fast.*; made or found. */
spry_status sp_fast_make(sp_fast *f, sp_nn *nn);

/* A pass of sp_net_learn. */
sp_tensor *sp_fast_pass(sp_tape *t, const void *fast, const float *x,
                        int64_t rows);

spry_status sp_fast_problem(float out[SP_FAST_WIDTH], const sp_fast *f,
                            const sp_subject *s);
/* out [count, SP_FAST_WIDTH] */
spry_status sp_fast_schedules(float *out, const sp_fast *f,
                              const spry_schedule *x, int64_t count,
                              spry_op op);
void sp_fast_join(float *score, const sp_fast *f,
                  const float problem[SP_FAST_WIDTH], const float *halves,
                  int64_t count);

#endif
