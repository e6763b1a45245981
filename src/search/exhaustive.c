/* exhaustive.c - every point of the space, format by format.
 *
 * Parameters are set in the order of the table, and a beginning that is
 * illegal is not gone on with. The parameters that a kernel cannot do
 * without (tile, block, unroll) come first there; from then on a beginning
 * that is illegal stays illegal whatever follows, and a shape for which
 * there is no kernel is left at once.
 *
 * All nests are scored roughly, then the best of them well. */
#include "search/internal.h"

#include <math.h>

typedef struct {
    const sp_space *s;
    sp_batch *batch;
    int used[32]; /* parameters of the format at hand */
    int count;
} walk;

/* Is the parameter at `depth` one that the kernel's shape hangs on? */
static int is_shape(const walk *w, int depth)
{
    return depth < w->count &&
           sp_params[w->used[depth]].offset <= offsetof(spry_schedule, unroll);
}

static int begins_well(const walk *w, const spry_schedule *x, int depth)
{
    if (depth == 0 || is_shape(w, depth))
        return 1;
    if (is_shape(w, depth - 1)) /* the shape is complete */
        return !w->s->worth || w->s->worth(x, w->s->payload);
    return sp_schedule_is_legal(x, w->s->p, w->s->m);
}

static spry_status visit(const walk *w, spry_schedule x, int depth)
{
    const sp_param *q;
    spry_status status = SPRY_OK;
    int32_t value;

    if (depth == w->count)
        return sp_batch_add(w->batch, &x);
    if (!begins_well(w, &x, depth))
        return SPRY_OK;
    q = &sp_params[w->used[depth]];
    for (int i = 0; status == SPRY_OK; i++) {
        value = sp_point_value(w->s, q, i);
        if (value < 0)
            break;
        sp_param_set(&x, q, value);
        status = visit(w, x, depth + 1);
    }
    return status;
}

/* All points of one format. */
static spry_status visit_format(walk *w, int32_t format)
{
    w->count = 0;
    for (int i = 0; i < sp_param_count; i++)
        if (sp_param_used(&sp_params[i], format, w->s->p->op))
            w->used[w->count++] = i;
    return visit(w, sp_schedule_default(format), 0);
}

/* The plain loops: tile = 0 is no value worth trying elsewhere. */
static spry_status add_baselines(sp_batch *batch, const sp_space *s)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_status status = sp_batch_add(batch, &x);

    x.threads = s->m->threads > 1 ? s->m->threads : 1;
    return status == SPRY_OK ? sp_batch_add(batch, &x) : status;
}

static spry_status visit_families(sp_keep *keep, const sp_space *s)
{
    sp_batch batch = {.s = s, .keep = keep};
    walk w = {.s = s, .batch = &batch};
    spry_status status = add_baselines(&batch, s);

    for (int f = 0; status == SPRY_OK && f < sp_format_count; f++)
        if (sp_formats[f].uses[s->p->op] && f != SPRY_SUPER)
            status = visit_format(&w, f);
    return status == SPRY_OK ? sp_batch_end(&batch) : status;
}

/* ---- nests ---- */

/* So many of the roughly best are scored well. Chunks make nine of one nest,
 * and the rough score is rough. */
enum { FIRST = 1 << 15 };

/* Of the best, many may be impossible to store: then look at more. */
static spry_status take_nests(sp_keep *keep, int most, const sp_space *s,
                              const sp_nests *n)
{
    int64_t count = 0, kept = 0;
    spry_status status = SPRY_OK;

    for (int64_t room = FIRST;; room *= 8) {
        sp_rough *rough = sp_alloc_raw(room, sizeof *rough);

        if (!rough)
            return sp_fail_memory((size_t)room * sizeof *rough);
        status = sp_rough_all(rough, &count, room, s, n);
        if (status == SPRY_OK)
            status = sp_rough_keep(keep, &kept, s, n, rough, count);
        sp_free(rough);
        if (status != SPRY_OK || kept >= most || room >= n->count)
            return status;
    }
}

static spry_status visit_nests(sp_keep *keep, int most, const sp_space *s)
{
    spry_space space = sp_space_nests(s);
    sp_nests *own = NULL;
    spry_status status = SPRY_OK;

    if (!s->nests)
        status = sp_nests_make(&own, &space);
    if (status == SPRY_OK)
        status = take_nests(keep, most, s, own ? own : s->nests);
    sp_nests_free(own);
    return status;
}

spry_status sp_search_exhaustive(sp_candidate *out, int *count, int most,
                                 const sp_space *s)
{
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    if (status == SPRY_OK && sp_has(s, SP_FAMILIES))
        status = visit_families(&keep, s);
    if (status == SPRY_OK && sp_has(s, SP_NESTS) && s->compile)
        status = visit_nests(&keep, most, s);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_keep_close(&keep);
    return status;
}
