/* fleet.h - many machines that measure for one store.
 *
 * The store is a PostgreSQL database. It also holds a queue of jobs: lines of
 * text that say what to measure. Jobs contain no code, paths or flags; a worker
 * builds its own kernels. A job is leased: a worker that does not report in
 * time loses it to another, and a result that comes too late is refused by the
 * transaction that would have stored it, so every job is done once.
 * docs/fleet.md describes roles, TLS and passwords. */
#ifndef SPRY_FLEET_H
#define SPRY_FLEET_H

#include <stddef.h>
#include <stdint.h>

#include "spry/collect.h"
#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

/* ---- jobs ---- */

typedef enum {
    SPRY_JOB_COLLECT, /* many schedules, as spry_collect */
    SPRY_JOB_TUNE,    /* the answer, as spry_tune */
    SPRY_JOB_SURVEY   /* only the problem's key and shape */
} spry_job_kind;

enum { SPRY_JOB_TEXT = 512, SPRY_JOB_MATRIX = 256 };

typedef struct {
    spry_job_kind kind;
    char matrix[SPRY_JOB_MATRIX]; /* "gen:SPEC#SEED" or "sha256:HEX" */
    spry_op op;                   /* spmv, spmm or sddmm */
    int64_t cols;                 /* dense columns, 1 to 4096 */
    spry_type type;
    int threads;    /* at most; 0: all that the worker may use */
    int schedules;  /* collect: how many, 1 to 10000 */
    spry_draw from; /* collect: where they are drawn from */
    double seconds; /* at most, 0.1 to 86400 */
    uint64_t seed;
    int64_t reserved[8]; /* 0 */
} spry_job;

/* Parse a job. SPRY_USAGE for anything else: unknown or repeated words, numbers
 * out of bounds, paths. */
spry_status spry_job_parse(spry_job *out, const char *text);
/* A job as text. */
spry_status spry_job_text(char out[SPRY_JOB_TEXT], const spry_job *job);

/* ---- the fleet ---- */

typedef struct spry_fleet spry_fleet;

typedef struct {
    size_t size;  /* sizeof (spry_fleet_options) */
    double lease; /* seconds without a sign of life, 1 to 3600 */
    int tries;    /* how often a job is attempted, 1 to 100 */
} spry_fleet_options;
/* 0: as it is; 60 s and 5 in a new database. */
#define SPRY_FLEET_DEFAULTS              \
    {                                    \
        sizeof(spry_fleet_options), 0, 0 \
    }

/* Create tables, functions and roles in a database, or update them; one that a
 * newer spry made is left as it is. *roles is 0 when the roles do not exist and
 * this user may not create them. */
spry_status spry_fleet_init(const char *uri, const spry_fleet_options *opt,
                            int *roles);

spry_status spry_fleet_open(spry_fleet **out, const char *uri);
void spry_fleet_close(spry_fleet *f);
const char *spry_fleet_name(const spry_fleet *f); /* without a password */

/* Put a job into the queue. machine: only workers with this fingerprint may
 * take it; NULL or "": any. Higher priorities go first, -1000 to 1000. *added
 * is 0 when the job is there already; one that failed is queued again. */
spry_status spry_fleet_submit(spry_fleet *f, const spry_job *job, int priority,
                              const char *machine, int64_t *id, int *added);

/* Upload a matrix file, for jobs that name it by the hash of its bytes,
 * "sha256:HEX"; at most 256 MB. */
enum { SPRY_FLEET_HASH = 72 };
spry_status spry_fleet_offer(spry_fleet *f, const char *path,
                             char hash[SPRY_FLEET_HASH]);

/* Upload all rows of a local store, by a function of the server, so that a
 * worker's rights suffice. */
spry_status spry_fleet_upload(spry_fleet *f, const char *store, int64_t *added);

/* ---- workers ---- */

/* What a worker has done so far. */
typedef struct {
    size_t size;          /* sizeof (spry_fleet_worked) */
    int64_t done, failed; /* jobs */
    int64_t late;         /* results that came too late and were refused */
    int64_t rows;         /* added to the store */
    const char *job;      /* in progress, "" when there is none */
    double seconds;
} spry_fleet_worked;

typedef struct {
    size_t size;                 /* sizeof (spry_fleet_work_options) */
    const spry_machine *machine; /* NULL: this one, probed first */
    int jobs;                    /* stop after so many; 0: never */
    int idle_exit;               /* stop when no job is left */
    const char *matrices; /* a folder of files that jobs may name by hash */
    const char *name;     /* a name for this worker; NULL: the host's */
    /* Called now and then; return nonzero to stop and return the job. */
    int (*progress)(const spry_fleet_worked *now, void *payload);
    void *payload;
} spry_fleet_work_options;
#define SPRY_FLEET_WORK_DEFAULTS                                            \
    {                                                                       \
        sizeof(spry_fleet_work_options), NULL, 0, 0, NULL, NULL, NULL, NULL \
    }

/* Take jobs, measure each in a child process, and store the records. While the
 * server is unreachable it waits. */
spry_status spry_fleet_work(spry_fleet_worked *out, spry_fleet *f,
                            const spry_fleet_work_options *opt);

/* ---- status ---- */

typedef struct {
    size_t size;                         /* sizeof (spry_fleet_counts) */
    int64_t ready, leased, done, failed; /* jobs */
    int64_t late;                        /* results refused */
    int64_t workers;                     /* seen within a minute */
    int64_t machines, records, answers, models, matrices;
    double rate;  /* jobs a second, over the last minute */
    double lease; /* seconds */
    int64_t tries;
} spry_fleet_counts;
spry_status spry_fleet_status(spry_fleet_counts *out, spry_fleet *f);

typedef struct {
    int64_t id;
    const char *name, *machine; /* fingerprint */
    int64_t done, failed;
    double silent;   /* seconds since it was last seen */
    const char *job; /* in progress, or "" */
} spry_fleet_worker;
/* Workers seen within a day, latest first; return nonzero to stop. */
typedef int spry_fleet_worker_visit(const spry_fleet_worker *w, void *payload);
spry_status spry_fleet_each_worker(spry_fleet *f,
                                   spry_fleet_worker_visit *visit,
                                   void *payload);

typedef struct {
    int64_t id;
    const char *work, *reason;
} spry_fleet_failure;
/* Jobs that failed for good, the latest first. */
typedef int spry_fleet_failure_visit(const spry_fleet_failure *x,
                                     void *payload);
spry_status spry_fleet_each_failure(spry_fleet *f,
                                    spry_fleet_failure_visit *visit,
                                    void *payload);

/* ---- models ---- */

/* Upload a model file. */
spry_status spry_fleet_push(spry_fleet *f, const char *path,
                            char hash[SPRY_FLEET_HASH]);

typedef struct {
    size_t size;     /* sizeof (spry_fleet_pulled) */
    char path[4096]; /* where it was written */
    char hash[SPRY_FLEET_HASH], kind[24], date[24];
    int64_t models;   /* to choose from */
    int64_t problems; /* of this machine that they were graded on; 0: none */
    double pairwise;  /* of the chosen one on them (train.h), or NAN */
    double distance;  /* to the nearest machine it was trained on, or NAN */
} spry_fleet_pulled;

/* Download the model of an operation that fits a machine best: graded on the
 * machine's records in the store, else the one trained on the machine nearest
 * to it. path NULL: where tunes look for it. SPRY_INPUT when there is none. */
spry_status spry_fleet_pull(spry_fleet_pulled *out, spry_fleet *f, spry_op op,
                            const spry_machine *m, const char *path);

/* How different two machines are, by their descriptions: 0 for the same. */
double spry_machine_distance(const spry_machine *a, const spry_machine *b);

/* "libpq 15.20"; NULL when it cannot be loaded, and spry_message() says why. */
const char *spry_fleet_library(void);

#ifdef __cplusplus
}
#endif
#endif
