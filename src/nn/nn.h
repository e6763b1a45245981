/* nn.h - small networks that learn.
 *
 * A network is ordinary code. Its weights live in an sp_nn, a list of named
 * tensors; a forward pass calls layers (layers.h) and a loss (losses.h) on a
 * tape; every call returns a tensor and notes how to go back.
 *
 *   sp_tape_begin(t, 1);
 *   x = sp_nn_input(t, SP_SHAPE(rows, 12), features);
 *   h = sp_nn_relu(t, sp_nn_dense(t, &net->first, x));
 *   loss = sp_loss_mse(t, sp_nn_dense(t, &net->last, h), targets);
 *   s = sp_tape_backward(t, loss);
 *   if (s == SPRY_OK)
 *       sp_nn_adam(net->weights, &adam, 1);
 *
 * Nothing in between needs a check: after a failure every call returns NULL
 * and accepts NULL, and the tape remembers what was wrong.
 *
 * Same seed, same thread count, same numbers: every sum has one order.
 *
 * Any number of tapes may compute with the same weights at the same time;
 * while one learns, it is alone. */
#ifndef SP_NN_H
#define SP_NN_H

#include <stdint.h>

#include "base/base.h"

/* ---- tensors ---- */

enum { SP_RANK = 4 };

typedef struct {
    int rank;             /* 1 .. SP_RANK */
    int64_t dim[SP_RANK]; /* the last varies fastest; beyond rank: unused */
} sp_shape;

/* SP_SHAPE(batch, steps, width) */
#define SP_SHAPE(...)                                                      \
    ((sp_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                {__VA_ARGS__}})

typedef struct {
    sp_shape shape;
    int64_t size;
    float *value; /* [size] */
    float *grad;  /* [size], d loss / d value; NULL: nobody asks */
} sp_tensor;

/* A tensor as a matrix: its last dimension, and all the others together. */
int64_t sp_cols(const sp_tensor *x);
int64_t sp_rows(const sp_tensor *x);

/* ---- the tape ---- */

typedef struct sp_tape sp_tape;

/* Up to `threads` work on one call. */
spry_status sp_tape_new(sp_tape **out, int threads);
void sp_tape_free(sp_tape *t);

/* Forget all tensors of the pass before, keep the memory. With `learn`,
 * what depends on weights gets gradients. */
void sp_tape_begin(sp_tape *t, int learn);

/* What went wrong since sp_tape_begin; the sentence is in spry_message(). */
spry_status sp_tape_status(const sp_tape *t);

/* d loss / d everything; loss has one element. Adds to the gradients of the
 * weights; sp_nn_adam and sp_nn_forget clear them. */
spry_status sp_tape_backward(sp_tape *t, sp_tensor *loss);

/* A tensor that learns nothing. Values are copied; NULL: zeros. */
sp_tensor *sp_nn_input(sp_tape *t, sp_shape shape, const float *value);

/* ---- weights ---- */

/* How a tensor starts: all equal to `scale`, uniform in +-scale, or normal
 * with deviation `scale`. */
typedef enum { SP_CONSTANT, SP_UNIFORM, SP_NORMAL } sp_init_kind;
typedef struct {
    sp_init_kind kind;
    double scale;
} sp_init;
sp_init sp_init_constant(double value);
sp_init sp_init_uniform(double bound);
sp_init sp_init_normal(double deviation);
sp_init sp_init_kaiming(int64_t fan); /* normal, sqrt(2 / fan) */

typedef struct sp_nn sp_nn;
enum { SP_NN_NAME = 64 }; /* bytes of a name, its end included */

/* No weights yet; `seed` decides how they will start. */
spry_status sp_nn_new(sp_nn **out, uint64_t seed);
void sp_nn_free(sp_nn *n);

/* The weights `name`. In a network from a file they must be there, with this
 * shape, and keep their values; else they are made and started by `init`. A
 * builder that calls this for all its layers serves both. NULL on failure,
 * which sp_nn_status remembers. */
sp_tensor *sp_nn_weights(sp_nn *n, const char *name, sp_shape shape,
                         sp_init init);

/* Say so when building failed, or when a file has tensors nobody asked for. */
spry_status sp_nn_status(const sp_nn *n);

/* Weights whose names begin with `prefix` will not learn (or will again). */
void sp_nn_freeze(sp_nn *n, const char *prefix, int frozen);

/* Numbers to learn; the i-th tensor and its name, NULL after the last. */
int64_t sp_nn_count(const sp_nn *n);
sp_tensor *sp_nn_at(const sp_nn *n, int i, const char **name);

/* ---- learning ---- */

typedef struct {
    double rate;         /* step length */
    double beta1, beta2; /* memory of the gradient and of its square */
    double epsilon;
    double decay;  /* weight decay */
    int decoupled; /* decay the weight itself (AdamW), not its gradient */
    double clip;   /* largest norm of the whole gradient; 0: any */
} sp_adam;
#define SP_ADAM_DEFAULTS                \
    {                                   \
        1e-3, 0.9, 0.999, 1e-8, 0, 1, 0 \
    }

/* One step along the gradients, which are then cleared. `share` scales the
 * rate. Returns the norm of the gradient; when that is not finite nothing
 * but the gradients changes. */
double sp_nn_adam(sp_nn *n, const sp_adam *adam, double share);
void sp_nn_forget(sp_nn *n); /* clear the gradients */

/* Share of the rate at `step`: a straight line up over `warmup` steps, then
 * half a cosine down to `floor` at `steps`. */
double sp_nn_share(int64_t step, int64_t warmup, int64_t steps, double floor);

/* ---- files (docs/formats.md) ---- */

enum { SP_NN_CARD = 1 << 16, SP_NN_TENSORS = 1 << 12 };

/* Weights and their card, a JSON object of at most SP_NN_CARD bytes, whole or
 * not at all. */
spry_status sp_nn_save(const sp_nn *n, const char *card, const char *path);

/* Everything is checked: SPRY_INPUT and a sentence for any other bytes. */
spry_status sp_nn_load(sp_nn **out, const char *path);
spry_status sp_nn_parse(sp_nn **out, const void *data, size_t len,
                        const char *path_for_errors);

/* The card it came with; "{}" when it came from no file. */
const char *sp_nn_card(const sp_nn *n);

/* ---- products ---- */

/* C = op(A) op(B), or C += with `add`; row-major, all strides explicit. */
typedef struct {
    int64_t m, n, k;    /* C is m x n, a sum has k terms */
    const float *a, *b; /* m x k and k x n, transposed if so said */
    float *c;
    int64_t lda, ldb, ldc; /* from row to row of what is stored */
    int ta, tb, add;
} sp_gemm;
void sp_nn_gemm(const sp_gemm *g, int threads);

/* What computes them: "OpenBLAS 0.3.21, kernels for Zen" or "own loops"; and
 * the share of one core's multiply-adds that a product of its reaches, timed
 * now; 0 without it, or when the program had opened it before. */
const char *sp_nn_blas(void);
double sp_nn_blas_share(void);

#endif
