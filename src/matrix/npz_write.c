/* npz_write.c - from a matrix to .npz, as SciPy's load_npz reads it.
 *
 * The zip stores its members as they are, with 64-bit sizes throughout:
 *
 *     local header, name, extra, array    once per member
 *     directory entry, name, extra        once per member
 *     zip64 end, zip64 locator, end
 */
#include <string.h>
#include <zlib.h>

#include "base/npy.h"
#include "matrix/internal.h"

enum { MEMBERS = 5, LOCAL = 30, ENTRY = 46 };

typedef struct {
    const char *name;
    char head[SP_NPY_HEAD]; /* the array's own header */
    const void *data;
    uint64_t bytes; /* of data */
    uint64_t offset;
    uint32_t crc;
} member;

/* Little-endian numbers, one after the other. */
static char *put(char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8)
        *at++ = (char)(v & 0xff);
    return at;
}

static void describe(member *e, const char *name, const char *type, int dims,
                     int64_t length, const void *data, uint64_t bytes)
{
    *e = (member){.name = name, .data = data, .bytes = bytes};
    sp_npy_write(e->head, type, dims, &length);
    e->crc = (uint32_t)crc32_z(0, (const unsigned char *)e->head, SP_NPY_HEAD);
    if (bytes)
        e->crc = (uint32_t)crc32_z(e->crc, data, bytes);
}

/* The zip64 extra field: both sizes, and in the directory the offset. */
static char *put_extra(char *at, const member *e, int with_offset)
{
    at = put(at, 1, 2);
    at = put(at, with_offset ? 24 : 16, 2);
    at = put(at, e->bytes + SP_NPY_HEAD, 8);
    at = put(at, e->bytes + SP_NPY_HEAD, 8);
    return with_offset ? put(at, e->offset, 8) : at;
}

/* What local header and directory entry have in common. */
static char *put_common(char *at, const member *e, int extra)
{
    at = put(at, 45, 2); /* version: zip64 */
    at = put(at, 0, 2);
    at = put(at, 0, 2); /* stored */
    at = put(at, 0, 2);
    at = put(at, 1 << 5 | 1, 2); /* 1980-01-01: same matrix, same bytes */
    at = put(at, e->crc, 4);
    at = put(at, UINT32_MAX, 4);
    at = put(at, UINT32_MAX, 4);
    at = put(at, strlen(e->name), 2);
    return put(at, (uint64_t)extra, 2);
}

static void write_member(member *e, sp_writer *w)
{
    char local[LOCAL + 20], *at = put(local, 0x04034b50, 4);

    e->offset = (uint64_t)ftello(w->f);
    put_common(at, e, 20);
    put_extra(local + LOCAL, e, 0);
    fwrite(local, 1, LOCAL, w->f);
    fputs(e->name, w->f);
    fwrite(local + LOCAL, 1, 20, w->f);
    fwrite(e->head, 1, SP_NPY_HEAD, w->f);
    if (e->bytes)
        fwrite(e->data, 1, e->bytes, w->f);
}

static void write_entry(const member *e, sp_writer *w)
{
    char entry[ENTRY + 28] = {0}, *at = put(entry, 0x02014b50, 4);

    at = put(at, 45, 2);
    put_common(at, e, 28);
    put(entry + 42, UINT32_MAX, 4);
    put_extra(entry + ENTRY, e, 1);
    fwrite(entry, 1, ENTRY, w->f);
    fputs(e->name, w->f);
    fwrite(entry + ENTRY, 1, 28, w->f);
}

static void write_end(uint64_t directory, sp_writer *w)
{
    uint64_t end = (uint64_t)ftello(w->f);
    char text[56 + 20 + 22] = {0}, *at = put(text, 0x06064b50, 4);

    at = put(at, 44, 8);
    at = put(put(at, 45, 2), 45, 2);
    at = put(at, 0, 8); /* disks */
    at = put(put(at, MEMBERS, 8), MEMBERS, 8);
    at = put(put(at, end - directory, 8), directory, 8);
    at = put(put(at, 0x07064b50, 4), 0, 4);
    at = put(put(at, end, 8), 1, 4);
    at = put(put(at, 0x06054b50, 4), 0, 4);
    at = put(put(at, MEMBERS, 2), MEMBERS, 2);
    put(put(at, UINT32_MAX, 4), UINT32_MAX, 4);
    fwrite(text, 1, sizeof text, w->f);
}

spry_status sp_npz_write(const spry_matrix *m, sp_writer *w, int packed)
{
    int64_t shape[2] = {m->rows, m->cols};
    uint64_t directory, nnz = (uint64_t)m->nnz;
    member e[MEMBERS];

    (void)packed;
    describe(&e[0], "indices.npy", m->index == SPRY_I32 ? "<i4" : "<i8", 1,
             m->nnz, m->col, nnz * m->index);
    describe(&e[1], "indptr.npy", "<i8", 1, m->rows + 1, m->start,
             ((uint64_t)m->rows + 1) * 8);
    describe(&e[2], "format.npy", "|S3", 0, 0, "csr", 3);
    describe(&e[3], "shape.npy", "<i8", 1, 2, shape, sizeof shape);
    describe(&e[4], "data.npy", m->type == SPRY_F32 ? "<f4" : "<f8", 1, m->nnz,
             m->val, nnz * m->type);
    for (int i = 0; i < MEMBERS; i++)
        write_member(&e[i], w);
    directory = (uint64_t)ftello(w->f);
    for (int i = 0; i < MEMBERS; i++)
        write_entry(&e[i], w);
    write_end(directory, w);
    return SPRY_OK;
}
