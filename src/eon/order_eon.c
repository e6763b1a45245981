/* order_eon.c - the learned order: EON (Kamatar, 2023).
 *
 * The model that is shipped makes large moves (moves.h) and serves networks
 * and memories of any size; a file named by the options may hold another, or
 * the one of the paper (policy.h). Where a plain order moves less than what
 * was learned, it is that one: so EON is never worse. */
#include "eon/internal.h"

#include <string.h>

#define SHIPPED "eon.nn"

static spry_status find_model(char *out, size_t size)
{
    if (sp_model_path(out, size, SHIPPED))
        return SPRY_OK;
    return sp_fail(SPRY_INPUT,
                   "the model " SHIPPED " that orders edges is not where "
                   "models lie; SPRY_MODELS names their folder");
}

/* In edge[] is the learned order: replaced where a plain one moves less. */
static spry_status keep_better(int32_t *edge, const spry_network *n,
                               const spry_order_options *o)
{
    int32_t *plain = sp_alloc_raw(n->edges, sizeof *plain);
    int64_t learned = 0, best = 0;
    spry_status s = plain ? sp_order_count(&learned, edge, n, o->memory)
                          : sp_fail_memory((size_t)n->edges * sizeof *plain);

    if (s == SPRY_OK)
        s = sp_order_best(&best, plain, n, o);
    if (s == SPRY_OK && best < learned)
        memcpy(edge, plain, (size_t)n->edges * sizeof *edge);
    sp_free(plain);
    return s;
}

static spry_status make(int32_t *edge, const spry_network *n,
                        const spry_order_options *o)
{
    char shipped[4096];
    const char *path = o->model ? o->model : shipped;
    spry_status s = o->model ? SPRY_OK : find_model(shipped, sizeof shipped);
    sp_eon m = {0};

    if (s == SPRY_OK)
        s = sp_eon_load(&m, path);
    if (s == SPRY_OK)
        s = sp_eon_order(edge, n, o, &m);
    sp_eon_free(&m);
    return s == SPRY_OK && n->edges > 0 ? keep_better(edge, n, o) : s;
}

const sp_order sp_order_eon = {
    "eon",
    "EON: what was learned, or the best plain order where that moves less",
    make};
