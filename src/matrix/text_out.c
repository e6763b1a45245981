/* text_out.c - text to a file, plain or gzipped: zlib writes both kinds.
 *
 * Numbers are written as short as they can be and read back the same. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "matrix/internal.h"

enum { ROOM = 1 << 16, LONGEST = 256 };

/* Words gather here before they go to zlib. */
struct sp_text_out {
    gzFile to;
    const char *path;
    size_t used;
    int failed;
    char text[ROOM];
};

spry_status sp_text_out_open(sp_text_out **out, const sp_writer *w, int packed)
{
    sp_text_out *p = sp_alloc(1, sizeof *p);
    int fd = dup(fileno(w->f)); /* gzclose closes its own */

    *out = NULL;
    if (p)
        p->to = gzdopen(fd, packed ? "wb6" : "wbT"); /* T: as it is */
    if (!p || !p->to) {
        close(fd);
        sp_free(p);
        return sp_fail_memory(ROOM);
    }
    p->path = w->path;
    *out = p;
    return SPRY_OK;
}

static void flush(sp_text_out *p)
{
    if (p->used && gzwrite(p->to, p->text, (unsigned)p->used) <= 0)
        p->failed = 1;
    p->used = 0;
}

static char *room(sp_text_out *p)
{
    if (p->used > ROOM - LONGEST)
        flush(p);
    return p->text + p->used;
}

void sp_text_out_line(sp_text_out *p, const char *fmt, ...)
{
    char *to = room(p);
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(to, LONGEST, fmt, args);
    va_end(args);
    p->used += n > 0 && n < LONGEST ? (size_t)n : 0;
}

static size_t print_int(char *to, int64_t n)
{
    char digits[20], *d = digits + sizeof digits;
    size_t len;

    do
        *--d = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    len = (size_t)(digits + sizeof digits - d);
    memcpy(to, d, len);
    return len;
}

void sp_text_out_int(sp_text_out *p, int64_t n, char behind)
{
    char *to = room(p);
    size_t len = print_int(to, n);

    to[len] = behind;
    p->used += len + 1;
}

void sp_text_out_real(sp_text_out *p, double v, spry_type type, char behind)
{
    char *to = room(p);
    int whole = v >= 0 && v < 1e15 && v == floor(v) && !signbit(v);
    size_t len =
        whole ? print_int(to, (int64_t)v) : (size_t)sp_print_real(to, v, type);

    to[len] = behind;
    p->used += len + 1;
}

int sp_text_out_failed(const sp_text_out *p)
{
    return p->failed;
}

spry_status sp_text_out_close(sp_text_out *p)
{
    spry_status s = SPRY_OK;

    flush(p);
    p->failed |= gzclose(p->to) != Z_OK;
    if (p->failed)
        s = sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", p->path);
    sp_free(p);
    return s;
}
