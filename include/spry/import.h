/* import.h - what others have measured, into a store.
 *
 * Three kinds: WACO's CollectedData, AutoSparse's tables and the lines of
 * Ansor (TVM's auto-scheduler). A schedule that spry can express gets spry's
 * words; any other is kept in its own, behind "autosparse" or "ansor". Where
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
    SPRY_IMPORT_ANSOR
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

#ifdef __cplusplus
}
#endif
#endif
