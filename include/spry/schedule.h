/* schedule.h - one way to compute a problem: storage format, tiles, threads.
 *
 * A small struct with one text form, "csr tile=4 prefetch=12 threads=2".
 * Parameters at their default are not printed, and a parameter that the format
 * does not use must be at its default, so equal schedules have equal text.
 * docs/schedules.md explains formats and parameters. */
#ifndef SPRY_SCHEDULE_H
#define SPRY_SCHEDULE_H

#include <stdint.h>

#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef enum {
    SPRY_CSR,  /* compressed rows; tile=0: the plain loop, the baseline */
    SPRY_BCSR, /* dense r x c blocks */
    SPRY_SELL, /* slices of `slice` rows, sorted in windows of `sigma` */
    SPRY_DCSR, /* compressed rows, empty ones left out */
    SPRY_DIA,  /* diagonals */
    SPRY_CSF,  /* compressed fibers of a tensor; tile=0: the plain loop */
    SPRY_SUPER /* any loop nest of WACO's SuperSchedule space; see spry_super */
} spry_format;

/* Row orders. */
enum { SPRY_ORDER_NONE, SPRY_ORDER_LENGTH, SPRY_ORDER_RCM, SPRY_ORDER_CLUSTER };

/* The order in which a tensor's modes nest, outermost first; i indexes the
 * result, k indexes B, l indexes D. */
enum { SPRY_MODES_IKL, SPRY_MODES_ILK, SPRY_MODES_KLI, SPRY_MODES_LKI };

/* A SuperSchedule of WACO (Won et al., ASPLOS 2023): every index is split at
 * most once, and one order serves both the loops and the levels of A's storage.
 * Indices are numbered i, j, k, l; loop 2 * index runs over an index (or over
 * its blocks, when it is split), loop 2 * index + 1 inside a block. All 0 for
 * other formats. */
enum { SPRY_INDICES = 4, SPRY_LOOPS = 2 * SPRY_INDICES };
typedef struct {
    uint8_t order[SPRY_LOOPS];   /* [loops], outermost first */
    uint8_t split[SPRY_INDICES]; /* log2 of the block; 0: not split */
    uint16_t dense;              /* bit `loop`: its level is uncompressed */
    uint8_t loops;
    uint8_t parallel; /* 1 + the loop that threads share; 0: none */
} spry_super;

typedef struct {
    int32_t format;   /* spry_format */
    int32_t tile;     /* vectors of dense columns held in registers */
    int32_t r, c;     /* block shape */
    int32_t rest;     /* blocks filled to less than this, in %, are stored as
                        rows instead; 0: none */
    int32_t slice;    /* vectors of rows per slice (sell) or group (dia) */
    int32_t sigma;    /* rows per sorting window; 1: unsorted */
    int32_t unroll;   /* nonzeros at a time */
    int32_t gather;   /* 1: hardware gathers */
    int32_t index;    /* bits of a column: 8, 16, 64; 0: 32 if they fit */
    int32_t palette;  /* entries store codes of values in a table of this size;
                         1: all values are equal and stored once */
    int32_t prefetch; /* nonzeros ahead; 0: none */
    int32_t panel;    /* columns of A (for a tensor, indices of its innermost
                         mode) per panel; 0: all in one */
    int32_t pass;     /* dense columns per pass over A; 0: all in one */
    int32_t copy;     /* 1: a pass first packs its columns of B */
    int32_t order;    /* row order */
    int32_t modes;    /* the order in which a tensor's modes nest */
    int32_t stream;   /* 1: results bypass the cache */
    int32_t fixed;    /* 1: dense width compiled in (needs a compiler) */
    int32_t threads;
    int32_t chunk; /* rows per dynamically scheduled chunk; 0: static shares of
                      equal nnz; for super, iterations of the parallel loop */
    spry_super super;
    int32_t symmetric;   /* 1: stores one triangle of a symmetric matrix */
    int32_t reserved[7]; /* 0 */
} spry_schedule;

/* The plain CSR loop on `threads`, which everything is compared with. */
spry_schedule spry_schedule_baseline(int threads);

/* Write the text form into buf; returns buf. */
enum { SPRY_SCHEDULE_TEXT = 256 };
char *spry_schedule_text(char buf[SPRY_SCHEDULE_TEXT], const spry_schedule *x);

/* Parse a text form; SPRY_USAGE, and the message names the offending word. */
spry_status spry_schedule_parse(spry_schedule *out, const char *text);

/* The same for a given operation, on which some names depend: "fixed-csr" is
 * the schedule that WACO uses as its baseline (dense i, compressed columns,
 * nothing split, threads sharing i in chunks of 32, for spmv of 128).
 * Parameters that the format requires for the operation and the text omits are
 * filled in: "dcsr" becomes "dcsr tile=2" for spmm. */
spry_status spry_schedule_parse_for(spry_schedule *out, const char *text,
                                    spry_op op);

/* SPRY_OK if x can compute p on m; else SPRY_USAGE and the reason. */
spry_status spry_schedule_legal(const spry_schedule *x, const spry_problem *p,
                                const spry_machine *m);

#ifdef __cplusplus
}
#endif
#endif
