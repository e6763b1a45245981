/* op_binary.c - operators of two elements at a time, and Where. */
#include <math.h>
#include <string.h>

#include "dense/core.h"
#include "graph/opcodes.h"

typedef double binary(double x, double y);

static double add(double x, double y)
{
    return x + y;
}
static double subtract(double x, double y)
{
    return x - y;
}
static double multiply(double x, double y)
{
    return x * y;
}
static double divide(double x, double y)
{
    return x / y;
}
static double divide_whole(double x, double y)
{
    return y == 0 ? 0 : trunc(x / y);
}
/* The sign of what is left is the divisor's. */
static double modulo(double x, double y)
{
    return y == 0 ? 0 : x - y * floor(x / y);
}
static double is_equal(double x, double y)
{
    return x == y;
}
static double is_less(double x, double y)
{
    return x < y;
}
static double is_at_most(double x, double y)
{
    return x <= y;
}
static double is_more(double x, double y)
{
    return x > y;
}
static double is_at_least(double x, double y)
{
    return x >= y;
}
static double are_both(double x, double y)
{
    return x != 0 && y != 0;
}
static double is_either(double x, double y)
{
    return x != 0 || y != 0;
}
static double is_one(double x, double y)
{
    return (x != 0) != (y != 0);
}

static const struct {
    const char *name;
    binary *f;
    int truth; /* 0 or 1 comes out */
} binaries[] = {{"Add", add, 0},
                {"Sub", subtract, 0},
                {"Mul", multiply, 0},
                {"Div", divide, 0},
                {"Pow", pow, 0},
                {"Max", sp_most, 0},
                {"Min", sp_least, 0},
                {"Mod", modulo, 0},
                {"Equal", is_equal, 1},
                {"Less", is_less, 1},
                {"LessOrEqual", is_at_most, 1},
                {"Greater", is_more, 1},
                {"GreaterOrEqual", is_at_least, 1},
                {"And", are_both, 1},
                {"Or", is_either, 1},
                {"Xor", is_one, 1}};
enum { BINARIES = sizeof binaries / sizeof *binaries };

/* Which of them a node is; BINARIES: none. */
static int binary_of(const sp_opnode *n)
{
    int i = 0;

    while (i < BINARIES && strcmp(n->op->name, binaries[i].name) != 0)
        i++;
    return i;
}

spry_status sp_binary_infer(sp_call *c)
{
    const sp_array *a = c->in[0], *b = c->in[1];
    int which = binary_of(c->node);

    if (which == BINARIES)
        return sp_refuse(c->node, "no way to compute it");
    if (!sp_broadcast(&c->out[0].shape, &a->shape, &b->shape))
        return sp_refuse(c->node, "the shapes of the inputs do not fit");
    if (a->whole != b->whole && binaries[which].f != pow)
        return sp_refuse(c->node, "whole numbers and reals");
    if (binaries[which].f == modulo &&
        (!a->whole || sp_attr_int(c->node, "fmod", 0)))
        return sp_refuse(c->node, "only whole numbers without fmod are known");
    c->out[0].whole = binaries[which].truth || a->whole;
    return SPRY_OK;
}

spry_status sp_binary_compute(sp_call *c)
{
    binary *given = binaries[binary_of(c->node)].f;
    binary *f = given == divide && c->in[0]->whole ? divide_whole : given;
    int64_t sa[SP_GRAPH_DIMS], sb[SP_GRAPH_DIMS];
    const sp_extent *out = &c->out[0].shape;

    sp_broadcast_steps(sa, &c->in[0]->shape, out);
    sp_broadcast_steps(sb, &c->in[1]->shape, out);
#pragma omp parallel for schedule(static) if (c->out[0].count > SP_SERIAL)
    for (int64_t i = 0; i < c->out[0].count; i++) {
        int64_t rest = i, a = 0, b = 0;

        for (int d = out->dims - 1; d >= 0; d--) {
            a += rest % out->dim[d] * sa[d];
            b += rest % out->dim[d] * sb[d];
            rest /= out->dim[d];
        }
        c->out[0].data[i] = f(c->in[0]->data[a], c->in[1]->data[b]);
    }
    return SPRY_OK;
}

/* ---- Where ---- */

spry_status sp_where_infer(sp_call *c)
{
    sp_extent two;

    if (!sp_broadcast(&two, &c->in[1]->shape, &c->in[2]->shape) ||
        !sp_broadcast(&c->out[0].shape, &two, &c->in[0]->shape))
        return sp_refuse(c->node, "the shapes of the inputs do not fit");
    if (c->in[1]->whole != c->in[2]->whole)
        return sp_refuse(c->node, "whole numbers and reals");
    c->out[0].whole = c->in[1]->whole;
    return SPRY_OK;
}

spry_status sp_where_compute(sp_call *c)
{
    int64_t step[3][SP_GRAPH_DIMS];
    const sp_extent *out = &c->out[0].shape;

    for (int k = 0; k < 3; k++)
        sp_broadcast_steps(step[k], &c->in[k]->shape, out);
    for (int64_t i = 0; i < c->out[0].count; i++) {
        int64_t rest = i, at[3] = {0};

        for (int d = out->dims - 1; d >= 0; d--) {
            for (int k = 0; k < 3; k++)
                at[k] += rest % out->dim[d] * step[k][d];
            rest /= out->dim[d];
        }
        c->out[0].data[i] = c->in[0]->data[at[0]] != 0 ? c->in[1]->data[at[1]]
                                                       : c->in[2]->data[at[2]];
    }
    return SPRY_OK;
}
