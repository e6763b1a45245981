/* model.h - predicts the time of a schedule before anything is measured.
 *
 * The analytic model bounds each run by what it must do: move bytes from
 * each level of the memory, issue instructions, wait for loads, start
 * threads. The largest term is the answer to "what bounds this kernel". */
#ifndef SPRY_MODEL_H
#define SPRY_MODEL_H

#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/schedule.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef struct {
    size_t size;      /* sizeof (spry_prediction) */
    double seconds;   /* of one run: all terms together */
    double bandwidth; /* moving bytes */
    double latency;   /* waiting for scattered loads */
    double compute;   /* issuing multiply-adds */
    double overhead;  /* loop control, row ends, thread start */
    double imbalance; /* added by the unluckiest thread */
    double bytes;     /* packed size of A */
    double traffic;   /* bytes from memory beyond the last cache */
    double pack_seconds;
    /* Seconds that no kernel with this storage can be below, by what it needs
     * of the machine; 0: not known. */
    double least_flops;   /* multiply-adds */
    double least_cache;   /* bytes out of the cache that gives them slowest */
    double least_memory;  /* bytes out of memory and into it */
    double least_gathers; /* random lines of memory */
} spry_prediction;

/* Which of the least_ binds, and its seconds: "multiply-adds", "cache",
 * "memory" or "gathers"; "nothing" and 0 when none is known. */
const char *spry_prediction_limit(const spry_prediction *p, double *seconds);

/* "bandwidth", "latency", "compute", "overhead" or "imbalance". */
const char *spry_prediction_bound(const spry_prediction *p);

/* Predict x on p and m. Storage is exact, but for sell's padding and rows
 * cut by panels, which are estimated; time is approximate. SPRY_USAGE and
 * the reason when x is illegal or would not be packed. */
spry_status spry_predict(spry_prediction *out, const spry_problem *p,
                         const spry_schedule *x, const spry_machine *m);

/* Seconds of n schedules from whoever knows best: the learned model of the
 * operation, when there is one (SPRY_MODELS, then the user's own, then the
 * shipped one), else the analytic model. `who` says which: "analytic", or the
 * learned model's name. HUGE_VAL: cannot be had. */
enum { SPRY_WHO = 80 };
spry_status spry_guess(double *seconds, char who[SPRY_WHO],
                       const spry_problem *p, const spry_schedule *x, int n,
                       const spry_machine *m);

/* What learned models multiply with: OpenBLAS, its version and the CPU that
 * its kernels are for, or "own loops", which are slower. Beside it the share
 * of one core's multiply-adds that it reaches; 0 when it was not timed, since
 * there is none or the program had loaded it before. */
const char *spry_model_blas(void);
double spry_model_blas_share(void);

#ifdef __cplusplus
}
#endif
#endif
