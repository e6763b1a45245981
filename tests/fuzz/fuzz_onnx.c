/* fuzz_onnx.c - ONNX models from any bytes. In the folder beside them lie
 * numbers, a link to them and a folder with more. */
#include "files.h"
#include "fuzz.h"

#include "graph/onnx.h"

static int folder(void)
{
    static const uint8_t numbers[256] = {1, 2, 3};
    static fuzz_file beside, deeper;
    static int fd = -1;

    if (fd >= 0)
        return fd;
    fuzz_put(&beside, "w.bin", numbers, sizeof numbers);
    fuzz_make("d");
    fuzz_put(&deeper, "d/w.bin", numbers, sizeof numbers);
    fd = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fuzz_need(fd >= 0 && symlinkat("w.bin", fd, "link") == 0, "link");
    return fd;
}

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
        s = sp_onnx_parse(g, copy, size, folder());
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
