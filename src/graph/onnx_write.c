/* onnx_write.c - a graph as a model of ONNX.
 *
 * A message stands behind its length, so everything is put twice: the first
 * time it is only counted. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx.h"

typedef struct {
    FILE *f; /* NULL: counting */
    uint64_t count;
    const spry_graph *g;
} sink;

typedef void emitter(sink *s, const void *what);

static void put_bytes(sink *s, const void *data, size_t n)
{
    s->count += n;
    if (s->f && n)
        fwrite(data, 1, n, s->f);
}

static void put_varint(sink *s, uint64_t v)
{
    do {
        uint8_t b = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

        put_bytes(s, &b, 1);
        v >>= 7;
    } while (v);
}

static void put_key(sink *s, unsigned field, sp_wire_kind kind)
{
    put_varint(s, (uint64_t)field << 3 | kind);
}

static void put_int(sink *s, unsigned field, int64_t v)
{
    put_key(s, field, SP_WIRE_VARINT);
    put_varint(s, (uint64_t)v);
}

static void put_text(sink *s, unsigned field, const char *text)
{
    put_key(s, field, SP_WIRE_BYTES);
    put_varint(s, strlen(text));
    put_bytes(s, text, strlen(text));
}

static void put_message(sink *s, unsigned field, emitter *emit,
                        const void *what)
{
    sink counter = {NULL, 0, s->g};

    emit(&counter, what);
    put_key(s, field, SP_WIRE_BYTES);
    put_varint(s, counter.count);
    emit(s, what);
}

static void put_little(sink *s, const void *data, int64_t count, size_t size)
{
    const uint16_t one = 1;

    if (!s->f || *(const uint8_t *)&one == 1) {
        put_bytes(s, data, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (size_t b = size; b-- > 0;)
            put_bytes(s, (const char *)data + (size_t)i * size + b, 1);
}

/* ---- tensors ---- */

static void emit_tensor(sink *s, const void *what)
{
    const sp_opvalue *v = what;
    size_t size = v->whole ? 8 : 4;

    for (int i = 0; i < v->shape.dims; i++)
        put_int(s, 1, v->shape.dim[i]);
    put_int(s, 2, v->whole ? SP_ONNX_I64 : SP_ONNX_F32);
    if (*v->name)
        put_text(s, 8, v->name);
    put_key(s, 9, SP_WIRE_BYTES);
    put_varint(s, (uint64_t)v->count * size);
    put_little(s, v->data, v->count, size);
}

static void emit_dim(sink *s, const void *what)
{
    put_int(s, 1, *(const int64_t *)what);
}

static void emit_shape(sink *s, const void *what)
{
    const sp_opvalue *v = what;

    for (int i = 0; i < v->shape.dims; i++)
        put_message(s, 1, emit_dim, &v->shape.dim[i]);
}

static void emit_tensor_type(sink *s, const void *what)
{
    const sp_opvalue *v = what;

    put_int(s, 1, v->whole ? SP_ONNX_I64 : SP_ONNX_F32);
    put_message(s, 2, emit_shape, v);
}

static void emit_type(sink *s, const void *what)
{
    put_message(s, 1, emit_tensor_type, what);
}

static void emit_info(sink *s, const void *what)
{
    put_text(s, 1, ((const sp_opvalue *)what)->name);
    put_message(s, 2, emit_type, what);
}

/* ---- nodes ---- */

static void emit_attr(sink *s, const void *what)
{
    const sp_attr *a = what;
    float f = (float)a->real;

    put_text(s, 1, a->name);
    if (a->kind == SP_ATTR_REAL) {
        put_key(s, 2, SP_WIRE_FOUR);
        put_little(s, &f, 1, sizeof f);
    } else if (a->kind == SP_ATTR_INT)
        put_int(s, 3, a->whole);
    else if (a->kind == SP_ATTR_TEXT)
        put_text(s, 4, a->text);
    else if (a->kind == SP_ATTR_TENSOR)
        put_message(s, 5, emit_tensor, a->tensor);
    for (int i = 0; i < a->count; i++)
        if (a->kind == SP_ATTR_INTS)
            put_int(s, 8, a->ints[i]);
        else {
            f = (float)a->reals[i];
            put_key(s, 7, SP_WIRE_FOUR);
            put_little(s, &f, 1, sizeof f);
        }
    put_int(s, 20, a->kind);
}

static void emit_node(sink *s, const void *what)
{
    const sp_opnode *n = what;

    for (int i = 0; i < n->inputs; i++)
        put_text(s, 1, n->input[i] < 0 ? "" : s->g->value[n->input[i]].name);
    for (int i = 0; i < n->outputs; i++)
        put_text(s, 2, n->output[i] < 0 ? "" : s->g->value[n->output[i]].name);
    put_text(s, 3, n->name);
    put_text(s, 4, n->op->name);
    for (int i = 0; i < n->attrs; i++)
        put_message(s, 5, emit_attr, &n->attr[i]);
}

/* ---- the whole ---- */

/* Does a node read the value, or is it a result? `used` was filled in. */
static void emit_graph(sink *s, const void *what)
{
    const spry_graph *g = s->g;
    const char *used = what;

    for (int i = 0; i < g->nodes; i++)
        put_message(s, 1, emit_node, &g->node[i]);
    put_text(s, 2, "spry");
    for (int i = 0; i < g->values; i++)
        if (used[i] && g->value[i].data)
            put_message(s, 5, emit_tensor, &g->value[i]);
    for (int i = 0; i < g->inputs; i++)
        put_message(s, 11, emit_info, &g->value[g->input[i]]);
    for (int i = 0; i < g->outputs; i++)
        put_message(s, 12, emit_info, &g->value[g->output[i]]);
}

static void emit_opset(sink *s, const void *what)
{
    (void)what;
    put_text(s, 1, "");
    put_int(s, 2, s->g->opset);
}

static spry_status write_to(const spry_graph *g, const char *path,
                            const char *used)
{
    sp_writer w;
    spry_status s = sp_writer_open(&w, path);
    sink to = {NULL, 0, g};
    int good;

    if (s != SPRY_OK)
        return s;
    to.f = w.f;
    put_int(&to, 1, 7);
    put_text(&to, 2, "spry");
    put_message(&to, 8, emit_opset, NULL);
    put_message(&to, 7, emit_graph, used);
    good = !ferror(w.f);
    s = sp_writer_close(&w, good);
    return good ? s : sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
}

spry_status spry_graph_write(const spry_graph *g, const char *path)
{
    char *used;
    spry_status s;

    if (!g || !path)
        return sp_fail(SPRY_USAGE, "a graph or a path is NULL");
    used = sp_alloc(g->values + 1, 1);
    if (!used)
        return sp_fail_memory((size_t)g->values + 1);
    for (int i = 0; i < g->nodes; i++)
        for (int k = 0; k < g->node[i].inputs; k++)
            if (g->node[i].input[k] >= 0)
                used[g->node[i].input[k]] = 1;
    for (int i = 0; i < g->outputs; i++)
        used[g->output[i]] = 1;
    s = write_to(g, path, used);
    sp_free(used);
    return s;
}
