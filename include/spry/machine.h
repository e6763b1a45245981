/* machine.h - a description of the machine in numbers.
 *
 * A machine is a plain struct: detected (what the system reports), probed (what
 * was measured), limited (fewer threads, a narrower instruction set) or read
 * from a text file. A probed number that is not known is 0. */
#ifndef SPRY_MACHINE_H
#define SPRY_MACHINE_H

#include <stdint.h>

#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* Instruction sets that kernels are written for, in order of width. */
typedef enum {
    SPRY_PORTABLE = 0, /* any CPU, 16-byte vectors, left to the compiler */
    SPRY_NEON,
    SPRY_SSE2,
    SPRY_AVX2,  /* with FMA */
    SPRY_AVX512 /* F, VL, DQ, BW */
} spry_isa;

enum { SPRY_CACHES = 3, SPRY_POINTS = 12 };

typedef struct {
    int64_t bytes; /* of one cache; 0: there is none */
    int shared_by; /* how many cores share it */
} spry_cache;

typedef struct {
    char name[96];        /* the CPU's own name */
    char fingerprint[17]; /* hex; machines with the same share records */
    int sockets, cores;   /* of the whole machine */
    int threads;          /* that may be used: affinity, cgroup, limit */
    int line;             /* cache line, bytes */
    spry_isa isa;
    spry_cache cache[SPRY_CACHES]; /* L1 data, L2, L3, as reported */
    int64_t memory;                /* bytes of RAM, cgroup limit respected */

    int probed;                /* nonzero when the rest is filled in */
    int points;                /* bandwidth was measured at this many counts */
    int at[SPRY_POINTS];       /* [points] threads: 1, 2, 4 ... threads */
    double read[SPRY_POINTS];  /* [points] bytes/s, summing a large array */
    double triad[SPRY_POINTS]; /* [points] bytes/s, a = b + s c, 3 words */
    double cache_read[SPRY_CACHES]; /* bytes/s, one thread, per level */
    /* Bytes of each cache as found by timing a chain of loads, never more than
     * reported; 0: no faster than memory. measured[0] 0: not measured. */
    int64_t measured[SPRY_CACHES];
    double
        latency[SPRY_CACHES + 1]; /* seconds per dependent load; memory last */
    double latency_small;         /* the same from memory, on small pages */
    /* [points] random cache lines of memory per second, on huge and on small
     * pages. */
    double lines[SPRY_POINTS], lines_small[SPRY_POINTS];
    double gather;           /* seconds per element gathered from L2 */
    double fma_f32, fma_f64; /* FLOP/s of one thread */
    double fork;             /* seconds for an empty parallel region */
    double noise; /* p95 of |log ratio| of a kernel timed against itself */
    double reserved[16]; /* 0 */
} spry_machine;

/* Fill in what the system and cpuid report. Fast; nothing is measured. */
spry_status spry_machine_detect(spry_machine *out);

/* Measure the second half of *m, in under two seconds. If it was probed before,
 * the better of the two numbers is kept, since the worse one may have been
 * disturbed by other programs. */
spry_status spry_machine_probe(spry_machine *m);

/* Use at most `threads` (0: unchanged) and at most `isa`; the fingerprint
 * changes accordingly. Asking for more than there is fails with SPRY_USAGE. */
spry_status spry_machine_limit(spry_machine *m, int threads, spry_isa isa);

/* Read or write a text file, one "key value" per line; see docs/formats.md. */
spry_status spry_machine_read(spry_machine *out, const char *path);
spry_status spry_machine_write(const spry_machine *m, const char *path);

/* The same as text or as JSON; the caller frees *out with free(). */
spry_status spry_machine_text(char **out, const spry_machine *m);
spry_status spry_machine_json(char **out, const spry_machine *m);
spry_status spry_machine_parse(spry_machine *out, const char *text,
                               const char *path_for_errors);

/* Bytes of a cache: as measured, else as reported; 0 if there is none. Level 0
 * is L1. */
int64_t spry_machine_cache(const spry_machine *m, int level);

/* 'A' (quiet) to 'D' (very noisy), from m->noise; '?' when not probed. */
char spry_machine_grade(const spry_machine *m);

/* "avx2" <-> SPRY_AVX2; parsing an unknown name fails with SPRY_USAGE. */
const char *spry_isa_name(spry_isa isa);
spry_status spry_isa_parse(spry_isa *out, const char *name);

/* Bytes of one vector register. */
int spry_isa_bytes(spry_isa isa);

#ifdef __cplusplus
}
#endif
#endif
