/* operator.h - operators of dense networks: their kinds and sizes.
 *
 * All tensors are f32. Images are stored as [n][h][w][c], channels contiguous.
 * The operators compute
 *
 *   conv2d       out[n][p][q][k] = finish(sum over r, s and the channels of
 *                k's group of in[n][p sh + r dh - top][q sw + s dw - left][c]
 *                weight[k][c][r][s]); pixels outside of the image are 0.
 *                groups = c = k is a depthwise convolution.
 *   matmul       out[b][m][n] = finish(sum over k of in[b][m][k] B[b][k][n])
 *   pool         maximum or mean of a window, per channel
 *   softmax      of every row of in[batch m][n] scale + add
 *   layernorm    of every row of in[batch m][n] + add; weight, bias: [n]
 *   reduce       every row of in[batch m][n] to one number
 *   elementwise  every number of in[batch][m][n] through a chain of steps
 *
 * where finish(x) = act(x + bias[channel] + add[..]), each if there is one. */
#ifndef SPRY_OPERATOR_H
#define SPRY_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    SPRY_CONV2D,
    SPRY_MATMUL,
    SPRY_POOL,
    SPRY_SOFTMAX,
    SPRY_LAYERNORM,
    SPRY_REDUCE,
    SPRY_ELEMENTWISE
} spry_operator_kind;
enum { SPRY_OPERATOR_KINDS = 7 };

/* Activations; a and b are spry_operator's alpha and beta. */
typedef enum {
    SPRY_ACT_NONE,
    SPRY_ACT_RELU,     /* max(x, 0) */
    SPRY_ACT_CLIP,     /* min(max(x, a), b) */
    SPRY_ACT_LEAKY,    /* x < 0 ? a x : x */
    SPRY_ACT_HSIGMOID, /* min(max(a x + b, 0), 1) */
    SPRY_ACT_HSWISH,   /* x min(max(x / 6 + 1 / 2, 0), 1) */
    SPRY_ACT_SIGMOID,  /* 1 / (1 + exp(-x)) */
    SPRY_ACT_SILU,     /* x / (1 + exp(-x)) */
    SPRY_ACT_TANH,
    SPRY_ACT_GELU, /* x (1 + erf(x / sqrt(2))) / 2 */
    SPRY_ACT_EXP,
    SPRY_ACT_SQRT
} spry_act;
enum { SPRY_ACTS = 12 };

/* How a second tensor is added to the result. */
typedef enum {
    SPRY_ADD_NONE,
    SPRY_ADD_BEFORE, /* shaped as the result, before the activation */
    SPRY_ADD_AFTER,  /* the same, after the activation */
    SPRY_ADD_ROW     /* [n], to every row of softmax */
} spry_add;

/* How pool and reduce combine numbers. */
typedef enum { SPRY_BY_MAX, SPRY_BY_MEAN, SPRY_BY_SUM } spry_by;

/* A step of an elementwise chain: x becomes x OP y. */
typedef enum {
    SPRY_STEP_ADD,
    SPRY_STEP_SUB,
    SPRY_STEP_MUL,
    SPRY_STEP_DIV,
    SPRY_STEP_MAX,
    SPRY_STEP_MIN,
    SPRY_STEP_ACT /* x becomes act(x) */
} spry_step_op;

/* What y is: a number, or the next of spry_tensors' `more`. */
typedef enum {
    SPRY_WITH_VALUE,  /* `value` */
    SPRY_WITH_SAME,   /* [batch][m][n] */
    SPRY_WITH_ROW,    /* [n], the same for every row */
    SPRY_WITH_COLUMN, /* [batch][m], the same for a whole row */
    SPRY_WITH_IMAGE   /* [batch][n], the same for the m rows of a batch */
} spry_with;

typedef struct {
    spry_step_op op;
    spry_with with;
    spry_act act; /* of SPRY_STEP_ACT, with alpha and beta */
    float value, alpha, beta;
} spry_step;
enum { SPRY_STEPS = 6 };

/* An operator. Begin with spry_operator_init, then set what differs. */
typedef struct {
    size_t size; /* sizeof (spry_operator) */
    spry_operator_kind kind;

    int64_t n, k;    /* conv2d, pool: images, output channels;
                        matmul: columns of the result, terms of a sum;
                        the others: n numbers to a row */
    int64_t h, w, c; /* of an input image */
    int64_t r, s;    /* rows and columns of the filter or window */
    int64_t stride_h, stride_w, dilate_h, dilate_w, groups;
    int64_t pad_top, pad_left, pad_bottom, pad_right;
    int64_t batch, m; /* matmul: products, rows; the others: batch m rows */

    /* Floats from one pixel or row to the next, and from one product of a
     * batched matmul to the next; 0: no gaps. */
    int64_t pitch_in, pitch_b, pitch_out;
    int64_t skip_in, skip_b, skip_out;
    int transposed; /* matmul: B is stored as [n][k] */

    spry_by by;       /* pool, reduce */
    int counts_pad;   /* pool by mean: padding counts as zeros */
    float scale, eps; /* softmax; layernorm */

    int with_bias;
    spry_add add;
    spry_act act;
    float alpha, beta;

    int steps; /* of an elementwise chain */
    spry_step step[SPRY_STEPS];

    /* Borrowed for the life of the problem. conv2d: [k][c / groups][r][s];
     * matmul: B, one for the whole batch or [batch] of them, or NULL with
     * `given` when each run brings its own; layernorm: [n]. Otherwise NULL
     * means small random weights, for tuning a shape. */
    const float *weights, *bias;
    int given;    /* matmul: B comes with each run */
    int shared_b; /* matmul: one B for the whole batch */
    /* conv2d, matmul: the share of weights that are 0, in steps of 5 % up to
     * 90 %, then of 1 %; 0 below 30 %. Computed where weights are given; where
     * they are NULL, the share of the random ones that are 0. */
    float sparsity;
} spry_operator;

/* Operands of a run; those that the operator does not have are NULL. */
typedef struct {
    const float *in;
    const float *b;                /* matmul: B, when it is `given` */
    const float *add;              /* when there is one */
    const float *more[SPRY_STEPS]; /* of an elementwise chain, in order */
    float *out;
} spry_tensors;

#ifdef __cplusplus
}
#endif
#endif
