/* program.h - a graph as stages over buffers: what an executor runs.
 *
 * A value is a view of a buffer: a first element and a step for every
 * dimension. So a transposed, sliced, repeated or joined value is the buffer
 * it came from, and an image whose channels are neighbours is a view, too;
 * elements are moved only where a stage cannot read them as they lie. */
#ifndef SP_PROGRAM_H
#define SP_PROGRAM_H

#include "base/slab.h"
#include "graph/internal.h"
#include "spry/dense.h"

typedef struct {
    int buffer; /* -1: none */
    int64_t first;
    sp_extent shape;
    int64_t step[SP_GRAPH_DIMS];
} sp_strided;

typedef enum {
    SP_IN_ARENA,
    SP_IN_CONSTANT,
    SP_IN_INPUT, /* of the graph, number `which` */
    SP_IN_OUTPUT
} sp_buffer_home;

typedef struct {
    sp_buffer_home home;
    int which;
    const void *data; /* of a constant */
    int64_t bytes;
    int64_t place;   /* in the arena */
    int first, last; /* stages that use it; first > last: none */
} sp_buffer;

typedef enum {
    SP_STAGE_DENSE,  /* an operator of the dense family */
    SP_STAGE_MOVE,   /* elements of `in` to `out` */
    SP_STAGE_GATHER, /* rows of `in` that `b` names */
    SP_STAGE_PLAIN   /* the node's reference, for what is rare */
} sp_stage_kind;

/* Weights that a batch norm scales, `each` of a filter by a number: done when
 * somebody needs them, since packed ones may be kept. */
typedef struct {
    const float *from; /* NULL: nothing is to be done */
    double *by;        /* [filters] */
    int64_t filters, each;
    int done;
} sp_fold;

typedef struct {
    sp_stage_kind kind;
    const char *name;      /* of the value that comes out */
    const sp_opnode *node; /* of a plain one */
    spry_operator op;
    sp_strided in, b, add, out;
    sp_strided more[SPRY_STEPS];
    sp_strided *list; /* of a plain one: its inputs and outputs */
    size_t size;      /* bytes of an element that is moved */
    sp_fold fold;     /* of op.weights, NULL until then */
    double macs;
} sp_stage;

typedef struct {
    const spry_graph *g;
    sp_stage *stage;
    int stages, stage_room;
    sp_buffer *buffer;
    int buffers, buffer_room;
    int64_t arena; /* bytes */
    int64_t live;  /* bytes at the stage that needs most: no arena is less */
    sp_pool pool;  /* of lists */
    sp_slab *slab; /* of folded and packed weights */
} sp_program;

/* The graph must outlive it. */
spry_status sp_program_make(sp_program **out, const spry_graph *g);
void sp_program_free(sp_program *p);
/* Scale what is left to be scaled; of different stages, from any thread. */
spry_status sp_stage_fold(sp_program *p, sp_stage *s);

/* Places for all buffers, the largest first at the lowest free one
 * (arena.c). */
spry_status sp_arena_plan(sp_program *p);

/* ---- views (views.c) ---- */

/* All of a buffer, rows first. */
sp_strided sp_view_rows(int buffer, const sp_extent *shape);
/* Images [n][c][h][w] whose channels are neighbours, pixels `pitch` apart. */
sp_strided sp_view_images(int buffer, const sp_extent *shape, int64_t pitch);
/* Are dimensions [from, to) one with a single step? Then how many, and it. */
int sp_view_one(const sp_strided *v, int from, int to, int64_t *count,
                int64_t *step);
int sp_view_is_rows(const sp_strided *v);
/* Images? Then the pitch. */
int sp_view_is_images(const sp_strided *v, int64_t *pitch);
/* Do both go through memory in the same steps? */
int sp_view_alike(const sp_strided *a, const sp_strided *b);
/* Elements from the first to the last of dense ones, in any order of
 * dimensions, nothing between them; the innermost dimension in *inner. */
int sp_view_is_dense(const sp_strided *v, int64_t *inner);

/* ---- lowering (lower*.c) ---- */

typedef struct {
    sp_program *p;
    const spry_graph *g;
    sp_opnode *node;  /* a copy that may be changed */
    char *done;       /* nodes that need no stage of their own */
    int *uses;        /* of every value; an output of the graph is one */
    int *user;        /* one node that reads it, -1: none */
    int *maker;       /* of every value; -1: none */
    sp_strided *view; /* of every value; buffer -1: not there yet */
    int *joined;      /* of every node: the buffer of a Concat, -1: none */
} sp_lowering;

/* Chains that frameworks write for gelu, norms and the like become one
 * operator (recognise.c). */
spry_status sp_recognise(sp_lowering *l);
/* Count uses anew. */
void sp_lowering_count(sp_lowering *l);

const sp_opvalue *sp_lowered_value(const sp_lowering *l, int v);
/* The node that alone reads value v, NULL: there are several, v is an output,
 * or its first result has no name. */
sp_opnode *sp_sole_user(const sp_lowering *l, int v);
int sp_called(const sp_opnode *n, const char *op);
/* One number that v always is? */
int sp_single(const sp_lowering *l, int v, double *x);
int sp_has_number(const sp_lowering *l, int v, double x);

/* Are the rows of v, which is not empty, not too many for an operator? */
int sp_rows_fit(const sp_opvalue *v);

spry_status sp_new_buffer(int *out, sp_lowering *l, int64_t bytes);
/* A buffer that holds these constants. */
spry_status sp_constant_buffer(int *out, sp_lowering *l, const void *data,
                               int64_t bytes);
spry_status sp_new_stage(sp_stage **out, sp_lowering *l, sp_stage_kind kind,
                         int value);
/* The view of a value that is there, constants included. */
spry_status sp_view_of(sp_strided *out, sp_lowering *l, int v);
/* The same, moved if it must be: rows first, or as images. */
spry_status sp_view_as_rows(sp_strided *out, sp_lowering *l, int v);
spry_status sp_view_as_images(sp_strided *out, sp_lowering *l, int v,
                              int64_t *pitch);
/* A stage that moves numbers of `size` bytes; to a new buffer, rows first. */
spry_status sp_move_to(sp_strided to, sp_lowering *l, sp_strided from,
                       size_t size, int value);
spry_status sp_move_rows(sp_strided *to, sp_lowering *l, sp_strided from,
                         size_t size, int value);
/* A new buffer for value v, rows first; as images: inside of the Concat that
 * reads it if there is one and `alone` is 0. */
spry_status sp_place_rows(sp_strided *out, sp_lowering *l, int v);
spry_status sp_place_images(sp_strided *out, sp_lowering *l, int v, int alone);

/* What a node of the graph becomes; *known 0: a plain stage it is. */
typedef spry_status sp_lower_node(sp_lowering *l, sp_opnode *n, int *known);
sp_lower_node sp_lower_sums, sp_lower_rows, sp_lower_each, sp_lower_moves;

/* The activation that a node computes; 0: it is none. */
int sp_act_of(const sp_lowering *l, const sp_opnode *n, spry_act *act,
              float *alpha, float *beta);

#endif
