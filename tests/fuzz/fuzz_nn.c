/* fuzz_nn.c - a model from any bytes: whole and finite, or a sentence. */
#include <math.h>

#include "fuzz.h"
#include "nn/nn.h"

static void check_model(const sp_nn *n)
{
    const char *name;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(n, i, &name)); i++) {
        if (!*name || t->size < 1)
            abort();
        for (int64_t k = 0; k < t->size; k++)
            if (!isfinite(t->value[k]))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_nn *n = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_nn_parse(&n, copy, size, "fuzz.model") == SPRY_OK)
        check_model(n);
    else if (n || !*spry_message() || sp_alloc_live())
        abort();
    sp_nn_free(n);
    free(copy);
    return 0;
}
