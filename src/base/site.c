/* site.c - what the administrators of a machine say for all of its users.
 *
 * A file of lines "store PATH", or a server's URI, and "lock PATH"; a variable
 * of the user's goes before it, and an empty one switches it off. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/site.h"

#ifndef SPRY_SITE_FILE
#define SPRY_SITE_FILE "/etc/spry/site.conf"
#endif

enum { SITE_LIMIT = 1 << 16 };

int sp_site_line(char *out, size_t size, const char *text, const char *key)
{
    size_t k = strlen(key);

    while (*text) {
        size_t n = strcspn(text, "\r\n"), blank = strspn(text, " \t");
        const char *at = text + blank;

        if (blank < n && strncmp(at, key, k) == 0 && strchr(" \t", at[k])) {
            at += k + strspn(at + k, " \t");
            n -= (size_t)(at - text);
            while (n && strchr(" \t", at[n - 1]))
                n--;
            if (n == 0 || n >= size)
                return 0;
            memcpy(out, at, n);
            out[n] = 0;
            return *out == '/' || strstr(out, "://") != NULL;
        }
        text += n + (text[n] != 0);
    }
    return 0;
}

int sp_site_path(char *out, size_t size, const char *key, const char *variable)
{
    const char *own = getenv(variable);
    sp_file f;
    int found;

    if (own) {
        int n = snprintf(out, size, "%s", own);

        return n > 0 && (size_t)n < size;
    }
    if (sp_file_read(&f, SPRY_SITE_FILE, SITE_LIMIT) != SPRY_OK) {
        sp_message_clear();
        return 0;
    }
    found = sp_site_line(out, size, f.data, key);
    sp_file_free(&f);
    return found;
}
