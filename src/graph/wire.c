/* wire.c - the wire format of protocol buffers, read in place.
 *
 * A message is a list of fields; a field is a key (its number and how it is
 * stored) and a value. Nothing is copied and nothing is nested here: whoever
 * asks for the bytes of a field may read them as a message again. */
#include "graph/wire.h"

#include <string.h>

/* One number at w; 0 when there is none. */
static int read_varint(sp_wire *w, uint64_t *out)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b;

        if (w->at == w->end)
            return 0;
        b = *w->at++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            if (shift == 63 && b > 1)
                return 0;
            *out = v;
            return 1;
        }
    }
    return 0;
}

/* Little-endian bytes, wherever they lie. */
static int fixed(sp_wire *w, uint64_t *out, int size)
{
    uint64_t v = 0;

    if (w->end - w->at < size)
        return 0;
    for (int i = 0; i < size; i++)
        v |= (uint64_t)w->at[i] << (8 * i);
    w->at += size;
    *out = v;
    return 1;
}

static int scalar(sp_wire *w, sp_wire_kind kind, uint64_t *out)
{
    switch (kind) {
    case SP_WIRE_VARINT: return read_varint(w, out);
    case SP_WIRE_EIGHT: return fixed(w, out, 8);
    case SP_WIRE_FOUR: return fixed(w, out, 4);
    case SP_WIRE_BYTES:
    default: return 0;
    }
}

int sp_wire_next(sp_wire *w, sp_field *f)
{
    uint64_t key, length;

    if (w->at == w->end)
        return 0;
    if (!read_varint(w, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return -1;
    memset(f, 0, sizeof *f);
    f->number = (uint32_t)(key >> 3);
    f->kind = (sp_wire_kind)(key & 7);
    if (f->kind != SP_WIRE_BYTES)
        return scalar(w, f->kind, &f->value) ? 1 : -1;
    if (!read_varint(w, &length) || length > (uint64_t)(w->end - w->at))
        return -1;
    f->bytes.at = w->at;
    f->bytes.end = w->at += length;
    return 1;
}

int sp_wire_each(const sp_field *f, sp_wire_kind kind, sp_wire_take *take,
                 void *to)
{
    sp_wire w = f->bytes;
    uint64_t v;

    if (f->kind == kind)
        return take(to, f->value);
    if (f->kind != SP_WIRE_BYTES)
        return 0;
    while (w.at < w.end)
        if (!scalar(&w, kind, &v) || !take(to, v))
            return 0;
    return 1;
}
