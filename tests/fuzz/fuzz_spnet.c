/* fuzz_spnet.c - .spnet files from any bytes: no crash, no leak, a network
 * that keeps its promises or a sentence. */
#include "network/read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whoever walks the edges of a network that exists stays inside it. */
static void walk(const spry_network *n)
{
    float *x = calloc((size_t)n->inputs, sizeof *x);
    double *y = calloc((size_t)n->outputs, sizeof *y);

    if (x && y && n->neurons < 1 << 16 &&
        spry_network_reference(y, n, x, 1) != SPRY_OK)
        abort();
    free(x);
    free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_file f = {sp_alloc((int64_t)size + 1, 1), size};
    spry_network *n = NULL;

    if (!f.data)
        return 0;
    if (size)
        memcpy(f.data, data, size);
    if (sp_spnet_read(&n, &f, "fuzz.spnet", NULL) == SPRY_OK)
        walk(n);
    else if (n || !*spry_message() || sp_alloc_live())
        abort();
    spry_network_free(n);
    return 0;
}
