/* inner.c - the networks of a source go on learning, on few records. */
#include "adapt/adapt.h"

spry_status sp_inner_learn(sp_pretrained *s, const sp_dataset *t,
                           const sp_inner *how)
{
    static const sp_dataset none;
    sp_fitting l = {.seed = how->seed, .threads = 1};
    spry_status status = SPRY_OK;

    for (int k = 0; k < s->nets && status == SPRY_OK; k++) {
        sp_net_fitting fitting = {.l = &l,
                                  .train = t,
                                  .test = &none,
                                  .target = t->slower,
                                  .nn = s->nn,
                                  .net = &s->net[k],
                                  .pass = sp_resnet_pass,
                                  .epochs = how->epochs,
                                  .patience = how->epochs,
                                  .rate = how->rate,
                                  .clip = 0.5,
                                  .rank = how->rank,
                                  .begin = sp_seconds()};

        sp_pretrained_learns(s, k, 1);
        status = sp_net_learn(&fitting);
        sp_pretrained_learns(s, k, 0);
    }
    return status;
}
