/* utf8.c - where one character ends. */
#include "base/base.h"

size_t sp_utf8_length(const unsigned char *p, const unsigned char *end)
{
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80             ? 1
               : (p[0] & 0xe0) == 0xc0 ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    unsigned code;

    if (n < 2 || (size_t)(end - p) < n)
        return n == 1;
    code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    if (code < least[n] || code > 0x10ffff || (code >> 11) == 0x1b)
        return 0;
    return n;
}
