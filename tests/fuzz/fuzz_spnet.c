/* fuzz_spnet.c - .spnet files from any bytes: no crash, no leak, a network
 * that keeps its promises or a sentence. */
#include "network/read.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_file f = {sp_alloc((int64_t)size + 1, 1), size};
    spry_network *n = NULL;

    if (!f.data)
        return 0;
    if (size)
        memcpy(f.data, data, size);
    if (sp_spnet_read(&n, &f, "fuzz.spnet", NULL) == SPRY_OK)
        fuzz_walk(n);
    else if (n || !*spry_message() || sp_alloc_live())
        abort();
    spry_network_free(n);
    return 0;
}
