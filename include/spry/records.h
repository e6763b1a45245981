/* records.h - the store of measurements.
 *
 * A record is immutable: (problem, schedule, machine) -> samples, or the reason
 * why there are none. An answer is what a tune concluded, so that the next tune
 * of the same problem is a lookup. A store is one SQLite file, or a PostgreSQL
 * database that many machines share, named by its URI; merging stores is set
 * union. A handle serves one thread at a time and does not survive a fork; many
 * processes may open the same store. */
#ifndef SPRY_RECORDS_H
#define SPRY_RECORDS_H

#include <stdint.h>

#include "spry/machine.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef enum {
    SPRY_VERDICT_OK,
    SPRY_VERDICT_WRONG,
    SPRY_VERDICT_CRASH,
    SPRY_VERDICT_TIMEOUT,
    SPRY_VERDICT_INFEASIBLE,
    SPRY_VERDICT_SLOW,    /* correct, but so slow that two runs sufficed */
    SPRY_VERDICT_DOUBTFUL /* correct, but faster than is possible: a fault of
                             the timing, never stored */
} spry_verdict;

/* The measurement of one schedule. spry_records_add copies the strings; those
 * passed to a visitor are valid during the call. */
typedef struct {
    char id[33];          /* hash of all the rest; filled in by the store */
    const char *problem;  /* key */
    const char *about;    /* for people: "spmm 128 f32 100x100 nnz 5" */
    const char *schedule; /* text form */
    const char *machine;  /* fingerprint */
    const char *probe;    /* id of the machine's description as probed then; ""
                             or NULL: of the machine last put on this handle,
                             if it is the record's and was probed */
    const char *compiler; /* "built-in" or the compiler's version */
    spry_verdict verdict;
    char noise;                /* grade of the machine's noise, A..D or ? */
    double seconds;            /* median of samples; 0 unless ok or slow */
    double speedup, low, high; /* over the baseline in the same race; 0: none */
    double pack_seconds;
    double bytes; /* packed storage */
    int64_t when; /* seconds since 1970 */
    int samples;
    const double *sample; /* [samples] seconds of one run */
    int64_t reserved[4];  /* 0 */
} spry_record;

/* What a tune decided. */
typedef struct {
    const char *problem, *machine;   /* with `calls`, the key of a lookup */
    const char *baseline, *schedule; /* text forms */
    double baseline_seconds, seconds;
    double speedup, low, high;
    double pack_seconds, tuning_seconds;
    double calls; /* the workload it was decided for; 0: unlimited */
    int effort;   /* spry_effort */
    int64_t when;
    const char *kernel;  /* a hash of the kernel's text, and the compiler;
                           NULL or "": not known */
    int64_t reserved[4]; /* 0 */
} spry_answer;

/* Where a problem came from. A problem may have several origins: two files may
 * hold the same pattern. */
typedef struct {
    const char *problem; /* key */
    const char *source;  /* a path, or "gen:SPEC#SEED"; "": not known */
    const char *group;   /* names the original matrix: resized or permuted
                            copies share its group, which is never divided
                            between training and test */
    const char *op, *type;
    int64_t n, rows, cols, nnz; /* dense columns; shape of the matrix */
    int64_t reserved[4];        /* 0 */
} spry_origin;

/* One round of training a model; all rounds are its learning curve. */
typedef struct {
    const char *run;  /* any text that identifies the training */
    const char *kind; /* of model */
    const char *op;
    int round;     /* 1, 2 ... */
    double loss;   /* not negative */
    int tested;    /* 1: regret is known */
    double regret; /* log of chosen over least seconds, on the test set */
    double seconds;
    int64_t when;
    int64_t reserved[4]; /* 0 */
} spry_round;

typedef struct spry_records spry_records;

/* Open or create a store. path NULL: SPRY_HOME/data/records.db, else
 * XDG_DATA_HOME/spry/records.db, else HOME/.local/share/spry/records.db.
 * ":memory:" keeps nothing on disk. SPRY_STORE when it is locked, damaged, of a
 * newer version or no store of spry's; the file is then left as it is.
 * SPRY_SYSTEM when it can be neither written nor read. A store that is
 * read-only can be opened; adding to it fails with SPRY_SYSTEM.
 * "postgresql://..." is a database that spry_fleet_init has set up; it needs
 * libpq, else SPRY_SYSTEM. */
spry_status spry_records_open(spry_records **out, const char *path);
void spry_records_close(spry_records *db);
/* The path, or the URI without its password. */
const char *spry_records_path(const spry_records *db);
/* 1 when path is the URI of a PostgreSQL server, or was meant to be one: such a
 * path is refused, and not to be shown, since it may hold a password. */
int spry_records_is_server(const char *path);

/* Add a record; durable on return, unless inside a batch. Closing the store
 * discards a batch that was not committed. Adding a record twice changes
 * nothing. SPRY_USAGE unless numbers are finite and not negative and texts are
 * UTF-8. */
spry_status spry_records_add(spry_records *db, const spry_record *r);
spry_status spry_records_batch(spry_records *db);  /* begin */
spry_status spry_records_commit(spry_records *db); /* end, durable */

/* Called for each record; return nonzero to stop. It must not use db. */
typedef int spry_records_visit(const spry_record *r, void *payload);

/* Visit records in order of time. problem: only keys that begin with it;
 * machine: only this fingerprint; NULL: all. Damaged records are skipped and
 * reported by spry_message(). */
spry_status spry_records_each(spry_records *db, const char *problem,
                              const char *machine, spry_records_visit *visit,
                              void *payload);

/* How many there are. */
spry_status spry_records_count(spry_records *db, int64_t *records,
                               int64_t *answers, int64_t *machines);

/* Answers: add one, or find the newest of at least this effort that was decided
 * for as many calls (the same power of two, or both unlimited). The strings of
 * *out are valid until the next call on db; *found is 0 when there is none. */
spry_status spry_records_answer(spry_records *db, const spry_answer *a);
spry_status spry_records_find(spry_records *db, spry_answer *out, int *found,
                              const char *problem, const char *machine,
                              double calls, int effort);

/* Visit all answers in order of time; return nonzero to stop. */
typedef int spry_answer_visit(const spry_answer *a, void *payload);
spry_status spry_records_each_answer(spry_records *db, spry_answer_visit *visit,
                                     void *payload);

/* Machines by fingerprint; *found is 0 if the store does not know it. */
spry_status spry_records_put_machine(spry_records *db, const spry_machine *m);
spry_status spry_records_get_machine(spry_records *db, spry_machine *out,
                                     int *found, const char *fingerprint);

/* The machine as it was when records of this probe were measured; for "", or a
 * probe that the store does not have, the machine as it is known now. */
spry_status spry_records_get_probe(spry_records *db, spry_machine *out,
                                   int *found, const char *probe,
                                   const char *fingerprint);

/* Origins of problems; visited in order of their keys. */
spry_status spry_records_put_origin(spry_records *db, const spry_origin *o);
/* The group (spry_origin) that a source belongs to: the file's name without
 * folders, endings and the _RxC_N that WACO appends to resized copies; for
 * gen:SPEC#SEED, the SPEC without parameters that only set the size (rows,
 * cols, nnz, nx, scale ...). Returns buf. */
enum { SPRY_GROUP_TEXT = 256 };
char *spry_group_of(char buf[SPRY_GROUP_TEXT], const char *source);

typedef int spry_origin_visit(const spry_origin *o, void *payload);
spry_status spry_records_each_origin(spry_records *db, spry_origin_visit *visit,
                                     void *payload);

/* Learning curves; visited in order of time, run and round. */
spry_status spry_records_put_round(spry_records *db, const spry_round *c);
typedef int spry_round_visit(const spry_round *c, void *payload);
spry_status spry_records_each_round(spry_records *db, spry_round_visit *visit,
                                    void *payload);

/* Divide work among processes: *got is 1 when this process now holds `work` for
 * so many seconds, 0 when another one does. Claiming again renews; 0 seconds
 * give it back. What an ended process held is free. */
spry_status spry_records_claim(spry_records *db, const char *work,
                               double seconds, int *got);

/* Write or read JSON lines, "-" for standard output: machines, problems,
 * records, answers, curves and probes. A damaged line is skipped and counted in
 * *bad (may be NULL); spry_message() says where the first one is. SPRY_INPUT
 * when every line is damaged. */
spry_status spry_records_export(spry_records *db, const char *path);
/* The same; *rows, which may be NULL, is how many lines were written, 0 on
 * failure. */
spry_status spry_records_export_rows(spry_records *db, const char *path,
                                     int64_t *rows);
spry_status spry_records_import(spry_records *db, const char *path,
                                int64_t *added, int64_t *bad);

/* Write a lock file: the newest answer for each problem, machine and power of
 * two of calls, with a checksum against changes. A tune that is given one
 * (tune.h) answers from it alone. *answers, which may be NULL, is how many it
 * holds. */
spry_status spry_records_freeze(spry_records *db, const char *path,
                                int64_t *answers);

/* Add everything from another store; a machine that both know keeps db's
 * description. When the other file is damaged nothing changes and SPRY_STORE is
 * returned; single damaged rows are skipped and reported by spry_message(). */
spry_status spry_records_merge(spry_records *db, const char *other,
                               int64_t *added);

/* Check the file and every row's hash; SPRY_STORE when something is damaged:
 * the message names the first, *bad counts all. */
spry_status spry_records_check(spry_records *db, int64_t *bad);

/* Remove failed records older than `days` and compact the file. */
spry_status spry_records_gc(spry_records *db, int days, int64_t *dropped);

const char *spry_verdict_name(spry_verdict v);

#ifdef __cplusplus
}
#endif
#endif
