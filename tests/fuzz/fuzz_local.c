/* fuzz_local.c - what a model learned on a machine, from any bytes: safe to
 * add, or a sentence. */
#include "fuzz.h"

#include "model/local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_local *l = NULL;
    sp_nn *nn = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_nn_parse(&nn, copy, size, "fuzz.spry") != SPRY_OK ||
        sp_local_open(&l, nn, "fuzz.spry", NULL) != SPRY_OK) {
        if (l || !*spry_message() || sp_alloc_live())
            abort();
    }
    sp_local_free(l);
    free(copy);
    return 0;
}
