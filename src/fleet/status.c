/* status.c - the queue and its workers, for people. */
#include "fleet/internal.h"

static spry_status take_counts(const sp_cell *cell, int count, void *payload)
{
    spry_fleet_counts *c = payload;
    int64_t *const whole[] = {&c->ready,    &c->leased,  &c->done,
                              &c->failed,   &c->late,    &c->workers,
                              &c->machines, &c->records, &c->answers,
                              &c->models,   &c->matrices};
    enum { WHOLE = sizeof whole / sizeof *whole };

    if (count < WHOLE + 3)
        return sp_fail(SPRY_STORE, "the status has %d columns", count);
    for (int i = 0; i < WHOLE; i++)
        *whole[i] = cell[i].integer;
    c->rate = cell[WHOLE].real;
    c->lease = cell[WHOLE + 1].real;
    c->tries = cell[WHOLE + 2].integer;
    return SPRY_OK;
}

spry_status spry_fleet_status(spry_fleet_counts *out, spry_fleet *f)
{
    SP_NEED(out, f);
    SP_ROOM(out);

    spry_fleet_counts whole = {0};
    spry_status s = sp_postgres_ask(
        f->server,
        "SELECT (SELECT count(*) FROM spry.queue WHERE state = 0),"
        " (SELECT count(*) FROM spry.queue WHERE state = 1),"
        " (SELECT count(*) FROM spry.outcome WHERE done),"
        " (SELECT count(*) FROM spry.outcome WHERE NOT done),"
        " (SELECT count(*) FROM spry.late),"
        " (SELECT count(*) FROM spry.worker"
        "   WHERE seen > clock_timestamp() - interval '60 s'),"
        " (SELECT count(*) FROM spry.machine),"
        " (SELECT count(*) FROM spry.record),"
        " (SELECT count(*) FROM spry.answer),"
        " (SELECT count(*) FROM spry.model),"
        " (SELECT count(*) FROM spry.matrix),"
        " (SELECT count(*)::double precision / 60 FROM spry.outcome"
        "   WHERE at > clock_timestamp() - interval '60 s'),"
        " lease, tries FROM spry.setting",
        NULL, 0, take_counts, &whole, NULL);

    SP_GIVE(out, &whole);
    return s;
}

typedef struct {
    spry_fleet_worker_visit *worker;
    spry_fleet_failure_visit *failure;
    void *payload;
} visitor;

static const char *text_of(const sp_cell *c)
{
    return c->type == SP_CELL_TEXT ? c->data : "";
}

static spry_status visit_worker(const sp_cell *cell, int count, void *payload)
{
    const visitor *v = payload;
    spry_fleet_worker w = {0};

    if (count < 7)
        return SPRY_OK;
    w.id = cell[0].integer;
    w.name = text_of(&cell[1]);
    w.machine = text_of(&cell[2]);
    w.done = cell[3].integer;
    w.failed = cell[4].integer;
    w.silent = cell[5].real;
    w.job = text_of(&cell[6]);
    return v->worker(&w, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_fleet_each_worker(spry_fleet *f,
                                   spry_fleet_worker_visit *visit,
                                   void *payload)
{
    SP_NEED(f);
    SP_REFUSE(!visit, "spry_fleet_each_worker: visit is NULL");

    visitor v = {.worker = visit, .payload = payload};
    spry_status s = sp_postgres_ask(
        f->server,
        "SELECT w.id, w.name, w.machine, w.done, w.failed,"
        " extract(epoch FROM clock_timestamp() - w.seen)::double precision,"
        " coalesce((SELECT j.work FROM spry.queue q JOIN spry.job j"
        "  ON j.id = q.id WHERE q.state = 1 AND q.worker = w.id LIMIT 1), '')"
        " FROM spry.worker w WHERE w.seen > clock_timestamp()"
        " - interval '1 day' ORDER BY w.seen DESC",
        NULL, 0, visit_worker, &v, NULL);

    return s == SPRY_STOPPED ? SPRY_OK : s;
}

static spry_status visit_failure(const sp_cell *cell, int count, void *payload)
{
    const visitor *v = payload;
    spry_fleet_failure x;

    if (count < 3)
        return SPRY_OK;
    x = (spry_fleet_failure){cell[0].integer, text_of(&cell[1]),
                             text_of(&cell[2])};
    return v->failure(&x, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_fleet_each_failure(spry_fleet *f,
                                    spry_fleet_failure_visit *visit,
                                    void *payload)
{
    SP_NEED(f);
    SP_REFUSE(!visit, "spry_fleet_each_failure: visit is NULL");

    visitor v = {.failure = visit, .payload = payload};
    spry_status s = sp_postgres_ask(
        f->server,
        "SELECT o.job, j.work, o.reason FROM spry.outcome o JOIN spry.job j"
        " ON j.id = o.job WHERE NOT o.done ORDER BY o.at DESC",
        NULL, 0, visit_failure, &v, NULL);

    return s == SPRY_STOPPED ? SPRY_OK : s;
}
