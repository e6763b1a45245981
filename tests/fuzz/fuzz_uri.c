/* fuzz_uri.c - URIs of servers from any bytes: what is shown of one with a
 * password does not tell it. */
#include "fuzz.h"

#include "postgres/postgres.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char secret[] = "hunter2hunter2";
    static const char *const form[][2] = {
        {"postgresql://u:", "@h/x"},
        {"postgres://h/x?password=", ""},
        {"postgresql://h/x?sslpassword=", "&a=b"},
        {"postgresql://u:s/", "@h/x"},
        {"postgresql://u:", "/x"}};
    char *uri = malloc(size + 128), *shown = malloc(2 * size + 256);

    /* What the input itself says is not told by anybody. */
    for (size_t i = 0; i + sizeof secret - 1 <= size; i++)
        if (memcmp(data + i, secret, sizeof secret - 1) == 0)
            size = i;
    for (int i = 0; uri && shown && i < 5; i++) {
        size_t n = strlen(form[i][0]), k = sizeof secret - 1;

        memcpy(uri, form[i][0], n);
        memcpy(uri + n, secret, k);
        memcpy(uri + n + k, form[i][1], strlen(form[i][1]));
        n += k + strlen(form[i][1]);
        if (size)
            memcpy(uri + n, data, size);
        uri[n + size] = 0;
        sp_postgres_redact(shown, 2 * size + 256, uri);
        if (strstr(shown, secret))
            abort();
    }
    free(uri);
    free(shown);
    return 0;
}
