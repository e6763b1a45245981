/* meet.h - several ways to do the same with a network, raced in turns. */
#ifndef BENCH_NETWORK_MEET_H
#define BENCH_NETWORK_MEET_H

#include <stdint.h>

#include "spry.h"

enum { MEET_MOST = 24, MEET_NAME = 64 };

typedef struct {
    char name[MEET_NAME];
    void (*run)(void *ctx);
    void *ctx;
    int times;               /* batches that one call runs */
    double rate;             /* edges/s */
    double ratio, low, high; /* the first's time / this one's */
} meet_entrant;

typedef struct {
    double edges; /* of one batch */
    int count;
    meet_entrant entrant[MEET_MOST]; /* [count] */
} meet;

void meet_add(meet *m, const char *name, void (*run)(void *), void *ctx,
              int times);
/* For about so long; prints a table under the title. */
void meet_race(meet *m, const char *title, double seconds);
/* Edges per second of an entrant, 0 when it is not there. */
double meet_rate(const meet *m, const char *name);
/* How many times as fast a is as b; 0 when one is not there. */
double meet_ratio(const meet *m, const char *a, const char *b);

/* The process ends with a sentence unless all is well. */
void meet_must(spry_status s);

/* ---- a way, ready to be raced ---- */

typedef struct {
    spry_problem *problem;
    spry_plan *plan;
    float *y;
    const float *x;
} meet_form;
void meet_form_open(meet_form *f, const spry_network *n, const char *text,
                    const float *x, int64_t batch);
/* Algorithm 1 in an order; anneal improves for `seconds`. 0, and a sentence on
 * stdout, when it cannot be made. */
int meet_order_open(meet_form *f, const spry_network *n, const char *order,
                    double seconds, const float *x);
void meet_form_run(void *form);
void meet_form_close(meet_form *f);

/* ---- SciPy or PyTorch, layer by layer, in a process of its own ---- */

enum { MEET_PYTHON_TIMES = 5 }; /* runs in one call */

typedef struct meet_python meet_python;
/* NULL, and a sentence on stdout, when the library is not there. */
meet_python *meet_python_open(const char *library, const spry_network *n,
                              const float *x, int64_t batch);
void meet_python_run(void *p);
/* To see that it computed the same: the sum of all outputs, and of each layer
 * of the first input the sum of values, neuron j's 1 + j % 7 times. */
double meet_python_sum(meet_python *p);
void meet_python_layers(double *out, meet_python *p, int64_t layers);
void meet_python_close(meet_python *p);

#endif
