/* model.h - the predicted time of a schedule, before anything is measured.
 *
 * The analytic model adds up what a run must do: move bytes from each level of
 * the memory, issue instructions, wait for loads, start threads. The largest
 * term says what bounds the kernel. */
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
    double imbalance; /* added by the thread with most work */
    double bytes;     /* packed size of A */
    double traffic;   /* bytes from memory beyond the last cache */
    double pack_seconds;
    /* Lower bounds on the seconds of any kernel with this storage, one for each
     * resource of the machine; 0: not known. */
    double least_flops;   /* multiply-adds */
    double least_cache;   /* bytes from the slowest level of cache */
    double least_memory;  /* bytes from and to memory */
    double least_gathers; /* random lines of memory */
} spry_prediction;

/* The largest of the least_ bounds, by name, and its seconds: "multiply-adds",
 * "cache", "memory" or "gathers"; "nothing" and 0 when none is known. */
const char *spry_prediction_limit(const spry_prediction *p, double *seconds);

/* The largest term of the prediction: "bandwidth", "latency", "compute",
 * "overhead" or "imbalance". */
const char *spry_prediction_bound(const spry_prediction *p);

/* Predict schedule x for p on m. Storage is exact, except that sell's padding
 * and rows cut by panels are estimated; time is approximate. SPRY_USAGE and the
 * reason when x is illegal or cannot be packed. */
spry_status spry_predict(spry_prediction *out, const spry_problem *p,
                         const spry_schedule *x, const spry_machine *m);

/* Predicted seconds of n schedules, by the best model there is: the learned one
 * of the operation (from $SPRY_MODELS, else the user's own, else the shipped
 * one), or else the analytic one. `who` becomes "analytic" or the learned
 * model's name. HUGE_VAL: the schedule is illegal or cannot be packed. */
enum { SPRY_WHO = 80 };
spry_status spry_guess(double *seconds, char who[SPRY_WHO],
                       const spry_problem *p, const spry_schedule *x, int n,
                       const spry_machine *m);

/* What learned models use for matrix products: OpenBLAS with its version and
 * the CPU that its kernels are for, or "own loops", which are slower. The share
 * is that of one core's peak multiply-adds which it reaches, timed at each call;
 * 0 when there is no OpenBLAS or the program had loaded it before. */
const char *spry_model_blas(void);
double spry_model_blas_share(void);

#ifdef __cplusplus
}
#endif
#endif
