/* zip.c - one member of a zip archive, by name.
 *
 * Sizes come from the central directory at the archive's end, 64-bit ones
 * from its zip64 fields; local headers are only stepped over. Every offset
 * is checked before it is followed, every member against its CRC. */
#include "matrix/zip.h"

#include <string.h>
#include <zlib.h>

enum { END = 22, LOCATOR = 20, END64 = 56, ENTRY = 46, LOCAL = 30 };

typedef struct {
    int method; /* 0 stored, 8 deflated */
    uint32_t crc;
    uint64_t packed, size, offset;
} entry;

static int has(const sp_text *z, uint64_t at, uint64_t bytes)
{
    uint64_t len = (uint64_t)(z->end - z->data);

    return at <= len && bytes <= len - at;
}

static int begins_with(const sp_text *z, uint64_t at, uint64_t bytes,
                       const char *magic)
{
    return has(z, at, bytes) && !memcmp(z->data + at, magic, 4);
}

/* Where the end record is, searched backwards over a possible comment. */
static int find_end(uint64_t *at, const sp_text *z)
{
    uint64_t len = (uint64_t)(z->end - z->data), back = END;

    for (; back <= len && back <= END + 65535; back++)
        if (begins_with(z, len - back, END, "PK\5\6")) {
            *at = len - back;
            return 1;
        }
    return 0;
}

/* Where the central directory begins and how many entries it has. */
static int find_directory(uint64_t *at, uint64_t *entries, const sp_text *z)
{
    uint64_t end, end64;

    if (!find_end(&end, z))
        return 0;
    *entries = sp_little(z->data + end + 10, 2);
    *at = sp_little(z->data + end + 16, 4);
    if (end >= LOCATOR && begins_with(z, end - LOCATOR, LOCATOR, "PK\6\7")) {
        end64 = sp_little(z->data + end - LOCATOR + 8, 8);
        if (!begins_with(z, end64, END64, "PK\6\6"))
            return 0;
        *entries = sp_little(z->data + end64 + 32, 8);
        *at = sp_little(z->data + end64 + 48, 8);
    }
    return 1;
}

/* Fields of 0xffffffff stand, in this order, in the zip64 extra field. */
static void widen(entry *e, const char *extra, const char *end)
{
    uint64_t *wide[] = {&e->size, &e->packed, &e->offset};

    while (end - extra >= 4) {
        const char *next = extra + 4 + sp_little(extra + 2, 2);
        const char *at = extra + 4;

        if (next > end)
            return;
        for (int i = 0; sp_little(extra, 2) == 1 && i < 3; i++)
            if (*wide[i] == UINT32_MAX && next - at >= 8) {
                *wide[i] = sp_little(at, 8);
                at += 8;
            }
        extra = next;
    }
}

static void load_entry(entry *e, const char *p, const char *extra,
                       const char *end)
{
    *e = (entry){.method = (int)sp_little(p + 10, 2),
                 .crc = (uint32_t)sp_little(p + 16, 4),
                 .packed = sp_little(p + 20, 4),
                 .size = sp_little(p + 24, 4),
                 .offset = sp_little(p + 42, 4)};
    widen(e, extra, end);
}

static int find_entry(entry *e, const sp_text *z, const char *name)
{
    uint64_t at, entries;

    if (!find_directory(&at, &entries, z))
        return 0;
    for (; entries > 0 && begins_with(z, at, ENTRY, "PK\1\2"); entries--) {
        const char *p = z->data + at;
        uint64_t name_len = sp_little(p + 28, 2);
        uint64_t extra = sp_little(p + 30, 2), comment = sp_little(p + 32, 2);

        if (!has(z, at, ENTRY + name_len + extra + comment))
            return 0;
        if (name_len == strlen(name) && !memcmp(p + ENTRY, name, name_len)) {
            load_entry(e, p, p + ENTRY + name_len,
                       p + ENTRY + name_len + extra);
            return 1;
        }
        at += ENTRY + name_len + extra + comment;
    }
    return 0;
}

/* The member's packed bytes, behind its local header. */
static const char *packed_bytes(const entry *e, const sp_text *z)
{
    uint64_t at = e->offset;

    if (!begins_with(z, at, LOCAL, "PK\3\4"))
        return NULL;
    at += LOCAL + sp_little(z->data + at + 26, 2) +
          sp_little(z->data + at + 28, 2);
    return has(z, at, e->packed) ? z->data + at : NULL;
}

/* A fuzzer cannot guess checksums; it is let through to what lies behind. */
static int crc_fits(const sp_zip_member *m, uint32_t crc)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return 1;
#endif
    return crc32_z(0, (const unsigned char *)m->data, m->len) == crc;
}

static spry_status unpack(sp_zip_member *out, const entry *e,
                          const char *packed, const sp_text *z)
{
    size_t limit = sp_unpack_limit((size_t)(z->end - z->data));
    spry_status s =
        sp_unpack(&out->unpacked, packed, (size_t)e->packed, SP_DEFLATE, limit);

    out->data = out->unpacked.data;
    out->len = out->unpacked.len;
    return sp_fail_in(s, z->name);
}

spry_status sp_zip_open(sp_zip_member *out, const sp_text *z, const char *name)
{
    spry_status s = SPRY_OK;
    const char *packed;
    entry e;

    *out = (sp_zip_member){0};
    if (!find_entry(&e, z, name))
        return sp_fail(SPRY_INPUT, "%s: has no member %s", z->name, name);
    packed = packed_bytes(&e, z);
    if (!packed || (e.method != 0 && e.method != 8))
        return sp_fail(SPRY_INPUT, "%s: member %s cannot be unpacked", z->name,
                       name);
    out->data = packed;
    out->len = (size_t)e.packed;
    if (e.method == 8)
        s = unpack(out, &e, packed, z);
    if (s == SPRY_OK && (out->len != e.size || !crc_fits(out, e.crc)))
        s = sp_fail(SPRY_INPUT, "%s: member %s is damaged", z->name, name);
    if (s != SPRY_OK)
        sp_zip_close(out);
    return s;
}

void sp_zip_close(sp_zip_member *m)
{
    sp_file_free(&m->unpacked);
    *m = (sp_zip_member){0};
}
