/* opcodes.c - the operators that are known, a line each. */
#include "graph/opcodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ANY = SP_GRAPH_INPUTS };

#define REDUCTION "axes/I keepdims/i noop_with_empty_axes/i "
#define WINDOW    "auto_pad/s dilations/I kernel_shape/I pads/I strides/I "

static const sp_opcode table[] = {
    /* name, inputs at least, at most, outputs, attributes */
    {"Conv", 2, 3, 1, WINDOW "group/i ", sp_conv_infer, sp_conv_compute},
    {"Gemm", 2, 3, 1, "alpha/f beta/f transA/i transB/i ", sp_gemm_infer,
     sp_gemm_compute},
    {"MatMul", 2, 2, 1, "", sp_matmul_infer, sp_matmul_compute},
    {"MaxPool", 1, 1, 1, WINDOW "ceil_mode/i storage_order/i ", sp_pool_infer,
     sp_pool_compute},
    {"AveragePool", 1, 1, 1, WINDOW "ceil_mode/i count_include_pad/i ",
     sp_pool_infer, sp_pool_compute},
    {"GlobalAveragePool", 1, 1, 1, "", sp_global_infer, sp_global_compute},
    {"GlobalMaxPool", 1, 1, 1, "", sp_global_infer, sp_global_compute},
    {"BatchNormalization", 5, 5, 1,
     "epsilon/f momentum/f spatial/i training_mode/i ", sp_norm_infer,
     sp_batchnorm_compute},
    {"LayerNormalization", 2, 3, 1, "axis/i epsilon/f stash_type/i ",
     sp_norm_infer, sp_layernorm_compute},
    {"Softmax", 1, 1, 1, "axis/i ", sp_softmax_infer, sp_softmax_compute},
    {"LogSoftmax", 1, 1, 1, "axis/i ", sp_softmax_infer, sp_softmax_compute},
    {"ReduceMean", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceSum", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceMax", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceMin", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceProd", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceL1", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceL2", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceSumSquare", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceLogSum", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ReduceLogSumExp", 1, 2, 1, REDUCTION, sp_reduce_infer, sp_reduce_compute},
    {"ArgMax", 1, 1, 1, "axis/i keepdims/i select_last_index/i ", sp_arg_infer,
     sp_arg_compute},
    {"ArgMin", 1, 1, 1, "axis/i keepdims/i select_last_index/i ", sp_arg_infer,
     sp_arg_compute},

    {"Relu", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"LeakyRelu", 1, 1, 1, "alpha/f ", sp_same_infer, sp_unary_compute},
    {"Sigmoid", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"HardSigmoid", 1, 1, 1, "alpha/f beta/f ", sp_same_infer,
     sp_unary_compute},
    {"HardSwish", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Tanh", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Erf", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Gelu", 1, 1, 1, "approximate/s ", sp_same_infer, sp_unary_compute},
    {"Exp", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Log", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Sqrt", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Neg", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Abs", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Reciprocal", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Floor", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Ceil", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Round", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Sign", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Sin", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Cos", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Not", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Elu", 1, 1, 1, "alpha/f ", sp_same_infer, sp_unary_compute},
    {"Celu", 1, 1, 1, "alpha/f ", sp_same_infer, sp_unary_compute},
    {"Selu", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Softplus", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Softsign", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"Mish", 1, 1, 1, "", sp_same_infer, sp_unary_compute},
    {"ThresholdedRelu", 1, 1, 1, "alpha/f ", sp_same_infer, sp_unary_compute},
    {"Clip", 1, 3, 1, "min/f max/f ", sp_same_infer, sp_clip_compute},

    {"Add", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Sub", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Mul", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Div", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Pow", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Max", 1, ANY, 1, "", sp_binary_infer, sp_binary_compute},
    {"Min", 1, ANY, 1, "", sp_binary_infer, sp_binary_compute},
    {"Equal", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Mod", 2, 2, 1, "fmod/i ", sp_binary_infer, sp_binary_compute},
    {"Less", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"LessOrEqual", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Greater", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"GreaterOrEqual", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"And", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Or", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Xor", 2, 2, 1, "", sp_binary_infer, sp_binary_compute},
    {"Where", 3, 3, 1, "", sp_where_infer, sp_where_compute},

    {"Reshape", 2, 2, 1, "allowzero/i ", sp_reshape_infer, sp_copy_compute},
    {"Flatten", 1, 1, 1, "axis/i ", sp_flatten_infer, sp_copy_compute},
    {"Transpose", 1, 1, 1, "perm/I ", sp_transpose_infer, sp_transpose_compute},
    {"Squeeze", 1, 2, 1, "axes/I ", sp_squeeze_infer, sp_copy_compute},
    {"Unsqueeze", 1, 2, 1, "axes/I ", sp_unsqueeze_infer, sp_copy_compute},
    {"Concat", 1, ANY, 1, "axis/i ", sp_concat_infer, sp_concat_compute},
    {"Split", 1, 2, ANY, "axis/i split/I num_outputs/i ", sp_split_infer,
     sp_split_compute},
    {"Slice", 1, 5, 1, "axes/I starts/I ends/I ", sp_slice_infer,
     sp_slice_compute},
    {"Gather", 2, 2, 1, "axis/i ", sp_gather_infer, sp_gather_compute},
    {"Expand", 2, 2, 1, "", sp_expand_infer, sp_expand_compute},
    {"Pad", 1, 4, 1, "mode/s pads/I value/f ", sp_pad_infer, sp_pad_compute},
    {"Identity", 1, 1, 1, "", sp_same_infer, sp_copy_compute},
    {"Dropout", 1, 3, 1, "ratio/f seed/i is_test/i ", sp_dropout_infer,
     sp_copy_compute},
    {"Cast", 1, 1, 1, "to/i saturate/i ", sp_cast_infer, sp_cast_compute},
    {"Shape", 1, 1, 1, "start/i end/i ", sp_shape_infer, sp_shape_compute},
    {"Constant", 0, 0, 1,
     "value/t value_float/f value_floats/F value_int/i value_ints/I ",
     sp_constant_infer, sp_constant_compute},
    {"ConstantOfShape", 1, 1, 1, "value/t ", sp_fill_infer, sp_fill_compute},
    {"Range", 3, 3, 1, "", sp_range_infer, sp_range_compute},
    {"Trilu", 1, 2, 1, "upper/i ", sp_trilu_infer, sp_trilu_compute},

    /* Of others put together (compose*.c). */
    {"Sum", 1, ANY, 1, "", sp_composed_infer, NULL},
    {"Mean", 1, ANY, 1, "", sp_composed_infer, NULL},
    {"PRelu", 2, 2, 1, "", sp_composed_infer, NULL},
    {"LRN", 1, 1, 1, "alpha/f beta/f bias/f size/i ", sp_composed_infer, NULL},
    {"InstanceNormalization", 3, 3, 1, "epsilon/f ", sp_composed_infer, NULL},
    {"GroupNormalization", 3, 3, 1, "epsilon/f num_groups/i stash_type/i ",
     sp_composed_infer, NULL},
    {"ConvTranspose", 2, 3, 1,
     WINDOW "group/i output_padding/I output_shape/I ", sp_composed_infer,
     NULL},
    {"Resize", 1, 4, 1,
     "antialias/i axes/I coordinate_transformation_mode/s cubic_coeff_a/f "
     "exclude_outside/i extrapolation_value/f keep_aspect_ratio_policy/s "
     "mode/s nearest_mode/s ",
     sp_composed_infer, NULL},
    {"Upsample", 1, 2, 1, "mode/s scales/F ", sp_composed_infer, NULL},
    {"Tile", 2, 2, 1, "", sp_composed_infer, NULL},
    {"DepthToSpace", 1, 1, 1, "blocksize/i mode/s ", sp_composed_infer, NULL},
    {"SpaceToDepth", 1, 1, 1, "blocksize/i ", sp_composed_infer, NULL}};

const sp_opcode *sp_opcode_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const char *sp_node_text(const sp_opnode *n)
{
    static _Thread_local char text[256];

    snprintf(text, sizeof text, *n->name ? "%s '%.180s'" : "%s", n->op->name,
             n->name);
    return text;
}

spry_status sp_refuse(const sp_opnode *n, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return sp_fail(SPRY_INPUT, "%s: %s", sp_node_text(n), text);
}

static int64_t product(const sp_extent *s, int from)
{
    int64_t p = 1;

    for (int i = from; i < s->dims; i++)
        p *= s->dim[i];
    return p;
}

int64_t sp_node_macs(const spry_graph *g, const sp_opnode *n)
{
    const sp_opvalue *b, *out = &g->value[n->output[0] < 0 ? 0 : n->output[0]];

    if (n->inputs < 2 || n->input[0] < 0 || n->input[1] < 0)
        return 0;
    b = &g->value[n->input[1]];
    if (strcmp(n->op->name, "Conv") == 0)
        return out->count * product(&b->shape, 1);
    if (strcmp(n->op->name, "MatMul") == 0) {
        const sp_extent *a = &g->value[n->input[0]].shape;

        return a->dims ? out->count * a->dim[a->dims - 1] : 0;
    }
    if (strcmp(n->op->name, "Gemm") == 0 && b->shape.dims == 2)
        return out->count * b->shape.dim[sp_attr_int(n, "transB", 0) ? 1 : 0];
    return 0;
}
