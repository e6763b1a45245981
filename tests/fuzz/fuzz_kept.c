/* fuzz_kept.c - packed weights that are kept, from any bytes: none, or all
 * that the file says lies in it. */
#include "files.h"
#include "fuzz.h"

#include "graph/build.h"
#include "graph/kept.h"

/* One product, whose weights are packed. */
static spry_graph *small_net(void)
{
    sp_builder b = {.rng = sp_rng_seed(1), .batch = 1};
    spry_graph *g = NULL;
    int x;

    if (sp_graph_new(&g, "small") != SPRY_OK)
        abort();
    g->opset = 13;
    b.g = g;
    x = sp_build_input(&b, "input", 0, &(sp_extent){2, {1, 8}});
    sp_build_output(&b, sp_build_dense(&b, x, 8, 4));
    if (b.status != SPRY_OK || sp_graph_count(g) != SPRY_OK ||
        sp_graph_infer(g) != SPRY_OK)
        abort();
    return g;
}

static const spry_executor *small_executor(void)
{
    static spry_graph *g;
    static spry_executor *e;
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;

    if (e)
        return e;
    g = small_net();
    o.threads = 1;
    o.store = ":memory:";
    if (spry_executor_make(&e, g, &o) != SPRY_OK)
        abort();
    return e;
}

/* Where the reader looks for the file of e. */
static void put(const spry_executor *e, const uint8_t *data, size_t size)
{
    static fuzz_file file;
    char name[8 + SP_KEPT_NAME] = "cache/w/";

    if (!*file.path) {
        setenv("SPRY_HOME", fuzz_folder(), 1);
        fuzz_make("cache");
        fuzz_make("cache/w");
        sp_kept_name(name + 8, e);
    }
    fuzz_put(&file, name, data, size);
}

/* All of the weights can be read: no more than the file has. */
static void look(const sp_kept *k, const spry_executor *e, size_t size)
{
    for (int i = 0; i < e->p->stages; i++) {
        const char *text = e->stage[i].plan ? e->stage[i].plan->text : "";
        int64_t bytes;
        const uint8_t *at = sp_kept_find(k, i, text, &bytes);
        uint64_t sum = 0;

        for (int64_t b = 0; at && b < bytes; b++)
            sum += at[b];
        if (sp_kept_zeros(k, i) < -1 || sum > 255 * (uint64_t)size)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const spry_executor *e = small_executor();
    int64_t live = sp_alloc_live();
    sp_kept *k;

    put(e, data, size);
    k = sp_kept_open(e);
    if (k)
        look(k, e, size);
    sp_kept_close(k);
    if (sp_alloc_live() != live)
        abort();
    return 0;
}
