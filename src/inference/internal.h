/* internal.h - a batch of inputs through a network: problem, plan, oracle,
 * and who predicts. */
#ifndef SP_INFERENCE_INTERNAL_H
#define SP_INFERENCE_INTERNAL_H

#include <pthread.h>

#include "base/base.h"
#include "form/form.h"
#include "inference/inference.h"
#include "network/network.h"

/* ---- problems (problem.c) ---- */

typedef struct {
    spry_problem head;
    const spry_network *net;
    int64_t batch;
    unsigned passes; /* that may be used */
    float *x;        /* [raced][inputs] to race with; NULL: drawn ones */
    pthread_mutex_t lock;
    spry_network *smaller; /* what the passes leave; NULL: not asked yet */
    double compile_seconds;
} sp_inference;

extern const sp_problem_kind sp_inference_kind;

/* p as what it is; NULL: it is none. */
const sp_inference *sp_inference_of(const spry_problem *p);

/* What p->passes leave of the network, made when first asked for; owned by
 * the problem. *out is the network itself where there are no passes. */
spry_status sp_inference_smaller(const spry_network **out,
                                 const sp_inference *p);

/* ---- plans (plan.c) ---- */

typedef struct {
    spry_plan head;
    sp_way way;
    const spry_network *net; /* that runs: the problem's, what its passes */
    spry_network *own;       /* left, or what this plan's alone did */
    sp_runner *runner;
} sp_inference_plan;

extern const sp_plan_kind sp_inference_plans;

spry_status sp_inference_make(spry_plan **out, const spry_problem *p,
                              const char *text, const spry_machine *m,
                              void *tools);

/* ---- inputs to race with (inputs.c) ---- */

/* x[raced][inputs], drawn by the seed. */
spry_status sp_inference_draw(float *x, const sp_inference *p, uint64_t seed);

/* ---- right answers (bound.c) ---- */

/* For each of `count` inputs, what a network answers in double, and how far a
 * float may be from it: 0 where every sum is exact in any order. */
spry_status sp_inference_answers(double *right, double *bound,
                                 const spry_network *n, const float *x,
                                 int64_t count);

/* ---- oracles (oracle.c) ---- */

spry_status sp_inference_ask(void **oracle, const spry_problem *p,
                             uint64_t seed, sp_purpose purpose);
spry_status sp_inference_check(const void *oracle, const spry_plan *plan);
spry_status sp_inference_try(const void *oracle, const spry_plan *plan,
                             double (*clock)(void), double *seconds);
spry_status sp_inference_glance(const void *oracle, const spry_plan *plan);
void sp_inference_run(const void *oracle, const spry_plan *plan);
double sp_inference_whole(const void *oracle);
void sp_inference_forget(void *oracle);

/* ---- predictions (predict.c) ---- */

/* Of a batch. SPRY_USAGE when the text is no way. */
spry_status sp_inference_predict(spry_prediction *out, const sp_inference *p,
                                 const char *text, const spry_machine *m);

/* ---- advisers (advise.c) ---- */

spry_status sp_inference_consult(sp_adviser **out, const sp_inquiry *q);
void sp_inference_guess(sp_adviser *a, sp_proposal *x, int n);
spry_status sp_inference_propose(sp_adviser *a, sp_proposals *l);
spry_status sp_inference_around(sp_adviser *a, sp_proposals *l,
                                const sp_proposal *leader, int leaders);
int sp_inference_choose(sp_adviser *a, const sp_proposal *x, int n, int plains);
void sp_inference_dismiss(sp_adviser *a);

#endif
