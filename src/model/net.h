/* net.h - networks that learn costs: numbers brought to one scale, and the
 * loop that fits weights to a dataset. */
#ifndef SP_NET_H
#define SP_NET_H

#include "model/dataset.h"
#include "nn/layers.h"

/* Every column to mean 0 and deviation 1, the machine's to fixed physical
 * scales; what is not known becomes 0, and nothing is further out than 6. */
typedef struct {
    sp_tensor *mean, *scale; /* [width], frozen */
} sp_scaler;
sp_scaler sp_scaler_make(sp_nn *nn, const char *name, int64_t width);
/* From columns first .. first + width - 1 of the table. */
void sp_scaler_fit(const sp_scaler *c, const sp_dataset *t, int first);
/* out [rows, width] from rows `stride` numbers apart. */
void sp_scaler_apply(float *out, const sp_scaler *c, const float *x,
                     int64_t rows, int64_t stride);

/* What a view of a network keeps is a tape: looks and leaves of sp_cost_kind. */
spry_status sp_look_tape(sp_view *v);
void sp_leave_tape(sp_view *v);

/* All weights set aside, [sp_weights_size], or taken back. */
int64_t sp_weights_size(const sp_nn *nn);
void sp_weights_copy(const sp_nn *nn, float *aside, int back);

/* Scores [rows, 1] of rows of SP_FEATURES numbers, all of one subject. */
typedef sp_tensor *sp_net_pass(sp_tape *t, const void *net, const float *x,
                               int64_t rows);

typedef struct {
    const sp_fitting *l;
    const sp_dataset *train, *test;
    const float *target; /* [train rows] what scores should be */
    sp_nn *nn;
    const void *net;
    sp_net_pass *pass;
    int epochs, patience;
    double rate, decay, clip;
    double rank; /* weight of LambdaRank beside Huber on the target */
    double begin;
} sp_net_fitting;

/* Weights end as they were when the test's regret was least. */
spry_status sp_net_learn(const sp_net_fitting *n);

/* Scores of a whole table. */
spry_status sp_net_table(float *score, const sp_dataset *t, const void *net,
                         sp_net_pass *pass, int threads);

#endif
