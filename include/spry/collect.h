/* collect.h - measure many schedules of a problem, as training data.
 *
 * A tune looks for the best schedule; a collection measures good and bad ones
 * alike. Each is verified, timed in pairs with the baseline, and recorded, also
 * if it is wrong, crashes, hangs, cannot be built, or is so slow that it was
 * cut short. */
#ifndef SPRY_COLLECT_H
#define SPRY_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/records.h"
#include "spry/schedule.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

/* Where schedules are drawn from. */
typedef enum {
    SPRY_DRAW_BOTH,     /* half of each of the following */
    SPRY_DRAW_SUPER,    /* loop nests, as WACO samples them */
    SPRY_DRAW_FAMILIES, /* storage formats and their parameters */
} spry_draw;

/* What was measured of one problem, so far. */
typedef struct {
    size_t size;    /* sizeof (spry_collected) */
    int planned;    /* schedules to be measured now */
    int known;      /* schedules that the store had before */
    int verdict[8]; /* how many were measured, by spry_verdict */
    int busy;       /* 1: another process works on it; nothing was done */
    int stopped;    /* 1: by the budget or by the caller */
    double seconds, compile_seconds;
} spry_collected;

/* Compiled kernels, kept from one problem to the next. */
typedef struct sp_kernels spry_kernels;
spry_status spry_kernels_open(spry_kernels **out);
void spry_kernels_close(spry_kernels *k);

typedef struct {
    size_t size;    /* sizeof (spry_collect_options) */
    int schedules;  /* of a problem, including those the store has */
    spry_draw draw; /* from where */
    double seconds; /* at most; 0: no limit */
    uint64_t seed;
    const spry_machine *machine; /* NULL: this one */
    /* Called now and then; return nonzero to stop. Nothing measured is lost. */
    int (*progress)(const spry_collected *now, void *payload);
    void *payload;
    /* Measure exactly these, except those the store has; NULL: draw some. */
    const spry_schedule *list;
    int listed;
    spry_kernels *kernels; /* NULL: compiled kernels are not kept */
    /* 1: measure processor time, which other load on the machine lengthens
     * less; the machine must be limited to one thread. */
    int processor_time;
    /* 1: draw eight times as many and measure those from which the model in
     * use would learn most, given what it learned on this machine. */
    int choose;
} spry_collect_options;

#define SPRY_COLLECT_DEFAULTS                                                \
    {                                                                        \
        sizeof(spry_collect_options), 100, SPRY_DRAW_BOTH, 0, 1, NULL, NULL, \
            NULL, NULL, 0, NULL, 0, 0                                        \
    }

/* Measure schedules of p that db does not have yet. source and group go into
 * the problem's origin (records.h); group NULL: spry_group_of the source. */
spry_status spry_collect(spry_collected *out, spry_records *db,
                         const spry_problem *p, const char *source,
                         const char *group, const spry_collect_options *opt);

/* The i-th matrix, "gen:SPEC#SEED", of a training suite, "small" or "default";
 * NULL past the last or when there is no such suite. */
const char *spry_suite(const char *name, int i);

#ifdef __cplusplus
}
#endif
#endif
