/* internal.h - a fleet from inside: the queue's functions, one C call each. */
#ifndef SP_FLEET_INTERNAL_H
#define SP_FLEET_INTERNAL_H

#include "base/base.h"
#include "postgres/postgres.h"
#include "spry/fleet.h"

struct spry_fleet {
    sp_postgres *server;
    char uri[2048]; /* for a store of the same database */
};

/* ---- the queue (queue.c) ---- */

/* Who asks: a number, and the key that only this worker was told. */
typedef struct {
    int64_t id;
    char key[40];
} sp_enrolled;

/* A job that is ours for a while. */
typedef struct {
    int64_t id;    /* 0: there was none */
    int64_t token; /* whoever takes the job later has a greater one */
    double lease;  /* seconds; a sign of life is due within */
    double pause;  /* none: seconds until it is worth asking again */
    int open;      /* none: but somebody has one that may come back */
    char work[SPRY_JOB_TEXT];
} sp_lease;

spry_status sp_queue_enroll(sp_postgres *c, sp_enrolled *out, const char *name,
                            const char *machine);
spry_status sp_queue_take(sp_postgres *c, sp_lease *out, const sp_enrolled *who,
                          const char *machine);
/* *ours is 0 when it is somebody else's by now. */
spry_status sp_queue_beat(sp_postgres *c, const sp_enrolled *who,
                          const sp_lease *l, int *ours);
/* Records and the job's end in one transaction. *ours 0: nothing was stored.
 * rows NULL: none; *added counts what was new. */
spry_status sp_queue_finish(sp_postgres *c, const sp_enrolled *who,
                            const sp_lease *l, const char *rows, double seconds,
                            int *ours, int64_t *added);
/* What a job that is given back has to do with it. */
typedef enum {
    SP_BLAME_NOBODY,  /* nothing: it was no try */
    SP_BLAME_PERHAPS, /* who knows: it is tried some times */
    SP_BLAME_JOB      /* nobody can do it */
} sp_blame;
spry_status sp_queue_fail(sp_postgres *c, const sp_enrolled *who,
                          const sp_lease *l, const char *reason,
                          sp_blame blame);

/* ---- one job (run.c) ---- */

/* What a job is done with; matrix is a file, or NULL for a recipe. */
typedef struct {
    const spry_job *job;
    const spry_machine *machine;
    const char *matrix;
    const char *folder; /* for the store of a tune */
} sp_fleet_job;

/* A folder for a job's files, and the end of both. It is not the job that
 * removes them: it may be ended at any time. */
enum { SP_JOB_FOLDER = 256 };
spry_status sp_job_folder_make(char out[SP_JOB_FOLDER]);
void sp_job_folder_remove(const char *folder);

/* Do it, and put what was measured into json, as records/server.h has it. */
spry_status sp_fleet_job_run(sp_buf *json, const sp_fleet_job *e);

/* ---- matrices by hash (matrices.c) ---- */

typedef struct sp_matrix_files sp_matrix_files;

/* folder NULL: only what the server has. All of it is read and hashed here,
 * before there is a lease that could run out. */
spry_status sp_matrix_files_open(sp_matrix_files **out, const char *folder);
void sp_matrix_files_close(sp_matrix_files *files);
/* The file that "sha256:HEX" names; SPRY_INPUT when it is nowhere. While it
 * comes from the server, go_on is asked between pieces; SPRY_STOPPED when it
 * returned 0. */
spry_status sp_matrix_files_find(char path[4096], sp_matrix_files *files,
                                 sp_postgres *c, const char *hash,
                                 int (*go_on)(void *payload), void *payload);

/* "sha256:HEX" of some bytes. */
void sp_content_hash(char out[SPRY_FLEET_HASH], const void *data, size_t n);

/* ---- schema (schema.c) ---- */

/* Of the queue's functions; greater when their arguments change. */
#define SP_QUEUE_VERSION 2
extern const char *const sp_fleet_schema[]; /* statements; NULL ends it */

#endif
