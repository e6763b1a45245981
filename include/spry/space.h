/* space.h - the space of SuperSchedules of WACO (Won et al., ASPLOS 2023):
 * enumerated, counted, sampled, the storage of each computed beforehand, and
 * read and written in WACO's own text.
 *
 * Sparse indices come first, then the index of the dense columns: spmv i k,
 * spmm i k j, sddmm i j k, mttkrp i k l j. */
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
 * Every split of the sparse indices, dense blocks of 1 to 128, and those loop
 * orders that WACO's generators emit: the dense index innermost and, when its
 * blocks are shorter than 8, unsplit; for spmm its block loop comes after that
 * of i. Threads share i (sddmm: i or j, whichever comes first). Each point
 * occurs once, though WACO has several texts for some of them. */
typedef struct {
    spry_op op;
    int splits[SPRY_INDICES - 1]; /* how many block lengths each sparse index
                                     has: 6 means 1, 2, 4 ... 32 */
    int threads;                  /* of every point; 1: no chunks either */
} spry_space;

/* WACO's splits for the shape of p's matrix: blocks shorter than half the
 * index, at most 2^16. */
spry_space spry_space_of(const spry_problem *p, int threads);

int64_t spry_space_count(const spry_space *s);

/* Called for every point; return nonzero to stop. */
typedef int spry_visit(const spry_schedule *x, void *payload);
void spry_space_each(const spry_space *s, spry_visit *visit, void *payload);

/* Random points, the same for the same seed. SPRY_SAMPLE_ALL draws uniformly
 * from all legal nests with the space's splits, on up to `threads`;
 * SPRY_SAMPLE_WACO draws as WACO's generators do: of a hundred spmm points 32
 * are blocked, of a hundred sddmm points 68 (and some blocked ones have dense
 * blocks shorter than 8, which the space itself excludes). */
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

/* The exact size of the arrays that x, a super schedule, stores p's matrix in.
 * SPRY_USAGE and the reason when one would be longer than both 65536 and 20
 * times the number of entries, WACO's limit: then *out holds lower bounds. */
spry_status spry_space_storage(spry_storage *out, const spry_schedule *x,
                               const spry_problem *p);

/* ---- WACO's text ----
 *
 *   isplit ksplit jsplit order... i1f i0f k1f k0f parallel threads chunk
 *
 * 13 words for spmv, 16 for spmm and sddmm, 21 for mttkrp, which WACO itself
 * does not have. In a record " = ms" follows; in the output of a run there are
 * also words before it and "ms" at the end. */

/* Parse a line of any of these three forms; *ms is -1 when it has no time.
 * threads 0: the number on the line, where WACO always writes 48 but uses all
 * cores. */
spry_status spry_waco_parse(spry_schedule *out, double *ms, const char *line,
                            spry_op op, int threads);

/* Write one; SPRY_USAGE when WACO's text cannot express x. */
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
 * which only the lines of candidates are used. SPRY_INPUT for a malformed file;
 * the message names file and line. */
spry_status spry_waco_read(spry_waco_list **out, const char *path, spry_op op,
                           int threads);
void spry_waco_free(spry_waco_list *list);

/* The input of WACO's network: splits, the order as a matrix, formats, parallel
 * loop, threads, chunk. Returns how many numbers: 25 for spmv, 46 for spmm and
 * sddmm, 77 for mttkrp; 0 when WACO's text cannot express x. */
enum { SPRY_WACO_VECTOR = 80 };
int spry_waco_vector(float out[SPRY_WACO_VECTOR], const spry_schedule *x,
                     spry_op op);

#ifdef __cplusplus
}
#endif
#endif
