/* unpack.c - from gzip or deflate to bytes, bounded.
 *
 * Nothing the stream claims about its size is believed: memory grows as data
 * arrives, up to a limit in proportion to the packed size, and of gzip to what
 * has been unpacked so far, so that a bomb is noticed while it is small. */
#include "base/base.h"

#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

size_t sp_unpack_limit(size_t n)
{
    size_t limit;

    if (__builtin_mul_overflow(n, 128, &limit) ||
        __builtin_add_overflow(limit, (size_t)64 << 20, &limit))
        return SIZE_MAX;
    return limit;
}

/* zlib's own state comes from our allocator, so tests can refuse it too. */
static void *zalloc(void *unused, unsigned count, unsigned size)
{
    (void)unused;
    return sp_alloc_raw(count, size);
}

static void zfree(void *unused, void *p)
{
    (void)unused;
    sp_free(p);
}

enum { PIECE = 16 << 20 };

static spry_status refuse_bomb(size_t limit)
{
    return sp_fail(SPRY_INPUT,
                   "unpacks to more than %zu bytes; refused as a bomb", limit);
}

/* Room for more output behind f->len, the zero byte kept free. */
static spry_status make_room(sp_file *f, size_t *cap, size_t limit)
{
    size_t want = *cap < limit / 2 ? *cap * 2 : limit;
    char *data;

    if (f->len < *cap)
        return SPRY_OK;
    if (f->len >= limit)
        return refuse_bomb(limit);
    data = sp_grow(f->data, (int64_t)f->len, (int64_t)want + 1, 1);
    if (!data)
        return sp_fail_memory(want);
    f->data = data;
    *cap = want;
    return SPRY_OK;
}

/* After the end of a gzip member another may follow; anything else behind it
 * is padding. 1 when z is ready for the next. */
static int next_member(z_stream *z)
{
    return z->avail_in >= 2 && z->next_in[0] == 0x1f && z->next_in[1] == 0x8b &&
           inflateReset(z) == Z_OK;
}

static unsigned clip(size_t n)
{
    return n > INT_MAX ? INT_MAX : (unsigned)n;
}

static spry_status explain(int code)
{
    if (code == Z_MEM_ERROR)
        return sp_fail_memory(1 << 15); /* zlib's window */
    return sp_fail(SPRY_INPUT, "the packed data is %s",
                   code == Z_BUF_ERROR ? "cut short" : "damaged");
}

/* Feed and drain z in pieces that fit its 32-bit counters, and are small
 * enough to look at the proportion now and then. */
static spry_status run(sp_file *f, size_t cap, z_stream *z,
                       const unsigned char *end, sp_packing packing,
                       size_t limit)
{
    const unsigned char *begin = z->next_in;

    for (;;) {
        spry_status s = make_room(f, &cap, limit);
        unsigned room;
        int code;

        if (s != SPRY_OK)
            return s;
        room = clip(cap - f->len);
        if (packing == SP_GZIP && room > PIECE)
            room = PIECE;
        z->next_out = (unsigned char *)f->data + f->len;
        z->avail_out = room;
        z->avail_in = clip((size_t)(end - z->next_in));
        code = inflate(z, Z_NO_FLUSH);
        f->len += room - z->avail_out;
        z->avail_in = clip((size_t)(end - z->next_in));
        if (code == Z_STREAM_END && !(packing == SP_GZIP && next_member(z)))
            return SPRY_OK;
        if (code != Z_OK && code != Z_STREAM_END)
            return explain(code);
        if (packing == SP_GZIP &&
            f->len > sp_unpack_limit((size_t)(z->next_in - begin)))
            return refuse_bomb(limit);
    }
}

spry_status sp_unpack(sp_file *out, const void *packed, size_t n,
                      sp_packing packing, size_t limit)
{
    z_stream z = {.next_in = packed, .zalloc = zalloc, .zfree = zfree};
    size_t cap = n < limit / 4 ? 4 * n : limit;
    spry_status s = SPRY_OK;

    *out = (sp_file){.data = sp_alloc_raw((int64_t)cap + 1, 1)};
    if (!out->data)
        return sp_fail_memory(cap);
    if (inflateInit2(&z, packing == SP_GZIP ? 15 + 16 : -15) != Z_OK)
        s = sp_fail_memory(sizeof z);
    if (s == SPRY_OK) {
        s = run(out, cap, &z, (const unsigned char *)packed + n, packing,
                limit);
        inflateEnd(&z);
    }
    if (s == SPRY_OK)
        out->data[out->len] = 0;
    else
        sp_file_free(out);
    return s;
}
