/* onnx_tensor.c - ONNX's tensors into constants: float or int64_t. */
#include <math.h>
#include <string.h>

#include "graph/onnx.h"

/* What a TensorProto says before it is believed. */
typedef struct {
    sp_onnx *o;
    sp_extent shape;
    uint64_t type;
    sp_field raw; /* number 0: none */
    sp_external external;
    int is_external;
    /* numbers that were listed one by one */
    int64_t listed;
    void *to; /* the second time: where they go */
    int whole;
    int64_t count;
} tensor;

int sp_onnx_whole(uint64_t type)
{
    switch (type) {
    case SP_ONNX_F32:
    case SP_ONNX_F16:
    case SP_ONNX_F64: return 0;
    case SP_ONNX_U8:
    case SP_ONNX_I8:
    case SP_ONNX_I32:
    case SP_ONNX_I64:
    case SP_ONNX_BOOL: return 1;
    default: return -1;
    }
}

static int64_t size_of(uint64_t type)
{
    switch (type) {
    case SP_ONNX_F64:
    case SP_ONNX_I64: return 8;
    case SP_ONNX_F32:
    case SP_ONNX_I32: return 4;
    case SP_ONNX_F16: return 2;
    default: return 1;
    }
}

static float from_half(uint16_t h)
{
    int sign = h >> 15, e = h >> 10 & 31, m = h & 1023;
    float v;

    if (e == 31)
        v = m ? NAN : INFINITY;
    else if (e == 0)
        v = ldexpf((float)m, -24);
    else
        v = ldexpf((float)(m + 1024), e - 25);
    return sign ? -v : v;
}

/* ---- elements ---- */

static uint64_t little(const uint8_t *p, int64_t size)
{
    uint64_t v = 0;

    for (int64_t i = 0; i < size; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* The bits of an element as a number at place i of a constant. */
static void put(void *to, int64_t i, uint64_t type, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float f;
    double d;

    switch (type) {
    case SP_ONNX_F32: memcpy((float *)to + i, &word, 4); return;
    case SP_ONNX_F16: ((float *)to)[i] = from_half((uint16_t)bits); return;
    case SP_ONNX_F64:
        memcpy(&d, &bits, 8);
        f = (float)d;
        ((float *)to)[i] = f;
        return;
    case SP_ONNX_I64: ((int64_t *)to)[i] = (int64_t)bits; return;
    case SP_ONNX_I32: ((int64_t *)to)[i] = (int32_t)word; return;
    case SP_ONNX_I8: ((int64_t *)to)[i] = (int8_t)bits; return;
    default: ((int64_t *)to)[i] = (uint8_t)bits; return;
    }
}

/* ---- the fields ---- */

static int take_dim(void *to, uint64_t v)
{
    sp_extent *s = to;

    if (s->dims == SP_GRAPH_DIMS || v > (uint64_t)INT64_MAX)
        return 0;
    s->dim[s->dims++] = (int64_t)v;
    return 1;
}

static int take_number(void *to, uint64_t v)
{
    tensor *t = to;

    if (t->to) {
        if (t->listed >= t->count)
            return 0;
        put(t->to, t->listed, t->type, v);
    }
    t->listed++;
    return 1;
}

/* Which field lists elements of this type, and how it stores one. */
static int list_of(uint64_t type, sp_wire_kind *kind)
{
    *kind = SP_WIRE_VARINT;
    switch (type) {
    case SP_ONNX_F32: *kind = SP_WIRE_FOUR; return 4;
    case SP_ONNX_F64: *kind = SP_WIRE_EIGHT; return 10;
    case SP_ONNX_I64: return 7;
    default: return 5;
    }
}

static spry_status take_external(tensor *t, const sp_field *f)
{
    const char *key = "", *value = "";
    sp_wire w = f->bytes;
    spry_status s = SPRY_OK;
    sp_field in;
    int more;

    while (s == SPRY_OK && (more = sp_wire_next(&w, &in)) != 0) {
        if (more < 0)
            return sp_onnx_damaged("external data");
        if (sp_onnx_at(&in, 1, SP_WIRE_BYTES))
            s = sp_onnx_text(&key, t->o, &in);
        else if (sp_onnx_at(&in, 2, SP_WIRE_BYTES))
            s = sp_onnx_text(&value, t->o, &in);
    }
    return s == SPRY_OK ? sp_external_key(&t->external, key, value) : s;
}

static spry_status take_field(tensor *t, sp_opvalue *v, const sp_field *f)
{
    switch (f->number) {
    case 1:
        return sp_wire_each(f, SP_WIRE_VARINT, take_dim, &t->shape)
                   ? SPRY_OK
                   : sp_fail(SPRY_INPUT,
                             "a tensor of more than %d dimensions, or of a "
                             "negative one",
                             SP_GRAPH_DIMS);
    case 2:
        t->type = f->value;
        return f->kind == SP_WIRE_VARINT ? SPRY_OK : sp_onnx_damaged("tensor");
    case 3: return sp_fail(SPRY_INPUT, "a tensor in segments");
    case 8: return sp_onnx_text(&v->name, t->o, f);
    case 9:
        if (f->kind != SP_WIRE_BYTES || t->raw.number)
            return sp_onnx_damaged("tensor");
        t->raw = *f;
        return SPRY_OK;
    case 13:
        return f->kind == SP_WIRE_BYTES ? take_external(t, f)
                                        : sp_onnx_damaged("tensor");
    case 14:
        if (f->kind != SP_WIRE_VARINT || f->value > 1)
            return sp_onnx_damaged("tensor's location");
        t->is_external = f->value == 1;
        return SPRY_OK;
    default: return SPRY_OK;
    }
}

/* Every number in the list of its type: counted, or put into t->to. */
static spry_status read_list(tensor *t, sp_wire w)
{
    sp_wire_kind kind;
    int list = list_of(t->type, &kind);
    sp_field f;

    t->listed = 0;
    while (sp_wire_next(&w, &f) > 0)
        if (f.number == (uint32_t)list &&
            !sp_wire_each(&f, kind, take_number, t))
            return sp_onnx_damaged("tensor");
    return t->listed == t->count
               ? SPRY_OK
               : sp_fail(SPRY_INPUT,
                         "a tensor has %lld elements where its shape asks for "
                         "%lld",
                         (long long)t->listed, (long long)t->count);
}

/* ---- the data ---- */

static void spread(void *to, const uint8_t *from, int64_t count, uint64_t type)
{
    int64_t size = size_of(type);

    for (int64_t i = 0; i < count; i++)
        put(to, i, type, little(from + i * size, size));
}

static int as_it_lies(const tensor *t, const uint8_t *at)
{
    const uint16_t one = 1;
    int64_t size = t->type == SP_ONNX_F32 ? 4 : t->type == SP_ONNX_I64 ? 8 : 0;

    return size && *(const uint8_t *)&one == 1 &&
           (uintptr_t)at % (uintptr_t)size == 0;
}

static spry_status room_for(void **out, tensor *t)
{
    *out = sp_pool_get(&t->o->g->pool, t->count ? t->count : 1,
                       t->whole ? sizeof(int64_t) : sizeof(float));
    return *out ? SPRY_OK : sp_fail_memory((size_t)t->count * 8);
}

static spry_status take_raw(sp_opvalue *v, tensor *t)
{
    const uint8_t *at = t->raw.bytes.at;
    spry_status s;
    void *to;

    if (t->raw.bytes.end - at != t->count * size_of(t->type))
        return sp_fail(SPRY_INPUT,
                       "a tensor has %lld bytes where its shape asks for %lld",
                       (long long)(t->raw.bytes.end - at),
                       (long long)(t->count * size_of(t->type)));
    if (as_it_lies(t, at)) {
        v->data = at;
        return SPRY_OK;
    }
    s = room_for(&to, t);
    if (s == SPRY_OK) {
        spread(to, at, t->count, t->type);
        v->data = to;
    }
    return s;
}

static spry_status take_outside(sp_opvalue *v, tensor *t)
{
    int64_t bytes = t->count * size_of(t->type);
    void *to, *raw;
    spry_status s;

    if (t->raw.number)
        return sp_fail(SPRY_INPUT, "a tensor with data inside and outside");
    /* Believed once the file is known to hold it. */
    s = sp_external_read(NULL, bytes, &t->external, t->o->folder);
    if (s == SPRY_OK)
        s = room_for(&to, t);
    if (s != SPRY_OK)
        return s;
    raw = sp_alloc_raw(bytes ? bytes : 1, 1);
    if (!raw)
        return sp_fail_memory((size_t)bytes);
    s = sp_external_read(raw, bytes, &t->external, t->o->folder);
    if (s == SPRY_OK)
        spread(to, raw, t->count, t->type);
    sp_free(raw);
    v->data = to;
    return s;
}

static spry_status take_data(sp_opvalue *v, tensor *t, sp_wire w)
{
    void *to = NULL;
    spry_status s;

    if (t->is_external)
        return take_outside(v, t);
    if (t->external.location)
        return sp_fail(SPRY_INPUT, "external data of a tensor that has none");
    if (t->raw.number)
        return take_raw(v, t);
    s = read_list(t, w); /* is there as much as the shape says? */
    if (s == SPRY_OK)
        s = room_for(&to, t);
    t->to = to;
    if (s == SPRY_OK)
        s = read_list(t, w);
    v->data = to;
    return s;
}

spry_status sp_onnx_tensor(sp_opvalue *v, sp_onnx *o, sp_wire w)
{
    tensor t = {.o = o, .external = {.length = -1}};
    sp_wire at = w;
    spry_status s = SPRY_OK;
    sp_field f;
    int more;

    v->name = "";
    v->maker = -1;
    while (s == SPRY_OK && (more = sp_wire_next(&at, &f)) != 0)
        s = more < 0 ? sp_onnx_damaged("tensor") : take_field(&t, v, &f);
    if (s == SPRY_OK)
        s = sp_extent_count(&t.count, &t.shape);
    if (s != SPRY_OK)
        return s;
    t.whole = sp_onnx_whole(t.type);
    if (t.whole < 0)
        return sp_fail(SPRY_INPUT,
                       "a tensor '%s' of type %llu, which is not "
                       "known",
                       v->name, (unsigned long long)t.type);
    v->whole = t.whole;
    v->shape = t.shape;
    v->count = t.count;
    v->known = 1;
    s = take_data(v, &t, w);
    return s;
}
