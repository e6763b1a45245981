/* The digest of long arrays: every bit and every length counts, and so does
 * the key. */
#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "check.h"

static sp_digest_key key_of(int seed)
{
    uint8_t bytes[SP_DIGEST_SEED] = {(uint8_t)seed};
    sp_digest_key key;

    sp_digest_key_make(&key, bytes);
    return key;
}

static int same(const sp_digest_key *key, const void *a, size_t n,
                const void *b, size_t m)
{
    uint8_t x[SP_DIGEST], y[SP_DIGEST];

    sp_digest(x, key, a, n);
    sp_digest(y, key, b, m);
    return memcmp(x, y, SP_DIGEST) == 0;
}

static void every_bit_counts(void **state)
{
    enum { BYTES = 2500 };
    sp_digest_key key = key_of(1);
    uint8_t a[BYTES], b[BYTES];
    sp_rng r = sp_rng_seed(5);

    (void)state;
    for (int i = 0; i < BYTES; i++)
        a[i] = b[i] = (uint8_t)sp_rng_next(&r);
    assert_true(same(&key, a, BYTES, b, BYTES));
    for (int i = 0; i < 8 * BYTES; i++) {
        b[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(same(&key, a, BYTES, b, BYTES));
        b[i / 8] = a[i / 8];
    }
}

static void lengths_and_places_count(void **state)
{
    sp_digest_key key = key_of(1);
    uint8_t zero[4096] = {0}, one[4096] = {0};

    (void)state;
    for (size_t n = 0; n < 2100; n++)
        assert_false(same(&key, zero, n, zero, n + 1));
    for (size_t i = 0; i + 4 < sizeof one; i += 4) { /* words that changed
                                                        their places */
        uint8_t other[sizeof one] = {0};

        memset(one, 0, sizeof one);
        one[i] = other[i + 4] = 1;
        assert_false(same(&key, one, sizeof one, other, sizeof one));
    }
}

static void another_key_is_another_digest(void **state)
{
    const char text[] = "the same bytes under another key";
    uint8_t x[SP_DIGEST], y[SP_DIGEST];

    (void)state;
    for (int i = 1; i < 50; i++) {
        sp_digest_key a = key_of(0), b = key_of(i);

        sp_digest(x, &a, text, sizeof text);
        sp_digest(y, &b, text, sizeof text);
        assert_memory_not_equal(x, y, SP_DIGEST);
    }
}

/* As it is defined, word by word. */
static void it_is_what_it_says(void **state)
{
    enum { BYTES = 3000, PADDED = 3072 };
    uint8_t data[PADDED + 1] = {0}, got[SP_DIGEST];
    uint64_t prime = ((uint64_t)1 << 61) - 1, want[2] = {1, 1};
    sp_digest_key key = key_of(9);

    (void)state;
    for (int i = 0; i < BYTES; i++)
        data[i + 1] = (uint8_t)(i * i + 3 * i);
    for (int s = 0; s < 2; s++) {
        for (int at = 0; at < PADDED; at += 1024) {
            uint64_t sum = 0;

            for (int i = 0; i < 256; i += 8)
                for (int j = i; j < i + 4; j++) {
                    uint32_t a, b;

                    memcpy(&a, data + 1 + at + 4 * j, 4);
                    memcpy(&b, data + 1 + at + 4 * j + 16, 4);
                    a += key.word[j + 4 * s];
                    b += key.word[j + 4 + 4 * s];
                    sum += (uint64_t)a * b;
                }
            for (int half = 0; half < 2; half++) {
                /* by doubling: x * point + more */
                uint64_t x = 0, p = key.point[s];

                for (int bit = 60; bit >= 0; bit--) {
                    x = 2 * x % prime;
                    if (want[s] >> bit & 1)
                        x = (x + p) % prime;
                }
                want[s] = (x + (half ? sum & 0xffffffffu : sum >> 32)) % prime;
            }
        }
        {
            uint64_t x = 0;

            for (int bit = 60; bit >= 0; bit--) {
                x = 2 * x % prime;
                if (want[s] >> bit & 1)
                    x = (x + key.point[s]) % prime;
            }
            want[s] = (x + BYTES) % prime;
        }
    }
    sp_digest(got, &key, data + 1, BYTES); /* from an odd address */
    assert_memory_equal(got, want, SP_DIGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(lengths_and_places_count),
        cmocka_unit_test(another_key_is_another_digest),
        cmocka_unit_test(it_is_what_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
