/* onnx.h - what the files that read and write ONNX share. */
#ifndef SP_ONNX_H
#define SP_ONNX_H

#include "graph/internal.h"
#include "graph/wire.h"

/* Element types of TensorProto. */
enum {
    SP_ONNX_F32 = 1,
    SP_ONNX_U8 = 2,
    SP_ONNX_I8 = 3,
    SP_ONNX_I32 = 6,
    SP_ONNX_I64 = 7,
    SP_ONNX_TEXT = 8,
    SP_ONNX_BOOL = 9,
    SP_ONNX_F16 = 10,
    SP_ONNX_F64 = 11
};

/* One file on its way into a graph. */
typedef struct {
    spry_graph *g;
    int folder;                    /* of the model, opened; -1: it has none */
    const spry_graph_value *given; /* of the input at hand; NULL: none */
} sp_onnx;

/* The text of a field, as a name: zero-terminated, UTF-8, not too long. */
spry_status sp_onnx_text(const char **out, sp_onnx *o, const sp_field *f);
spry_status sp_onnx_damaged(const char *what);
/* Is f of this number and kind? */
int sp_onnx_at(const sp_field *f, uint32_t number, sp_wire_kind kind);

/* 1 when elements of this type are whole numbers, 0 when they are reals, -1
 * when the type is not known. */
int sp_onnx_whole(uint64_t type);

/* A TensorProto into a constant; its name into v->name, which may be "". */
spry_status sp_onnx_tensor(sp_opvalue *v, sp_onnx *o, sp_wire w);
/* An AttributeProto of node n. */
spry_status sp_onnx_attr(sp_attr *a, sp_onnx *o, sp_wire w);

/* Where a tensor's bytes lie outside of the model. */
typedef struct {
    const char *location;
    int64_t offset, length; /* length -1: to be known by the shape */
} sp_external;
spry_status sp_external_key(sp_external *e, const char *key, const char *value);
/* `bytes` of it into to. */
spry_status sp_external_read(void *to, int64_t bytes, const sp_external *e,
                             int folder);

/* A model in memory, which must outlive g. */
spry_status sp_onnx_parse(spry_graph *g, const void *data, size_t len,
                          int folder);

#endif
