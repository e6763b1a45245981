/* order_eon.c - the learned order: EON (Kamatar, 2023).
 *
 * The model that is shipped makes large moves (moves.h) and serves networks
 * and memories of any size; a file named by the options may hold another, or
 * the one of the paper (policy.h). */
#include "eon/internal.h"

#define SHIPPED "eon.nn"

static spry_status find_model(char *out, size_t size)
{
    if (sp_model_path(out, size, SHIPPED))
        return SPRY_OK;
    return sp_fail(SPRY_INPUT,
                   "the model " SHIPPED " that orders edges is not where "
                   "models lie; SPRY_MODELS names their folder");
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
    return s;
}

const sp_order sp_order_eon = {
    "eon", "EON: what was learned, of this or of other networks", make};
