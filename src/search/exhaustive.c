/* exhaustive.c - every point of the space, format by format.
 *
 * Parameters are set in the order of the table, and a beginning that is
 * illegal is not gone on with. The parameters that a kernel cannot do
 * without (tile, block, unroll) come first there; from then on a beginning
 * that is illegal stays illegal whatever follows, and a shape for which
 * there is no kernel is left at once. */
#include "search/internal.h"

#include <math.h>

typedef struct {
    const sp_space *s;
    sp_keep *keep;
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
    return spry_schedule_legal(x, w->s->p, w->s->m) == SPRY_OK;
}

static spry_status visit(const walk *w, spry_schedule x, int depth)
{
    const sp_param *q;
    spry_status status = SPRY_OK;
    int32_t value;

    if (depth == w->count)
        return sp_keep_add(w->keep, &x, sp_point_score(w->s, &x));
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

/* All points of one format; nests have no end and are left to those who
 * draw or learn. */
static spry_status visit_format(walk *w, int32_t format)
{
    w->count = 0;
    for (int i = 0; i < sp_param_count; i++)
        if (sp_param_used(&sp_params[i], format, w->s->p->op))
            w->used[w->count++] = i;
    return visit(w, sp_schedule_default(format), 0);
}

/* The plain loops: tile = 0 is no value worth trying elsewhere. */
static spry_status add_baselines(sp_keep *keep, const sp_space *s)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_status status = sp_keep_add(keep, &x, sp_point_score(s, &x));

    x.threads = s->m->threads > 1 ? s->m->threads : 1;
    if (status == SPRY_OK)
        status = sp_keep_add(keep, &x, sp_point_score(s, &x));
    return status;
}

spry_status sp_search_exhaustive(sp_candidate *out, int *count, int most,
                                 const sp_space *s)
{
    sp_keep keep;
    walk w = {.s = s, .keep = &keep};
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    if (status == SPRY_OK)
        status = add_baselines(&keep, s);
    for (int f = 0; status == SPRY_OK && f < sp_format_count; f++)
        if (sp_formats[f].uses[s->p->op] && f != SPRY_SUPER)
            status = visit_format(&w, f);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep);
    sp_keep_close(&keep);
    return status;
}
