/* onnx_attr.c - ONNX's attributes: a name with one value of a few types. */
#include "graph/onnx.h"

#include <string.h>

enum { LIST = 4096 }; /* of numbers */

/* A list on its way: the first time counted, then filled. */
typedef struct {
    int count;
    int64_t *ints;
    double *reals;
} list;

static double real_of(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float f;

    memcpy(&f, &word, sizeof f);
    return (double)f;
}

static int take_int(void *to, uint64_t v)
{
    list *l = to;

    if (l->count == LIST)
        return 0;
    if (l->ints)
        l->ints[l->count] = (int64_t)v;
    l->count++;
    return 1;
}

static int take_real(void *to, uint64_t v)
{
    list *l = to;

    if (l->count == LIST)
        return 0;
    if (l->reals)
        l->reals[l->count] = real_of(v);
    l->count++;
    return 1;
}

/* Numbers of field 7 (reals) or 8 (ints). */
static int walk(list *l, sp_wire w, int ints)
{
    sp_field f;

    l->count = 0;
    while (sp_wire_next(&w, &f) > 0)
        if (f.number == (ints ? 8 : 7) &&
            !sp_wire_each(&f, ints ? SP_WIRE_VARINT : SP_WIRE_FOUR,
                          ints ? take_int : take_real, l))
            return 0;
    return 1;
}

static spry_status take_list(sp_attr *a, sp_onnx *o, sp_wire w)
{
    int ints = a->kind == SP_ATTR_INTS;
    list l = {0};

    if (!walk(&l, w, ints))
        return sp_onnx_damaged("list of an attribute");
    if (ints)
        l.ints = sp_pool_get(&o->g->pool, l.count, sizeof *l.ints);
    else
        l.reals = sp_pool_get(&o->g->pool, l.count, sizeof *l.reals);
    if (!l.ints && !l.reals)
        return sp_fail_memory((size_t)l.count * 8);
    walk(&l, w, ints);
    a->count = l.count;
    a->ints = l.ints;
    a->reals = l.reals;
    return SPRY_OK;
}

static spry_status take_tensor(sp_attr *a, sp_onnx *o, const sp_field *f)
{
    if (f->kind != SP_WIRE_BYTES || a->tensor)
        return sp_onnx_damaged("attribute");
    a->tensor = sp_pool_get(&o->g->pool, 1, sizeof *a->tensor);
    return a->tensor ? sp_onnx_tensor(a->tensor, o, f->bytes)
                     : sp_fail_memory(sizeof *a->tensor);
}

static spry_status take_field(sp_attr *a, sp_onnx *o, const sp_field *f,
                              uint64_t *kind)
{
    switch (f->number) {
    case 1: return sp_onnx_text(&a->name, o, f);
    case 2: a->real = real_of(f->value); return SPRY_OK;
    case 3: a->whole = (int64_t)f->value; return SPRY_OK;
    case 4: return sp_onnx_text(&a->text, o, f);
    case 5: return take_tensor(a, o, f);
    case 6:
    case 11:
        return sp_fail(SPRY_INPUT,
                       "an attribute holds a graph; graphs within graphs are "
                       "not read");
    case 20: *kind = f->value; return SPRY_OK;
    default: return SPRY_OK;
    }
}

/* Old files leave the type out: it is that of what is there. */
static uint64_t guess(sp_wire w)
{
    static const uint8_t kinds[] = {0,
                                    0,
                                    SP_ATTR_REAL,
                                    SP_ATTR_INT,
                                    SP_ATTR_TEXT,
                                    SP_ATTR_TENSOR,
                                    0,
                                    SP_ATTR_REALS,
                                    SP_ATTR_INTS};
    uint64_t kind = 0;
    sp_field f;

    while (sp_wire_next(&w, &f) > 0)
        if (f.number < sizeof kinds && kinds[f.number])
            kind = kinds[f.number];
    return kind;
}

spry_status sp_onnx_attr(sp_attr *a, sp_onnx *o, sp_wire w)
{
    sp_wire at = w;
    spry_status s = SPRY_OK;
    uint64_t kind = 0;
    sp_field f;
    int more;

    a->name = a->text = "";
    while (s == SPRY_OK && (more = sp_wire_next(&at, &f)) != 0)
        s = more < 0 ? sp_onnx_damaged("attribute")
                     : take_field(a, o, &f, &kind);
    if (s != SPRY_OK)
        return s;
    if (!*a->name)
        return sp_fail(SPRY_INPUT, "an attribute without a name");
    kind = kind ? kind : guess(w);
    if (kind < SP_ATTR_REAL || kind > SP_ATTR_INTS || kind == 5 ||
        (kind == SP_ATTR_TENSOR && !a->tensor))
        return sp_fail(SPRY_INPUT,
                       "the attribute %s is of type %llu, which is not known",
                       a->name, (unsigned long long)kind);
    a->kind = (sp_attr_kind)kind;
    return a->kind >= SP_ATTR_REALS ? take_list(a, o, w) : SPRY_OK;
}
