/* fuzz_lock.c - lock files from any bytes, as they are and behind a head that
 * seals them: nobody guesses a SHA-256. */
#include "fuzz.h"

#include <stdio.h>

#include "records/records.h"

static const spry_answer want = {
    .problem = "spmv-0", .machine = "0123456789abcdef", .calls = 1000};

static void try_file(const char *data, size_t size)
{
    sp_file f = {malloc(size + 1), size};
    sp_locked found;

    if (!f.data)
        return;
    if (size)
        memcpy(f.data, data, size);
    f.data[size] = 0;
    if (sp_lock_search(&found, &f, "fuzz.lock", &want) != SPRY_OK) {
        if (found.found || !*spry_message() || sp_alloc_live())
            abort();
    } else if (found.found && (!found.answer.schedule || !found.answer.kernel))
        abort();
    sp_locked_free(&found);
    if (sp_alloc_live())
        abort();
    free(f.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t sum[SP_SHA256];
    sp_buf sealed = {0};

    try_file((const char *)data, size);
    sp_sha256(sum, data, size);
    sp_buf_add(&sealed, "{\"schema\": \"spry.lock/1\", \"sha256\": \"");
    for (int i = 0; i < SP_SHA256; i++)
        sp_buf_printf(&sealed, "%02x", sum[i]);
    sp_buf_add(&sealed, "\"}\n");
    sp_buf_bytes(&sealed, (const char *)data, size);
    if (!sealed.failed) {
        char *copy = malloc(sealed.len);
        size_t n = sealed.len;

        if (copy)
            memcpy(copy, sealed.data, n);
        sp_buf_free(&sealed);
        if (copy)
            try_file(copy, n);
        free(copy);
    } else
        sp_buf_free(&sealed);
    return 0;
}
