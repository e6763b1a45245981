/* random_graph.h - graphs of ONNX that are written node by node, with their
 * shapes, and with a text that says what was written.
 *
 * The makers of random_windows.h, random_operators.h and random_moves.h are
 * functions (g, x): they add nodes behind the value x and return their result,
 * or -1 when x has no shape for them. */
#ifndef SPRY_RANDOM_GRAPH_H
#define SPRY_RANDOM_GRAPH_H

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "graph/opcodes.h"
#include "onnx_bytes.h"

enum {
    RANDOM_VALUES = 320,
    RANDOM_ELEMENTS = 4000, /* of a value, at most */
    LEFT_OUT = -2           /* an input that is not given */
};

typedef struct {
    sp_rng rng;
    int opset;
    int one_size; /* images keep their height and width, so that values fit */
    int values;   /* all, also constants and those between */
    sp_extent shape[RANDOM_VALUES];
    int readable; /* values that further nodes may read */
    int reads[RANDOM_VALUES];
    sp_buf bytes, text;
    sp_buf attrs, attrs_text; /* of the next node */
} random_graph;

static inline void free_random(random_graph *g)
{
    sp_buf_free(&g->bytes);
    sp_buf_free(&g->text);
}

/* ---- chance ---- */

static inline int64_t below(random_graph *g, int64_t n)
{
    return (int64_t)sp_rng_below(&g->rng, (uint64_t)n);
}

static inline int64_t between(random_graph *g, int64_t low, int64_t high)
{
    return low + below(g, high - low + 1);
}

static inline int chance(random_graph *g, int percent)
{
    return below(g, 100) < percent;
}

static inline float within(random_graph *g, double low, double high)
{
    return (float)(low + (high - low) * sp_rng_unit(&g->rng));
}

/* One digit of a text, "1123": often 1. */
static inline int64_t digit_of(random_graph *g, const char *digits)
{
    return digits[below(g, (int64_t)strlen(digits))] - '0';
}

/* ---- shapes ---- */

static inline int64_t elements(const sp_extent *s)
{
    int64_t count = 1;

    for (int i = 0; i < s->dims; i++)
        count *= s->dim[i];
    return count;
}

static inline sp_extent vector_of(int64_t n)
{
    return (sp_extent){1, {n}};
}

static inline sp_extent matrix_of(int64_t m, int64_t n)
{
    return (sp_extent){2, {m, n}};
}

static inline sp_extent with_dim(const sp_extent *s, int axis, int64_t n)
{
    sp_extent out = *s;

    out.dim[axis] = n;
    return out;
}

static inline void add_dim(sp_extent *s, int64_t n)
{
    s->dim[s->dims++] = n;
}

/* ---- values ---- */

static inline void say_shape(random_graph *g, const sp_extent *s)
{
    for (int i = 0; i < s->dims; i++)
        sp_buf_printf(&g->text, "%s%lld", i ? "x" : " ", (long long)s->dim[i]);
    sp_buf_add(&g->text, "\n");
}

static inline int new_value(random_graph *g, const sp_extent *shape)
{
    assert_true(g->values < RANDOM_VALUES);
    g->shape[g->values] = *shape;
    return g->values++;
}

static inline void value_name(char out[16], int value)
{
    *out = 0;
    if (value != LEFT_OUT)
        snprintf(out, 16, "v%d", value);
}

/* An input of the graph (field 11), or an output (12). */
static inline void declare(random_graph *g, unsigned field, int value)
{
    const sp_extent *s = &g->shape[value];
    char name[16];

    value_name(name, value);
    pb_info(&g->bytes, field, name, 1, s->dims, s->dim);
    sp_buf_printf(&g->text, "%s %s", field == 11 ? "input" : "output", name);
    say_shape(g, s);
}

static inline int input_of(random_graph *g, const sp_extent *shape)
{
    int v = new_value(g, shape);

    declare(g, 11, v);
    return v;
}

static inline int constant_of(random_graph *g, const sp_extent *shape,
                              const float *data)
{
    int v = new_value(g, shape);
    char name[16];

    value_name(name, v);
    pb_tensor(&g->bytes, 5, name, 1, shape->dims, shape->dim, data,
              (size_t)elements(shape) * sizeof *data);
    if (elements(shape) == 1)
        sp_buf_printf(&g->text, "%s = %g", name, (double)*data);
    else
        sp_buf_printf(&g->text, "%s = constants", name);
    say_shape(g, shape);
    return v;
}

/* Random ones, of which this share is 0. */
static inline int random_constant(random_graph *g, const sp_extent *shape,
                                  double low, double high, int zeros)
{
    int64_t count = elements(shape);
    float *data = calloc((size_t)count + 1, sizeof *data);
    int v;

    assert_non_null(data);
    for (int64_t i = 0; i < count; i++)
        data[i] = chance(g, zeros) ? 0 : within(g, low, high);
    v = constant_of(g, shape, data);
    free(data);
    return v;
}

static inline int number_of(random_graph *g, float x)
{
    sp_extent none = {0};

    return constant_of(g, &none, &x);
}

/* Whole numbers: axes, sizes. */
static inline int list_of(random_graph *g, int count, const int64_t *list)
{
    sp_extent shape = vector_of(count);
    int v = new_value(g, &shape);
    char name[16];

    value_name(name, v);
    pb_tensor(&g->bytes, 5, name, 7, 1, shape.dim, list,
              (size_t)count * sizeof *list);
    sp_buf_printf(&g->text, "%s = (", name);
    for (int i = 0; i < count; i++)
        sp_buf_printf(&g->text, "%s%lld", i ? " " : "", (long long)list[i]);
    sp_buf_add(&g->text, ")\n");
    return v;
}

static inline void may_be_read(random_graph *g, int value)
{
    g->reads[g->readable++] = value;
}

static inline int other_value(random_graph *g)
{
    return g->reads[below(g, g->readable)];
}

static inline int is_image(const random_graph *g, int x)
{
    return g->shape[x].dims == 4;
}

static inline int64_t last_of(const sp_extent *s)
{
    return s->dim[s->dims - 1];
}

/* ---- nodes: first the attributes ---- */

static inline void put_whole(random_graph *g, const char *name, int64_t x)
{
    pb_whole(&g->attrs, name, x);
    sp_buf_printf(&g->attrs_text, " %s=%lld", name, (long long)x);
}

static inline void put_real(random_graph *g, const char *name, float x)
{
    pb_real(&g->attrs, name, x);
    sp_buf_printf(&g->attrs_text, " %s=%g", name, (double)x);
}

static inline void put_text(random_graph *g, const char *name, const char *text)
{
    pb_word(&g->attrs, name, text);
    sp_buf_printf(&g->attrs_text, " %s=%s", name, text);
}

static inline void put_list(random_graph *g, const char *name, int count,
                            const int64_t *list)
{
    pb_list(&g->attrs, name, count, list);
    sp_buf_printf(&g->attrs_text, " %s=", name);
    for (int i = 0; i < count; i++)
        sp_buf_printf(&g->attrs_text, "%s%lld", i ? "," : "",
                      (long long)list[i]);
}

/* Where a node of this opset has its axes or sizes: an attribute, or an input,
 * which is returned. */
static inline int put_axes(random_graph *g, const char *name, int count,
                           const int64_t *list, int input_since)
{
    if (g->opset >= input_since)
        return list_of(g, count, list);
    put_list(g, name, count, list);
    return -1;
}

/* in ends with -1. */
static inline int add_node(random_graph *g, const char *op, const int *in,
                           const sp_extent *shape)
{
    int v = new_value(g, shape);
    char name[16], inputs[128] = "";
    size_t used = 0;

    for (int i = 0; in[i] != -1; i++) {
        value_name(name, in[i]);
        used += (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s",
                                 i ? " " : "", name);
        assert_true(used < sizeof inputs);
    }
    value_name(name, v);
    sp_buf_printf(&g->text, "%s = %s %s%s:", name, op, inputs,
                  g->attrs_text.data ? g->attrs_text.data : "");
    say_shape(g, shape);
    pb_node(&g->bytes, op, inputs, name, g->attrs.len ? &g->attrs : NULL);
    sp_buf_free(&g->attrs_text);
    return v;
}

static inline int one_input(random_graph *g, const char *op, int x)
{
    const int in[] = {x, -1};
    sp_extent shape = g->shape[x];

    return add_node(g, op, in, &shape);
}

static inline int two_inputs(random_graph *g, const char *op, int x, int y,
                             const sp_extent *shape)
{
    const int in[] = {x, y, -1};

    return add_node(g, op, in, shape);
}

/* Either may come first. */
static inline int either_way(random_graph *g, const char *op, int x, int y,
                             const sp_extent *shape)
{
    return chance(g, 50) ? two_inputs(g, op, x, y, shape)
                         : two_inputs(g, op, y, x, shape);
}

#endif
