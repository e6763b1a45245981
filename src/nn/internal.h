/* internal.h - how a layer is written.
 *
 * A layer checks shapes, asks the tape for its result, computes, and leaves a
 * note: a copy of a small struct and the function that takes it back. The
 * way back adds to x->grad of each input that has one. */
#ifndef SP_NN_INTERNAL_H
#define SP_NN_INTERNAL_H

#include "nn/nn.h"

/* ---- tape.c ---- */

/* The result of a layer; it has a gradient when one of `from` has. */
sp_tensor *sp_tape_result(sp_tape *t, sp_shape shape, sp_tensor *const from[],
                          int count);
#define SP_RESULT(t, shape, ...)                         \
    sp_tape_result(                                      \
        (t), (shape), (sp_tensor *const[]){__VA_ARGS__}, \
        (int)(sizeof((sp_tensor *[]){__VA_ARGS__}) / sizeof(sp_tensor *)))

/* Memory until the next sp_tape_begin, not zeroed; NULL fails the tape. */
void *sp_tape_memory(sp_tape *t, int64_t count, size_t size);
/* The same with a copy of data. */
void *sp_tape_copy(sp_tape *t, const void *data, int64_t count, size_t size);

/* Leave a note for the way back, unless y has no gradient. */
typedef void sp_way_back(sp_tape *t, const void *note);
void sp_tape_note(sp_tape *t, const sp_tensor *y, sp_way_back *back,
                  const void *data, size_t bytes);

/* Fail the tape: SPRY_USAGE, "<layer>: ...". Returns NULL. */
void *sp_tape_refuse(sp_tape *t, const char *fmt, ...) SP_PRINTF_LIKE(2, 3);
/* No failure so far. */
int sp_tape_good(const sp_tape *t);
/* How many threads a loop over n elements deserves. */
int sp_tape_threads(const sp_tape *t, int64_t n);

/* ---- tensor.c ---- */

/* Elements, or -1 when a dimension is negative, beyond 32 bits, or the
 * product too large. */
int64_t sp_shape_size(sp_shape s);
int sp_shape_equal(sp_shape a, sp_shape b);
/* The same but for the last dimension. */
sp_shape sp_shape_with_last(sp_shape s, int64_t last);
/* "3x5x7" */
enum { SP_SHAPE_TEXT = 100 };
const char *sp_shape_text(char out[SP_SHAPE_TEXT], sp_shape s);

/* ---- weights.c ---- */

typedef struct {
    char name[SP_NN_NAME];
    sp_tensor t;           /* frozen: without a gradient */
    float *first, *second; /* Adam's moments, [size] */
    int asked;             /* by sp_nn_weights */
} sp_weights;

struct sp_nn {
    sp_weights **weights; /* [count] */
    int count, room;
    int loaded; /* from a file: nothing may be added */
    char *card; /* NULL: none */
    sp_rng rng;
    int64_t steps; /* taken by Adam */
    spry_status status;
};

/* Zeroed weights at the end of the list; NULL and a sentence on failure. */
sp_weights *sp_nn_append(sp_nn *n, const char *name, sp_shape shape);
sp_weights *sp_nn_find(const sp_nn *n, const char *name);
/* The weights "name.part". */
sp_tensor *sp_nn_part(sp_nn *n, const char *name, const char *part,
                      sp_shape shape, sp_init init);
/* Letters, digits and ._-, at least one, shorter than SP_NN_NAME. */
int sp_nn_good_name(const char *name);

/* ---- loss_value.c ---- */

/* A loss that knows its slopes, [x->size] on the tape, when it is computed. */
sp_tensor *sp_loss_known(sp_tape *t, sp_tensor *x, double loss,
                         const float *slope);

/* ---- loops.c ---- */

void sp_loops_gemm(const sp_gemm *g);

#endif
