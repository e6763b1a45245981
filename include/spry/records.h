/* records.h - measured facts, kept.
 *
 * A record is immutable: (problem, schedule, machine) -> samples, or why
 * there are none. A store is one SQLite file, or a PostgreSQL database that
 * many machines share, named by its URI; merging stores is set union.
 * An answer is what a tune concluded, so that the next one is a lookup.
 * A handle serves one thread at a time and does not survive a fork; many
 * processes may have the same store open. */
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
    SPRY_VERDICT_SLOW,    /* right, but so slow that two runs sufficed */
    SPRY_VERDICT_DOUBTFUL /* right, but its time cannot be: never stored */
} spry_verdict;

/* One trial. Strings are borrowed by spry_records_add and live until the
 * next step when handed to a visitor. */
typedef struct {
    char id[33];         /* hash of all the rest; filled in by the store */
    const char *problem; /* key */
    const char *about; /* the problem in words: "spmm 128 f32 100x100 nnz 5" */
    const char *schedule; /* text form */
    const char *machine;  /* fingerprint */
    const char *probe;    /* id of the machine's card as it was then; "" or
                             NULL: that of the machine put last on this handle,
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
    const char *problem, *machine; /* the look-up key, with threads and calls */
    const char *baseline, *schedule; /* text forms */
    double baseline_seconds, seconds;
    double speedup, low, high;
    double pack_seconds, tuning_seconds;
    double calls; /* the workload it was decided for; 0: unlimited */
    int effort;   /* spry_effort */
    int64_t when;
    const char *kernel;  /* what computes it: a hash of its text, and who
                           compiled it; NULL or "": not known */
    int64_t reserved[4]; /* 0 */
} spry_answer;

/* Where a problem came from. A problem may have several origins: the same
 * pattern may lie in two files. */
typedef struct {
    const char *problem; /* key */
    const char *source;  /* a path, or "gen:SPEC#SEED"; "": not known */
    const char *group;   /* the matrix behind it: what is the same matrix
                            resized or permuted has the same group, and never
                            is on both sides of a split */
    const char *op, *type;
    int64_t n, rows, cols, nnz; /* dense columns; shape of the matrix */
    int64_t reserved[4];        /* 0 */
} spry_origin;

/* One round of learning a model: together they are its learning curve. */
typedef struct {
    const char *run;  /* which training: any text that tells it apart */
    const char *kind; /* of model */
    const char *op;
    int round;     /* 1, 2 ... */
    double loss;   /* not negative */
    int tested;    /* 1: regret is known */
    double regret; /* log of seconds chosen over the least, on the test */
    double seconds;
    int64_t when;
    int64_t reserved[4]; /* 0 */
} spry_round;

typedef struct spry_records spry_records;

/* Open or create. path NULL: SPRY_HOME/data/records.db, else
 * XDG_DATA_HOME/spry/records.db, else HOME/.local/share/spry/records.db.
 * ":memory:" keeps nothing. SPRY_STORE when locked, damaged, of a newer
 * version or not ours: the file is then left as it is. SPRY_SYSTEM when it
 * can be neither written nor read. One that may only be read opens; adding
 * to it fails with SPRY_SYSTEM. "postgresql://..." is a server's database,
 * which spry_fleet_init has made; it needs libpq, else SPRY_SYSTEM. */
spry_status spry_records_open(spry_records **out, const char *path);
void spry_records_close(spry_records *db);
/* The path, or the URI without its password. */
const char *spry_records_path(const spry_records *db);
/* 1 when a path is the URI of a server. */
int spry_records_is_server(const char *path);

/* Durable on return, unless inside a batch; closing forgets an open batch.
 * Adding a known record is no change. Numbers are finite and not negative,
 * texts are UTF-8, else SPRY_USAGE. */
spry_status spry_records_add(spry_records *db, const spry_record *r);
spry_status spry_records_batch(spry_records *db);  /* begin */
spry_status spry_records_commit(spry_records *db); /* end, durable */

/* Called for each; nonzero ends the walk early. It must not use db. */
typedef int spry_records_visit(const spry_record *r, void *payload);

/* Records in order of time. NULL filters match all; `problem` matches a
 * prefix. Damaged records are skipped and told in spry_message(). */
spry_status spry_records_each(spry_records *db, const char *problem,
                              const char *machine, spry_records_visit *visit,
                              void *payload);

/* How many there are. */
spry_status spry_records_count(spry_records *db, int64_t *records,
                               int64_t *answers, int64_t *machines);

/* Answers. find copies the newest of at least this effort, decided for as
 * many calls (the same power of two, or both unlimited), into *out, whose
 * strings live until the next call on db; *found is 0 when there is none. */
spry_status spry_records_answer(spry_records *db, const spry_answer *a);
spry_status spry_records_find(spry_records *db, spry_answer *out, int *found,
                              const char *problem, const char *machine,
                              double calls, int effort);

/* All answers in order of time; nonzero ends the walk. */
typedef int spry_answer_visit(const spry_answer *a, void *payload);
spry_status spry_records_each_answer(spry_records *db, spry_answer_visit *visit,
                                     void *payload);

/* Machines, by fingerprint, as their text form. get: *found 0 if unknown. */
spry_status spry_records_put_machine(spry_records *db, const spry_machine *m);
spry_status spry_records_get_machine(spry_records *db, spry_machine *out,
                                     int *found, const char *fingerprint);

/* The card that records of this probe were measured under; for "", or one
 * that is not here, the machine as it is known now. */
spry_status spry_records_get_probe(spry_records *db, spry_machine *out,
                                   int *found, const char *probe,
                                   const char *fingerprint);

/* Origins of problems, in order of their keys. */
spry_status spry_records_put_origin(spry_records *db, const spry_origin *o);
/* The base matrix that a source names: the file's name without folders,
 * endings and WACO's _RxC_N of resized copies; of gen:SPEC#SEED, the SPEC
 * without what only says how large it is (rows, cols, nnz, nx, scale ...).
 * Returns buf. */
enum { SPRY_GROUP_TEXT = 256 };
char *spry_group_of(char buf[SPRY_GROUP_TEXT], const char *source);

typedef int spry_origin_visit(const spry_origin *o, void *payload);
spry_status spry_records_each_origin(spry_records *db, spry_origin_visit *visit,
                                     void *payload);

/* Learning curves, by time, run and round. */
spry_status spry_records_put_round(spry_records *db, const spry_round *c);
typedef int spry_round_visit(const spry_round *c, void *payload);
spry_status spry_records_each_round(spry_records *db, spry_round_visit *visit,
                                    void *payload);

/* Work that is shared out: *got is 1 when `work` is ours for so many seconds
 * from now, 0 when another process has it. Claiming again renews; 0 seconds
 * give it back. A process that is gone has nothing. */
spry_status spry_records_claim(spry_records *db, const char *work,
                               double seconds, int *got);

/* JSON lines, "-" for standard output: machines, problems, records, answers,
 * curves and probes. A damaged line is skipped and counted in *bad (may be
 * NULL), its place named in spry_message(). A file in which every line is
 * damaged is not ours: SPRY_INPUT. */
spry_status spry_records_export(spry_records *db, const char *path);
/* The same; *rows, how many lines were written, 0 on failure, may be NULL. */
spry_status spry_records_export_rows(spry_records *db, const char *path,
                                     int64_t *rows);
spry_status spry_records_import(spry_records *db, const char *path,
                                int64_t *added, int64_t *bad);

/* A lock file: for each problem, machine and power of two of calls the newest
 * answer, sealed against changes. A tune that is given one (tune.h) answers
 * from it alone. *answers, how many it has, may be NULL. */
spry_status spry_records_freeze(spry_records *db, const char *path,
                                int64_t *answers);

/* Union with another store; of a machine known to both, ours stays. When the
 * other file is damaged nothing changes and SPRY_STORE is returned; single
 * damaged rows are skipped and told in spry_message(). */
spry_status spry_records_merge(spry_records *db, const char *other,
                               int64_t *added);

/* Integrity of the file and of every row's hash; SPRY_STORE names the first
 * damage, *bad counts all. */
spry_status spry_records_check(spry_records *db, int64_t *bad);

/* Drop failed trials older than `days` and compact the file. */
spry_status spry_records_gc(spry_records *db, int days, int64_t *dropped);

const char *spry_verdict_name(spry_verdict v);

#ifdef __cplusplus
}
#endif
#endif
