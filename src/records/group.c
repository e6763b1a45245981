/* group.c - which matrix is behind a source. */
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "spry/records.h"

/* Where WACO's _RxC_N of a resized copy begins in name, or its end. */
static size_t without_size(const char *name, size_t n)
{
    size_t at = n, digits[3] = {0};
    static const char before[] = {'_', 'x', '_'};

    for (int part = 0; part < 3; part++) {
        while (at > 0 && isdigit((unsigned char)name[at - 1])) {
            at--;
            digits[part]++;
        }
        if (digits[part] == 0 || at < 2 || name[at - 1] != before[part])
            return n;
        at--;
    }
    return at;
}

static size_t without_endings(const char *name)
{
    static const char *const endings[] = {".gz",   ".mtx", ".csr", ".npz",
                                          ".smtx", ".tsv", ".rb",  ".tns",
                                          ".txt",  ".hb"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t k = strlen(endings[i]);

        if (n > k && strncmp(name + n - k, endings[i], k) == 0) {
            n -= k;
            if (i > 0)
                break;
        }
    }
    return n;
}

/* Is it a parameter that only says how large a generated matrix is? */
static int is_size(const char *name, size_t n)
{
    static const char *const sizes[] = {"rows",  "cols",  "nnz",
                                        "nx",    "scale", "left",
                                        "right", "edges", "index"};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strlen(sizes[i]) == n && strncmp(name, sizes[i], n) == 0)
            return 1;
    return 0;
}

/* "gen:banded,rows=100,band=4#7" -> "gen:banded,band=4". */
static void group_of_recipe(char buf[SPRY_GROUP_TEXT], const char *recipe)
{
    static const char between[] = ", ";
    size_t end = strcspn(recipe, "#"), at = strcspn(recipe, between);
    size_t used = at < end ? at : end;

    if (used > SPRY_GROUP_TEXT - 8)
        used = SPRY_GROUP_TEXT - 8;
    memcpy(buf, recipe, used);
    while (at < end) {
        size_t from = at + 1, n = strcspn(recipe + from, ", #");

        at = from + n;
        if (n > 0 && used + n + 2 < SPRY_GROUP_TEXT &&
            !is_size(recipe + from, strcspn(recipe + from, "=, #"))) {
            buf[used++] = ',';
            memcpy(buf + used, recipe + from, n);
            used += n;
        }
    }
    buf[used] = 0;
}

char *spry_group_of(char buf[SPRY_GROUP_TEXT], const char *source)
{
    SP_NEED_OR(NULL, buf, source);

    const char *slash = strrchr(source, '/');
    const char *name = slash ? slash + 1 : source;
    size_t n;

    if (strncmp(source, "gen:", 4) == 0) {
        group_of_recipe(buf, source);
        return buf;
    }
    n = without_size(name, without_endings(name));
    snprintf(buf, SPRY_GROUP_TEXT, "%.*s", n < 250 ? (int)n : 250, name);
    if (!*buf)
        snprintf(buf, SPRY_GROUP_TEXT, "?");
    return buf;
}
