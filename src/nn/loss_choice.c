/* loss_choice.c - probabilities of actions, and the loss that improves them. */
#include "nn/losses.h"

#include <math.h>

#include "nn/internal.h"

/* A row of logits as log-probabilities of what the mask allows. */
typedef struct {
    const float *logit;
    const uint8_t *mask;
    int64_t n;
    double log_sum;
} row;

static int allowed(const row *r, int64_t j)
{
    return !r->mask || r->mask[j];
}

static double log_p(const row *r, int64_t j)
{
    return (double)r->logit[j] - r->log_sum;
}

static row row_of(const sp_tensor *logits, const uint8_t *mask, int64_t i)
{
    int64_t n = sp_cols(logits);
    row r = {logits->value + i * n, mask ? mask + i * n : NULL, n, 0};
    double top = -HUGE_VAL, sum = 0;

    /* Not fmax: gcc 12 for 64-bit ARM cannot compile it under a mask. */
    for (int64_t j = 0; j < n; j++)
        if (allowed(&r, j) && (double)r.logit[j] > top)
            top = (double)r.logit[j];
    for (int64_t j = 0; j < n; j++)
        if (allowed(&r, j))
            sum += exp((double)r.logit[j] - top);
    r.log_sum = top + log(sum);
    return r;
}

void sp_log_p(float *out, const sp_tensor *logits, const uint8_t *mask,
              const int32_t *action)
{
    for (int64_t i = 0; i < sp_rows(logits); i++) {
        row r = row_of(logits, mask, i);

        out[i] = (float)log_p(&r, action[i]);
    }
}

/* Slope of the logits of one row: `direct` is that of log p(action), and
 * `spread` that of the entropy h. */
static void row_slope(float *slope, const row *r, int32_t action, double direct,
                      double spread, double h)
{
    for (int64_t j = 0; j < r->n; j++) {
        double p = allowed(r, j) ? exp(log_p(r, j)) : 0;

        slope[j] = (float)(direct * ((j == action) - p));
        if (p > 0)
            slope[j] -= (float)(spread * p * (log_p(r, j) + h));
    }
}

static double entropy(const row *r)
{
    double h = 0;

    for (int64_t j = 0; j < r->n; j++)
        if (allowed(r, j))
            h -= exp(log_p(r, j)) * log_p(r, j);
    return h;
}

/* Every action is there and allowed. */
static int good_actions(const sp_tensor *logits, const uint8_t *mask,
                        const int32_t *action)
{
    int64_t n = logits ? sp_cols(logits) : 0;

    for (int64_t i = 0; logits && i < sp_rows(logits); i++)
        if (action[i] < 0 || action[i] >= n ||
            (mask && !mask[i * n + action[i]]))
            return 0;
    return logits && logits->size > 0;
}

static float *slopes(sp_tape *t, const sp_tensor *logits, const uint8_t *mask,
                     const int32_t *action)
{
    if (!good_actions(logits, mask, action))
        return sp_tape_refuse(t, "loss: an action that is not allowed");
    return sp_tape_memory(t, logits->size, sizeof(float));
}

/* -min(r A, clip(r) A); *slope by log p, where dr = r dlog p. Once clipping
 * is the smaller there is nothing to gain, and no slope. */
static double surrogate(double *slope, double ratio, double advantage,
                        double clip)
{
    double held = fmin(fmax(ratio, 1 - clip), 1 + clip);

    if (held * advantage < ratio * advantage) {
        *slope = 0;
        return -held * advantage;
    }
    *slope = -ratio * advantage;
    return -ratio * advantage;
}

sp_tensor *sp_loss_ppo(sp_tape *t, sp_tensor *logits, const sp_ppo *p)
{
    float *slope = slopes(t, logits, p->mask, p->action);
    double loss = 0, share;

    if (!slope)
        return NULL;
    share = 1 / (double)sp_rows(logits);
    for (int64_t i = 0; i < sp_rows(logits); i++) {
        row r = row_of(logits, p->mask, i);
        double h = entropy(&r), direct;
        double ratio = exp(log_p(&r, p->action[i]) - (double)p->old_log_p[i]);

        loss +=
            share * surrogate(&direct, ratio, (double)p->advantage[i], p->clip);
        loss -= share * p->entropy * h;
        row_slope(slope + i * r.n, &r, p->action[i], share * direct,
                  -share * p->entropy, h);
    }
    return sp_loss_known(t, logits, loss, slope);
}
