/* internal.h - an import under way: a file, its name's words, its rows. */
#ifndef SP_IMPORT_INTERNAL_H
#define SP_IMPORT_INTERNAL_H

#include "base/base.h"
#include "spry/import.h"
#include "spry/problem.h"
#include "spry/schedule.h"

enum { SP_NAME = 160, SP_TEXT = 4096 };

/* What a file is about. */
typedef struct {
    spry_records *db;
    const spry_import_options *opt;
    spry_imported *out;
    char path[4096];
    int64_t line;          /* being read; 1, 2 ... */
    int64_t good;          /* records of this file */
    char op[32];           /* "spmm", or a word of theirs */
    char subject[SP_NAME]; /* the matrix, when the file is about one */
    spry_machine m;
    int pending; /* rows since the last commit */
    /* the problem of the last row, and its origin */
    char name[SP_NAME], key[256], about[256];
    int64_t n;
    int64_t rows, cols;       /* what its splits multiply to, as first seen */
    sp_file properties;       /* of the matrices of a folder; Ginkgo's */
    char properties_of[4096]; /* which folder */
} sp_import;

/* One line of the file, without its end. SPRY_INPUT: it is no record. */
typedef spry_status sp_import_line(sp_import *f, char *line);

typedef struct {
    spry_import_format format;
    const char *ending; /* of its files: ".txt", also behind it ".gz" */
    sp_import_line *read;
    int64_t n;           /* dense columns, where it does not say */
    const char *machine; /* where the name does not say */
} sp_foreign;

sp_import_line sp_import_waco, sp_import_autosparse, sp_import_ansor,
    sp_import_ginkgo;

/* ---- rows (rows.c) ---- */

/* Shape as far as it is known; 0: not. */
typedef struct {
    const char *name;
    int64_t n, rows, cols, nnz;
    const char *type;   /* NULL: f32 */
    const char *source; /* NULL: "" */
} sp_matrix_facts;

typedef struct {
    const char *schedule;
    int ours; /* it is in spry's words */
    double seconds;
    spry_verdict verdict;
    const char *compiler;
    int64_t when;
    const char *about;          /* NULL: the problem in words */
    double pack_seconds, bytes; /* 0: not known */
    int samples;                /* 0: seconds alone */
    const double *sample;
} sp_foreign_row;

spry_status sp_import_row(sp_import *f, const sp_matrix_facts *k,
                          const sp_foreign_row *r);
spry_status sp_import_flush(sp_import *f);

/* Is the word in the text, in capitals or not (import.c)? */
int sp_import_says(const char *text, const char *word);
/* The name behind the folders. */
const char *sp_import_base(const char *path);
/* Cut a line at its tabs into at most `most` fields; how many. */
int sp_import_cut(char **field, int most, char *line);

/* ---- machines (machines.c) ---- */

/* The machine that the beginning of a file's name, up to "__", names, as
 * epyc7543__spmm.tsv does, with `cores` where it names none; SPRY_USAGE when
 * neither is of use. Folders do not count. */
spry_status sp_import_machine(spry_machine *out, const char *text, int cores);
/* The device of Ginkgo's that a file's name begins with. */
spry_status sp_import_device(spry_machine *out, const char *path);

#endif
