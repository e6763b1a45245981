/* space.h - the space of SuperSchedules: walked, counted, sampled, sized
 * before anything is stored, and in WACO's own words.
 *
 * Of the indices the sparse ones come first, then the one of the dense
 * columns: spmv i k, spmm i k j, sddmm i j k, mttkrp i k l j. */
#ifndef SPRY_SPACE_H
#define SPRY_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "spry/problem.h"
#include "spry/schedule.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

/* ---- the space that WACO searches ----
 *
 * Every split of the sparse indices, dense blocks of 1 to 128, and of the
 * orders those that WACO's generators write: the dense index innermost and,
 * when its blocks are shorter than 8, in one piece; for spmm its blocks
 * behind those of i. Threads share i (sddmm: i or j, whichever comes first).
 * Each point once, though WACO has many lines for some of them. */
typedef struct {
    spry_op op;
    int splits[SPRY_INDICES - 1]; /* lengths of blocks of each sparse index:
                                     6 are 1, 2, 4 ... 32 */
    int threads;                  /* of every point; 1: no chunks either */
} spry_space;

/* WACO's splits for the shape of p's matrix: below half its length, at most
 * 2^16. */
spry_space spry_space_of(const spry_problem *p, int threads);

int64_t spry_space_count(const spry_space *s);

/* Nonzero ends the walk. */
typedef int spry_visit(const spry_schedule *x, void *payload);
void spry_space_each(const spry_space *s, spry_visit *visit, void *payload);

/* Points by chance, the same for the same seed. SPRY_SAMPLE_ALL takes any
 * legal nest with the space's splits, every one as likely as the others, on
 * up to `threads`; SPRY_SAMPLE_WACO draws as WACO's generators do, of a
 * hundred spmm points 32 in blocks, of a hundred sddmm points 68 (blocks may
 * have dense ones shorter than 8 in their midst, which the space has not). */
typedef enum { SPRY_SAMPLE_ALL, SPRY_SAMPLE_WACO } spry_sample;
void spry_space_sample(spry_schedule *out, int64_t count, const spry_space *s,
                       spry_sample how, uint64_t seed);

/* ---- storage ---- */

enum { SPRY_LEVELS = SPRY_LOOPS - 2 };

typedef struct {
    size_t size; /* sizeof (spry_storage) */
    int levels;
    char name[SPRY_LEVELS][4]; /* "i1", outermost first */
    int64_t pos[SPRY_LEVELS];  /* elements; 0 for a dense level */
    int64_t crd[SPRY_LEVELS];
    int64_t values;
    int index; /* bits of pos and crd */
    double bytes;
} spry_storage;

/* What x, a super schedule, will store of p's matrix, exactly. SPRY_USAGE
 * and the reason when an array would be longer than 20 times the entries
 * (and than 65536), as WACO has it: then the numbers are what it would be
 * at least. */
spry_status spry_space_storage(spry_storage *out, const spry_schedule *x,
                               const spry_problem *p);

/* ---- WACO's text ----
 *
 *   isplit ksplit jsplit order... i1f i0f k1f k0f parallel threads chunk
 *
 * 13 words for spmv, 16 for spmm and sddmm, 21 for mttkrp, which WACO itself
 * does not have. A record has " = ms" behind it,
 * the output of a run also words before it and "ms" at the end. */

/* Read a line of any of the three forms. ms is -1 when it has none. threads
 * 0 takes the line's own number; WACO always writes 48 and uses all cores. */
spry_status spry_waco_parse(spry_schedule *out, double *ms, const char *line,
                            spry_op op, int threads);

/* Write one; SPRY_USAGE when WACO has no words for x. */
enum { SPRY_WACO_TEXT = 256 };
spry_status spry_waco_text(char buf[SPRY_WACO_TEXT], const spry_schedule *x,
                           spry_op op);

typedef struct {
    spry_schedule schedule;
    double ms; /* -1: not measured */
    int line;  /* of the file */
} spry_waco_entry;

typedef struct {
    int64_t count;
    const spry_waco_entry *entry; /* [count] */
} spry_waco_list;

/* Read a config, top-k or CollectedData file, or the output of a run, of
 * which only lines of candidates count. SPRY_INPUT names file and line. */
spry_status spry_waco_read(spry_waco_list **out, const char *path, spry_op op,
                           int threads);
void spry_waco_free(spry_waco_list *list);

/* The row of numbers that WACO's network is fed: splits, the order as a
 * matrix, formats, parallel loop, threads, chunk. Returns how many, 25 for
 * spmv, 46 for spmm and sddmm, 77 for mttkrp; 0 when WACO has no words for x. */
enum { SPRY_WACO_VECTOR = 80 };
int spry_waco_vector(float out[SPRY_WACO_VECTOR], const spry_schedule *x,
                     spry_op op);

#ifdef __cplusplus
}
#endif
#endif
