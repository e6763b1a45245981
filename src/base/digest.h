/* digest.h - a fast hash with a secret key, for long arrays.
 *
 * Who does not know the key cannot make two arrays with the same digest but
 * by chance: 2^-60 or so. Faster than memory, so that hundreds of megabytes
 * can be compared with what was kept of them. */
#ifndef SP_DIGEST_H
#define SP_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { SP_DIGEST = 16, SP_DIGEST_SEED = 32, SP_DIGEST_WORDS = 256 };

typedef struct {
    uint32_t word[SP_DIGEST_WORDS + 4];
    uint64_t point[2];
} sp_digest_key;

void sp_digest_key_make(sp_digest_key *out, const uint8_t seed[SP_DIGEST_SEED]);
void sp_digest(uint8_t out[SP_DIGEST], const sp_digest_key *key,
               const void *data, size_t n);

#endif
