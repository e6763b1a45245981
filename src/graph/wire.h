/* wire.h - the wire format of protocol buffers, read in place. */
#ifndef SP_WIRE_H
#define SP_WIRE_H

#include <stdint.h>

typedef struct {
    const uint8_t *at, *end;
} sp_wire;

typedef enum {
    SP_WIRE_VARINT = 0,
    SP_WIRE_EIGHT = 1,
    SP_WIRE_BYTES = 2,
    SP_WIRE_FOUR = 5
} sp_wire_kind;

typedef struct {
    uint32_t number;
    sp_wire_kind kind;
    uint64_t value; /* of all kinds but bytes */
    sp_wire bytes;
} sp_field;

/* The next field; 0 at the end, -1 when what follows is not one. */
int sp_wire_next(sp_wire *w, sp_field *f);

/* A repeated number may come one by one or packed: take all of f, calling
 * take for each; 0 when it is damaged or take says so. `kind` is that of one
 * element. */
typedef int sp_wire_take(void *to, uint64_t value);
int sp_wire_each(const sp_field *f, sp_wire_kind kind, sp_wire_take *take,
                 void *to);

#endif
