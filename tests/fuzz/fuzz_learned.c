/* fuzz_learned.c - a model of dense operators from any bytes: its card, its
 * trees and networks are right, or a sentence says what is wrong. */
#include "fuzz.h"

#include "dense/learned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_dense_class c = SP_LEARN_NONE;
    sp_pretrained model = {0};
    sp_nn *nn = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_nn_parse(&nn, copy, size, "fuzz.spry") != SPRY_OK ||
        sp_dense_model_open(&model, &c, nn, "fuzz.spry") != SPRY_OK) {
        if (model.nn || !*spry_message())
            abort();
    } else if ((unsigned)c >= SP_LEARN_NONE || !model.has_trees) {
        abort();
    }
    sp_pretrained_free(&model);
    if (sp_alloc_live())
        abort();
    free(copy);
    return 0;
}
