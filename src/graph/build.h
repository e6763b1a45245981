/* build.h - graphs, node by node: built-in networks, and operators that are put
 * together from others.
 *
 * A failure is kept and makes all later calls do nothing, so that only the
 * end looks at it. Values are numbers; -1 is none. */
#ifndef SP_BUILD_H
#define SP_BUILD_H

#include "base/recipe.h"
#include "graph/internal.h"

typedef struct {
    spry_graph *g;
    sp_rng rng;
    spry_status status;
    int named;           /* values so far */
    int spends;          /* constants may only take what a file may ask for */
    double sparsity;     /* share of weights that are 0 */
    int64_t batch, size; /* images, and their height and width */
    int into;            /* value + 1 that the next node makes; 0: a new one */
} sp_builder;

/* The graph that "resnet50,size=224" asks for. */
spry_status sp_build(spry_graph *g, const char *text);

int sp_build_input(sp_builder *b, const char *name, int whole,
                   const sp_extent *shape);
void sp_build_output(sp_builder *b, int value);
/* The next node's result is this value instead of a new one. */
void sp_build_into(sp_builder *b, int value);
/* A node of one output, which is returned; in ends with -1. */
int sp_build_node(sp_builder *b, const char *op, const int *in);
/* The node made last gets an attribute. */
void sp_build_int(sp_builder *b, const char *name, int64_t x);
void sp_build_real(sp_builder *b, const char *name, double x);
void sp_build_text(sp_builder *b, const char *name, const char *text);
void sp_build_ints(sp_builder *b, const char *name, int count,
                   const int64_t *list);

/* Constants: random ones in [low, high), whole ones, one real. */
int sp_build_random(sp_builder *b, const sp_extent *shape, double low,
                    double high);
/* Weights for sums of `terms`, some of them 0 if asked for. */
int sp_build_weights(sp_builder *b, const sp_extent *shape, int64_t terms,
                     int pruned);
int sp_build_whole(sp_builder *b, int count, const int64_t *list);
/* Reals to be filled in, at the address in *data; NULL after a failure. */
int sp_build_reals(sp_builder *b, float **data, const sp_extent *shape);
int sp_build_number(sp_builder *b, double x);

/* A convolution: channels in and out, the window, and a batch norm with this
 * eps behind it; 0: a bias instead. */
typedef struct {
    int64_t in, out, r, s, stride, groups;
    int64_t pad_h, pad_w;
    double eps;
} sp_build_conv_shape;
int sp_build_conv(sp_builder *b, int x, const sp_build_conv_shape *z);
int sp_build_unary(sp_builder *b, const char *op, int x);
int sp_build_binary(sp_builder *b, const char *op, int x, int y);
/* The same elements in another shape. */
int sp_build_reshape(sp_builder *b, int x, const sp_extent *shape);
/* Zeros before and then behind each dimension. */
int sp_build_pad(sp_builder *b, int x, int dims, const int64_t *pads);
/* Of these axes what is between; all others stay whole. */
int sp_build_slice(sp_builder *b, int x, int count, const int64_t *axes,
                   const int64_t *from, const int64_t *to);
/* Dimension i is perm[i] of before. */
int sp_build_transpose(sp_builder *b, int x, int dims, const int64_t *perm);
int sp_build_pool(sp_builder *b, const char *op, int x, int64_t kernel,
                  int64_t stride, int64_t pad);
/* Mean over the image, flattened. */
int sp_build_mean(sp_builder *b, int x);
int sp_build_dense(sp_builder *b, int x, int64_t in, int64_t out);
/* x min(max(x / 6 + 1 / 2, 0), 1), as frameworks write it. */
int sp_build_hardswish(sp_builder *b, int x);

void sp_build_resnet50(sp_builder *b, const sp_recipe *r);
void sp_build_mobilenet(sp_builder *b, const sp_recipe *r);
void sp_build_inception(sp_builder *b, const sp_recipe *r);
void sp_build_bert(sp_builder *b, const sp_recipe *r);

#endif
