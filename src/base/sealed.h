/* sealed.h - spry's own binary files: a head that says what they are and how
 * long, and at the end the SHA-256 of all before. */
#ifndef SP_SEALED_H
#define SP_SEALED_H

#include "base/base.h"

enum { SP_BYTE_ORDER = 0x01020304 };

/* What the head of such a file begins with. */
typedef struct {
    char magic[8]; /* without its end */
    uint32_t byte_order, version;
    uint64_t length; /* of the whole file */
} sp_seal;

/* Write b, a head and what follows it; the length is filled in and the
 * checksum added here. b is freed. */
spry_status sp_sealed_write(const char *path, sp_buf *b);

/* Copy the head of a file that is whole and sealed like `as`, `what` by name.
 * The sentence of a failure lacks the file's name. */
spry_status sp_sealed_open(void *head, size_t size, const sp_seal *as,
                           const char *what, const void *data, size_t len);

#endif
