/* opcodes.h - the functions of the table of operators, by file. */
#ifndef SP_OPCODES_H
#define SP_OPCODES_H

#include "graph/internal.h"

/* So few elements are computed by one thread: others would have to be woken. */
enum { SP_SERIAL = 1 << 14 };

/* ---- windows over images: Conv and pools (op_window.c) ---- */

typedef struct {
    int64_t kernel[2], stride[2], dilate[2];
    int64_t pad[4]; /* top, left, bottom, right */
    int64_t in[2], out[2];
} sp_window;

/* From the attributes of a node over images [n][c][h][w]; kernel {0, 0}: as
 * kernel_shape says. */
spry_status sp_window_of(sp_window *w, const sp_opnode *n, const sp_extent *in,
                         const int64_t kernel[2]);

/* ---- shapes (op_shape.c) ---- */

/* The shape that both are repeated to; 0: there is none. */
int sp_broadcast(sp_extent *out, const sp_extent *a, const sp_extent *b);
/* Distances in a repeated to `out`: 0 along what is repeated. */
void sp_broadcast_steps(int64_t step[SP_GRAPH_DIMS], const sp_extent *a,
                        const sp_extent *out);
/* Elements before, and from, an axis on. */
void sp_op_around(int64_t *outer, int64_t *inner, const sp_extent *s, int axis);
/* `axis` counted from the front; SPRY_INPUT when there is no such one. */
spry_status sp_op_axis(int *out, const sp_opnode *n, int64_t axis, int dims);
/* Whole numbers of input i, which must be constant, or of an attribute when
 * the opset keeps them there; -1: left out. */
enum { SP_LIST = 64 };
typedef struct {
    int count; /* -1: not given */
    int64_t at[SP_LIST];
} sp_whole_list;
spry_status sp_list_input(sp_whole_list *out, const sp_call *c, int input,
                          const char *what);
spry_status sp_list_attr(sp_whole_list *out, const sp_call *c,
                         const char *name);
/* Which axes a reduction runs over, as bits. */
spry_status sp_op_axes(unsigned *out, const sp_call *c, int in_input);

/* ---- parts and borders (op_move.c, op_pad.c) ---- */

/* Of every axis of a Slice: where to begin, in which steps, how many. */
typedef struct {
    int64_t start[SP_GRAPH_DIMS], step[SP_GRAPH_DIMS], len[SP_GRAPH_DIMS];
} sp_sliced;
spry_status sp_sliced_of(sp_sliced *p, const sp_call *c);

typedef enum { SP_PAD_VALUE, SP_PAD_REFLECT, SP_PAD_EDGE } sp_pad_mode;
typedef struct {
    sp_pad_mode mode;
    double value;
    int64_t before[SP_GRAPH_DIMS], behind[SP_GRAPH_DIMS];
} sp_padding;
spry_status sp_padding_of(sp_padding *p, const sp_call *c);

typedef spry_status sp_op_function(sp_call *c);
sp_op_function sp_conv_infer, sp_conv_compute, sp_pool_infer, sp_pool_compute,
    sp_global_infer, sp_global_compute, sp_matmul_infer, sp_matmul_compute,
    sp_gemm_infer, sp_gemm_compute, sp_norm_infer, sp_batchnorm_compute,
    sp_layernorm_compute, sp_softmax_infer, sp_softmax_compute, sp_reduce_infer,
    sp_reduce_compute, sp_same_infer, sp_unary_compute, sp_binary_infer,
    sp_binary_compute, sp_clip_compute, sp_where_infer, sp_where_compute,
    sp_reshape_infer, sp_flatten_infer, sp_transpose_infer,
    sp_transpose_compute, sp_squeeze_infer, sp_unsqueeze_infer, sp_concat_infer,
    sp_concat_compute, sp_split_infer, sp_split_compute, sp_slice_infer,
    sp_slice_compute, sp_gather_infer, sp_gather_compute, sp_expand_infer,
    sp_expand_compute, sp_pad_infer, sp_pad_compute, sp_copy_compute,
    sp_cast_infer, sp_cast_compute, sp_shape_infer, sp_shape_compute,
    sp_constant_infer, sp_constant_compute, sp_fill_infer, sp_fill_compute,
    sp_dropout_infer, sp_composed_infer, sp_range_infer, sp_range_compute,
    sp_trilu_infer, sp_trilu_compute, sp_arg_infer, sp_arg_compute;

#endif
