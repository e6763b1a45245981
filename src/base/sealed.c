/* sealed.c - files with a head and a checksum, written and believed. */
#include "base/sealed.h"

#include <string.h>

spry_status sp_sealed_write(const char *path, sp_buf *b)
{
    uint64_t length = b->len + SP_SHA256;
    uint8_t sum[SP_SHA256];
    spry_status s;

    if (!b->failed) {
        memcpy(b->data + offsetof(sp_seal, length), &length, sizeof length);
        sp_sha256(sum, b->data, b->len);
        sp_buf_bytes(b, sum, sizeof sum);
    }
    s = b->failed ? sp_fail_memory((size_t)length)
                  : sp_file_write(path, b->data, b->len);
    sp_buf_free(b);
    return s;
}

/* A fuzzer would never find the right sum. */
static int sum_fits(const char *data, size_t len)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)data;
    (void)len;
    return 1;
#else
    uint8_t sum[SP_SHA256];

    sp_sha256(sum, data, len - sizeof sum);
    return memcmp(sum, data + len - sizeof sum, sizeof sum) == 0;
#endif
}

static spry_status check_seal(const sp_seal *found, const sp_seal *as)
{
    if (found->byte_order == __builtin_bswap32(SP_BYTE_ORDER))
        return sp_fail(SPRY_INPUT,
                       "was written by a machine of the other byte order");
    if (found->byte_order != SP_BYTE_ORDER)
        return sp_fail(SPRY_INPUT, "is damaged: no byte order is known");
    if (found->version != as->version)
        return sp_fail(SPRY_INPUT, "has version %u; this spry reads %u",
                       found->version, as->version);
    return SPRY_OK;
}

spry_status sp_sealed_open(void *head, size_t size, const sp_seal *as,
                           const char *what, const void *data, size_t len)
{
    sp_seal found;
    spry_status s;

    if (len < sizeof found || memcmp(data, as->magic, sizeof as->magic) != 0)
        return sp_fail(SPRY_INPUT, "is not a %s of spry", what);
    memcpy(&found, data, sizeof found);
    s = check_seal(&found, as);
    if (s != SPRY_OK)
        return s;
    if (found.length != len || len < size + SP_SHA256)
        return sp_fail(SPRY_INPUT, "has %zu bytes where it says %llu", len,
                       (unsigned long long)found.length);
    if (!sum_fits(data, len))
        return sp_fail(SPRY_INPUT, "is damaged: its checksum does not match");
    memcpy(head, data, size);
    return SPRY_OK;
}
