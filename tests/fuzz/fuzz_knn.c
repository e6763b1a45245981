/* fuzz_knn.c - a graph from any bytes: safe to walk, or a sentence. */
#include "fuzz.h"
#include "knn/knn.h"

static void by_number(double *out, const int32_t *item, int n, void *payload)
{
    (void)payload;
    for (int i = 0; i < n; i++)
        out[i] = item[i];
}

static void check_graph(const sp_knn *g)
{
    sp_knn_found found[8];
    int64_t asked;
    int count;

    if (sp_knn_count(g) > 1 << 20)
        return;
    if (sp_knn_walk(found, &count, 8, g, 8, by_number, NULL, &asked) !=
            SPRY_OK ||
        count < 1 || asked < 1)
        abort();
    for (int i = 0; i < count; i++)
        if (found[i].item < 0 || found[i].item >= sp_knn_count(g))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_knn *g = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_knn_parse(&g, copy, size, "fuzz.graph") == SPRY_OK)
        check_graph(g);
    else if (g || !*spry_message() || sp_alloc_live())
        abort();
    sp_knn_free(g);
    free(copy);
    return 0;
}
