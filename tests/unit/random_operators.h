/* random_operators.h - operators of random graphs that compute: element by
 * element, products, rows. */
#ifndef SPRY_RANDOM_OPERATORS_H
#define SPRY_RANDOM_OPERATORS_H

#include <math.h>

#include "random_graph.h"

/* ---- element by element ---- */

static inline int clip(random_graph *g, int x)
{
    sp_extent shape = g->shape[x];
    int in[] = {x, -1, -1, -1}, which = (int)below(g, 4);

    if (which) /* the lower limit, the upper one, or both */
        in[1] = which & 1 ? number_of(g, -0.25F) : LEFT_OUT;
    if (which & 2)
        in[2] = number_of(g, 0.3F);
    return add_node(g, "Clip", in, &shape);
}

static inline int activation(random_graph *g, int x)
{
    static const char *const name[] = {
        "Relu",     "Sigmoid",   "Tanh",        "Neg",      "Abs",
        "Erf",      "LeakyRelu", "HardSigmoid", "Identity", "Gelu",
        "Softplus", "Softsign",  "Elu",         "Selu",     "Mish",
        "Sin",      "Cos",       "Sum",         "Mean"};
    enum { NAMES = sizeof name / sizeof *name };
    int64_t i = below(g, NAMES + 2);

    if (i >= NAMES)
        return clip(g, x);
    if (i == 9 && g->opset < 20)
        i = 0;
    if ((i == 6 || i == 7) && chance(g, 60))
        put_real(g, "alpha", within(g, 0.1, 0.6));
    return one_input(g, name[i], x);
}

/* x times a gate of x, as frameworks write it. */
static inline int gated(random_graph *g, int x)
{
    sp_extent shape = g->shape[x];
    int gate;

    if (chance(g, 50)) {
        gate = one_input(g, "Sigmoid", x);
    } else if (chance(g, 50)) {
        put_real(g, "alpha", 1.0F / 6);
        gate = one_input(g, "HardSigmoid", x);
    } else {
        int in[] = {-1, -1, -1, -1};

        in[0] = either_way(g, "Add", x, number_of(g, 3), &shape);
        in[1] = number_of(g, 0);
        in[2] = number_of(g, 6);
        gate = add_node(g, "Clip", in, &shape);
        if (chance(g, 50))
            gate = two_inputs(g, "Div", gate, number_of(g, 6), &shape);
    }
    gate = either_way(g, "Mul", x, gate, &shape);
    return chance(g, 15) ? either_way(g, "Mul", x, gate, &shape) : gate;
}

static inline int gelu(random_graph *g, int x)
{
    sp_extent s = g->shape[x];
    int half = number_of(g, 0.5F), order = (int)below(g, 3), y;

    y = two_inputs(g, "Div", x, number_of(g, sqrtf(2)), &s);
    y = one_input(g, "Erf", y);
    y = either_way(g, "Add", y, number_of(g, 1), &s);
    if (order == 0)
        return either_way(g, "Mul", either_way(g, "Mul", x, y, &s), half, &s);
    if (order == 1)
        return either_way(g, "Mul", either_way(g, "Mul", y, half, &s), x, &s);
    return either_way(g, "Mul", either_way(g, "Mul", x, half, &s), y, &s);
}

/* A constant that is repeated along some dimensions of x. */
static inline int repeated(random_graph *g, int x)
{
    sp_extent s = g->shape[x];
    unsigned all = (1U << s.dims) - 1, last = s.dims ? 1U << (s.dims - 1) : 0;
    const unsigned kept[] = {0,           all,     last,
                             all & ~last, 2 & all, (unsigned)below(g, all + 1)};
    unsigned mask = kept[below(g, 6)];
    int front = 0;

    for (int i = 0; i < s.dims; i++)
        if (!(mask >> i & 1))
            s.dim[i] = 1;
    if (chance(g, 60))
        while (front < s.dims && s.dim[front] == 1)
            front++;
    memmove(s.dim, s.dim + front, (size_t)(s.dims - front) * sizeof *s.dim);
    s.dims -= front;
    return random_constant(g, &s, -1, 1, 0);
}

static inline int arithmetic(random_graph *g, int x)
{
    static const char *const name[] = {"Add", "Mul", "Sub",
                                       "Max", "Min", "Div"};
    int64_t op = below(g, 6);
    int y = chance(g, 50) ? repeated(g, x) : other_value(g);
    sp_extent shape;

    if (!sp_broadcast(&shape, &g->shape[x], &g->shape[y]) ||
        elements(&shape) > RANDOM_ELEMENTS)
        return -1;
    if (op < 5)
        return either_way(g, name[op], x, y, &shape);
    y = one_input(g, "Abs", y);
    y = two_inputs(g, "Add", y, number_of(g, 0.5F), &g->shape[y]);
    return two_inputs(g, "Div", x, y, &shape);
}

/* ---- products ---- */

static inline int gemm(random_graph *g, int x)
{
    sp_extent s = g->shape[x], w, c;
    int64_t m = s.dim[0], k = s.dim[1], n = between(g, 1, 20);
    int transposed = chance(g, 50), in[] = {x, -1, -1, -1};
    double scale = 1 / sqrt((double)k);

    w = transposed ? matrix_of(n, k) : matrix_of(k, n);
    in[1] = random_constant(g, &w, -scale, scale, chance(g, 30) ? 85 : 0);
    c = matrix_of(chance(g, 50) ? 1 : m, n);
    if (chance(g, 20))
        c.dim[1] = 1;
    if (chance(g, 70))
        in[2] = random_constant(g, &c, -1, 1, 0);
    put_whole(g, "transB", transposed);
    if (chance(g, 30))
        put_real(g, "alpha", 0.5F);
    if (chance(g, 30))
        put_real(g, "beta", 2);
    w = matrix_of(m, n);
    return add_node(g, "Gemm", in, &w);
}

static inline int times_itself(random_graph *g, int x)
{
    sp_extent s = g->shape[x], turned = s;
    int64_t perm[SP_GRAPH_DIMS];
    const int in[] = {x, -1};
    int d = s.dims, y;

    for (int i = 0; i < d; i++)
        perm[i] = i < d - 2 ? i : 2 * d - 3 - i;
    turned.dim[d - 1] = s.dim[d - 2];
    turned.dim[d - 2] = s.dim[d - 1];
    put_list(g, "perm", d, perm);
    y = add_node(g, "Transpose", in, &turned);
    s.dim[d - 1] = s.dim[d - 2];
    y = two_inputs(g, "MatMul", x, y, &s);
    return two_inputs(g, "Div", y, number_of(g, 4), &s);
}

static inline int product(random_graph *g, int x)
{
    sp_extent s = g->shape[x], w, bias;
    int64_t k, n = between(g, 1, 20);
    double scale;

    if (s.dims < 2)
        return -1;
    k = last_of(&s);
    scale = 1 / sqrt((double)k);
    if (s.dims == 2 && chance(g, 40))
        return gemm(g, x);
    if (s.dims < 5 && elements(&s) / k * s.dim[s.dims - 2] < RANDOM_ELEMENTS &&
        chance(g, 20))
        return times_itself(g, x);
    if (elements(&s) / k * n > RANDOM_ELEMENTS)
        return -1;
    w = matrix_of(k, n);
    if (chance(g, 25)) { /* one for each of the batch */
        w = with_dim(&s, s.dims - 1, n);
        w.dim[s.dims - 2] = k;
    }
    if (elements(&w) > RANDOM_ELEMENTS)
        return -1;
    s.dim[s.dims - 1] = n;
    x = two_inputs(
        g, "MatMul", x,
        random_constant(g, &w, -scale, scale, chance(g, 30) ? 85 : 0), &s);
    bias = vector_of(n);
    return chance(g, 50) ? either_way(g, "Add", x,
                                      random_constant(g, &bias, -1, 1, 0), &s)
                         : x;
}

/* ---- rows ---- */

/* What remains of the axes, as bits. */
static inline sp_extent reduced(const sp_extent *s, unsigned axes, int keep)
{
    sp_extent out = {0};

    for (int i = 0; i < s->dims; i++)
        if (!(axes >> i & 1) || keep)
            add_dim(&out, axes >> i & 1 ? 1 : s->dim[i]);
    return out;
}

static inline int reduce_axes(random_graph *g, const char *op, int x,
                              unsigned axes, int keep)
{
    sp_extent s = g->shape[x], shape = reduced(&s, axes, keep);
    int64_t list[SP_GRAPH_DIMS];
    int count = 0, in[] = {x, -1, -1};

    for (int i = 0; i < s.dims; i++)
        if (axes >> i & 1)
            list[count++] = chance(g, 40) ? i - s.dims : i;
    in[1] = put_axes(g, "axes", count, list,
                     strcmp(op, "ReduceSum") == 0 ? 13 : 18);
    put_whole(g, "keepdims", keep);
    return add_node(g, op, in, &shape);
}

static inline int reduction(random_graph *g, int x)
{
    static const char *const name[] = {"ReduceMean",      "ReduceSum",
                                       "ReduceMax",       "ReduceMin",
                                       "ReduceSumSquare", "ReduceLogSumExp"};
    int dims = g->shape[x].dims, keep;
    unsigned axes;

    if (!dims)
        return -1;
    axes = (unsigned)between(g, 1, (1 << dims) - 1);
    if (chance(g, 40))
        axes = 1U << (dims - 1);
    else if (is_image(g, x) && chance(g, 50))
        axes = 4 | 8;
    keep = chance(g, 50);
    return reduce_axes(g, name[below(g, chance(g, 60) ? 3 : 6)], x, axes, keep);
}

static inline int along_rows(random_graph *g, const char *op, int x)
{
    return reduce_axes(g, op, x, 1U << (g->shape[x].dims - 1), 1);
}

static inline int softmax_by_hand(random_graph *g, int x)
{
    sp_extent s = g->shape[x];

    x = two_inputs(g, "Sub", x, along_rows(g, "ReduceMax", x), &s);
    x = one_input(g, "Exp", x);
    return two_inputs(g, "Div", x, along_rows(g, "ReduceSum", x), &s);
}

static inline int softmax(random_graph *g, int x)
{
    sp_extent s = g->shape[x];

    if (!s.dims)
        return -1;
    if (chance(g, 30))
        x = either_way(g, "Mul", x, number_of(g, within(g, -2, 2)), &s);
    if (chance(g, 30))
        return softmax_by_hand(g, x);
    put_whole(g, "axis", chance(g, 60) ? -1 : below(g, s.dims));
    return one_input(g, "Softmax", x);
}

static inline int norm_by_hand(random_graph *g, int x)
{
    sp_extent s = g->shape[x], row = vector_of(last_of(&s)), one = s;
    int off, y;

    one.dim[s.dims - 1] = 1;
    off = two_inputs(g, "Sub", x, along_rows(g, "ReduceMean", x), &s);
    y = chance(g, 50) ? two_inputs(g, "Mul", off, off, &s)
                      : two_inputs(g, "Pow", off, number_of(g, 2), &s);
    y = along_rows(g, "ReduceMean", y);
    y = either_way(g, "Add", y, number_of(g, 1e-2F), &one);
    y = two_inputs(g, "Div", off, one_input(g, "Sqrt", y), &s);
    y = either_way(g, "Mul", y, random_constant(g, &row, -1, 1, 0), &s);
    return either_way(g, "Add", y, random_constant(g, &row, -1, 1, 0), &s);
}

static inline int norm(random_graph *g, int x)
{
    sp_extent s = g->shape[x], part = {0};
    int in[] = {x, -1, -1, -1}, axis;

    if (s.dims < 2)
        return -1;
    if (g->opset < 17 || chance(g, 40))
        return norm_by_hand(g, x);
    axis = (int)(chance(g, 70) ? s.dims - 1 : between(g, 1, s.dims - 1));
    for (int i = axis; i < s.dims; i++)
        add_dim(&part, s.dim[i]);
    in[1] = random_constant(g, &part, -1, 1, 0);
    if (chance(g, 60))
        in[2] = random_constant(g, &part, -1, 1, 0);
    put_whole(g, "axis", chance(g, 50) ? axis : axis - s.dims);
    put_real(g, "epsilon", 1e-2F);
    return add_node(g, "LayerNormalization", in, &s);
}

#endif
