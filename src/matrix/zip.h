/* zip.h - the members of a zip archive in memory (zip.c). */
#ifndef SP_MATRIX_ZIP_H
#define SP_MATRIX_ZIP_H

#include "matrix/internal.h"

typedef struct {
    const char *data;
    size_t len;
    sp_file unpacked; /* holds data when the member was packed */
} sp_zip_member;

/* Find, unpack and check one member. */
spry_status sp_zip_open(sp_zip_member *out, const sp_text *zip,
                        const char *name);
void sp_zip_close(sp_zip_member *m);

/* Little-endian, unaligned. */
static inline uint64_t sp_little(const char *p, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | (unsigned char)p[bytes];
    return v;
}

#endif
