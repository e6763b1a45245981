/* loss_value.c - numbers against numbers.
 *
 * A loss computes its slopes together with itself; the way back only scales
 * them. */
#include "nn/losses.h"

#include <math.h>

#include "nn/internal.h"

typedef struct {
    sp_tensor *x, *y;
    const float *slope;
} note;

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    float dy = n->y->grad[0];

    (void)t;
    for (int64_t i = 0; i < n->x->size; i++)
        n->x->grad[i] += dy * n->slope[i];
}

sp_tensor *sp_loss_known(sp_tape *t, sp_tensor *x, double loss,
                         const float *slope)
{
    sp_tensor *y = SP_RESULT(t, SP_SHAPE(1), x);

    if (!y)
        return NULL;
    y->value[0] = (float)loss;
    sp_tape_note(t, y, back, &(note){x, y, slope}, sizeof(note));
    return y;
}

/* Loss and slope of one number. */
typedef struct {
    double loss, slope;
} term;
typedef term function(double value, double target, double old, double limit);

/* The mean of f over x. */
static sp_tensor *mean_loss(sp_tape *t, sp_tensor *x, const float *target,
                            const float *old, double limit, function *f)
{
    double sum = 0, share;
    float *slope;

    if (!x || x->size == 0)
        return sp_tape_refuse(t, "loss: of no numbers");
    slope = sp_tape_memory(t, x->size, sizeof *slope);
    if (!slope)
        return NULL;
    share = 1 / (double)x->size;
    for (int64_t i = 0; i < x->size; i++) {
        term one = f((double)x->value[i], (double)target[i],
                     old ? (double)old[i] : 0, limit);

        sum += share * one.loss;
        slope[i] = (float)(share * one.slope);
    }
    return sp_loss_known(t, x, sum, slope);
}

static term squared(double value, double target, double old, double limit)
{
    double d = value - target;

    (void)old;
    (void)limit;
    return (term){d * d, 2 * d};
}

static term huber(double value, double target, double old, double delta)
{
    double d = value - target;

    (void)old;
    if (fabs(d) <= delta)
        return (term){d * d / 2, d};
    return (term){delta * (fabs(d) - delta / 2), copysign(delta, d)};
}

/* Half the square of the larger of two errors: of the value, and of the value
 * held within +-clip of what it was. */
static term held(double value, double target, double old, double clip)
{
    double d = value - target;
    double near = fmin(fmax(value, old - clip), old + clip) - target;

    if (clip <= 0 || fabs(d) >= fabs(near))
        return (term){d * d / 2, d};
    return (term){near * near / 2, 0};
}

sp_tensor *sp_loss_mse(sp_tape *t, sp_tensor *x, const float *target)
{
    return mean_loss(t, x, target, NULL, 0, squared);
}

sp_tensor *sp_loss_huber(sp_tape *t, sp_tensor *x, const float *target,
                         double delta)
{
    return mean_loss(t, x, target, NULL, delta, huber);
}

sp_tensor *sp_loss_value(sp_tape *t, sp_tensor *value, const float *old,
                         const float *returns, double clip)
{
    return mean_loss(t, value, returns, old, clip, held);
}
