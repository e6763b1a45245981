/* recognise.c - chains of small operators that are one.
 *
 * Frameworks write gelu, hard swish, layer norm and softmax as the operators
 * of the day; here they get their name back. The last node of a chain becomes
 * the operator, the others have nobody left who reads them. */
#include <math.h>
#include <string.h>

#include "graph/program.h"

/* The node that makes v, if it is of this kind. */
static const sp_opnode *made_by(const sp_lowering *l, int v, const char *op)
{
    const sp_opnode *n =
        v >= 0 && l->maker[v] >= 0 ? &l->node[l->maker[v]] : NULL;

    return n && sp_called(n, op) ? n : NULL;
}

/* Of a node of two inputs the one that is not v, -1: v is neither. */
static int other(const sp_opnode *n, int v)
{
    return n->input[0] == v ? n->input[1] : n->input[1] == v ? n->input[0] : -1;
}

/* The input of `n` that is not the number x, -1: none is. */
static int beside(const sp_lowering *l, const sp_opnode *n, double x)
{
    return sp_has_number(l, n->input[1], x)   ? n->input[0]
           : sp_has_number(l, n->input[0], x) ? n->input[1]
                                              : -1;
}

static spry_status become(sp_lowering *l, sp_opnode *n, const char *op,
                          int inputs, const int *input)
{
    int *list = sp_pool_get(&l->p->pool, inputs, sizeof *list);

    if (!list)
        return sp_fail_memory((size_t)inputs * sizeof *list);
    memcpy(list, input, (size_t)inputs * sizeof *list);
    n->op = sp_opcode_find(op);
    n->input = list;
    n->inputs = inputs;
    n->attrs = 0;
    return SPRY_OK;
}

static spry_status give(sp_lowering *l, sp_opnode *n, sp_attr x)
{
    sp_attr *a = sp_pool_get(&l->p->pool, 1, sizeof *a);

    if (!a)
        return sp_fail_memory(sizeof *a);
    *a = x;
    n->attr = a;
    n->attrs = 1;
    return SPRY_OK;
}

static spry_status give_real(sp_lowering *l, sp_opnode *n, const char *name,
                             double x)
{
    return give(l, n, (sp_attr){name, SP_ATTR_REAL, .real = x});
}

static spry_status give_int(sp_lowering *l, sp_opnode *n, const char *name,
                            int64_t x)
{
    return give(l, n, (sp_attr){name, SP_ATTR_INT, .whole = x});
}

/* x HardSigmoid(x), and x clip(x + 3, 0, 6) / 6 */
static spry_status hard_swish(sp_lowering *l, sp_opnode *n)
{
    for (int i = 0; i < 2; i++) {
        int x = n->input[i];
        const sp_opnode *gate = made_by(l, n->input[1 - i], "HardSigmoid");

        if (gate && gate->input[0] == x &&
            fabs(sp_attr_real(gate, "alpha", 0.2) - 1.0 / 6) < 1e-6 &&
            fabs(sp_attr_real(gate, "beta", 0.5) - 0.5) < 1e-6)
            return become(l, n, "HardSwish", 1, &x);
    }
    return SPRY_OK;
}

static spry_status divided_swish(sp_lowering *l, sp_opnode *n)
{
    const sp_opnode *product = made_by(l, n->input[0], "Mul");

    for (int i = 0; product && sp_has_number(l, n->input[1], 6) && i < 2; i++) {
        int x = product->input[i];
        const sp_opnode *clip = made_by(l, product->input[1 - i], "Clip");
        const sp_opnode *sum = clip ? made_by(l, clip->input[0], "Add") : NULL;
        double low = clip ? sp_attr_real(clip, "min", -1) : -1;
        double high = clip ? sp_attr_real(clip, "max", -1) : -1;

        if (clip && clip->inputs > 2) {
            sp_single(l, clip->input[1], &low);
            sp_single(l, clip->input[2], &high);
        }
        if (sum && low == 0 && high == 6 && beside(l, sum, 3) == x)
            return become(l, n, "HardSwish", 1, &x);
    }
    return SPRY_OK;
}

/* Is v 1 + erf(x / sqrt 2)? */
static int erf_factor(const sp_lowering *l, int v, int x)
{
    const sp_opnode *sum = made_by(l, v, "Add");
    const sp_opnode *erf = sum ? made_by(l, beside(l, sum, 1), "Erf") : NULL;
    const sp_opnode *div = erf ? made_by(l, erf->input[0], "Div") : NULL;
    const sp_opnode *mul = erf ? made_by(l, erf->input[0], "Mul") : NULL;

    if (div && div->input[0] == x && sp_has_number(l, div->input[1], sqrt(2)))
        return 1;
    return mul && beside(l, mul, sqrt(0.5)) == x;
}

/* x (1 + erf(x / sqrt 2)) / 2, in any order of the products */
static spry_status gelu(sp_lowering *l, sp_opnode *n)
{
    for (int i = 0; i < 2; i++) {
        const sp_opnode *in = made_by(l, n->input[i], "Mul");

        for (int k = 0; in && k < 2; k++) {
            int x = in->input[k];

            if ((sp_has_number(l, n->input[1 - i], 0.5) &&
                 erf_factor(l, in->input[1 - k], x)) ||
                (sp_has_number(l, in->input[1 - k], 0.5) &&
                 erf_factor(l, n->input[1 - i], x)))
                return become(l, n, "Gelu", 1, &x);
            if (sp_has_number(l, in->input[1 - k], 0.5) &&
                erf_factor(l, x, n->input[1 - i])) {
                x = n->input[1 - i]; /* x (0.5 factor) */
                return become(l, n, "Gelu", 1, &x);
            }
        }
    }
    return SPRY_OK;
}

/* Is n a reduction of v over its last dimension, which stays as 1? */
static int over_last(const sp_lowering *l, const sp_opnode *n, int v)
{
    const sp_opvalue *in = v >= 0 ? sp_lowered_value(l, v) : NULL;
    const sp_opvalue *out = n ? sp_lowered_value(l, n->output[0]) : NULL;

    return n && n->input[0] == v && out->shape.dims == in->shape.dims &&
           in->shape.dims > 0 && out->shape.dim[out->shape.dims - 1] == 1 &&
           in->count > 0 &&
           out->count == in->count / in->shape.dim[in->shape.dims - 1];
}

/* Is v known and has as many numbers as the last dimension of x? */
static int per_column(const sp_lowering *l, int v, int x)
{
    const sp_opvalue *c = sp_lowered_value(l, v);
    const sp_extent *of = &sp_lowered_value(l, x)->shape;

    return c->data && !c->whole && c->shape.dims == 1 &&
           c->count == of->dim[of->dims - 1];
}

/* exp(x - max x) / sum */
static spry_status softmax(sp_lowering *l, sp_opnode *n)
{
    int e = n->input[0], x;
    const sp_opnode *sum = made_by(l, n->input[1], "ReduceSum");
    const sp_opnode *top = made_by(l, e, "Exp"), *off, *most;
    spry_status s;

    if (!top || !over_last(l, sum, e))
        return SPRY_OK;
    x = top->input[0];
    off = made_by(l, x, "Sub");
    most = off ? made_by(l, off->input[1], "ReduceMax") : NULL;
    if (most && over_last(l, most, off->input[0]))
        x = off->input[0];
    s = become(l, n, "Softmax", 1, &x);
    return s == SPRY_OK ? give_int(l, n, "axis", -1) : s;
}

/* The node n is (x - mean) / sqrt(mean of squares + eps) scale + bias. */
static spry_status layer_norm(sp_lowering *l, sp_opnode *n)
{
    for (int i = 0; i < 2; i++) {
        const sp_opnode *scaled = made_by(l, n->input[i], "Mul");
        int bias = n->input[1 - i];

        for (int k = 0; scaled && k < 2; k++) {
            const sp_opnode *div = made_by(l, scaled->input[k], "Div"), *root;
            const sp_opnode *eps, *mean, *square, *off, *center;
            int scale = scaled->input[1 - k], input[3];
            double e = 0;
            spry_status s;

            root = div ? made_by(l, div->input[1], "Sqrt") : NULL;
            eps = root ? made_by(l, root->input[0], "Add") : NULL;
            mean = eps && sp_single(l, eps->input[1], &e)
                       ? made_by(l, eps->input[0], "ReduceMean")
                       : NULL;
            if (!mean || !over_last(l, mean, mean->input[0]))
                continue;
            square = made_by(l, mean->input[0], "Pow");
            if (!square || !sp_has_number(l, square->input[1], 2))
                square = made_by(l, mean->input[0], "Mul");
            off = made_by(l, div->input[0], "Sub");
            if (!square || !off ||
                (sp_called(square, "Mul") &&
                 square->input[0] != square->input[1]))
                continue;
            /* Some exporters subtract twice. */
            if (square->input[0] != div->input[0]) {
                const sp_opnode *again = made_by(l, square->input[0], "Sub");

                if (!again || again->input[0] != off->input[0] ||
                    again->input[1] != off->input[1])
                    continue;
            }
            center = made_by(l, off->input[1], "ReduceMean");
            if (!center || !over_last(l, center, off->input[0]) ||
                !per_column(l, scale, off->input[0]) ||
                !per_column(l, bias, off->input[0]))
                continue;
            input[0] = off->input[0];
            input[1] = scale;
            input[2] = bias;
            s = become(l, n, "LayerNormalization", 3, input);
            return s == SPRY_OK ? give_real(l, n, "epsilon", e) : s;
        }
    }
    return SPRY_OK;
}

/* x sigmoid(x) has no name in ONNX: a Sigmoid with a mark. */
static spry_status silu(sp_lowering *l, sp_opnode *n)
{
    for (int i = 0; i < 2; i++) {
        const sp_opnode *gate = made_by(l, n->input[i], "Sigmoid");
        int x = gate ? gate->input[0] : -1;

        if (gate && !sp_attr_find(gate, "times_input") &&
            other(n, n->input[i]) == x) {
            spry_status s = become(l, n, "Sigmoid", 1, &x);

            return s == SPRY_OK ? give_real(l, n, "times_input", 1) : s;
        }
    }
    return SPRY_OK;
}

/* Nodes that nobody reads any longer, from the last to the first. */
static void drop_unread(sp_lowering *l)
{
    for (int i = l->g->nodes - 1; i >= 0; i--) {
        sp_opnode *n = &l->node[i];
        int read = 0;

        if (l->done[i])
            continue;
        for (int k = 0; k < n->outputs; k++)
            read |= n->output[k] >= 0 && l->uses[n->output[k]] > 0;
        if (read)
            continue;
        l->done[i] = 1;
        for (int k = 0; k < n->inputs; k++)
            if (n->input[k] >= 0)
                l->uses[n->input[k]]--;
    }
}

spry_status sp_recognise(sp_lowering *l)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < l->g->nodes; i++) {
        sp_opnode *n = &l->node[i];

        if (sp_called(n, "Mul")) {
            s = hard_swish(l, n);
            if (s == SPRY_OK && sp_called(n, "Mul"))
                s = gelu(l, n);
            if (s == SPRY_OK && sp_called(n, "Mul"))
                s = silu(l, n);
        } else if (sp_called(n, "Div")) {
            s = divided_swish(l, n);
            if (s == SPRY_OK && sp_called(n, "Div"))
                s = softmax(l, n);
        } else if (sp_called(n, "Add"))
            s = layer_norm(l, n);
    }
    sp_lowering_count(l);
    drop_unread(l);
    sp_lowering_count(l);
    return s;
}
