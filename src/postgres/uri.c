/* uri.c - postgresql://user:password@host/name?key=value, and the same for
 * other eyes. */
#include <ctype.h>
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

/* Does text begin with word, in letters of any case? */
static int begins(const char *text, const char *word)
{
    while (*word && tolower((unsigned char)*text) == *word) {
        text++;
        word++;
    }
    return !*word;
}

/* postgres, letters, digits and +.- up to a colon. */
static int nearly_scheme(const char *text)
{
    if (!begins(text, "postgres"))
        return 0;
    while (isalnum((unsigned char)*text) || (*text && strchr("+.-", *text)))
        text++;
    return *text == ':';
}

/* password = ... */
static int has_password(const char *text)
{
    for (; *text; text++)
        if (begins(text, "password") &&
            text[8 + strspn(text + 8, " \t\n")] == '=')
            return 1;
    return 0;
}

int sp_postgres_near_uri(const char *text)
{
    return text && !sp_postgres_uri(text) &&
           (strstr(text, "://") || nearly_scheme(text) || has_password(text));
}

/* ---- what libpq may read in another way than who wrote it ---- */

static int escapes_are_whole(const char *text)
{
    for (; *text; text++)
        if (*text == '%' && (!isxdigit((unsigned char)text[1]) ||
                             !isxdigit((unsigned char)text[2])))
            return 0;
    return 1;
}

/* host:5432,[::1]:5433: without an @ what looks like a port may be a password
 * that lost it. */
static int ports_are_numbers(const char *authority, size_t n)
{
    int bracket = 0, port = 0;

    for (size_t i = 0; i < n; i++) {
        bracket += (authority[i] == '[') - (authority[i] == ']');
        if (authority[i] == ',')
            port = 0;
        else if (port && !isdigit((unsigned char)authority[i]))
            return 0;
        else if (!bracket && authority[i] == ':')
            port = 1;
    }
    return 1;
}

const char *sp_postgres_uri_fault(const char *uri)
{
    const char *authority = uri + scheme_length(uri);
    const char *at = strchr(authority, '@');
    size_t n = strcspn(authority, "/?#");

    if (!escapes_are_whole(authority))
        return "a % in it stands before two hexadecimal digits; one in a "
               "password is written %25";
    if (at && (strchr(at + 1, '@') || at > authority + n))
        return "one @ stands in it, after the user; in a password @ / ? # are "
               "written %40 %2F %3F %23";
    if (!at && !ports_are_numbers(authority, n))
        return "its port is no number";
    return NULL;
}

/* ---- for other eyes ---- */

/* Is a parameter's name one that may hold a secret? */
static int is_secret(const char *name, size_t n)
{
    for (size_t i = 0; i + 4 <= n; i++)
        if (begins(name + i, "pass"))
            return 1;
    return memchr(name, '%', n) != NULL; /* whatever it spells */
}

static void add_parameters(sp_buf *b, const char *query)
{
    while (*query) {
        size_t name = strcspn(query, "=&"), n = strcspn(query, "&");

        if (name == n) /* no parameter, but something */
            sp_buf_add(b, n ? "***" : "");
        else if (is_secret(query, name))
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
    const char *authority = uri + scheme, *at = strchr(authority, '@');
    size_t user = at ? strcspn(authority, ":@") : 0;
    const char *rest = at ? at : authority;
    size_t path = strcspn(rest, "?");
    sp_buf b = {0};

    if (sp_postgres_uri_fault(uri)) { /* where a password ends, who knows */
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
