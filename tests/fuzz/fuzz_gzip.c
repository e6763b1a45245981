/* fuzz_gzip.c - unpacking from any bytes. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_file f;

    if (sp_unpack(&f, data, size, SP_GZIP, 1 << 16) == SPRY_OK &&
        (f.len > 1 << 16 || f.data[f.len]))
        abort();
    sp_file_free(&f);
    return 0;
}
