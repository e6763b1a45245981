/* cli.h - what the commands of spry share.
 *
 * A command is one file: its options as a table, its page of help, one
 * function. It runs once per process, so options fill plain statics. Data
 * goes to stdout, everything said to a person goes to stderr. */
#ifndef CLI_H
#define CLI_H

#include <stdint.h>
#include <stdio.h>

#include "spry.h"

#if defined(__GNUC__)
#define CLI_PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF_LIKE(f, a)
#endif

/* ---- options (opt.c) ---- */

typedef enum {
    OPT_FLAG,    /* int, set to 1 */
    OPT_TEXT,    /* const char * */
    OPT_INTEGER, /* int, >= 0 */
    OPT_COUNT,   /* double: 1000, 1k, 1e4, 2M */
    OPT_SECONDS, /* double: 10, 60s, 2m, 500ms */
    OPT_SEED,    /* uint64_t */
    OPT_WORD,    /* int: which of the words in `value`, "spmv|spmm" */
    OPT_NAME     /* const char *: one of these words */
} opt_kind;

typedef struct {
    const char *name; /* without dashes; NULL ends a table */
    opt_kind kind;
    void *out;
    const char *value; /* how the help names the value */
    const char *help;
} opt;

/* Does the help name the words it takes? */
int opt_has_words(const opt *o);

enum { OPT_TABLES = 5 };

typedef struct {
    const char *command;
    const char *operands;         /* "MATRIX", as the help shows them */
    const char *about;            /* what it does, a paragraph */
    const opt *table[OPT_TABLES]; /* its options; NULL ends the list */
    int min, max;                 /* how many operands it takes */
} opt_page;

/* Read the options; argv[0 .. *argc) becomes the operands. 0 when there is
 * nothing left to do: help was asked for, or *s says what was wrong. */
int opt_parse(spry_status *s, const opt_page *page, int *argc, char **argv);

/* When set, opt_parse shows a command's page to it and does nothing else:
 * how completions learn of all options (cmd_completion.c). */
extern void (*opt_reader)(const opt_page *page);

/* The name nearest to `word`, or NULL when none is near; names end in NULL
 * and lie `stride` bytes apart. */
const char *opt_nearest(const char *word, const void *names, size_t stride);

/* SPRY_USAGE: command `who` has no action `word`; the nearest is named. */
spry_status opt_unknown_action(const char *who, const char *word,
                               const void *names, size_t stride);

/* What every command understands, what those that compute do, and what those
 * that compute as was tuned. */
extern const opt cli_common[];
extern const opt cli_compute[];
extern const opt cli_locking[];

typedef enum { PROGRESS_AUTO, PROGRESS_PLAIN, PROGRESS_NONE } progress_mode;

typedef struct {
    int json;
    const char *store, *isa, *machine;
    const char *lock; /* a file of frozen answers */
    int threads;
    uint64_t seed;
    int progress; /* progress_mode */
    int op, type; /* spry_op, index into "f32|f64"; -1: not said */
    double cols;  /* -1: not said */
    int mode;     /* of a tensor: the result's */
} cli_settings;
extern cli_settings cli;

/* ---- saying things (say.c) ---- */

/* "spry: ..." on stderr; returns s. */
spry_status say_fail(spry_status s, const char *fmt, ...) CLI_PRINTF_LIKE(2, 3);
/* The library's sentence about s, if s is not SPRY_OK. */
spry_status say_status(spry_status s);
/* The same of writing to path; a reader of "-" that left early is no
 * failure. */
spry_status say_written(spry_status s, const char *path);
/* "spry: note: ..." */
void say_note(const char *fmt, ...) CLI_PRINTF_LIKE(1, 2);
/* Flush stdout; a reader that left early is no failure. */
spry_status say_finish(spry_status s);

/* Numbers as people read them, into one of several static buffers. */
const char *say_seconds(double seconds);                   /* "12.3 us" */
const char *say_bytes(double bytes);                       /* "4.5 MB" */
const char *say_count(double count);                       /* "1 240" */
const char *say_rate(double per_second, const char *unit); /* "11.2 Gunit" */
const char *say_times(double ratio);                       /* "2.31x" */
const char *say_runs(double runs);                         /* "12.3" */
const char *say_interval(double low, double high);         /* "1.9..2.4" */
const char *say_date(int64_t seconds_since_1970);

/* Columns to write in: the terminal's, or 0 when stdout is none. */
int say_width(FILE *out);
/* Escapes for a terminal that wants colour, else "". */
const char *say_bold(FILE *out);
const char *say_plain(FILE *out);

/* ---- tables (table.c) ---- */

typedef struct table table;

/* Columns as one text, "rank<time>schedule<": each name ends in < or >, the
 * side its cells lean to. NULL when memory is short. */
table *table_new(const char *columns);
void table_cell(table *t, const char *fmt, ...) CLI_PRINTF_LIKE(2, 3);
/* A share in percent, or nothing where it is not known. */
void table_share(table *t, int known, double share);
void table_bold(table *t); /* the row now being filled */
/* Print and free. The widest column gives way on a narrow terminal. */
void table_print(table *t, FILE *out);

/* ---- JSON (json.c) ---- */

typedef struct {
    FILE *out;
    int depth, first;
} json;

json json_begin(const char *schema); /* one document on stdout */
void json_end(json *j);
void json_open(json *j, const char *key, char bracket); /* { or [ */
void json_close(json *j, char bracket);
void json_text(json *j, const char *key, const char *value); /* NULL: null */
void json_number(json *j, const char *key, double value); /* not finite: null */
void json_integer(json *j, const char *key, int64_t value);
void json_bool(json *j, const char *key, int value);
void json_raw(json *j, const char *key, const char *document);

/* ---- from words to the library's nouns (open.c, job.c) ---- */

/* Is it called so, ".tns"? */
int ends_in(const char *path, const char *ending);

/* Each says its own failure on stderr. */
spry_status make_folder(const char *path);
spry_status open_matrix(spry_matrix **out, const char *path);
/* The tensor, with the mode of --mode first. */
spry_status open_tensor(spry_tensor **out, const char *path);
/* Does the path name a tensor: .tns, gen: with --op mttkrp or, if no operation
 * is said, a recipe that is none of a matrix? */
int is_tensor(const char *path);
/* What is computed with a file when nothing is said: with dense columns or
 * with a vector. */
spry_op usual_op(const char *path, int columns);
spry_status open_store(spry_records **out);
/* A store that was named must be there: a slip makes no new one. */
spry_status open_store_to_read(spry_records **out);
/* The same of another than --store; NULL: the user's own. */
spry_status open_store_of(spry_records **out, const char *path);
/* How a sentence names --store, without passwords; NULL: there is nothing to
 * name. */
const char *store_to_name(void);
/* Probe it; while the machine is noisy again, up to three times. */
spry_status probe_well(spry_machine *m);
/* The machine of --machine, or this one, limited by --threads and --isa.
 * With `probed`, its numbers come from the store or from a probe; with 2 from
 * several when the machine is noisy. */
spry_status open_machine(spry_machine *out, int probed);
int machine_is_known(void); /* its numbers are in the store, or given */
int machine_given(void);    /* by --machine or --isa; the tuner needs telling */

/* What most commands work on. */
typedef struct {
    spry_matrix *matrix; /* one of the three, the others are NULL */
    spry_tensor *tensor;
    spry_network *net;
    spry_problem *problem;
    spry_machine machine;
    char source[4096]; /* a whole path, or gen:SPEC#SEED */
} job;

/* What a job must know of its machine: what it is; its numbers when one was
 * given, since the tuner finds out those of this one; its numbers always. */
typedef enum { JOB_DETECTED, JOB_TUNED, JOB_PROBED } job_machine;
spry_status open_job(job *out, const char *path, job_machine need);
void close_job(job *j);

/* Parse the words, open the job of the one operand, do it, close it. */
typedef spry_status job_body(const job *j, const char *path);
spry_status do_job(const opt_page *page, int argc, char **argv,
                   job_machine need, job_body *body);
/* The same, where the operand names something of another kind. */
typedef spry_status job_opener(job *out, const char *path);
spry_status do_job_with(job_opener *opener, const opt_page *page, int argc,
                        char **argv, job_machine need, job_body *body);

/* SPRY_USAGE when a schedule, or a way to compute an operator or a network, is
 * on more threads than --threads allows. */
spry_status allow_threads(const char *text);
/* Parsed, and legal for the job. */
spry_status open_schedule(spry_schedule *out, const job *j, const char *text);
spry_status open_plan(spry_plan **out, const job *j, const spry_schedule *x);
/* The plan of a way to compute an operator or a network. */
spry_status open_way(spry_plan **out, const job *j, const char *text);

/* The tuner, with the settings of the command line (tuned.c). */
spry_tune_options tuned_options(const job *j);
/* The plan of a schedule's text; of "tuned", what the tuner finds. */
spry_status open_named(spry_plan **out, const job *j, const char *text,
                       spry_effort effort);

/* ---- a tune and what came out of it (story.c) ---- */

extern const opt story_options[];
job_body story_tune;

/* ---- a page about a race (race_page.c) ---- */

typedef struct {
    spry_plan *const *plan; /* [count] the first is what others are held to */
    const spry_score *score;
    int count;
    const char *source; /* as the command line names it */
} race_result;
spry_status race_page(const char *file, const job *j, const race_result *r);

/* ---- schedules by name (shapes.c) ---- */

enum { SHAPES_MOST = 128 };

/* The schedules of "a; b; c", all legal for the job; with NULL or "all", a
 * handful that stands for every family. texts is split in place. */
spry_status shape_list(spry_schedule out[SHAPES_MOST], int *count, const job *j,
                       char *texts);
/* The next text of "a; b; c", split in place; NULL past the last. */
char *shape_split(char **rest);

/* ---- tensors (tensor.c) ---- */

/* One kind of generator: an element of the open list j, or lines of text
 * when j is NULL; and PREFIX with "KIND,key=value..." as one text. */
void kind_list(json *j, const char *indent, const char *name, const char *about,
               const char *params);
spry_status kind_join(char *spec, size_t size, const char *prefix, int argc,
                      char **argv);

/* What cmd_generate and cmd_inspect do when it is a tensor. */
spry_status generate_tensor(const char *spec, const char *file);
spry_status inspect_tensor(const char *path);

/* ---- stopping and progress (stop.c, progress.c) ---- */

/* Seconds by a clock that never goes back. */
double now_seconds(void);

/* From now on Ctrl-C and SIGTERM ask to stop; a second one ends at once. */
void stop_watch(void);
/* The same, and the first one ends after so many seconds whatever it is at:
 * for what leaves nothing behind that is worth waiting for. */
void stop_within(int seconds);
int stop_asked(void); /* 0, or the exit code: 130, 143 */

/* The callback of spry_tune. */
int progress_tune(const spry_progress *now, void *unused);
/* "3 of 12 done: what", for loops of our own. */
void progress_step(int done, int of, const char *what);
void progress_text(const char *text);
/* The callback of orders: "what: 45 %". */
int progress_share(int64_t done, int64_t of, void *what);
/* "text". */
void progress_say(const char *text);
void progress_clear(void);

/* ---- dense arrays (npy.c) ---- */

typedef struct {
    int dims;         /* 0, 1 or 2 */
    int64_t shape[2]; /* missing ones are 1 */
    spry_type type;
    void *data; /* rows first; free() */
} dense;

/* SPRY_INPUT with its sentence said when the file is not such an array. */
spry_status npy_read(dense *out, const char *path);
spry_status npy_write(const dense *d, const char *path); /* "-": stdout */
/* Numbers of a type and shape as sp_npy_write takes them: "<f4", "<i8" ... */
spry_status npy_write_shaped(const char *type, const void *data, int dims,
                             const int64_t *shape, const char *path);
/* The same numbers in another type. */
spry_status dense_convert(dense *d, spry_type type);

/* ---- the commands (cmd_*.c) ---- */

typedef spry_status command(int argc, char **argv);
command cmd_probe, cmd_generate, cmd_inspect, cmd_tune, cmd_predict, cmd_run,
    cmd_bench, cmd_verify, cmd_explain, cmd_export, cmd_net, cmd_records,
    cmd_cache, cmd_schedules, cmd_doctor, cmd_collect, cmd_train, cmd_evaluate,
    cmd_model, cmd_report, cmd_adapt, cmd_machine, cmd_freeze, cmd_completion,
    cmd_fleet;

typedef struct {
    const char *name;
    command *run;
    const char *line;
} cli_command;
extern const cli_command cli_commands[]; /* a NULL name ends it (main.c) */

#endif
