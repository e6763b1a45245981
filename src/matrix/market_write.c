/* market_write.c - from a matrix to Matrix Market text, plain or gzipped.
 *
 * Values are written as short as they can be and read back the same; a
 * matrix of ones becomes a pattern. zlib writes both kinds of file. */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "matrix/internal.h"

enum { ROOM = 1 << 16, LONGEST = 2 * 20 + SP_REAL + 3 };

/* Lines gather here before they go to zlib. */
typedef struct {
    gzFile to;
    size_t used;
    int failed;
    char text[ROOM];
} page;

static void flush(page *p)
{
    if (p->used && gzwrite(p->to, p->text, (unsigned)p->used) <= 0)
        p->failed = 1;
    p->used = 0;
}

static void add_int(page *p, int64_t n)
{
    char digits[20], *d = digits + sizeof digits;

    do
        *--d = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    memcpy(p->text + p->used, d, (size_t)(digits + sizeof digits - d));
    p->used += (size_t)(digits + sizeof digits - d);
}

static void add_real(page *p, double v, spry_type type)
{
    if (v >= 0 && v < 1e15 && v == floor(v) && !signbit(v))
        add_int(p, (int64_t)v);
    else
        p->used += (size_t)sp_print_real(p->text + p->used, v, type);
}

static int all_ones(const spry_matrix *m)
{
    for (int64_t k = 0; k < m->nnz; k++)
        if (sp_val(m, k) != 1)
            return 0;
    return 1;
}

static void add_entries(page *p, const spry_matrix *m, int pattern)
{
    for (int64_t r = 0; r < m->rows && !p->failed; r++)
        for (int64_t k = m->start[r]; k < m->start[r + 1]; k++) {
            if (p->used > ROOM - LONGEST)
                flush(p);
            add_int(p, r + 1);
            p->text[p->used++] = ' ';
            add_int(p, sp_col(m, k) + 1);
            if (!pattern) {
                p->text[p->used++] = ' ';
                add_real(p, sp_val(m, k), m->type);
            }
            p->text[p->used++] = '\n';
        }
}

static void add_all(page *p, const spry_matrix *m)
{
    int pattern = all_ones(m);

    p->used = (size_t)snprintf(
        p->text, ROOM,
        "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
        pattern ? "pattern" : "real", (long long)m->rows, (long long)m->cols,
        (long long)m->nnz);
    add_entries(p, m, pattern);
    flush(p);
}

spry_status sp_market_write(const spry_matrix *m, sp_writer *w, int packed)
{
    page *p = sp_alloc(1, sizeof *p);
    int fd = dup(fileno(w->f)); /* gzclose closes its own */

    if (!p) {
        close(fd);
        return sp_fail_memory(sizeof *p);
    }
    p->to = gzdopen(fd, packed ? "wb6" : "wbT"); /* T: as it is */
    if (!p->to) {
        close(fd);
        sp_free(p);
        return sp_fail_memory(ROOM);
    }
    add_all(p, m);
    p->failed |= gzclose(p->to) != Z_OK;
    packed = p->failed;
    sp_free(p);
    return packed ? sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", w->path)
                  : SPRY_OK;
}
