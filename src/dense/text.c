/* text.c - operators as text: "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1". */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/recipe.h"
#include "dense/dense.h"

#define EPILOGUE " bias=0 add=none act=none alpha=0 beta=0"
#define IMAGES   "n=1 h=1 w=1 c=1"
#define PITCHES  " pitch=0 pitchout=0"

static const char *const kinds[] = {"conv2d",     "matmul",    "pool",
                                    "softmax",    "layernorm", "reduce",
                                    "elementwise"};
static const char *const params[] = {
    IMAGES
    " k=1 r=1 s=0 stride=1 pad=0 dilate=1 groups=1 sparsity=0" EPILOGUE PITCHES,
    "batch=1 m=1 n=1 k=1 b=fixed transposed=0 sparsity=0" EPILOGUE PITCHES
    " pitchb=0 skip=0 skipb=0 skipout=0",
    IMAGES " r=1 s=0 stride=1 pad=0 dilate=1 by=max countpad=0" PITCHES,
    "batch=1 m=1 n=1 scale=1 add=none" PITCHES,
    "batch=1 m=1 n=1 eps=1e-5 add=none" PITCHES,
    "batch=1 m=1 n=1 by=mean" PITCHES,
    "batch=1 m=1 n=1 steps=relu" PITCHES};

static const char *const acts[] = {"none",     "relu",   "clip",    "leaky",
                                   "hsigmoid", "hswish", "sigmoid", "silu",
                                   "tanh",     "gelu",   "exp",     "sqrt"};
static const char *const adds[] = {"none", "before", "after", "row"};
static const char *const bys[] = {"max", "mean", "sum"};
static const char *const fixes[] = {"fixed", "given", "shared", "given-shared"};
static const char *const step_ops[] = {"add", "sub", "mul",
                                       "div", "max", "min"};
static const char *const withs[] = {"value", "same", "row", "column", "image"};

const char *spry_operator_name(int kind)
{
    return kind >= 0 && kind < SPRY_OPERATOR_KINDS ? kinds[kind] : NULL;
}

const char *spry_operator_params(int kind)
{
    return kind >= 0 && kind < SPRY_OPERATOR_KINDS ? params[kind] : NULL;
}

/* ---- reading ---- */

static int has(const sp_recipe *r, const char *name)
{
    return sp_recipe_find(r, name) >= 0;
}

/* Nothing happens when the kind has no such parameter. */
static spry_status read_size(int64_t *out, const sp_recipe *r, const char *name)
{
    return has(r, name) ? sp_recipe_count(out, r, name, 0, (int64_t)1 << 40)
                        : SPRY_OK;
}

/* A clip may have one limit only: the other one is infinite. */
static spry_status read_float(float *out, const sp_recipe *r, const char *name)
{
    const double all = (double)INFINITY;
    spry_status s;
    double x;

    if (!has(r, name))
        return SPRY_OK;
    s = sp_recipe_real(&x, r, name, -all, all);
    if (s == SPRY_OK && isfinite(x) && fabs(x) > (double)FLT_MAX)
        s = sp_recipe_refuse(r, name);
    if (s == SPRY_OK)
        *out = (float)x;
    return s;
}

static spry_status read_word(int *out, const sp_recipe *r, const char *name,
                             const char *const *word, int count)
{
    if (!has(r, name))
        return SPRY_OK;
    for (int i = 0; i < count; i++)
        if (strcmp(sp_recipe_text(r, name), word[i]) == 0) {
            *out = i;
            return SPRY_OK;
        }
    return sp_recipe_refuse(r, name);
}

/* "1", "2x1" or "1x0x1x0" into out[4]: rows, columns, again. */
static spry_status read_sides(int64_t out[4], const sp_recipe *r,
                              const char *name, int most)
{
    const char *at, *end;
    int count = 0;

    if (!has(r, name))
        return SPRY_OK;
    at = sp_recipe_text(r, name);
    end = at + strlen(at);
    while (count < most && sp_scan_int(&at, end, &out[count]) &&
           out[count] >= 0) {
        count++;
        if (at == end)
            break;
        if (*at++ != 'x')
            return sp_recipe_refuse(r, name);
    }
    if (at != end || (count != 1 && count != 2 && count != 4))
        return sp_recipe_refuse(r, name);
    if (count == 1)
        out[1] = out[0];
    if (count <= 2) {
        out[2] = out[0];
        out[3] = out[1];
    }
    return SPRY_OK;
}

static int find_word(const char *text, size_t length, const char *const *word,
                     int count)
{
    for (int i = 0; i < count; i++)
        if (strlen(word[i]) == length && memcmp(word[i], text, length) == 0)
            return i;
    return -1;
}

/* "relu", "mul:image" or "add:0.5". */
static int read_step(spry_step *out, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length), *end = text + length;
    size_t name = colon ? (size_t)(colon - text) : length;
    int op = find_word(text, name, step_ops, 6);
    int act = find_word(text, name, acts, SPRY_ACTS);
    double value;
    int with;

    *out = (spry_step){.op = SPRY_STEP_ACT};
    if (op < 0 && act >= 0 && !colon) {
        out->act = (spry_act)act;
        out->alpha = act == SPRY_ACT_HSIGMOID ? 1.0f / 6 : 0;
        out->beta = act == SPRY_ACT_HSIGMOID ? 0.5f : 0;
        return act != SPRY_ACT_CLIP && act != SPRY_ACT_LEAKY;
    }
    if (op < 0 || !colon)
        return 0;
    out->op = (spry_step_op)op;
    colon++;
    with = find_word(colon, (size_t)(end - colon), withs, 5);
    if (with > 0) {
        out->with = (spry_with)with;
        return 1;
    }
    if (!sp_scan_real(&colon, end, &value) || colon != end)
        return 0;
    out->value = (float)value;
    return 1;
}

/* Up to the next plus sign, but not that of "mul:1e+06". */
static size_t step_length(const char *text)
{
    size_t length = strcspn(text, "+");

    if (length > 1 && text[length] && text[length - 1] == 'e' &&
        text[length - 2] >= '0' && text[length - 2] <= '9')
        length += 1 + strcspn(text + length + 1, "+");
    return length;
}

/* "mul:image+relu": steps between plus signs. */
static spry_status read_steps(spry_operator *op, const sp_recipe *r)
{
    const char *at = has(r, "steps") ? sp_recipe_text(r, "steps") : "";

    while (*at) {
        size_t length = step_length(at);

        if (op->steps == SPRY_STEPS ||
            !read_step(&op->step[op->steps++], at, length))
            return sp_recipe_refuse(r, "steps");
        at += length + (at[length] == '+');
    }
    return SPRY_OK;
}

static spry_status read_images(spry_operator *op, const sp_recipe *r)
{
    int64_t stride[4] = {1, 1}, dilate[4] = {1, 1}, pad[4] = {0};
    spry_status s = read_sides(stride, r, "stride", 2);

    if (s == SPRY_OK)
        s = read_sides(dilate, r, "dilate", 2);
    if (s == SPRY_OK)
        s = read_sides(pad, r, "pad", 4);
    op->stride_h = stride[0];
    op->stride_w = stride[1];
    op->dilate_h = dilate[0];
    op->dilate_w = dilate[1];
    op->pad_top = pad[0];
    op->pad_left = pad[1];
    op->pad_bottom = pad[2];
    op->pad_right = pad[3];
    if (has(r, "s") && op->s == 0)
        op->s = op->r;
    return s;
}

static spry_status read_sizes(spry_operator *op, const sp_recipe *r)
{
    struct {
        const char *name;
        int64_t *out;
    } size[] = {{"n", &op->n},
                {"h", &op->h},
                {"w", &op->w},
                {"c", &op->c},
                {"k", &op->k},
                {"r", &op->r},
                {"s", &op->s},
                {"groups", &op->groups},
                {"batch", &op->batch},
                {"m", &op->m},
                {"pitch", &op->pitch_in},
                {"pitchb", &op->pitch_b},
                {"pitchout", &op->pitch_out},
                {"skip", &op->skip_in},
                {"skipb", &op->skip_b},
                {"skipout", &op->skip_out}};
    spry_status s = SPRY_OK;

    for (size_t i = 0; i < sizeof size / sizeof size[0] && s == SPRY_OK; i++)
        s = read_size(size[i].out, r, size[i].name);
    return s;
}

static spry_status read_rest(spry_operator *op, const sp_recipe *r)
{
    int add = 0, act = 0, by = 0, b = 0;
    int64_t bias = 0, transposed = 0, countpad = 0;
    spry_status s = read_word(&add, r, "add", adds, 4);

    if (s == SPRY_OK)
        s = read_word(&act, r, "act", acts, SPRY_ACTS);
    if (s == SPRY_OK)
        s = read_word(&by, r, "by", bys, 3);
    if (s == SPRY_OK)
        s = read_word(&b, r, "b", fixes, 4);
    if (s == SPRY_OK)
        s = read_size(&bias, r, "bias");
    if (s == SPRY_OK)
        s = read_size(&transposed, r, "transposed");
    if (s == SPRY_OK)
        s = read_size(&countpad, r, "countpad");
    if (s == SPRY_OK)
        s = read_float(&op->alpha, r, "alpha");
    if (s == SPRY_OK)
        s = read_float(&op->beta, r, "beta");
    if (s == SPRY_OK)
        s = read_float(&op->scale, r, "scale");
    if (s == SPRY_OK)
        s = read_float(&op->eps, r, "eps");
    if (s == SPRY_OK)
        s = read_float(&op->sparsity, r, "sparsity");
    op->add = (spry_add)add;
    op->act = (spry_act)act;
    op->by = (spry_by)by;
    op->given = b & 1;
    op->shared_b = b >> 1;
    op->with_bias = bias != 0;
    op->transposed = transposed != 0;
    op->counts_pad = countpad != 0;
    return s;
}

static void usual_act(spry_operator *op, const sp_recipe *r)
{
    int alpha = sp_recipe_find(r, "alpha"), beta = sp_recipe_find(r, "beta");

    if (op->act != SPRY_ACT_HSIGMOID || alpha < 0 || beta < 0)
        return;
    if (!r->param[alpha].given)
        op->alpha = 1.0f / 6;
    if (!r->param[beta].given)
        op->beta = 0.5f;
}

spry_status spry_operator_parse(spry_operator *out, const char *text)
{
    spry_operator op, whole;
    const char *rest;
    sp_recipe r;
    spry_status s;
    int kind;

    if (!out || !text)
        return sp_fail(SPRY_USAGE, "an operator needs a text and a place");
    if (strncmp(text, "op:", 3) == 0)
        text += 3;
    s = sp_recipe_kind(&kind, &rest, text, "operator", kinds,
                       SPRY_OPERATOR_KINDS);
    if (s == SPRY_OK)
        s = sp_recipe_parse(&r, kinds[kind], params[kind], rest);
    if (s != SPRY_OK)
        return s;
    spry_operator_init(&op, (spry_operator_kind)kind);
    s = read_sizes(&op, &r);
    if (s == SPRY_OK)
        s = read_rest(&op, &r);
    if (s == SPRY_OK)
        s = read_images(&op, &r);
    if (s == SPRY_OK)
        s = read_steps(&op, &r);
    usual_act(&op, &r);
    whole = op;
    if (s == SPRY_OK)
        s = sp_operator_settle(&whole);
    if (s == SPRY_OK)
        *out = op;
    return s;
}

/* ---- writing ---- */

static void put_size(sp_buf *b, const char *name, int64_t x, int64_t usual)
{
    if (x != usual)
        sp_buf_printf(b, ",%s=%lld", name, (long long)x);
}

static void put_real(sp_buf *b, const char *name, float x, float usual)
{
    char text[SP_REAL];

    if (x == usual)
        return;
    sp_print_real(text, (double)x, SPRY_F32);
    sp_buf_printf(b, ",%s=%s", name, text);
}

static void put_word(sp_buf *b, const char *name, const char *word, int any)
{
    if (any)
        sp_buf_printf(b, ",%s=%s", name, word);
}

static void put_pair(sp_buf *b, const char *name, int64_t x, int64_t y,
                     int64_t usual)
{
    if (x != y)
        sp_buf_printf(b, ",%s=%lldx%lld", name, (long long)x, (long long)y);
    else
        put_size(b, name, x, usual);
}

static void put_images(sp_buf *b, const spry_operator *op)
{
    put_size(b, "n", op->n, 1);
    put_size(b, "h", op->h, 1);
    put_size(b, "w", op->w, 1);
    put_size(b, "c", op->c, 1);
    if (op->kind == SPRY_CONV2D)
        put_size(b, "k", op->k, 1);
    put_size(b, "r", op->r, 1);
    put_size(b, "s", op->s, op->r);
    put_pair(b, "stride", op->stride_h, op->stride_w, 1);
    if (op->pad_top == op->pad_bottom && op->pad_left == op->pad_right)
        put_pair(b, "pad", op->pad_top, op->pad_left, 0);
    else
        sp_buf_printf(b, ",pad=%lldx%lldx%lldx%lld", (long long)op->pad_top,
                      (long long)op->pad_left, (long long)op->pad_bottom,
                      (long long)op->pad_right);
    put_pair(b, "dilate", op->dilate_h, op->dilate_w, 1);
    put_size(b, "groups", op->groups, 1);
    put_size(b, "countpad", op->counts_pad, 0);
}

static void put_rows(sp_buf *b, const spry_operator *op)
{
    put_size(b, "batch", op->batch, 1);
    put_size(b, "m", op->m, 1);
    put_size(b, "n", op->n, 1);
    if (op->kind == SPRY_MATMUL) {
        put_size(b, "k", op->k, 1);
        put_word(b, "b", fixes[!!op->given + 2 * !!op->shared_b],
                 op->given || op->shared_b);
        put_size(b, "transposed", op->transposed, 0);
    }
}

static void put_steps(sp_buf *b, const spry_operator *op)
{
    for (int i = 0; i < op->steps; i++) {
        const spry_step *x = &op->step[i];

        sp_buf_add(b, i ? "+" : ",steps=");
        if (x->op == SPRY_STEP_ACT)
            sp_buf_add(b, acts[x->act]);
        else if (x->with != SPRY_WITH_VALUE)
            sp_buf_printf(b, "%s:%s", step_ops[x->op], withs[x->with]);
        else {
            char text[SP_REAL];

            sp_print_real(text, (double)x->value, SPRY_F32);
            sp_buf_printf(b, "%s:%s", step_ops[x->op], text);
        }
    }
}

/* Pitches are said only where there is something between the rows. */
static void put_pitches(sp_buf *b, const spry_operator *op)
{
    spry_operator usual = *op;

    usual.pitch_in = usual.pitch_b = usual.pitch_out = 0;
    usual.skip_in = usual.skip_b = usual.skip_out = 0;
    if (sp_operator_settle(&usual) != SPRY_OK)
        return;
    put_size(b, "pitch", op->pitch_in ? op->pitch_in : usual.pitch_in,
             usual.pitch_in);
    put_size(b, "pitchout", op->pitch_out ? op->pitch_out : usual.pitch_out,
             usual.pitch_out);
    if (op->kind != SPRY_MATMUL)
        return;
    put_size(b, "pitchb", op->pitch_b ? op->pitch_b : usual.pitch_b,
             usual.pitch_b);
    usual = *op; /* skips follow from the pitches */
    usual.skip_in = usual.skip_b = usual.skip_out = 0;
    (void)sp_operator_settle(&usual);
    put_size(b, "skip", op->skip_in ? op->skip_in : usual.skip_in,
             usual.skip_in);
    put_size(b, "skipb", op->skip_b ? op->skip_b : usual.skip_b, usual.skip_b);
    put_size(b, "skipout", op->skip_out ? op->skip_out : usual.skip_out,
             usual.skip_out);
}

void spry_operator_text(char *out, size_t size, const spry_operator *op)
{
    sp_buf b = {0};

    if (!out || size == 0)
        return;
    *out = 0;
    if (!op || !spry_operator_name((int)op->kind))
        return;
    sp_buf_add(&b, kinds[op->kind]);
    if (op->kind == SPRY_CONV2D || op->kind == SPRY_POOL)
        put_images(&b, op);
    else
        put_rows(&b, op);
    put_real(&b, "sparsity", op->sparsity, 0);
    put_size(&b, "bias", op->with_bias, 0);
    put_word(&b, "add", adds[op->add], op->add != SPRY_ADD_NONE);
    put_word(&b, "act", acts[op->act], op->act != SPRY_ACT_NONE);
    if (op->act) { /* a gate has others unless it says so: 1 / 6 and 1 / 2 */
        float usual = op->act == SPRY_ACT_HSIGMOID ? NAN : 0;

        put_real(&b, "alpha", op->alpha, usual);
        put_real(&b, "beta", op->beta, usual);
    }
    if (op->kind == SPRY_POOL || op->kind == SPRY_REDUCE)
        put_word(&b, "by", bys[op->by], 1);
    if (op->kind == SPRY_SOFTMAX)
        put_real(&b, "scale", op->scale, 1);
    if (op->kind == SPRY_LAYERNORM)
        put_real(&b, "eps", op->eps, 1e-5f);
    put_steps(&b, op);
    put_pitches(&b, op);
    snprintf(out, size, "%s", b.data ? b.data : "");
    sp_buf_free(&b);
}
