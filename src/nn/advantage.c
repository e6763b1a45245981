/* advantage.c - how much better an action was than expected.
 *
 * Generalised advantage estimation (Schulman et al., 2016): with the surprise
 * d_t = r_t + gamma V_(t+1) - V_t, the advantage is the sum over k of
 * (gamma lambda)^k d_(t+k). It is summed from the end of the episode. */
#include "nn/losses.h"

void sp_gae(float *advantage, float *returns, const float *reward,
            const float *value, int64_t steps, double gamma, double lambda)
{
    double next = 0, sum = 0; /* behind the end there is nothing to come */

    for (int64_t t = steps; t-- > 0;) {
        double v = (double)value[t];
        double surprise = (double)reward[t] + gamma * next - v;

        sum = surprise + gamma * lambda * sum;
        next = v;
        advantage[t] = (float)sum;
        returns[t] = (float)(sum + v);
    }
}
