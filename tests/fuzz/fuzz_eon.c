/* fuzz_eon.c - a model that orders edges from any bytes: it orders some, each
 * once, or a sentence says why not. */
#include "fuzz.h"

#include "eon/internal.h"

enum { MEMORY = 5 };

static const spry_network *small_net(void)
{
    static spry_network *n;

    if (!n && spry_network_read(&n, "gen:random,width=4,depth=2,density=0.6",
                                NULL) != SPRY_OK)
        abort();
    return n;
}

static void order(const spry_network *n, const sp_eon *m)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    uint8_t *seen = sp_alloc(n->edges, 1);
    spry_status s = SPRY_SYSTEM;

    o.memory = MEMORY;
    if (edge && seen)
        s = sp_eon_order(edge, n, &o, m);
    for (int64_t i = 0; s == SPRY_OK && i < n->edges; i++)
        if (edge[i] < 0 || edge[i] >= n->edges || seen[edge[i]]++)
            abort();
    if (s != SPRY_OK && !*spry_message())
        abort();
    sp_free(edge);
    sp_free(seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const spry_network *n = small_net();
    int64_t live = sp_alloc_live();
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_nn *weights = NULL;
    sp_eon m = {0};

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_nn_parse(&weights, copy, size, "fuzz.nn") == SPRY_OK &&
        sp_eon_open(&m, weights, "fuzz.nn") == SPRY_OK)
        order(n, &m);
    else if (!*spry_message())
        abort();
    sp_eon_free(&m);
    if (sp_alloc_live() != live)
        abort();
    free(copy);
    return 0;
}
