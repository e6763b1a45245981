/* run.c - one job: a line of text to records, in a store of its own that
 * lives in memory or, for a tune, in a folder that is gone afterwards. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/internal.h"
#include "records/server.h"
#include "spry/tune.h"
#include "tune/heat.h"

static spry_status open_problem(spry_problem **out, spry_matrix **A,
                                const sp_fleet_job *e)
{
    const spry_job *j = e->job;
    spry_status s = e->matrix ? spry_matrix_read(A, e->matrix)
                              : spry_matrix_generate(A, j->matrix + 4, j->seed);

    *out = NULL;
    return s == SPRY_OK ? spry_problem_make(out, j->op, *A, j->cols, j->type)
                        : s;
}

/* ---- ways of doing it ---- */

static spry_status survey(spry_records *db, const sp_fleet_job *e,
                          const spry_problem *p)
{
    return sp_origin_add(db, p, e->job->matrix, NULL);
}

static spry_status collect(spry_records *db, const sp_fleet_job *e,
                           const spry_problem *p)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    spry_collected got = {.size = sizeof got};

    o.schedules = e->job->schedules;
    o.draw = e->job->from;
    o.seconds = e->job->seconds;
    o.seed = e->job->seed;
    o.machine = e->machine;
    return spry_collect(&got, db, p, e->job->matrix, NULL, &o);
}

static spry_status tune(const char *store, const sp_fleet_job *e,
                        const spry_problem *p)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    o.seconds = e->job->seconds;
    o.seed = e->job->seed;
    o.store = store;
    o.machine = e->machine;
    o.source = e->job->matrix;
    o.frozen = 1;
    s = spry_tune(&plan, p, &o);
    spry_plan_free(plan);
    return s;
}

spry_status sp_job_folder_make(char out[SP_JOB_FOLDER])
{
    const char *tmp = getenv("TMPDIR");
    spry_status s;

    snprintf(out, SP_JOB_FOLDER, "%.200s/spry-fleet-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(out))
        return SPRY_OK;
    s = sp_fail_errno(SPRY_SYSTEM, "%s cannot be made", out);
    *out = 0; /* the next job may find room */
    return s;
}

void sp_job_folder_remove(const char *folder)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[SP_JOB_FOLDER + 32];

    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/job.db%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Into a store of its own. */
static spry_status tune_apart(sp_buf *json, const sp_fleet_job *e,
                              const spry_problem *p)
{
    char store[SP_JOB_FOLDER + 16];
    spry_records *db = NULL;
    int64_t rows;
    spry_status s;

    snprintf(store, sizeof store, "%s/job.db", e->folder);
    s = tune(store, e, p);
    if (s == SPRY_OK)
        s = spry_records_open(&db, store);
    if (s == SPRY_OK)
        s = sp_server_rows(json, db, &rows);
    spry_records_close(db);
    return s;
}

spry_status sp_fleet_job_run(sp_buf *json, const sp_fleet_job *e)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_records *db = NULL;
    int64_t rows;
    spry_status s = open_problem(&p, &A, e);

    if (s == SPRY_OK && e->job->kind == SPRY_JOB_TUNE)
        s = tune_apart(json, e, p);
    else if (s == SPRY_OK) {
        s = spry_records_open(&db, ":memory:");
        if (s == SPRY_OK)
            s = e->job->kind == SPRY_JOB_SURVEY ? survey(db, e, p)
                                                : collect(db, e, p);
        if (s == SPRY_OK)
            s = sp_server_rows(json, db, &rows);
    }
    spry_records_close(db);
    spry_problem_free(p);
    spry_matrix_free(A);
    return s;
}
