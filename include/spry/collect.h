/* collect.h - many schedules of a problem, measured to learn from.
 *
 * A tune looks for the best and drops the rest; a collection wants to know
 * how good everything is. Each trial is verified, timed in pairs with the
 * baseline, and kept: also those that are wrong, crash, hang, cannot be had,
 * or are so slow that they were cut short. */
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
    SPRY_DRAW_BOTH,     /* as many of the one as of the other */
    SPRY_DRAW_SUPER,    /* nests, as WACO samples them */
    SPRY_DRAW_FAMILIES, /* storage formats and their parameters */
} spry_draw;

/* What became of one problem, so far. */
typedef struct {
    size_t size;    /* sizeof (spry_collected) */
    int planned;    /* trials to be made, now */
    int known;      /* that the store had before */
    int verdict[8]; /* trials made, by spry_verdict */
    int busy;       /* 1: another process is at it; nothing was done */
    int stopped;    /* 1: by the budget or by the caller */
    double seconds, compile_seconds;
} spry_collected;

/* Kernels that were compiled, kept from one problem to the next. */
typedef struct sp_kernels spry_kernels;
spry_status spry_kernels_open(spry_kernels **out);
void spry_kernels_close(spry_kernels *k);

typedef struct {
    size_t size;    /* sizeof (spry_collect_options) */
    int schedules;  /* wanted of a problem; what the store has counts */
    spry_draw draw; /* from where */
    double seconds; /* at most; 0: no limit */
    uint64_t seed;
    const spry_machine *machine; /* NULL: this one */
    /* Called now and then; nonzero asks to stop. Nothing measured is lost. */
    int (*progress)(const spry_collected *now, void *payload);
    void *payload;
    /* These and no others, as far as the store lacks them; NULL: drawn. */
    const spry_schedule *list;
    int listed;
    spry_kernels *kernels; /* NULL: those of this problem are forgotten */
    /* 1: time is processor time, which a machine at other work does not
     * lengthen much; the machine must have one thread. */
    int processor_time;
    /* 1: of eight times as many the schedules of which the model in use would
     * learn most, given what it learned on this machine. */
    int choose;
} spry_collect_options;

#define SPRY_COLLECT_DEFAULTS                                                \
    {                                                                        \
        sizeof(spry_collect_options), 100, SPRY_DRAW_BOTH, 0, 1, NULL, NULL, \
            NULL, NULL, 0, NULL, 0, 0                                        \
    }

/* Measure what db lacks of a problem. source and group go into its origin;
 * group NULL: spry_group_of the source. */
spry_status spry_collect(spry_collected *out, spry_records *db,
                         const spry_problem *p, const char *source,
                         const char *group, const spry_collect_options *opt);

/* The i-th matrix, "gen:SPEC#SEED", of a suite to learn from, "small" or
 * "default"; NULL past the last or when there is no such suite. */
const char *spry_suite(const char *name, int i);

#ifdef __cplusplus
}
#endif
#endif
