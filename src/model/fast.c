/* fast.c - the factored head. */
#include "model/fast.h"

#include <string.h>

enum { PROBLEM = SP_PATTERN + SP_MACHINE };

spry_status sp_fast_make(sp_fast *f, sp_nn *nn)
{
    f->problem_scale = sp_scaler_make(nn, "fast.problem", PROBLEM);
    f->schedule_scale = sp_scaler_make(nn, "fast.schedule", SP_SCHEDULE);
    f->problem[0] =
        sp_dense_make(nn, "fast.problem0", PROBLEM, SP_FAST_HIDDEN, 1);
    f->problem[1] =
        sp_dense_make(nn, "fast.problem1", SP_FAST_HIDDEN, SP_FAST_WIDTH, 1);
    f->schedule[0] =
        sp_dense_make(nn, "fast.schedule0", SP_SCHEDULE, SP_FAST_HIDDEN, 1);
    f->schedule[1] =
        sp_dense_make(nn, "fast.schedule1", SP_FAST_HIDDEN, SP_FAST_WIDTH, 0);
    f->last = sp_dense_make(nn, "fast.last", SP_FAST_WIDTH, 1, 1);
    return sp_nn_status(nn);
}

static sp_tensor *half(sp_tape *t, const sp_dense layer[2], sp_tensor *x)
{
    return sp_nn_dense(t, &layer[1],
                       sp_nn_relu(t, sp_nn_dense(t, &layer[0], x)));
}

static sp_tensor *scaled(sp_tape *t, const sp_scaler *c, const float *x,
                         int64_t rows, int64_t stride)
{
    sp_tensor *y = sp_nn_input(t, SP_SHAPE(rows, c->mean->size), NULL);

    if (y)
        sp_scaler_apply(y->value, c, x, rows, stride);
    return y;
}

sp_tensor *sp_fast_pass(sp_tape *t, const void *fast, const float *x,
                        int64_t rows)
{
    const sp_fast *f = fast;
    sp_tensor *p = scaled(t, &f->problem_scale, x, 1, SP_FEATURES);
    sp_tensor *s =
        scaled(t, &f->schedule_scale, x + PROBLEM, rows, SP_FEATURES);
    sp_tensor *both =
        sp_nn_add(t, half(t, f->schedule, s), half(t, f->problem, p));

    return sp_nn_dense(t, &f->last, sp_nn_relu(t, both));
}

spry_status sp_fast_problem(float out[SP_FAST_WIDTH], const sp_fast *f,
                            const sp_subject *s)
{
    float x[PROBLEM];
    sp_tape *t = NULL;
    spry_status status = sp_tape_new(&t, 1);
    sp_tensor *y;

    if (status != SPRY_OK)
        return status;
    memcpy(x, s->pattern, sizeof s->pattern);
    memcpy(x + SP_PATTERN, s->machine, sizeof s->machine);
    sp_tape_begin(t, 0);
    y = half(t, f->problem, scaled(t, &f->problem_scale, x, 1, PROBLEM));
    status = sp_tape_status(t);
    if (status == SPRY_OK)
        memcpy(out, y->value, SP_FAST_WIDTH * sizeof *out);
    sp_tape_free(t);
    return status;
}

spry_status sp_fast_schedules(float *out, const sp_fast *f,
                              const spry_schedule *x, int64_t count, spry_op op)
{
    enum { FEW = 256 };
    float row[FEW][SP_SCHEDULE];
    sp_tape *t = NULL;
    spry_status s = sp_tape_new(&t, 1);

    for (int64_t at = 0; at < count && s == SPRY_OK; at += FEW) {
        int64_t few = count - at < FEW ? count - at : FEW;
        sp_tensor *y;

        for (int64_t i = 0; i < few; i++)
            sp_features_schedule(row[i], &x[at + i], op);
        sp_tape_begin(t, 0);
        y = half(t, f->schedule,
                 scaled(t, &f->schedule_scale, row[0], few, SP_SCHEDULE));
        s = sp_tape_status(t);
        if (s == SPRY_OK)
            memcpy(out + at * SP_FAST_WIDTH, y->value,
                   (size_t)(few * SP_FAST_WIDTH) * sizeof *out);
    }
    sp_tape_free(t);
    return s;
}

/* Eight sums side by side: one order for all compilers, and vectors. */
void sp_fast_join(float *score, const sp_fast *f,
                  const float problem[SP_FAST_WIDTH], const float *halves,
                  int64_t count)
{
    enum { LANES = 8 };
    float w[SP_FAST_WIDTH], p[SP_FAST_WIDTH], bias = f->last.bias->value[0];

    memcpy(w, f->last.weight->value, sizeof w);
    memcpy(p, problem, sizeof p);
    for (int64_t i = 0; i < count; i++, halves += SP_FAST_WIDTH) {
        float sum[LANES] = {0};

        for (int h = 0; h < SP_FAST_WIDTH; h += LANES)
            for (int k = 0; k < LANES; k++) {
                float y = p[h + k] + halves[h + k];

                sum[k] += w[h + k] * (y > 0 ? y : 0);
            }
        score[i] = bias + (((sum[0] + sum[4]) + (sum[2] + sum[6])) +
                           ((sum[1] + sum[5]) + (sum[3] + sum[7])));
    }
}
