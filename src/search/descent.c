/* descent.c - downhill, one parameter at a time.
 *
 * The shapes that kernels come in (tile, block, unroll) are all asked about,
 * everything else as it usually is. From the best few of each format that is
 * not far behind, every step that changes one parameter is tried, then those
 * from the best found there, until the best few have no better neighbour: a
 * few per cent of the space. */
#include <math.h>

#include "schedule/super.h"
#include "search/internal.h"

/* So many are kept of a format; steps of a nest are drawn by chance. */
enum { WIDE = 3, DRAWN = 48, FIRST_SEEN = 4096 };
/* A format whose best shape is so much slower is left alone. */
static const double HOPELESS = 2;

/* The best few of a format. */
typedef struct {
    sp_candidate at[WIDE];
    char done[WIDE]; /* its steps were tried */
    int n;
} beam;

typedef struct {
    const sp_space *s;
    sp_keep *keep;
    beam of[SPRY_SUPER + 1]; /* each format */
    beam *to;                /* one of these: where points go when scored */
    uint64_t *seen;
    int64_t room, known;
    int n;
    spry_schedule x[SP_BATCH]; /* that wait for it */
} descent;

/* ---- points asked about before ---- */

static uint64_t hash_of(const spry_schedule *x)
{
    uint64_t h = (uint64_t)x->format + 1;
    const unsigned char *nest = (const unsigned char *)&x->super;

    for (int i = 0; i < sp_param_count; i++)
        h = (h ^ (uint64_t)sp_param_get(x, &sp_params[i])) *
            0x9e3779b97f4a7c15u;
    for (size_t i = 0; x->format == SPRY_SUPER && i < sizeof x->super; i++)
        h = (h ^ nest[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    return h ? h : 1;
}

/* 1: h was not there, and now is. */
static int put(uint64_t *seen, int64_t room, uint64_t h)
{
    uint64_t mask = (uint64_t)room - 1, at = h & mask;

    while (seen[at] && seen[at] != h)
        at = (at + 1) & mask;
    if (seen[at])
        return 0;
    seen[at] = h;
    return 1;
}

static spry_status make_room(descent *d)
{
    int64_t room = d->room ? 2 * d->room : FIRST_SEEN;
    uint64_t *larger;

    if (2 * d->known < d->room)
        return SPRY_OK;
    larger = sp_alloc(room, sizeof *larger);
    if (!larger)
        return sp_fail_memory((size_t)room * sizeof *larger);
    for (int64_t i = 0; i < d->room; i++)
        if (d->seen[i])
            put(larger, room, d->seen[i]);
    sp_free(d->seen);
    d->seen = larger;
    d->room = room;
    return SPRY_OK;
}

/* ---- scoring ---- */

static void insert(beam *b, const spry_schedule *x, double score)
{
    int at = b->n < WIDE ? b->n : WIDE - 1;

    if (!(score < HUGE_VAL) ||
        (b->n == WIDE && b->at[WIDE - 1].predicted <= score))
        return;
    for (; at > 0 && b->at[at - 1].predicted > score; at--) {
        b->at[at] = b->at[at - 1];
        b->done[at] = b->done[at - 1];
    }
    b->at[at] = (sp_candidate){*x, score};
    b->done[at] = 0;
    b->n += b->n < WIDE;
}

static spry_status score_waiting(descent *d)
{
    double score[SP_BATCH];
    spry_status status = SPRY_OK;

    if (d->n)
        sp_score_points(score, d->s, d->x, d->n);
    for (int i = 0; status == SPRY_OK && i < d->n; i++) {
        insert(d->to, &d->x[i], score[i]);
        status = sp_keep_add(d->keep, &d->x[i], score[i]);
    }
    d->n = 0;
    return status;
}

static spry_status consider(descent *d, const spry_schedule *x)
{
    spry_status status = make_room(d);

    if (status != SPRY_OK || !put(d->seen, d->room, hash_of(x)))
        return status;
    d->known++;
    if (!sp_point_legal(d->s, x))
        return SPRY_OK;
    d->x[d->n++] = *x;
    return d->n == SP_BATCH ? score_waiting(d) : SPRY_OK;
}

/* ---- where to begin ---- */

static int is_shape(const sp_param *q)
{
    return q->offset <= offsetof(spry_schedule, unroll);
}

/* All values of the shape's parameters from the `from`-th on. */
static spry_status shapes(descent *d, spry_schedule x, int from)
{
    spry_status status = SPRY_OK;
    int32_t value;
    int at = from;

    while (at < sp_param_count &&
           !(is_shape(&sp_params[at]) &&
             sp_param_used(&sp_params[at], x.format, d->s->p->op)))
        at++;
    if (at == sp_param_count)
        return !d->s->worth || d->s->worth(&x, d->s->payload) ? consider(d, &x)
                                                              : SPRY_OK;
    for (int i = 0; status == SPRY_OK; i++) {
        value = sp_point_value(d->s, &sp_params[at], i);
        if (value < 0)
            break;
        sp_param_set(&x, &sp_params[at], value);
        status = shapes(d, x, at + 1);
    }
    return status;
}

/* tile=0, the plain loop, is no value worth trying elsewhere. */
static spry_status begin_plain(descent *d, int threads)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_status status = consider(d, &x);

    x.threads = threads;
    return status == SPRY_OK ? consider(d, &x) : status;
}

static spry_status begin_format(descent *d, int32_t format)
{
    spry_schedule x = sp_schedule_default(format);
    spry_status status = SPRY_OK;

    x.threads = d->s->m->threads > 1 ? d->s->m->threads : 1;
    if (format == SPRY_SUPER) {
        x = sp_super_fixed_csr(d->s->p->op, sp_space_nests(d->s).threads);
        status = consider(d, &x);
    } else {
        if (format == SPRY_CSR)
            status = begin_plain(d, x.threads);
        if (status == SPRY_OK)
            status = shapes(d, x, 0);
    }
    return status == SPRY_OK ? score_waiting(d) : status;
}

/* ---- down ---- */

static spry_status step_nest(descent *d, const spry_schedule *x, sp_rng *r)
{
    spry_status status = SPRY_OK;

    for (int i = 0; status == SPRY_OK && i < DRAWN; i++) {
        spry_schedule y = *x;

        if (sp_point_mutate(&y, d->s, r))
            status = consider(d, &y);
    }
    return status;
}

static spry_status step_family(descent *d, const spry_schedule *x)
{
    spry_status status = SPRY_OK;

    for (int k = 0; k < sp_param_count; k++) {
        const sp_param *q = &sp_params[k];

        if (!sp_param_used(q, x->format, d->s->p->op))
            continue;
        for (int i = 0; status == SPRY_OK; i++) {
            spry_schedule y = *x;
            int32_t value = sp_point_value(d->s, q, i);

            if (value < 0)
                break;
            sp_param_set(&y, q, value);
            status = consider(d, &y);
        }
    }
    return status;
}

static spry_status go_down(descent *d, sp_rng *r)
{
    spry_status status = SPRY_OK;
    beam *b = d->to;
    int at = 0;

    while (status == SPRY_OK && at < b->n) {
        spry_schedule x = b->at[at].x;

        if (b->done[at]) {
            at++;
            continue;
        }
        b->done[at] = 1;
        status =
            x.format == SPRY_SUPER ? step_nest(d, &x, r) : step_family(d, &x);
        if (status == SPRY_OK)
            status = score_waiting(d);
        at = 0;
    }
    return status;
}

static int searched(const sp_space *s, int32_t format)
{
    if (format == SPRY_SUPER)
        return sp_has(s, SP_NESTS) && s->compile;
    return sp_has(s, SP_FAMILIES) && sp_formats[format].uses[s->p->op];
}

static spry_status descend(descent *d)
{
    sp_rng r = sp_rng_seed(d->s->seed);
    double best = HUGE_VAL;
    spry_status status = SPRY_OK;

    for (int f = 0; status == SPRY_OK && f <= SPRY_SUPER; f++) {
        d->to = &d->of[f];
        if (searched(d->s, f))
            status = begin_format(d, f);
        if (d->to->n)
            best = fmin(best, d->to->at[0].predicted);
    }
    for (int f = 0; status == SPRY_OK && f <= SPRY_SUPER; f++) {
        d->to = &d->of[f];
        if (d->to->n && d->to->at[0].predicted <= HOPELESS * best)
            status = go_down(d, &r);
    }
    return status;
}

spry_status sp_search_descent(sp_candidate *out, int *count, int most,
                              const sp_space *s)
{
    descent d = {.s = s};
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    d.keep = &keep;
    if (status == SPRY_OK)
        status = descend(&d);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_free(d.seen);
    sp_keep_close(&keep);
    return status;
}
