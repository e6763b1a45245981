/* point.c - single points of the space: values to try, scores, chance. */
#include "search/internal.h"

#include <math.h>

#include "schedule/super.h"

static int is_field(const sp_param *q, size_t offset)
{
    return q->offset == offset;
}

int32_t sp_point_value(const sp_space *s, const sp_param *q, int i)
{
    int n = 0;

    while (n < i && q->value[n] >= 0)
        n++;
    if (q->value[n] >= 0 && (s->compile || q->value[n] == 0 ||
                             !is_field(q, offsetof(spry_schedule, fixed))))
        return q->value[n];
    /* One past the table: the machine's own thread count. */
    if (is_field(q, offsetof(spry_schedule, threads)) && i == n &&
        s->m->threads > 1)
        return s->m->threads;
    return -1;
}

/* A tile whose half holds all columns is never filled: it does the same as
 * its half. */
static int never_filled(const sp_space *s, const spry_schedule *x)
{
    int64_t lanes = spry_isa_bytes(s->m->isa) / (int)s->p->type;

    return x->tile > 1 && x->tile / 2 * lanes >= s->p->n;
}

/* Nests are compiled for the occasion, and so are kernels of fixed width. */
int sp_point_legal(const sp_space *s, const spry_schedule *x)
{
    int nest = x->format == SPRY_SUPER;

    return sp_has(s, nest ? SP_NESTS : SP_FAMILIES) &&
           (s->compile || !(nest || x->fixed)) && !never_filled(s, x) &&
           sp_schedule_is_legal(x, s->p, s->m);
}

double sp_point_score(const sp_space *s, const spry_schedule *x)
{
    double score = HUGE_VAL;

    if (sp_point_legal(s, x))
        sp_score_points(&score, s, x, 1);
    return score;
}

spry_space sp_space_nests(const sp_space *s)
{
    enum { SPLITS = 6 };
    spry_space space = s->space;

    if (s->nests)
        return s->nests->space;
    if (space.threads)
        return space;
    space = spry_space_of(&s->p->head, s->m->threads > 1 ? s->m->threads : 1);
    for (int i = 0; i < SPRY_INDICES - 1; i++)
        if (space.splits[i] > SPLITS)
            space.splits[i] = SPLITS;
    return space;
}

spry_schedule sp_point_first(const sp_space *s)
{
    if (s->domain == SP_NESTS)
        return sp_super_fixed_csr(s->p->op, sp_space_nests(s).threads);
    return spry_schedule_baseline(1);
}

static int count_values(const sp_space *s, const sp_param *q)
{
    int n = 0;

    while (sp_point_value(s, q, n) >= 0)
        n++;
    return n;
}

static void draw_family(spry_schedule *x, const sp_space *s, int32_t format,
                        sp_rng *r)
{
    *x = sp_schedule_default(format);
    for (int i = 0; i < sp_param_count; i++) {
        const sp_param *q = &sp_params[i];
        int n = count_values(s, q);

        /* Half of the parameters stay as they are. */
        if (sp_param_used(q, format, s->p->op) && sp_rng_below(r, 2))
            sp_param_set(
                x, q, sp_point_value(s, q, (int)sp_rng_below(r, (uint64_t)n)));
    }
}

static void draw_nest(spry_schedule *x, const sp_space *s, sp_rng *r)
{
    spry_space space = sp_space_nests(s);

    if (s->nests)
        *x = sp_nests_at(s->nests,
                         (int64_t)sp_rng_below(r, (uint64_t)s->nests->count));
    else
        spry_space_sample(x, 1, &space, SPRY_SAMPLE_WACO, sp_rng_next(r));
}

int sp_point_random(spry_schedule *x, const sp_space *s, sp_rng *r)
{
    for (int tries = 0; tries < 1000; tries++) {
        int32_t format =
            s->domain == SP_NESTS
                ? SPRY_SUPER
                : (int32_t)sp_rng_below(r, (uint64_t)sp_format_count);

        if (!sp_formats[format].uses[s->p->op])
            continue;
        if (format == SPRY_SUPER)
            draw_nest(x, s, r);
        else
            draw_family(x, s, format, r);
        if (sp_point_legal(s, x))
            return 1;
    }
    return 0;
}

int sp_point_mutate(spry_schedule *x, const sp_space *s, sp_rng *r)
{
    for (int tries = 0; tries < 100; tries++) {
        spry_schedule y = *x;

        if (!sp_schedule_mutate(&y, s->p, s->m, r))
            return 0;
        if (sp_point_legal(s, &y)) {
            *x = y;
            return 1;
        }
    }
    return 0;
}
