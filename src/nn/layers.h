/* layers.h - what a forward pass is made of.
 *
 * sp_nn_<layer>(tape, ..., x) computes and notes its way back. Shapes are
 * written [a, b, c]; "[..., c]" is any tensor seen as rows of c numbers. A
 * shape that does not fit fails the tape with SPRY_USAGE. */
#ifndef SP_NN_LAYERS_H
#define SP_NN_LAYERS_H

#include "nn/nn.h"

/* ---- dense ---- */

typedef struct {
    sp_tensor *weight; /* [out, in] */
    sp_tensor *bias;   /* [out], or NULL */
} sp_dense;

/* Weights name.weight and name.bias, both uniform in +-1/sqrt(in). */
sp_dense sp_dense_make(sp_nn *n, const char *name, int64_t in, int64_t out,
                       int bias);
/* [..., in] -> [..., out], y = x W' + b */
sp_tensor *sp_nn_dense(sp_tape *t, const sp_dense *d, sp_tensor *x);

/* ---- rows of a table ---- */

/* [rows, width] weights, normal with deviation 1: an embedding. */
sp_tensor *sp_embedding_make(sp_nn *n, const char *name, int64_t rows,
                             int64_t width);
/* y[i] = x[index[i]]: [rows, width] -> [count, width]. */
sp_tensor *sp_nn_rows(sp_tape *t, sp_tensor *x, const int32_t *index,
                      int64_t count);

/* ---- element by element ---- */

sp_tensor *sp_nn_relu(sp_tape *t, sp_tensor *x);
sp_tensor *sp_nn_sigmoid(sp_tape *t, sp_tensor *x);
sp_tensor *sp_nn_scale(sp_tape *t, sp_tensor *x, double factor);
/* b has a's shape, or is one row that meets every row of a. */
sp_tensor *sp_nn_add(sp_tape *t, sp_tensor *a, sp_tensor *b);

/* ---- arrangement ---- */

/* The same numbers in another shape; nothing is copied. */
sp_tensor *sp_nn_reshape(sp_tape *t, sp_tensor *x, sp_shape shape);
/* [..., a], [..., b], ... -> [rows, a + b + ...] */
sp_tensor *sp_nn_join(sp_tape *t, sp_tensor *const *x, int count);

/* ---- pooling ---- */

/* Row s is the mean of rows start[s] .. start[s+1]-1: [n, c] -> [segments, c].
 * That of an empty segment is 0. */
sp_tensor *sp_nn_pool(sp_tape *t, sp_tensor *x, const int64_t *start,
                      int64_t segments);
/* Global average: [n, c] -> [1, c]. */
sp_tensor *sp_nn_average(sp_tape *t, sp_tensor *x);

/* ---- along the last dimension ---- */

typedef struct {
    sp_tensor *gain, *bias; /* [width] */
} sp_norm;
sp_norm sp_norm_make(sp_nn *n, const char *name, int64_t width);
/* Each row to mean 0 and variance 1, then gain and bias. */
sp_tensor *sp_nn_norm(sp_tape *t, const sp_norm *l, sp_tensor *x);

/* ---- sparse convolution ---- */

/* Where a sparse image is not zero: rows that have something, ascending, and
 * the columns of each, ascending. Immutable, shared. */
typedef struct {
    int64_t n;            /* sites */
    int64_t rows;         /* of them with a site */
    const int32_t *row;   /* [rows] */
    const int64_t *start; /* [rows + 1] first site of each */
    const int32_t *col;   /* [n] */
} sp_sites;

/* From coordinates in row-major order without repeats, at most 2^31 - 1 of
 * them; SPRY_USAGE when they are not. */
spry_status sp_sites_new(sp_sites **out, int64_t n, const int32_t *row,
                         const int32_t *col);
/* The sites of the image shrunk by `stride`: floor(coordinate / stride). */
spry_status sp_sites_shrink(sp_sites **out, const sp_sites *in, int stride);
void sp_sites_free(sp_sites *s);

typedef struct {
    sp_tensor *weight; /* [size * size, in, out], size odd */
    int size, stride;
} sp_conv;
/* Kaiming's start over the fan-out, no bias. */
sp_conv sp_conv_make(sp_nn *n, const char *name, int size, int stride,
                     int64_t in, int64_t out);
/* y(o) = sum over d of x(stride o + d) W(d), d in a square around 0, over
 * what `from` has: [from->n, in] -> [to->n, out]. `to` is `from` shrunk by
 * the stride. Both outlive the backward pass. */
sp_tensor *sp_nn_conv(sp_tape *t, const sp_conv *l, sp_tensor *x,
                      const sp_sites *from, const sp_sites *to);

/* ---- sequences ---- */

typedef struct {
    sp_tensor *in;   /* [4 hidden, width]; gates input, forget, cell, output */
    sp_tensor *back; /* [4 hidden, hidden] */
    sp_tensor *bias; /* [4 hidden], forget starts at 1 */
} sp_lstm;
sp_lstm sp_lstm_make(sp_nn *n, const char *name, int64_t width, int64_t hidden);
/* [steps, batch, width] -> [steps, batch, hidden]. Sequence b has length[b]
 * steps (NULL: all of them), what follows is 0; `reverse` reads each from its
 * last step to its first. */
sp_tensor *sp_nn_lstm(sp_tape *t, const sp_lstm *l, sp_tensor *x,
                      const int32_t *length, int reverse);
/* Both directions side by side: [steps, batch, 2 hidden]. */
sp_tensor *sp_nn_bilstm(sp_tape *t, const sp_lstm l[2], sp_tensor *x,
                        const int32_t *length);

/* ---- attention ---- */

/* For each head h and query i: sum over j of p_ij v_j, p_i. the softmax of
 * q_i k_j / sqrt(width of a head). q [batch, queries, width]; k and v [batch,
 * keys, width]; mask [batch, keys], 0 hides a key (NULL: all seen). A query
 * that sees no key gets 0. */
sp_tensor *sp_nn_attend(sp_tape *t, sp_tensor *q, sp_tensor *k, sp_tensor *v,
                        int heads, const uint8_t *mask);
/* The best match instead: max over j of q_i k_j / sqrt(width of a head), mean
 * over heads: [batch, queries]. Without a key it is 0. */
sp_tensor *sp_nn_attend_max(sp_tape *t, sp_tensor *q, sp_tensor *k, int heads,
                            const uint8_t *mask);

/* Multi-head attention with its projections. */
typedef struct {
    sp_dense query, key, value, out;
    int heads;
} sp_attention;
sp_attention sp_attention_make(sp_nn *n, const char *name, int64_t width,
                               int64_t source_width, int heads);
/* x [batch, queries, width] reads source [batch, keys, source width]; give x
 * itself for self-attention. */
sp_tensor *sp_nn_attention(sp_tape *t, const sp_attention *a, sp_tensor *x,
                           sp_tensor *source, const uint8_t *mask);

#endif
