/* compose.h - operators that are others put together. */
#ifndef SP_COMPOSE_H
#define SP_COMPOSE_H

#include "graph/build.h"
#include "graph/opcodes.h"

/* Adds nodes, the last of which gives the operator's result; none where it is
 * to be computed as it is. */
typedef void sp_op_composition(sp_builder *b, const sp_call *c);
/* NULL: there is no other way than to compute it. */
sp_op_composition *sp_composition_of(const sp_opcode *op);

/* Of elements, channels and shapes (compose.c). */
sp_op_composition sp_compose_many, sp_compose_prelu, sp_compose_gelu,
    sp_compose_lrn, sp_compose_pad, sp_compose_instance_norm,
    sp_compose_group_norm, sp_compose_tile, sp_compose_depth_to_space,
    sp_compose_space_to_depth;
/* Windows over lines, and convolutions the other way round
 * (compose_window.c). */
sp_op_composition sp_compose_window, sp_compose_line, sp_compose_conv_transpose;
/* Images of another size (compose_resize.c). */
sp_op_composition sp_compose_resize;

/* The next node gives the result of the operator. */
static inline void sp_compose_last(sp_builder *b, const sp_call *c)
{
    sp_build_into(b, c->node->output[0]);
}

/* The first failure counts. */
void sp_compose_refuse(sp_builder *b, const sp_call *c, const char *why);

#endif
