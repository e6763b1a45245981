/* internal.h - an operator graph as its room holds it. */
#ifndef SP_GRAPH_INTERNAL_H
#define SP_GRAPH_INTERNAL_H

#include "base/base.h"
#include "spry/graph.h"

/* What no file may exceed. */
enum {
    SP_GRAPH_DIMS = SPRY_GRAPH_DIMS,
    SP_GRAPH_NODES = 100000,
    SP_GRAPH_INPUTS = 4096, /* of a node; Concat may have many */
    SP_GRAPH_NAME = 1024    /* bytes of a name */
};
#define SP_GRAPH_ELEMENTS ((int64_t)1 << 31)

/* Memory that lives as long as its graph (memory.c). */
typedef struct sp_block sp_block;
typedef struct {
    sp_block *last;
    size_t used;
} sp_pool;
void *sp_pool_get(sp_pool *p, int64_t count, size_t size); /* zeroed */
char *sp_pool_text(sp_pool *p, const char *text, size_t len);
void sp_pool_free(sp_pool *p);

typedef struct {
    int dims;
    int64_t dim[SP_GRAPH_DIMS];
} sp_extent;

/* What flows along edges: reals are float, whole numbers int64_t. */
typedef struct {
    const char *name;
    int whole, known; /* known: the shape is */
    sp_extent shape;
    int64_t count;    /* elements */
    const void *data; /* of a constant, else NULL */
    int maker;        /* the node that computes it, or -1 */
} sp_opvalue;

typedef enum {
    SP_ATTR_REAL = 1,
    SP_ATTR_INT = 2,
    SP_ATTR_TEXT = 3,
    SP_ATTR_TENSOR = 4,
    SP_ATTR_REALS = 6,
    SP_ATTR_INTS = 7
} sp_attr_kind;

typedef struct {
    const char *name;
    sp_attr_kind kind;
    double real;
    int64_t whole;
    const char *text;
    int count; /* of list */
    int64_t *ints;
    double *reals;
    sp_opvalue *tensor;
} sp_attr;

typedef struct sp_opcode sp_opcode;
typedef struct {
    const char *name; /* "" when it has none */
    const sp_opcode *op;
    int inputs, outputs, attrs;
    int *input, *output; /* values; -1: left out */
    sp_attr *attr;
} sp_opnode;

struct spry_graph {
    char *source; /* a path, or net:NAME */
    int opset;
    int nodes, node_room, values, value_room;
    sp_opnode *node; /* in an order in which they can be computed */
    sp_opvalue *value;
    int inputs, outputs;
    int *input, *output;
    int64_t unknown; /* what a dimension without a number is taken for, */
    const spry_graph_value *given; /* or, while it is read, these inputs' */
    int givens;
    int64_t folded; /* bytes of constants that are not in the file */
    int64_t params; /* learned numbers */
    sp_pool pool;
    int *slot; /* names to values: open addressing */
    int slots;
    const void *map; /* of the file */
    size_t map_len;
};

/* ---- building (graph.c) ---- */

spry_status sp_graph_new(spry_graph **out, const char *source);
/* The value of this name, -1: none. */
int sp_graph_find(const spry_graph *g, const char *name);
/* A new value; SPRY_INPUT when the name is taken. */
spry_status sp_graph_value(int *out, spry_graph *g, const char *name);
/* Room for one more node, counted. */
spry_status sp_graph_node(sp_opnode **out, spry_graph *g);
spry_status sp_list_add(int **list, int *count, int x);

/* Count the learned numbers, before anything is folded. */
spry_status sp_graph_count(spry_graph *g);

/* Elements of a shape; SPRY_INPUT when there are too many. */
spry_status sp_extent_count(int64_t *out, const sp_extent *s);
int sp_extent_equal(const sp_extent *a, const sp_extent *b);

/* Nodes into an order in which they can be computed; SPRY_INPUT on a cycle or
 * an input that nobody makes (order.c). */
spry_status sp_graph_sort(spry_graph *g);
/* Shapes of all values; what can be computed now becomes a constant
 * (infer.c). */
spry_status sp_graph_infer(spry_graph *g);

/* Room for so many more bytes of constants that are not in the file? A small
 * file must not ask for much (infer.c). */
int sp_graph_spend(spry_graph *g, int64_t bytes);

/* ---- attributes (attr.c) ---- */

const sp_attr *sp_attr_find(const sp_opnode *n, const char *name);
int64_t sp_attr_int(const sp_opnode *n, const char *name, int64_t otherwise);
double sp_attr_real(const sp_opnode *n, const char *name, double otherwise);
/* Which of the names, the last of which is NULL, it holds; -1: none. */
int sp_attr_choice(const sp_opnode *n, const char *name,
                   const char *const *names, int otherwise);
const char *sp_attr_word(const sp_opnode *n, const char *name,
                         const char *otherwise);

/* ---- operators (operators.c) ---- */

/* A tensor of the reference: everything is double, whole numbers too. */
typedef struct {
    int whole;
    sp_extent shape;
    int64_t count;
    double *data; /* NULL while only the shape is known */
} sp_array;

/* What an operator sees: in[i] is NULL when input i is left out; data of a
 * computed input is NULL during inference. */
typedef struct {
    const sp_opnode *node;
    int opset;
    const sp_array *const *in;
    sp_array *out; /* [node->outputs] */
} sp_call;

struct sp_opcode {
    const char *name;
    int least, most;   /* inputs */
    int outputs;       /* at most */
    const char *attrs; /* known ones, a blank behind each: "axis/i pads/I "
                          with the kind: i f s t, lists I F */
    /* Fill in shape and whole of out. */
    spry_status (*infer)(sp_call *c);
    /* Fill out[i].data, which has room. */
    spry_status (*compute)(sp_call *c);
};
const sp_opcode *sp_opcode_find(const char *name);
/* "Conv 'name'", for sentences. */
const char *sp_node_text(const sp_opnode *n);
spry_status sp_refuse(const sp_opnode *n, const char *fmt, ...)
    SP_PRINTF_LIKE(2, 3);

/* None of them may be NULL (reference.c). */
spry_status sp_graph_check_operands(const spry_graph *g,
                                    const void *const *input,
                                    void *const *output);

/* Multiply-adds of one node, 0 for those that have none. */
int64_t sp_node_macs(const spry_graph *g, const sp_opnode *n);

#endif
