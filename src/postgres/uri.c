/* uri.c - postgresql://user:password@host/name?key=value, and the same for
 * other eyes. */
#include <string.h>

#include "postgres/internal.h"

static const char *const schemes[] = {"postgresql://", "postgres://"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* Its length, 0 when there is none. */
static size_t scheme_length(const char *text)
{
    for (int i = 0; i < SCHEMES; i++) {
        size_t n = strlen(schemes[i]);

        if (strncmp(text, schemes[i], n) == 0)
            return n;
    }
    return 0;
}

int sp_postgres_uri(const char *text)
{
    return text && scheme_length(text) > 0;
}

/* Is a parameter's name one that may hold a secret? */
static int is_secret(const char *name, size_t n)
{
    static const char word[] = "password";
    size_t k = sizeof word - 1;

    for (size_t i = 0; i + k <= n; i++)
        if (strncmp(name + i, word, k) == 0)
            return 1;
    return memchr(name, '%', n) != NULL; /* whatever it spells */
}

static void add_parameters(sp_buf *b, const char *query)
{
    while (*query) {
        size_t name = strcspn(query, "=&"), n = strcspn(query, "&");

        if (is_secret(query, name) && name < n)
            sp_buf_printf(b, "%.*s=***", (int)name, query);
        else
            sp_buf_bytes(b, query, n);
        query += n;
        if (*query == '&') {
            sp_buf_add(b, "&");
            query++;
        }
    }
}

char *sp_postgres_redact(char *out, size_t size, const char *uri)
{
    size_t scheme = scheme_length(uri);
    /* The last one: passwords that should have been escaped end there. */
    const char *authority = uri + scheme, *at = strrchr(authority, '@');
    const char *query = strchr(authority, '?');
    size_t user = at ? strcspn(authority, ":@") : 0;
    const char *rest = at ? at : authority;
    size_t path = strcspn(rest, "?");
    sp_buf b = {0};

    if (query && strchr(query, '@')) { /* in which of the two it stands */
        snprintf(out, size, "%.*s***", (int)scheme, uri);
        return out;
    }
    sp_buf_bytes(&b, uri, scheme + user);
    if (at && authority[user] == ':')
        sp_buf_add(&b, ":***");
    sp_buf_bytes(&b, rest, path);
    if (rest[path] == '?') {
        sp_buf_add(&b, "?");
        add_parameters(&b, rest + path + 1);
    }
    snprintf(out, size, "%s", b.failed || !b.data ? "postgresql://" : b.data);
    sp_buf_free(&b);
    return out;
}
