/* around.c - one step from where measurements were good.
 *
 * Every parameter of every seed point takes every other value; what is known
 * already is left out. */
#include "search/internal.h"

#include <math.h>
#include <string.h>

typedef struct {
    sp_candidate *list;
    int64_t count, room;
    const spry_schedule *known;
    int knowns;
} steps;

static int is_new(const steps *t, const spry_schedule *x)
{
    for (int i = 0; i < t->knowns; i++)
        if (sp_schedule_equal(&t->known[i], x))
            return 0;
    for (int64_t i = 0; i < t->count; i++)
        if (sp_schedule_equal(&t->list[i].x, x))
            return 0;
    return 1;
}

static spry_status add_step(steps *t, const spry_schedule *x, double predicted)
{
    if (!(predicted < HUGE_VAL) || !is_new(t, x))
        return SPRY_OK;
    if (t->count == t->room) {
        int64_t room = t->room ? 2 * t->room : 64;
        void *more = sp_grow(t->list, t->count, room, sizeof *t->list);

        if (!more)
            return sp_fail_memory((size_t)room * sizeof *t->list);
        t->list = more;
        t->room = room;
    }
    t->list[t->count++] = (sp_candidate){*x, predicted};
    return SPRY_OK;
}

static spry_status step_from(steps *t, const sp_space *s,
                             const spry_schedule *seed)
{
    spry_status status = SPRY_OK;

    for (int i = 0; i < sp_param_count; i++) {
        const sp_param *q = &sp_params[i];
        int32_t value;

        if (!sp_param_used(q, seed->format, s->p->op))
            continue;
        for (int j = 0; status == SPRY_OK; j++) {
            spry_schedule x = *seed;

            value = sp_point_value(s, q, j);
            if (value < 0)
                break;
            sp_param_set(&x, q, value);
            if (!sp_schedule_equal(&x, seed))
                status = add_step(t, &x, sp_point_score(s, &x));
        }
    }
    return status;
}

spry_status sp_search_around(sp_candidate *out, int *count, int most,
                             const sp_space *s, const spry_schedule *known,
                             int knowns, const spry_schedule *seed_points,
                             int seeds)
{
    steps t = {.known = known, .knowns = knowns};
    spry_status status = SPRY_OK;

    *count = 0;
    for (int i = 0; status == SPRY_OK && i < seeds; i++)
        status = step_from(&t, s, &seed_points[i]);
    if (status == SPRY_OK && t.count > 0) {
        sp_sort_candidates(t.list, t.count);
        *count = t.count < most ? (int)t.count : most;
        memcpy(out, t.list, (size_t)*count * sizeof *out);
    }
    sp_free(t.list);
    return status;
}
