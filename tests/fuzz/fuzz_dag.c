/* fuzz_dag.c - lists of edges of any graph, from any bytes. */
#include "network/read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    char *copy = malloc(size + 1);
    sp_text t = {"fuzz.txt", copy, copy + size};
    spry_network *n = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    copy[size] = 0;
    if (sp_dag_parse(&n, &t, &o) != SPRY_OK &&
        (n || !*spry_message() || sp_alloc_live()))
        abort();
    spry_network_free(n);
    free(copy);
    return 0;
}
