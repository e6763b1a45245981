/* measure.h - how long functions take, whether a difference is significant,
 * and child processes in which they may crash or hang.
 *
 * It knows functions to call, not kernels. Times are compared only within a
 * race, in pairs measured one right after the other, so that what slows the
 * machine down affects both. */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

/* ---- statistics (statistics.c): all sort x ---- */

typedef struct {
    double mid, low, high; /* low .. high: 95 % confidence */
} sp_interval;

double sp_quantile(double *x, int n, double q); /* 0 <= q <= 1, n > 0 */
double sp_median(double *x, int n);

/* The median between two order statistics, exact by the binomial for any
 * distribution. Fewer than six samples cannot give 95 % that way: their
 * range is widened as Student's t would; one sample bounds nothing. */
sp_interval sp_median_interval(double *x, int n);

/* The geometric mean of positive x, by Student's t on the logarithms. */
sp_interval sp_geomean(const double *x, int n);

/* ---- race (race.c) ---- */

enum { SP_RACE_PAIRS = 101 };

typedef struct {
    void (*run)(void *ctx); /* must do the same work each time */
    void *ctx;
} sp_contestant;

/* A plain value: it may lie in memory shared with another process. */
typedef struct {
    double seconds;                /* of one run, median */
    double speedup, low, high;     /* the baseline's time / ours, of pairs */
    int baseline;                  /* whose time that is */
    int compared;                  /* pairs that the ratios are of */
    int pairs;                     /* rounds measured */
    int repeat;                    /* runs in one sample */
    int dropped;                   /* clearly slower, left the race early */
    double preempted;              /* times that a core was taken from us, for
                                      each second of computing in this race */
    double samples[SP_RACE_PAIRS]; /* [pairs] seconds per run, by round; 0: a
                                      plain way that sat this one out */
} sp_racer;

/* What this process has had of the cores so far. */
typedef struct {
    double seconds;    /* that its threads computed */
    int64_t preempted; /* times that one, though it was not waiting, had to
                          leave its core to somebody else */
} sp_usage;

typedef struct {
    double seconds;      /* for the whole race; one round is always run */
    int least;           /* rounds that are run however long they take; */
    int clear;           /* of those, rounds after which time may end it if it
                            is clear who is faster than the baseline */
    int pairs;           /* at most so many rounds */
    int plain;           /* the first so many are plain ways, and whoever of
                            them is fastest in this race is the baseline; 0: 1 */
    double precision;    /* done when every high / low is below 1 + this */
    int64_t evict_bytes; /* 0: caches stay warm; else so much other memory
                            is walked through before every sample */
    uint64_t seed;       /* of the order within rounds */
    const double *once;  /* [n] seconds of a run a moment ago, 0: not known;
                            long ones need no trial run. May be NULL */
    int (*between)(void *arg); /* called between samples; may be NULL; */
    void *arg;                 /* nonzero ends the race */
    double (*clock)(void);     /* seconds; NULL: sp_seconds */
    sp_usage (*usage)(void);   /* NULL: the system's */
} sp_race_options;

#define SP_RACE_DEFAULTS                              \
    {                                                 \
        .seconds = 10, .pairs = 31, .precision = 0.02 \
    }

/* Race the n contestants, the plain ways first, into out[n]. SPRY_STOPPED
 * when `between` ended it: what was measured until then is in out. */
spry_status sp_race(sp_racer *out, const sp_contestant *c, int n,
                    const sp_race_options *options);

/* ---- isolation (child.c) ---- */

/* Memory that a child writes and its parent reads, zeroed. */
typedef struct {
    void *data; /* [bytes] */
    size_t bytes;
    struct sp_pulse *pulse;
} sp_shared;

spry_status sp_shared_open(sp_shared *out, size_t bytes);
void sp_shared_close(sp_shared *s);

typedef enum {
    SP_CHILD_OK,      /* the work returned */
    SP_CHILD_CRASH,   /* a signal ended it */
    SP_CHILD_TIMEOUT, /* it was killed: too long without a beat */
    SP_CHILD_EXITED,  /* the process ended but the work did not return */
    SP_CHILD_STOPPED  /* it was killed: the caller wished to stop */
} sp_child_end;

typedef struct {
    sp_child_end end;
    int code;     /* the signal, or the exit code */
    int64_t item; /* the last sp_child_beat; 0 when there was none */
} sp_child_verdict;

typedef struct {
    void (*work)(sp_shared *shared, void *arg);
    void *arg;
    double seconds;         /* without a beat, then it is killed */
    double cpu;             /* the same, of its processor time; 0: no limit */
    int64_t memory;         /* bytes of address space; 0: no limit */
    int (*stop)(void *arg); /* asked about 20 times a second; may be NULL */
    void *stop_arg;
} sp_child_job;

/* Run the work in a child process and wait for its end. Whatever it does -
 * crash, hang, exit - comes back as the verdict; the status tells only
 * whether a child could be started. The child has no open files, prints
 * nowhere, and starts OpenMP afresh. */
spry_status sp_child_run(sp_child_verdict *out, const sp_child_job *job,
                         sp_shared *shared);

/* Called by the work: I am alive and begin `item`. */
void sp_child_beat(sp_shared *shared, int64_t item);

/* "ok", "crash", "timeout", "exited", "stopped" */
const char *sp_child_end_name(sp_child_end end);

#endif
