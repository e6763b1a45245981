/* fuzz_operator.c - dense operators, op:KIND,key=value, from any bytes: what
 * is taken can be written and read again as the same. */
#include "fuzz.h"

#include "spry/dense.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char once[SPRY_OPERATOR_TEXT], again[SPRY_OPERATOR_TEXT];
    spry_operator op;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (spry_operator_parse(&op, text) != SPRY_OK) {
        if (!*spry_message())
            abort();
    } else {
        spry_operator_text(once, sizeof once, &op);
        if (spry_operator_parse(&op, once) != SPRY_OK)
            abort();
        spry_operator_text(again, sizeof again, &op);
        if (strcmp(again, once) != 0)
            abort();
    }
    if (sp_alloc_live())
        abort();
    free(text);
    return 0;
}
