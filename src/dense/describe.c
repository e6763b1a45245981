/* describe.c - operators: their sizes, and whether they make sense. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "dense/dense.h"

void spry_operator_init(spry_operator *out, spry_operator_kind kind)
{
    if (!out)
        return;
    *out = (spry_operator){.size = sizeof *out,
                           .kind = kind,
                           .n = 1,
                           .k = 1,
                           .h = 1,
                           .w = 1,
                           .c = 1,
                           .r = 1,
                           .s = 1,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilate_h = 1,
                           .dilate_w = 1,
                           .groups = 1,
                           .batch = 1,
                           .m = 1,
                           .by = SPRY_BY_MAX,
                           .scale = 1,
                           .eps = 1e-5f};
}

static int64_t extent(int64_t size, int64_t before, int64_t behind,
                      int64_t taps, int64_t dilate, int64_t stride)
{
    int64_t room = size + before + behind - dilate * (taps - 1) - 1;

    return room < 0 ? 0 : room / stride + 1;
}

static int has_images(const spry_operator *op)
{
    return op->kind == SPRY_CONV2D || op->kind == SPRY_POOL;
}

int64_t spry_operator_height(const spry_operator *op)
{
    return op && has_images(op) ? extent(op->h, op->pad_top, op->pad_bottom,
                                         op->r, op->dilate_h, op->stride_h)
                                : 1;
}

int64_t spry_operator_width(const spry_operator *op)
{
    return op && has_images(op) ? extent(op->w, op->pad_left, op->pad_right,
                                         op->s, op->dilate_w, op->stride_w)
                                : 1;
}

int sp_operator_depthwise(const spry_operator *op)
{
    return op->kind == SPRY_CONV2D && op->groups == op->c && op->c > 1;
}

/* ---- floats of the operands ---- */

/* From the first to the last of `rows` rows of `cols`. */
static int64_t spread(int64_t rows, int64_t pitch, int64_t cols)
{
    return rows > 0 ? (rows - 1) * pitch + cols : 0;
}

int64_t sp_dense_in(const spry_operator *op)
{
    if (has_images(op))
        return spread(op->n * op->h * op->w, op->pitch_in, op->c);
    if (op->kind == SPRY_MATMUL)
        return (op->batch - 1) * op->skip_in +
               spread(op->m, op->pitch_in, op->k);
    return spread(op->batch * op->m, op->pitch_in, op->n);
}

int64_t sp_dense_out(const spry_operator *op)
{
    if (has_images(op))
        return spread(op->n * spry_operator_height(op) *
                          spry_operator_width(op),
                      op->pitch_out, op->kind == SPRY_POOL ? op->c : op->k);
    if (op->kind == SPRY_MATMUL)
        return (op->batch - 1) * op->skip_out +
               spread(op->m, op->pitch_out, op->n);
    return spread(op->batch * op->m, op->pitch_out,
                  op->kind == SPRY_REDUCE ? 1 : op->n);
}

static int64_t product(const spry_operator *op)
{
    int64_t rows = op->transposed ? op->n : op->k;

    return (op->shared_b ? 0 : (op->batch - 1) * op->skip_b) +
           spread(rows, op->pitch_b, op->transposed ? op->k : op->n);
}

int64_t sp_dense_b(const spry_operator *op)
{
    return op->kind == SPRY_MATMUL && op->given ? product(op) : 0;
}

int64_t sp_dense_add(const spry_operator *op)
{
    return op->add == SPRY_ADD_NONE  ? 0
           : op->add == SPRY_ADD_ROW ? op->n
                                     : sp_dense_out(op);
}

int64_t sp_dense_more(const spry_operator *op, int step)
{
    if (op->kind != SPRY_ELEMENTWISE || op->step[step].op == SPRY_STEP_ACT)
        return 0;
    switch (op->step[step].with) {
    case SPRY_WITH_VALUE: return 0;
    case SPRY_WITH_SAME: return sp_dense_in(op);
    case SPRY_WITH_ROW: return op->n;
    case SPRY_WITH_COLUMN: return op->batch * op->m;
    case SPRY_WITH_IMAGE: return op->batch * op->n;
    }
    return 0;
}

int64_t sp_dense_weights(const spry_operator *op)
{
    if (op->kind == SPRY_CONV2D)
        return op->k * (op->c / op->groups) * op->r * op->s;
    if (op->kind == SPRY_MATMUL)
        return op->given ? 0 : product(op);
    return op->kind == SPRY_LAYERNORM ? op->n : 0;
}

int64_t sp_dense_bias(const spry_operator *op)
{
    if (op->kind == SPRY_LAYERNORM)
        return op->n;
    if (!op->with_bias)
        return 0;
    return op->kind == SPRY_CONV2D ? op->k : op->n;
}

/* ---- sense ---- */

static spry_status refuse(const spry_operator *op, const char *why)
{
    return sp_fail(SPRY_USAGE, "%s: %s", spry_operator_name((int)op->kind),
                   why);
}

/* No product of sizes below may overflow: each is at most 2^24, a tensor has
 * at most 2^40 numbers. */
static int too_large(const spry_operator *op)
{
    static const double MOST = 1099511627776.0;
    double images = (double)op->n * (double)op->h * (double)op->w;
    double result =
        (double)op->n *
        ((double)op->h + (double)op->pad_top + (double)op->pad_bottom) *
        ((double)op->w + (double)op->pad_left + (double)op->pad_right);
    double rows = (double)op->batch * (double)op->m;
    double pitch = fmax(fmax((double)op->pitch_in, (double)op->pitch_out),
                        (double)op->pitch_b);

    if (has_images(op))
        return images * fmax((double)op->c, pitch) > MOST ||
               result * fmax((double)op->k, pitch) > MOST ||
               (double)op->k * (double)op->c * (double)op->r * (double)op->s >
                   MOST;
    return rows * fmax(fmax((double)op->n, (double)op->k), pitch) > MOST ||
           (double)op->batch * (double)op->n * (double)op->k > MOST ||
           (double)op->batch *
                   fmax(fmax((double)op->skip_in, (double)op->skip_out),
                        (double)op->skip_b) >
               MOST;
}

static int outside(int64_t low, int64_t x)
{
    return x < low || x > SP_OPERATOR_SIZE;
}

static int has_odd_size(const spry_operator *op)
{
    const int64_t size[] = {
        op->n,        op->k,      op->h,        op->w,        op->c,
        op->r,        op->s,      op->stride_h, op->stride_w, op->dilate_h,
        op->dilate_w, op->groups, op->batch,    op->m};
    const int64_t rest[] = {op->pad_top,   op->pad_left, op->pad_bottom,
                            op->pad_right, op->pitch_in, op->pitch_b,
                            op->pitch_out};
    int odd = op->skip_in < 0 || op->skip_b < 0 || op->skip_out < 0;

    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        odd |= outside(1, size[i]);
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        odd |= outside(0, rest[i]);
    return odd;
}

static int has_odd_name(const spry_operator *op)
{
    int odd = op->add > SPRY_ADD_ROW || (int)op->act >= SPRY_ACTS ||
              op->by > SPRY_BY_SUM || op->steps < 0 || op->steps > SPRY_STEPS;

    for (int i = 0; !odd && i < op->steps; i++)
        odd = op->step[i].op > SPRY_STEP_ACT ||
              op->step[i].with > SPRY_WITH_IMAGE ||
              (int)op->step[i].act >= SPRY_ACTS;
    return odd;
}

static spry_status check_images(const spry_operator *op)
{
    if (op->c % op->groups || op->k % op->groups)
        return refuse(op, "groups must divide c and k");
    if (op->dilate_h * (op->r - 1) + 1 > op->h + op->pad_top + op->pad_bottom ||
        op->dilate_w * (op->s - 1) + 1 > op->w + op->pad_left + op->pad_right)
        return refuse(op, "the window is larger than the padded image");
    if (op->kind == SPRY_POOL && (op->pad_top >= op->r * op->dilate_h ||
                                  op->pad_bottom >= op->r * op->dilate_h ||
                                  op->pad_left >= op->s * op->dilate_w ||
                                  op->pad_right >= op->s * op->dilate_w))
        return refuse(op, "padding reaches beyond the window");
    if (op->pitch_in < op->c ||
        op->pitch_out < (op->kind == SPRY_POOL ? op->c : op->k))
        return refuse(op, "a pitch is less than the channels");
    return SPRY_OK;
}

static spry_status check_rows(const spry_operator *op)
{
    int64_t in = op->kind == SPRY_MATMUL ? op->k : op->n;
    int64_t out = op->kind == SPRY_REDUCE ? 1 : op->n;

    if (op->pitch_in < in || op->pitch_out < out)
        return refuse(op, "a pitch is less than a row");
    if (op->kind == SPRY_MATMUL &&
        op->pitch_b < (op->transposed ? op->k : op->n))
        return refuse(op, "the pitch of B is less than its row");
    if (op->kind == SPRY_ELEMENTWISE && op->steps == 0)
        return refuse(op, "a chain needs a step");
    return SPRY_OK;
}

static spry_status check_epilogue(const spry_operator *op)
{
    int sums = op->kind == SPRY_CONV2D || op->kind == SPRY_MATMUL;

    if (!sums && (op->act || op->with_bias))
        return refuse(op, "only sums of products have bias and activation");
    if (!sums && op->add && op->kind != SPRY_SOFTMAX &&
        op->kind != SPRY_LAYERNORM)
        return refuse(op, "nothing is added to it");
    if (op->add == SPRY_ADD_ROW && op->kind != SPRY_SOFTMAX)
        return refuse(op, "only softmax adds one row to all");
    if (op->add == SPRY_ADD_AFTER && !sums)
        return refuse(op, "nothing can be added behind it");
    if (op->act == SPRY_ACT_EXP || op->act == SPRY_ACT_SQRT)
        return refuse(op, "exp and sqrt are steps of elementwise chains");
    if (op->act == SPRY_ACT_CLIP && !(op->alpha <= op->beta))
        return refuse(op, "clip needs alpha <= beta");
    if (op->kind != SPRY_MATMUL && (op->given || op->transposed))
        return refuse(op, "only matmul has a B");
    if (!(op->sparsity >= 0 && op->sparsity <= 1) ||
        (!sums && op->sparsity > 0))
        return refuse(op, "sparsity is a share of weights");
    return SPRY_OK;
}

static void fill_pitches(spry_operator *op)
{
    int images = has_images(op), product_of = op->kind == SPRY_MATMUL;

    if (op->kind == SPRY_POOL)
        op->k = op->c;
    if (!op->pitch_in)
        op->pitch_in = images ? op->c : product_of ? op->k : op->n;
    if (!op->pitch_out)
        op->pitch_out = images ? op->k : op->kind == SPRY_REDUCE ? 1 : op->n;
    if (!op->pitch_b)
        op->pitch_b = op->transposed ? op->k : op->n;
    if (!op->skip_in)
        op->skip_in = op->m * op->pitch_in;
    if (!op->skip_out)
        op->skip_out = op->m * op->pitch_out;
    if (!op->skip_b)
        op->skip_b = op->pitch_b * (op->transposed ? op->n : op->k);
}

spry_status sp_operator_settle(spry_operator *op)
{
    if ((int)op->kind < 0 || (int)op->kind >= SPRY_OPERATOR_KINDS)
        return sp_fail(SPRY_USAGE, "%d is no kind of operator", (int)op->kind);
    if (has_odd_size(op))
        return refuse(op, "sizes are from 1 to 2^24");
    if (has_odd_name(op))
        return refuse(op, "a part of it has no name");
    if (too_large(op))
        return refuse(op, "it is too large");
    fill_pitches(op);
    if (too_large(op))
        return refuse(op, "it is too large");
    spry_status s = has_images(op) ? check_images(op) : check_rows(op);
    return s == SPRY_OK ? check_epilogue(op) : s;
}
