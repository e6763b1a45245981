/* kept.h - packed weights of a network, kept in the user's cache folder, so
 * that opening it again maps them instead of packing.
 *
 * A file is for a network with its weights, the instruction set, the number of
 * threads and the build of spry. What it was made from and what it holds are
 * both compared by digests under a key of the file's own before it is
 * believed; one that is damaged, foreign or stale is as none, and written
 * anew. */
#ifndef SP_KEPT_H
#define SP_KEPT_H

#include "base/digest.h"
#include "graph/executor.h"

enum { SP_KEPT_NAME = 33 };

/* ---- the file (kept.c) ---- */

/* What is kept for e's program; NULL: nothing to be believed. */
sp_kept *sp_kept_open(const spry_executor *e);
void sp_kept_close(sp_kept *k);
/* Zeros among the weights of stage i; -1: it has none that are packed. */
int64_t sp_kept_zeros(const sp_kept *k, int i);
/* Its packed weights if they are for the plan of this text, else NULL. */
const void *sp_kept_find(const sp_kept *k, int i, const char *text,
                         int64_t *bytes);
/* Keep what e's plans packed. That it cannot be is no failure. */
void sp_kept_write(const spry_executor *e);

/* Has the stage weights that plans pack? */
int sp_stage_packs(const sp_stage *s);

/* ---- what it was made from (kept_source.c) ---- */

/* Long arrays in pieces, so that all threads can take some. */
typedef struct {
    const uint8_t *data;
    size_t bytes;
} sp_kept_part;
typedef struct {
    sp_kept_part *piece;
    int count, room, failed;
} sp_kept_parts;

void sp_kept_parts_add(sp_kept_parts *all, const void *data, size_t bytes);
/* The digest of every piece, by all threads; then of pieces [from, to). */
spry_status sp_kept_parts_digest(uint8_t (*out)[SP_DIGEST],
                                 const sp_kept_parts *all,
                                 const sp_digest_key *key, sp_team *team,
                                 int threads);
void sp_kept_parts_join(uint8_t out[SP_DIGEST], uint8_t (*each)[SP_DIGEST],
                        const sp_digest_key *key, int from, int to);

/* All weights as they are given, and what they are scaled by. */
void sp_kept_parts_of_weights(sp_kept_parts *all, const sp_program *p);
/* The file's name: by the program and a few of its weights. */
void sp_kept_name(char out[SP_KEPT_NAME], const spry_executor *e);

/* ---- the folder (kept_folder.c) ---- */

/* Open it, make it if need be; -1: there is none that is ours. */
int sp_kept_folder(int make);
/* Bytes that files may have together; 0: none is kept. */
int64_t sp_kept_limit(void);
/* A note in e where the user's word on that is not understood. */
void sp_kept_note_limit(spry_executor *e);
/* Remove those unused for longest until at most so many bytes remain, and
 * what writers that did not live left behind. */
void sp_kept_trim(int folder, int64_t keep, spry_graph_kept *removed);

#endif
