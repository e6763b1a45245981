/* fuzz_card.c - cards of machines from any bytes: what is taken can be written
 * and read again, and goes by the same name. */
#include "fuzz.h"

#include "spry/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *again = NULL;
    spry_machine m, same;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (spry_machine_parse(&m, text, "fuzz.machine") != SPRY_OK) {
        if (!*spry_message())
            abort();
    } else if (spry_machine_text(&again, &m) != SPRY_OK ||
               spry_machine_parse(&same, again, "again") != SPRY_OK ||
               strcmp(m.fingerprint, same.fingerprint) != 0) {
        abort();
    }
    free(again);
    free(text);
    return 0;
}
