/* fuzz_site.c - what administrators say for all users, from any bytes: a path
 * or a URI that is in the text, or nothing. */
#include "fuzz.h"

#include "base/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"store", "lock", ""};
    char *text = malloc(size + 1), out[64];

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    for (int i = 0; i < 3; i++)
        if (sp_site_line(out, sizeof out, text, keys[i]) &&
            ((*out != '/' && !strstr(out, "://")) || strpbrk(out, "\r\n") ||
             !strstr(text, out)))
            abort();
    free(text);
    return 0;
}
