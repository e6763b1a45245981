/* net_expect.c - categories beside those that a file says are right. */
#include "net.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int is_expected(const net_categories *c, int64_t at, int64_t category)
{
    return at < c->count && c->category[at] == category;
}

/* The rows of a matrix that hold an entry. */
static spry_status compare_matrix(const net_categories *c, const char *expected)
{
    spry_matrix *m = NULL;
    int64_t at = 0;
    spry_status s = open_matrix(&m, expected);

    for (int64_t i = 0; s == SPRY_OK && i < m->rows; i++)
        if (m->start[i] < m->start[i + 1] && !is_expected(c, at++, i + 1))
            s = SPRY_WRONG;
    spry_matrix_free(m);
    return s == SPRY_OK && at != c->count ? SPRY_WRONG : s;
}

/* The number that a line holds; 0, which is none, when it does not. */
static int64_t category_of(const char *line)
{
    char *end;
    long long x = strtoll(line, &end, 10);

    return end > line && strspn(end, " \t\r\n") == strlen(end) ? x : 0;
}

static spry_status compare_lines(const net_categories *c, const char *expected)
{
    FILE *f = fopen(expected, "r");
    char line[64];
    int64_t at = 0;
    spry_status s = SPRY_OK;

    if (!f)
        return say_fail(SPRY_INPUT, "%s: cannot be read", expected);
    while (s == SPRY_OK && fgets(line, sizeof line, f)) {
        int64_t category = category_of(line);

        if (category < 1)
            s = say_fail(SPRY_INPUT, "%s:%" PRId64 ": holds no category",
                         expected, at + 1);
        else if (!is_expected(c, at++, category))
            s = SPRY_WRONG;
    }
    fclose(f);
    return s == SPRY_OK && at != c->count ? SPRY_WRONG : s;
}

spry_status net_expect(const net_categories *c, const char *expected)
{
    size_t n = strlen(expected);
    spry_status s = n > 4 && strcmp(expected + n - 4, ".mtx") == 0
                        ? compare_matrix(c, expected)
                        : compare_lines(c, expected);

    if (s == SPRY_WRONG)
        return say_fail(s, "the categories are not those of %s", expected);
    return s;
}
