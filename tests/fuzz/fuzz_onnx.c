/* fuzz_onnx.c - ONNX models from any bytes; there is no folder for data
 * outside of them. */
#include "fuzz.h"

#include "graph/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    spry_graph *g = NULL;
    spry_status s;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    s = sp_graph_new(&g, "fuzz.onnx");
    if (s == SPRY_OK)
        s = sp_onnx_parse(g, copy, size, -1);
    if (s != SPRY_OK && !*spry_message())
        abort();
    for (int i = 0; s == SPRY_OK && i < g->nodes; i++)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (g->node[i].input[k] >= g->values)
                abort();
    spry_graph_free(g);
    if (sp_alloc_live())
        abort();
    free(copy);
    return 0;
}
