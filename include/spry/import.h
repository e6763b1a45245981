/* import.h - what others have measured, into a store and out of it.
 *
 * Four kinds: WACO's CollectedData, AutoSparse's tables, the lines of Ansor
 * (TVM's auto-scheduler) and Ginkgo's tables of formats. A schedule that spry
 * can express in full gets spry's words; any other is kept in its own, behind
 * "autosparse", "ansor" or "ginkgo". Where
 * the matrix is at hand its problem has its key; else it is known by name. */
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
    /* Called now and then; nonzero stops, and what is in stays. */
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
    int64_t ours;         /* of the lines: schedules in spry's words */
    int64_t bad;          /* lines that are no record, the first: */
    char why[512];        /* "file:line: ..." */
} spry_imported;

/* A file, or a folder of them, packed by gzip or not. Lines that are no
 * records are skipped and counted; a file in which all are is SPRY_INPUT. */
spry_status spry_import(spry_imported *out, spry_records *db, const char *path,
                        spry_import_format format,
                        const spry_import_options *opt);

/* Records of the store in others' words: Ansor's as one file of lines, those
 * that were imported from it; WACO's as a folder of OP__NAME.txt, every nest
 * that WACO has words for. *written (may be NULL) is how many. SPRY_USAGE for
 * a format that cannot be written, or when the store has none of it. */
spry_status spry_records_write(spry_records *db, const char *path,
                               spry_import_format format, int64_t *written);

/* A configuration of AutoSparse as a row of tokens, out[most * SPRY_TOKEN],
 * each of these numbers: role, index (i, j, k, l: 0 .. 3; -1: none), inside a block (0, 1),
 * log2 of its size, place counted from outside, kind of level (-1: none) and
 * log2 of 1 + chunk or factor. Returns how many, at most `most`; 0: it is
 * none. */
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
