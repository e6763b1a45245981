/* op_reduce.c - sums, means, extremes and norms along axes, and where extremes
 * are. */
#include <math.h>
#include <string.h>

#include "dense/core.h"
#include "graph/opcodes.h"

/* ---- one number of many ---- */

/* Axes became an input: of sums at opset 13, of the others at 18. */
static spry_status reduced(unsigned *axes, const sp_call *c)
{
    int input =
        c->opset >= (strcmp(c->node->op->name, "ReduceSum") == 0 ? 13 : 18);
    spry_status s;

    if (!input && c->node->inputs > 1)
        return sp_refuse(c->node, "axes are no input in this opset");
    if (input && sp_attr_find(c->node, "axes"))
        return sp_refuse(c->node, "axes are no attribute in this opset");
    s = sp_op_axes(axes, c, input);
    if (s == SPRY_OK && *axes == 0 &&
        !sp_attr_int(c->node, "noop_with_empty_axes", 0))
        *axes = (1u << c->in[0]->shape.dims) - 1;
    return s;
}

spry_status sp_reduce_infer(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int keep = sp_attr_int(c->node, "keepdims", 1) != 0;
    sp_extent *out = &c->out[0].shape;
    unsigned axes;
    spry_status s = reduced(&axes, c);

    out->dims = 0;
    for (int i = 0; s == SPRY_OK && i < in->dims; i++)
        if (!(axes >> i & 1))
            out->dim[out->dims++] = in->dim[i];
        else if (keep)
            out->dim[out->dims++] = 1;
    c->out[0].whole = c->in[0]->whole;
    return s;
}

/* What a term adds to what there is so far. */
static double with_sum(double sum, double x)
{
    return sum + x;
}
static double with_size(double sum, double x)
{
    return sum + fabs(x);
}
static double with_square(double sum, double x)
{
    return sum + x * x;
}
static double with_product(double sum, double x)
{
    return sum * x;
}
/* The logarithm of e^sum + e^x. */
static double with_power(double sum, double x)
{
    double most = sp_most(x, sum), least = sp_least(x, sum);

    return most == least && isinf(most) ? most
                                        : most + log1p(exp(least - most));
}

static const struct {
    const char *name;
    double begin;
    double (*join)(double sum, double x);
    double (*end)(double sum); /* NULL: it stays as it is */
    int mean;                  /* over the number of terms */
} reductions[] = {{"ReduceSum", 0, with_sum, NULL, 0},
                  {"ReduceMean", 0, with_sum, NULL, 1},
                  {"ReduceMax", -HUGE_VAL, sp_most, NULL, 0},
                  {"ReduceMin", HUGE_VAL, sp_least, NULL, 0},
                  {"ReduceProd", 1, with_product, NULL, 0},
                  {"ReduceL1", 0, with_size, NULL, 0},
                  {"ReduceL2", 0, with_square, sqrt, 0},
                  {"ReduceSumSquare", 0, with_square, NULL, 0},
                  {"ReduceLogSum", 0, with_sum, log, 0},
                  {"ReduceLogSumExp", -HUGE_VAL, with_power, NULL, 0}};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

/* Distances in the result along each axis, 0 along what is reduced; how many
 * terms each number has. */
static int64_t steps_of(int64_t step[SP_GRAPH_DIMS], const sp_extent *in,
                        unsigned axes)
{
    int64_t size = 1, terms = 1;

    for (int d = in->dims - 1; d >= 0; d--)
        if (axes >> d & 1) {
            step[d] = 0;
            terms *= in->dim[d];
        } else {
            step[d] = size;
            size *= in->dim[d];
        }
    return terms;
}

spry_status sp_reduce_compute(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int64_t step[SP_GRAPH_DIMS], terms;
    double *out = c->out[0].data;
    unsigned axes;
    int kind = 0;
    spry_status s = reduced(&axes, c);

    if (s != SPRY_OK)
        return s;
    while (kind < REDUCTIONS &&
           strcmp(c->node->op->name, reductions[kind].name) != 0)
        kind++;
    if (kind == REDUCTIONS)
        return sp_refuse(c->node, "no way to compute it");
    terms = steps_of(step, in, axes);
    for (int64_t i = 0; i < c->out[0].count; i++)
        out[i] = reductions[kind].begin;
    for (int64_t i = 0; i < c->in[0]->count; i++) {
        int64_t rest = i, at = 0;

        for (int d = in->dims - 1; d >= 0; d--) {
            at += rest % in->dim[d] * step[d];
            rest /= in->dim[d];
        }
        out[at] = reductions[kind].join(out[at], c->in[0]->data[i]);
    }
    for (int64_t i = 0; i < c->out[0].count; i++) {
        out[i] /= reductions[kind].mean ? (double)terms : 1;
        if (reductions[kind].end)
            out[i] = reductions[kind].end(out[i]);
    }
    return s;
}

/* ---- where the largest or smallest is ---- */

spry_status sp_arg_infer(sp_call *c)
{
    int axis;
    sp_extent *out = &c->out[0].shape;
    spry_status s = sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 0),
                               c->in[0]->shape.dims);

    if (s != SPRY_OK)
        return s;
    *out = c->in[0]->shape;
    if (out->dim[axis] < 1)
        return sp_refuse(c->node, "there is nothing to choose from");
    out->dim[axis] = 1;
    if (!sp_attr_int(c->node, "keepdims", 1)) {
        out->dims--;
        for (int i = axis; i < out->dims; i++)
            out->dim[i] = out->dim[i + 1];
    }
    c->out[0].whole = 1;
    return SPRY_OK;
}

/* Is x, which comes behind y, to be taken instead? NaN beats all numbers. */
static int is_chosen(double x, double y, int least, int last)
{
    if (x != x || y != y)
        return x != x && (y == y || last);
    return x == y ? last : least ? x < y : x > y;
}

spry_status sp_arg_compute(sp_call *c)
{
    const sp_extent *in = &c->in[0]->shape;
    int least = c->node->op->name[4] == 'i', axis;
    int last = sp_attr_int(c->node, "select_last_index", 0) != 0;
    int64_t inner = 1, n;
    spry_status s =
        sp_op_axis(&axis, c->node, sp_attr_int(c->node, "axis", 0), in->dims);

    if (s != SPRY_OK)
        return s;
    n = in->dim[axis];
    for (int i = axis + 1; i < in->dims; i++)
        inner *= in->dim[i];
    for (int64_t i = 0; i < c->out[0].count; i++) {
        const double *x = c->in[0]->data + i / inner * n * inner + i % inner;
        int64_t best = 0;

        for (int64_t k = 1; k < n; k++)
            if (is_chosen(x[k * inner], x[best * inner], least, last))
                best = k;
        c->out[0].data[i] = (double)best;
    }
    return s;
}
