/* losses.h - what learning makes small. Each returns a tensor of one number;
 * sp_nn_add and sp_nn_scale combine them.
 *
 * Scores are costs: lower is predicted to be faster. */
#ifndef SP_NN_LOSSES_H
#define SP_NN_LOSSES_H

#include "nn/nn.h"

/* ---- values; x [n], target [n], say the logarithm of seconds ---- */

sp_tensor *sp_loss_mse(sp_tape *t, sp_tensor *x, const float *target);
/* d^2 / 2 up to |d| = delta, then straight on; the mean. */
sp_tensor *sp_loss_huber(sp_tape *t, sp_tensor *x, const float *target,
                         double delta);

/* ---- ranks; score [n], seconds [n], all positive ---- */

typedef struct {
    double margin;       /* by which the slower must score higher; 1 */
    double tie;          /* pairs with |log(a / b)| <= tie are not compared */
    const float *weight; /* of pairs (0,1), (0,2) ... (n-2,n-1); NULL: 1 */
} sp_hinge;
/* Mean over pairs i < j of max(0, margin - sign(t_i - t_j) (s_i - s_j)). */
sp_tensor *sp_loss_hinge(sp_tape *t, sp_tensor *score, const float *seconds,
                         const sp_hinge *h);

/* LambdaRank (Burges 2010): log(1 + exp(sigma (s_i - s_j))) over pairs where
 * i is the faster, weighted by how much swapping them would change the NDCG;
 * the gain is 2^(best / seconds) - 1. */
sp_tensor *sp_loss_lambdarank(sp_tape *t, sp_tensor *score,
                              const float *seconds, double sigma);

/* ---- choices; logits [n, actions], mask [n, actions], 0 forbids (NULL: all
 * allowed), action [n], allowed ---- */

typedef struct {
    const uint8_t *mask;
    const int32_t *action;
    const float *old_log_p; /* [n] when the action was taken */
    const float *advantage; /* [n] */
    double clip;            /* 0.2 */
    double entropy;         /* its weight; 0.01 */
} sp_ppo;
/* -mean(min(r A, clip(r, 1 +- clip) A)) - entropy * mean entropy, with r =
 * p(action) / old p (Schulman et al. 2017). */
sp_tensor *sp_loss_ppo(sp_tape *t, sp_tensor *logits, const sp_ppo *p);

/* log p(action) of each row, without a tape: what a rollout notes down. */
void sp_log_p(float *out, const sp_tensor *logits, const uint8_t *mask,
              const int32_t *action);

/* PPO's value loss: mean of max(d^2, d'^2) / 2, where d' is the error of the
 * value held within +-clip of `old`; clip 0: d^2 / 2. value [n]. */
sp_tensor *sp_loss_value(sp_tape *t, sp_tensor *value, const float *old,
                         const float *returns, double clip);

/* Of a whole episode: its advantages by GAE, and the returns that the value
 * shall learn, advantage + value. */
void sp_gae(float *advantage, float *returns, const float *reward,
            const float *value, int64_t steps, double gamma, double lambda);

#endif
