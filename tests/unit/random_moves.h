/* random_moves.h - operators of random graphs that compute nothing. */
#ifndef SPRY_RANDOM_MOVES_H
#define SPRY_RANDOM_MOVES_H

#include "random_graph.h"

static inline int transposition(random_graph *g, int x)
{
    sp_extent s = g->shape[x], shape = s;
    int64_t perm[SP_GRAPH_DIMS] = {0};
    const int in[] = {x, -1};

    if (s.dims < 2)
        return -1;
    for (int i = 0; i < s.dims; i++) {
        int at = (int)below(g, i + 1);

        perm[i] = perm[at];
        perm[at] = i;
    }
    for (int i = 0; i < s.dims; i++)
        shape.dim[i] = s.dim[perm[i]];
    put_list(g, "perm", s.dims, perm);
    return add_node(g, "Transpose", in, &shape);
}

static inline int flattened(random_graph *g, int x)
{
    sp_extent s = g->shape[x], shape = matrix_of(1, 1);
    const int in[] = {x, -1};
    int axis;

    if (!s.dims)
        return -1;
    axis = (int)below(g, s.dims + 1);
    for (int i = 0; i < s.dims; i++)
        shape.dim[i >= axis] *= s.dim[i];
    put_whole(g, "axis", axis);
    return add_node(g, "Flatten", in, &shape);
}

static inline int reshaped(random_graph *g, int x)
{
    int64_t left = elements(&g->shape[x]), list[SP_GRAPH_DIMS];
    sp_extent shape = {0};

    for (int i = 0; i < 3; i++) {
        int64_t d = between(g, 1, 12);

        while (left % d)
            d--;
        add_dim(&shape, d);
        left /= d;
    }
    add_dim(&shape, left);
    memcpy(list, shape.dim, sizeof list);
    if (chance(g, 40))
        list[below(g, shape.dims)] = -1;
    return two_inputs(g, "Reshape", x, list_of(g, shape.dims, list), &shape);
}

static inline int one_more_dim(random_graph *g, int x)
{
    sp_extent s = g->shape[x], shape = {0};
    int in[] = {x, -1, -1};
    int64_t axis = below(g, s.dims + 1);

    if (s.dims > 4)
        return -1;
    for (int i = 0; i <= s.dims; i++) {
        if (i == axis)
            add_dim(&shape, 1);
        if (i < s.dims)
            add_dim(&shape, s.dim[i]);
    }
    in[1] = put_axes(g, "axes", 1, &axis, 13);
    return add_node(g, "Unsqueeze", in, &shape);
}

/* Do they differ along this axis only? */
static inline int join(const sp_extent *a, const sp_extent *b, int axis)
{
    sp_extent c = *b;

    if (axis < b->dims && axis < a->dims)
        c.dim[axis] = a->dim[axis];
    return sp_extent_equal(a, &c);
}

/* Of x and others, some of them more than once. */
static inline int concatenation(random_graph *g, int x)
{
    sp_extent s = g->shape[x];
    int in[5], count = 0, others = (int)between(g, 0, 3), axis;

    if (!s.dims)
        return -1;
    axis = is_image(g, x) && chance(g, 75) ? 1 : (int)below(g, s.dims);
    for (int i = 0; i < 12 && count < others; i++) {
        int y = chance(g, 30) ? x : other_value(g);

        if (join(&g->shape[y], &g->shape[x], axis))
            in[count++] = y;
    }
    in[count++] = x;
    in[count] = -1;
    s.dim[axis] = 0;
    for (int i = 0; i < count; i++)
        s.dim[axis] += g->shape[in[i]].dim[axis];
    if (elements(&s) > RANDOM_ELEMENTS)
        return -1;
    put_whole(g, "axis", chance(g, 70) ? axis : axis - s.dims);
    return add_node(g, "Concat", in, &s);
}

/* Both parts may be read. */
static inline int split(random_graph *g, int x)
{
    sp_extent s = g->shape[x], rest = s;
    int in[] = {x, -1, -1}, axis, second;
    int64_t parts[2];
    char name[16];

    if (!s.dims)
        return -1;
    axis = is_image(g, x) && chance(g, 60) ? 1 : (int)below(g, s.dims);
    if (s.dim[axis] < 2)
        return -1;
    parts[0] = between(g, 1, s.dim[axis] - 1);
    parts[1] = s.dim[axis] - parts[0];
    in[1] = put_axes(g, "split", 2, parts, 13);
    put_whole(g, "axis", axis);
    rest.dim[axis] = parts[1];
    s.dim[axis] = parts[0];
    second = new_value(g, &rest);
    value_name(name, second);
    pb_text(&g->attrs, 2, name);
    sp_buf_printf(&g->attrs_text, " and %s", name);
    may_be_read(g, second);
    return add_node(g, "Split", in, &s);
}

static inline int slice(random_graph *g, int x)
{
    sp_extent s = g->shape[x];
    int64_t axis, n, from, to, step = digit_of(g, "112");
    int in[] = {x, -1, -1, -1, -1, -1};

    if (!s.dims)
        return -1;
    axis = below(g, s.dims);
    n = s.dim[axis];
    from = below(g, n);
    to = between(g, from + 1, n);
    s.dim[axis] = (to - from - 1) / step + 1;
    if (chance(g, 30)) { /* from the last to the first */
        int64_t first = from;

        from = to - 1;
        to = first ? first - 1 : -n - 1;
        step = -step;
    }
    in[1] = list_of(g, 1, &from);
    in[2] = list_of(g, 1, &to);
    in[3] = list_of(g, 1, &axis);
    in[4] = list_of(g, 1, &step);
    return add_node(g, "Slice", in, &s);
}

static inline int padded(random_graph *g, int x)
{
    sp_extent s = g->shape[x];
    int64_t pads[2 * SP_GRAPH_DIMS];
    int in[] = {x, -1, -1, -1};

    if (!s.dims)
        return -1;
    for (int i = 0; i < 2 * s.dims; i++) {
        pads[i] = chance(g, 40) ? below(g, 3) : 0;
        s.dim[i % s.dims] += pads[i];
    }
    if (elements(&s) > RANDOM_ELEMENTS)
        return -1;
    in[1] = list_of(g, 2 * s.dims, pads);
    if (chance(g, 50))
        in[2] = number_of(g, 0.5F);
    return add_node(g, "Pad", in, &s);
}

/* Twice as high and wide, or of any size. */
static inline int resized(random_graph *g, int x)
{
    static const float twice[] = {1, 1, 2, 2};
    sp_extent s = g->shape[x], list = vector_of(4);
    int in[] = {x, LEFT_OUT, LEFT_OUT, -1, -1};

    if (!is_image(g, x) || elements(&s) > RANDOM_ELEMENTS / 8)
        return -1;
    if (chance(g, 50)) {
        in[2] = constant_of(g, &list, twice);
        s.dim[2] *= 2;
        s.dim[3] *= 2;
    } else {
        s.dim[2] = between(g, 1, 2 * s.dim[2]);
        s.dim[3] = between(g, 1, 2 * s.dim[3]);
        in[3] = list_of(g, 4, s.dim);
    }
    if (chance(g, 50))
        put_text(g, "mode", chance(g, 50) ? "linear" : "cubic");
    return add_node(g, "Resize", in, &s);
}

#endif
