/* import.h - measurements of other projects, into a store and out of it.
 *
 * Four formats: WACO's CollectedData, AutoSparse's tables, the log lines of
 * Ansor (TVM's auto-scheduler) and Ginkgo's tables of formats. A schedule that
 * spry can express becomes one of spry's; any other keeps its own text, after
 * "autosparse", "ansor" or "ginkgo". If the matrix is available the problem has
 * its usual key; else it is identified by the matrix's name. */
#ifndef SPRY_IMPORT_H
#define SPRY_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "spry/machine.h"
#include "spry/records.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

typedef enum {
    SPRY_IMPORT_WACO,
    SPRY_IMPORT_AUTOSPARSE,
    SPRY_IMPORT_ANSOR,
    SPRY_IMPORT_GINKGO
} spry_import_format;

typedef struct {
    size_t size;                 /* sizeof (spry_import_options) */
    const char *matrices;        /* folder to look for NAME.mtx, .csr ... in */
    const char *op;              /* NULL: as the files' names say */
    const spry_machine *machine; /* NULL: as the files' names say */
    /* Called now and then; return nonzero to stop and keep what is read. */
    int (*progress)(int64_t lines, void *payload);
    void *payload;
} spry_import_options;

#define SPRY_IMPORT_DEFAULTS                                      \
    {                                                             \
        sizeof(spry_import_options), NULL, NULL, NULL, NULL, NULL \
    }

typedef struct {
    size_t size;          /* sizeof (spry_imported) */
    int64_t files, lines; /* read */
    int64_t added;        /* records that are new */
    int64_t ours;         /* lines whose schedule spry can express */
    int64_t bad;          /* lines that are no record; about the first: */
    char why[512];        /* "file:line: ..." */
} spry_imported;

/* Read a file, or a folder of files, gzipped or not. Lines that are no records
 * are skipped and counted; SPRY_INPUT when a file has no others. */
spry_status spry_import(spry_imported *out, spry_records *db, const char *path,
                        spry_import_format format,
                        const spry_import_options *opt);

/* Write records in another project's format. Ansor: one file with the lines
 * that were imported from it. WACO: a folder of OP__NAME.txt with every loop
 * nest that WACO can express. *written (may be NULL) is how many. SPRY_USAGE
 * for a format that cannot be written, or when the store has no such records.
 */
spry_status spry_records_write(spry_records *db, const char *path,
                               spry_import_format format, int64_t *written);

/* A configuration of AutoSparse as tokens, out[most * SPRY_TOKEN]. A token is
 * these numbers: role, index (i, j, k, l: 0 .. 3; -1: none), 1 if inside a
 * block, log2 of its size, its place from the outside, kind of level (-1: none)
 * and log2 of 1 + chunk or factor. Returns how many, at most `most`; 0 when it
 * is no configuration of AutoSparse. */
enum { SPRY_TOKEN = 7 };
typedef enum {
    SPRY_TOKEN_SPLIT,
    SPRY_TOKEN_LEVEL,
    SPRY_TOKEN_LOOP,
    SPRY_TOKEN_PARALLEL,
    SPRY_TOKEN_VECTOR,
    SPRY_TOKEN_UNROLL
} spry_token_role;
int spry_config_tokens(float *out, int most, const char *schedule);

#ifdef __cplusplus
}
#endif
#endif
