/* test_sha256.c - the published vectors: FIPS 180-4 examples, RFC 4231. */
#include "check.h"

#include <string.h>

#include "base/base.h"

static void check_digest(const uint8_t *digest, const char *expected)
{
    char hex[2 * SP_SHA256 + 1];

    sp_hex(hex, digest, SP_SHA256);
    assert_string_equal(hex, expected);
}

static void digests_match_fips_180(void **state)
{
    static const struct {
        const char *text, *digest;
    } vector[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb924"
             "27ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223"
                "b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039"
         "a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b049237"
         "0b249b11e8f07a51afac45037afee9d1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++) {
        uint8_t digest[SP_SHA256];

        sp_sha256(digest, vector[i].text, strlen(vector[i].text));
        check_digest(digest, vector[i].digest);
    }
}

static void a_million_letters_match_fips_180(void **state)
{
    uint8_t digest[SP_SHA256];
    char *text = sp_alloc(1000000, 1);

    (void)state;
    memset(text, 'a', 1000000);
    sp_sha256(digest, text, 1000000);
    sp_free(text);
    check_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67"
                         "f1809a48a497200e046d39ccc7112cd0");
}

/* Padding is where implementations slip: one digest over the digests of
 * every length around the block border, computed once with Python's hashlib. */
static void every_length_around_a_block_is_padded_right(void **state)
{
    uint8_t all[131][SP_SHA256], digest[SP_SHA256];
    char text[131];

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n < 131; n++)
        sp_sha256(all[n], text, n);
    sp_sha256(digest, all, sizeof all);
    check_digest(digest, "f5a018ad6f7a21c451c8d98b57699f4a"
                         "eeb1976b88771c339c7ea60cd09c64ef");
}

static void macs_match_rfc_4231(void **state)
{
    uint8_t key[131], data[50], mac[SP_SHA256];
    const char *long_key = "Test Using Larger Than Block-Size Key"
                           " - Hash Key First";

    (void)state;
    memset(key, 0x0b, sizeof key);
    sp_hmac_sha256(mac, key, 20, "Hi There", 8);
    check_digest(mac, "b0344c61d8db38535ca8afceaf0bf12b"
                      "881dc200c9833da726e9376c2e32cff7");
    sp_hmac_sha256(mac, "Jefe", 4, "what do ya want for nothing?", 28);
    check_digest(mac, "5bdcc146bf60754e6a042426089575c7"
                      "5a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    sp_hmac_sha256(mac, key, 20, data, sizeof data);
    check_digest(mac, "773ea91e36800e46854db8ebd09181a7"
                      "2959098b3ef8c122d9635514ced565fe");
    sp_hmac_sha256(mac, key, 131, long_key, strlen(long_key));
    check_digest(mac, "60e431591ee0b67f0d8a26aacbf5b77f"
                      "8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_match_fips_180),
        cmocka_unit_test(a_million_letters_match_fips_180),
        cmocka_unit_test(every_length_around_a_block_is_padded_right),
        cmocka_unit_test(macs_match_rfc_4231),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
