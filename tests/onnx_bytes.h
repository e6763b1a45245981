/* onnx_bytes.h - models of ONNX written by hand, right ones and others. */
#ifndef SPRY_ONNX_BYTES_H
#define SPRY_ONNX_BYTES_H

#include <stdint.h>
#include <string.h>

#include "base/base.h"

static inline void pb_varint(sp_buf *b, uint64_t v)
{
    do {
        uint8_t byte = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

        sp_buf_bytes(b, &byte, 1);
        v >>= 7;
    } while (v);
}

static inline void pb_int(sp_buf *b, unsigned field, uint64_t v)
{
    pb_varint(b, field << 3);
    pb_varint(b, v);
}

static inline void pb_bytes(sp_buf *b, unsigned field, const void *data,
                            size_t n)
{
    pb_varint(b, field << 3 | 2);
    pb_varint(b, n);
    sp_buf_bytes(b, data, n);
}

static inline void pb_text(sp_buf *b, unsigned field, const char *text)
{
    pb_bytes(b, field, text, strlen(text));
}

/* inside becomes a field of b and is freed. */
static inline void pb_message(sp_buf *b, unsigned field, sp_buf *inside)
{
    pb_bytes(b, field, inside->data ? inside->data : "", inside->len);
    sp_buf_free(inside);
    *inside = (sp_buf){0};
}

/* A ValueInfoProto of floats (type 1) of this shape. */
static inline void pb_info(sp_buf *graph, unsigned field, const char *name,
                           uint64_t type, int dims, const int64_t *dim)
{
    sp_buf shape = {0}, tensor = {0}, kind = {0}, info = {0};

    for (int i = 0; i < dims; i++) {
        sp_buf d = {0};

        pb_int(&d, 1, (uint64_t)dim[i]);
        pb_message(&shape, 1, &d);
    }
    pb_int(&tensor, 1, type);
    pb_message(&tensor, 2, &shape);
    pb_message(&kind, 1, &tensor);
    pb_text(&info, 1, name);
    pb_message(&info, 2, &kind);
    pb_message(graph, field, &info);
}

/* A NodeProto of one output; inputs are words. `more` is appended. */
static inline void pb_node(sp_buf *graph, const char *op, const char *inputs,
                           const char *output, sp_buf *more)
{
    sp_buf n = {0};

    while (*inputs) {
        size_t len = strcspn(inputs, " ");

        pb_bytes(&n, 1, inputs, len);
        inputs += len + (inputs[len] == ' ');
    }
    pb_text(&n, 2, output);
    pb_text(&n, 4, op);
    if (more) {
        sp_buf_bytes(&n, more->data, more->len);
        sp_buf_free(more);
        *more = (sp_buf){0};
    }
    pb_message(graph, 1, &n);
}

/* An attribute of a node: a list of whole numbers. */
static inline void pb_list(sp_buf *node, const char *name, int count,
                           const int64_t *list)
{
    sp_buf a = {0};

    pb_text(&a, 1, name);
    for (int i = 0; i < count; i++)
        pb_int(&a, 8, (uint64_t)list[i]);
    pb_int(&a, 20, 7);
    pb_message(node, 5, &a);
}

/* One whole number. */
static inline void pb_whole(sp_buf *node, const char *name, int64_t x)
{
    sp_buf a = {0};

    pb_text(&a, 1, name);
    pb_int(&a, 3, (uint64_t)x);
    pb_int(&a, 20, 2);
    pb_message(node, 5, &a);
}

/* One real; bytes as on all machines that spry runs on. */
static inline void pb_real(sp_buf *node, const char *name, float x)
{
    sp_buf a = {0};

    pb_text(&a, 1, name);
    pb_varint(&a, 2 << 3 | 5);
    sp_buf_bytes(&a, &x, sizeof x);
    pb_int(&a, 20, 1);
    pb_message(node, 5, &a);
}

/* One word. */
static inline void pb_word(sp_buf *node, const char *name, const char *text)
{
    sp_buf a = {0};

    pb_text(&a, 1, name);
    pb_text(&a, 4, text);
    pb_int(&a, 20, 3);
    pb_message(node, 5, &a);
}

/* A TensorProto with raw data. */
static inline void pb_tensor(sp_buf *to, unsigned field, const char *name,
                             uint64_t type, int dims, const int64_t *dim,
                             const void *data, size_t n)
{
    sp_buf t = {0};

    for (int i = 0; i < dims; i++)
        pb_int(&t, 1, (uint64_t)dim[i]);
    pb_int(&t, 2, type);
    pb_text(&t, 8, name);
    pb_bytes(&t, 9, data, n);
    pb_message(to, field, &t);
}

/* The model around a graph, which is freed. */
static inline void pb_model(sp_buf *out, sp_buf *graph, uint64_t opset)
{
    sp_buf o = {0};

    pb_int(out, 1, 7);
    pb_text(&o, 1, "");
    pb_int(&o, 2, opset);
    pb_message(out, 8, &o);
    pb_message(out, 7, graph);
}

#endif
