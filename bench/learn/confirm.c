/* confirm.c - the same few once more, side by side.
 *
 * The best of a hundred noisy measurements looks better than it is, and what
 * it is compared with was measured at another minute. So who was chosen and
 * who seemed best are measured again, in one race, and that counts. */
#include "learn.h"

#include <math.h>

#include "schedule/schedule.h"

typedef struct {
    const spry_schedule *x;
    double *speedup;
    int n;
} asked;

static int note(const spry_record *r, void *payload)
{
    const asked *a = payload;
    spry_schedule x;

    if (r->verdict != SPRY_VERDICT_OK && r->verdict != SPRY_VERDICT_SLOW)
        return 0;
    if (spry_schedule_parse(&x, r->schedule) != SPRY_OK)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (sp_schedule_equal(&a->x[i], &x) && r->speedup > 0)
            a->speedup[i] = r->speedup;
    return 0;
}

/* Into a store that knows nothing yet. */
static spry_status measure(bench *b, spry_records *db, const task *t,
                           const spry_schedule *x, int n)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    spry_schedule once[TOP];
    spry_collected got = {.size = sizeof got};

    for (int i = 0; i < n && o.listed < TOP; i++) {
        int k = 0;

        while (k < o.listed && !sp_schedule_equal(&once[k], &x[i]))
            k++;
        if (k == o.listed)
            once[o.listed++] = x[i];
    }
    o.schedules = o.listed;
    o.seconds = 20;
    o.machine = &b->m;
    o.kernels = b->kernels;
    o.list = once;
    return spry_collect(&got, db, t->p, t->source, NULL, &o);
}

spry_status confirm(bench *b, const task *t, double *speedup,
                    const spry_schedule *x, int n)
{
    asked a = {x, speedup, n};
    spry_records *db;
    spry_status s = spry_records_open(&db, ":memory:");

    for (int i = 0; i < n; i++)
        speedup[i] = sp_schedule_plain(&x[i]) ? 1 : 0;
    if (s != SPRY_OK)
        return s;
    s = measure(b, db, t, x, n);
    if (s == SPRY_OK)
        s = spry_records_each(db, spry_problem_key(t->p), b->m.fingerprint,
                              note, &a);
    spry_records_close(db);
    return s;
}
