/* argument.c - what public functions refuse, and in which words. */
#include <string.h>

#include "base/base.h"

/* names is "out, p, name" as the function's text has it. */
spry_status sp_fail_null(const char *function, const char *names,
                         const void *const *given, int count)
{
    int at = 0;

    while (at < count - 1 && given[at])
        at++;
    for (; at > 0; at--)
        names = strchr(names, ',') + 1;
    names += strspn(names, " ");
    return sp_fail(SPRY_USAGE, "%s: %.*s is NULL", function,
                   (int)strcspn(names, ","), names);
}

/* Every options struct begins with its size; no field is smaller than int. */
/* The size that a caller's struct begins with; 0: it cannot be. */
static size_t size_of(const void *given, size_t most)
{
    size_t size;

    memcpy(&size, given, sizeof size);
    return size > sizeof size && size <= most && size % sizeof(int) == 0 ? size
                                                                         : 0;
}

spry_status sp_room(const char *function, void *out, size_t most)
{
    size_t size = size_of(out, most);

    if (size == 0)
        return sp_fail(SPRY_USAGE,
                       "%s fills a struct that begins with its size, at most "
                       "%zu; write x = {.size = sizeof x}",
                       function, most);
    memset((char *)out + sizeof size, 0, size - sizeof size);
    return SPRY_OK;
}

void sp_give(void *out, const void *whole, size_t most)
{
    size_t size = size_of(out, most);

    if (size > 0)
        memcpy((char *)out + sizeof size, (const char *)whole + sizeof size,
               size - sizeof size);
}

spry_status sp_take_options(void *options, size_t most, const void *given)
{
    size_t size;

    if (!given)
        return SPRY_OK;
    memcpy(&size, given, sizeof size);
    if (size_of(given, most) == 0)
        return sp_fail(SPRY_USAGE,
                       "the options' size is %zu, not the %zu of this "
                       "version; start from the DEFAULTS of the header",
                       size, most);
    memcpy(options, given, size);
    return SPRY_OK;
}

int sp_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return a_bytes > 0 && b_bytes > 0 && x < y + b_bytes && y < x + a_bytes;
}
