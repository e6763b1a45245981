/* fuzz_npy.c - the header of NumPy's .npy from any bytes, read as the commands
 * read it: its length from the first bytes, then all of it. */
#include "fuzz.h"

#include "base/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length;
    char *copy;
    sp_npy a;

    if (size < SP_NPY_BEGIN || memcmp(data, "\x93NUMPY", 6) != 0)
        return 0;
    length = sp_npy_length((const char *)data);
    if (length < SP_NPY_BEGIN || length > size)
        return 0;
    copy = calloc(1, length + 1); /* exact: overruns are seen */
    if (!copy)
        return 0;
    memcpy(copy, data, length);
    if (sp_npy_parse(&a, copy))
        for (int i = 0; i < a.dims; i++)
            if (a.shape[i] < 0)
                abort();
    free(copy);
    return 0;
}
