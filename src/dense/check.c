/* check.c - plans of dense operators against the reference.
 *
 * With small integers every sum is exact in any order, and so are Winograd's
 * quarters of weights that are multiples of four: a right kernel agrees bit
 * for bit. For that question the operator gets a twin with integer weights
 * and the plan one made by the same text. With real numbers results stay
 * within the bound of a sum of that length. All rows are answered while that
 * is cheap, a sample beyond it; of sums of integers the other rows go through
 * Freivalds' test, out r = in (W r) for a random integer r.
 *
 * What is not a result, in front of the tensor, behind it or between its
 * rows, must stay as it was; every result must have been written. */
#include "dense/check.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Terms the reference may sum: for a check, for a glance. */
static const double MOST_TERMS = 3e7, FEW_TERMS = 3e5;

enum { MARGIN = 64 };

/* Operands and answers to one question. */
typedef struct {
    const sp_dense_problem *p;
    spry_tensors t;
    float *memory[SPRY_STEPS + 4]; /* of them */
    double *answer, *magnitude;    /* [sample][cols] */
    double *largest;               /* [cols], magnitude in a column */
    double *r, *in_r;              /* Freivalds: [cols], [rows]; else NULL */
} question;

struct sp_dense_oracle {
    const sp_dense_problem *p;
    int64_t *row, sample; /* rows that are answered */
    question real, exact; /* exact.p is NULL where no integers are exact */
    spry_problem *twin;   /* its operator; exact.p */
    float *weights[2];    /* and what that borrows */
};

/* ---- operands ---- */

static float draw(sp_rng *r, int integers)
{
    double x;

    if (!integers)
        return (float)(2 * sp_rng_unit(r) - 1);
    x = (double)sp_rng_below(r, 4) - 2; /* never 0 */
    return (float)(x < 0 ? x : x + 1);
}

static spry_status fill(float **out, int64_t count, sp_rng *r, int integers,
                        float by)
{
    *out = sp_alloc_raw(count + 2 * MARGIN, sizeof **out);
    if (!*out)
        return sp_fail_memory((size_t)count * sizeof **out);
    for (int64_t i = 0; i < count + 2 * MARGIN; i++)
        (*out)[i] = by * draw(r, integers);
    return SPRY_OK;
}

/* Divisors away from 0, arguments of roots above it. */
static void make_positive(float *x, int64_t count)
{
    for (int64_t i = 0; i < count + 2 * MARGIN; i++)
        x[i] = fabsf(x[i]) + 0.25f;
}

static int wants_positive(const spry_operator *op, int step)
{
    return op->step[step].op == SPRY_STEP_DIV;
}

static spry_status make_operands(question *q, sp_rng *r, int integers)
{
    const spry_operator *op = &q->p->op;
    float **m = q->memory;
    spry_status s = fill(&m[0], sp_dense_in(op), r, integers, 1);

    if (s == SPRY_OK)
        s = fill(&m[1], sp_dense_b(op), r, integers, integers ? 4 : 1);
    if (s == SPRY_OK)
        s = fill(&m[2], sp_dense_add(op), r, integers, 1);
    if (s == SPRY_OK)
        s = fill(&m[3], sp_dense_out(op), r, 0, 1);
    for (int i = 0; i < op->steps && s == SPRY_OK; i++) {
        s = fill(&m[4 + i], sp_dense_more(op, i), r, integers, 1);
        if (s == SPRY_OK && wants_positive(op, i))
            make_positive(m[4 + i], sp_dense_more(op, i));
        if (s == SPRY_OK && op->step[i].op == SPRY_STEP_ACT &&
            op->step[i].act == SPRY_ACT_SQRT && i == 0)
            make_positive(m[0], sp_dense_in(op));
    }
    if (s != SPRY_OK)
        return s;
    q->t.in = m[0] + MARGIN;
    q->t.b = op->given ? m[1] + MARGIN : NULL;
    q->t.add = op->add ? m[2] + MARGIN : NULL;
    q->t.out = m[3] + MARGIN;
    for (int i = 0; i < op->steps; i++)
        q->t.more[i] = sp_dense_more(op, i) ? m[4 + i] + MARGIN : NULL;
    return SPRY_OK;
}

/* ---- the integer twin ---- */

static int chain_is_exact(const spry_operator *op)
{
    for (int i = 0; i < op->steps; i++) {
        const spry_step *s = &op->step[i];

        if (s->op == SPRY_STEP_DIV ||
            (s->op == SPRY_STEP_ACT && s->act != SPRY_ACT_RELU) ||
            (s->op != SPRY_STEP_ACT && s->with == SPRY_WITH_VALUE &&
             s->value != floorf(s->value)))
            return 0;
    }
    return 1;
}

static int has_exact(const sp_dense_problem *p)
{
    switch (p->op.kind) {
    case SPRY_CONV2D:
    case SPRY_MATMUL: return p->terms < 1 << 19; /* sums stay below 2^24 */
    case SPRY_POOL:
    case SPRY_REDUCE: return p->op.by != SPRY_BY_MEAN;
    case SPRY_ELEMENTWISE: return chain_is_exact(&p->op);
    case SPRY_SOFTMAX:
    case SPRY_LAYERNORM: break;
    }
    return 0;
}

/* Curves are not exact, and a sum that was bent cannot be summed further. */
static spry_act exact_act(const sp_dense_oracle *o)
{
    return o->p->op.act == SPRY_ACT_RELU && o->sample == o->p->rows
               ? SPRY_ACT_RELU
               : SPRY_ACT_NONE;
}

static spry_status make_twin(sp_dense_oracle *o, sp_rng *r)
{
    spry_operator op = o->p->op;
    spry_status s = fill(&o->weights[0], sp_dense_weights(&op), r, 1, 4);

    if (s == SPRY_OK)
        s = fill(&o->weights[1], sp_dense_bias(&op), r, 1, 1);
    if (s != SPRY_OK)
        return s;
    for (int64_t i = 0; op.sparsity > 0 && i < sp_dense_weights(&op); i++)
        if (op.weights[i] == 0)
            o->weights[0][i] = 0; /* as many, and at the same places */
    op.weights = o->weights[0];
    op.bias = o->weights[1];
    op.act = exact_act(o);
    s = spry_problem_dense(&o->twin, &op);
    o->exact.p = sp_dense_of(o->twin);
    return s;
}

/* ---- answers ---- */

static spry_status choose_rows(sp_dense_oracle *o, double most)
{
    double terms =
        (double)o->p->rows * (double)o->p->cols *
        (o->p->op.kind == SPRY_SOFTMAX || o->p->op.kind == SPRY_LAYERNORM
             ? 8
             : (double)o->p->terms);
    int64_t rows = o->p->rows, count = rows;

    if (terms > most)
        count = (int64_t)((double)rows * most / terms);
    count = count < 3 ? 3 : count;
    count = count < rows ? count : rows;
    o->row = sp_alloc_raw(count, sizeof *o->row);
    if (!o->row)
        return sp_fail_memory((size_t)count * sizeof *o->row);
    for (int64_t i = 0; i < count; i++)
        o->row[i] = count == 1 ? 0 : i * (rows - 1) / (count - 1);
    o->sample = count;
    return SPRY_OK;
}

static void answer_rows(question *q, const sp_dense_oracle *o)
{
    int64_t cols = q->p->cols;

    if (o->sample == q->p->rows) {
        sp_dense_answers(q->answer, q->magnitude, q->p, &q->t, 0, o->sample);
        return;
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < o->sample; i++)
        sp_dense_answers(q->answer + i * cols, q->magnitude + i * cols, q->p,
                         &q->t, o->row[i], o->row[i] + 1);
}

static spry_status answer(question *q, const sp_dense_oracle *o)
{
    int64_t cols = q->p->cols;

    q->answer = sp_alloc_raw(o->sample * cols, sizeof *q->answer);
    q->magnitude = sp_alloc_raw(o->sample * cols, sizeof *q->magnitude);
    q->largest = sp_alloc(cols, sizeof *q->largest);
    if (!q->answer || !q->magnitude || !q->largest)
        return sp_fail_memory((size_t)(o->sample * cols) * 2 *
                              sizeof *q->answer);
    answer_rows(q, o);
    for (int64_t i = 0; i < o->sample * cols; i++)
        q->largest[i % cols] = fmax(q->largest[i % cols], q->magnitude[i]);
    return SPRY_OK;
}

/* ---- Freivalds ---- */

static spry_status prepare_r(sp_dense_oracle *o, sp_rng *r)
{
    question *q = &o->exact;

    q->r = sp_alloc_raw(q->p->cols, sizeof *q->r);
    q->in_r = sp_alloc_raw(q->p->rows, sizeof *q->in_r);
    if (!q->r || !q->in_r)
        return sp_fail_memory((size_t)(q->p->cols + q->p->rows) * sizeof *q->r);
    for (int64_t j = 0; j < q->p->cols; j++)
        q->r[j] = (double)draw(r, 1);
    return sp_dense_sums(q->in_r, q->r, q->p, &q->t);
}

/* ---- comparing ---- */

static const uint32_t UNTOUCHED = 0x7fc0dead; /* not a number */

static void blot(const question *q)
{
    float mark;
    int64_t count = sp_dense_out(&q->p->op) + 2 * MARGIN;

    memcpy(&mark, &UNTOUCHED, sizeof mark);
    for (int64_t i = 0; i < count; i++)
        q->memory[3][i] = mark;
}

static int is_blotted(const float *x)
{
    return memcmp(x, &UNTOUCHED, sizeof *x) == 0;
}

/* Results written, all else left alone? */
static spry_status compare_marks(const question *q, const char *text)
{
    int64_t end = 0, size = sp_dense_out(&q->p->op);

    for (int64_t i = -MARGIN; i < 0; i++)
        if (!is_blotted(&q->t.out[i]) || !is_blotted(&q->t.out[size - 1 - i]))
            return sp_fail(SPRY_WRONG, "%s: writes outside of the result",
                           text);
    if (q->p->op.kind == SPRY_MATMUL && q->p->op.batch > 1 &&
        q->p->op.skip_out < q->p->op.pitch_out * q->p->op.m)
        return SPRY_OK; /* rows of products lie between each other */
    for (int64_t i = 0; i < q->p->rows; i++) {
        int64_t place = sp_dense_place(q->p, i);

        for (int64_t j = end; j < place; j++)
            if (!is_blotted(&q->t.out[j]))
                return sp_fail(SPRY_WRONG, "%s: writes between rows", text);
        for (int64_t j = 0; j < q->p->cols; j++)
            if (is_blotted(&q->t.out[place + j]))
                return sp_fail(SPRY_WRONG, "%s: row %lld is not computed", text,
                               (long long)i);
        end = place + q->p->cols;
    }
    return SPRY_OK;
}

/* How much steeper than 1 a curve can be. */
static double steepest(const spry_operator *op)
{
    return op->act == SPRY_ACT_LEAKY || op->act == SPRY_ACT_HSIGMOID
               ? fmax(1, fabs((double)op->alpha))
           : op->act == SPRY_ACT_HSWISH ? 1.5
                                        : 1.2;
}

/* The largest of a column counts where an algorithm mixes neighbours. */
static double slack(const question *q, int64_t at, double gain)
{
    static const double U = 0x1p-24;
    const spry_operator *op = &q->p->op;
    int sums = op->kind == SPRY_CONV2D || op->kind == SPRY_MATMUL ||
               op->kind == SPRY_POOL || op->kind == SPRY_REDUCE;
    double k = (sums ? (double)q->p->terms : 64) + 4;
    double size = gain > 1 ? q->largest[at % q->p->cols] : q->magnitude[at];

    size *= 2 * k * U / (1 - k * U) * gain * steepest(op);
    return size + 4e-6 * fabs(q->answer[at]) + (op->act ? 1e-6 : 1e-35);
}

static spry_status differ(const question *q, const char *text, int64_t row,
                          int64_t j, double right, const char *how)
{
    return sp_fail(SPRY_WRONG,
                   "%s: result %lld of row %lld is %.9g, not %.9g%s", text,
                   (long long)j, (long long)row,
                   (double)q->t.out[sp_dense_place(q->p, row) + j], right, how);
}

/* Weights, a bias or numbers of a chain may be infinite or none: a mask adds
 * -Inf. Such results are told by themselves, not by their distance. */
static int agree(double y, double right, double slack)
{
    double rounded = (double)(float)right; /* what f32 cannot hold is Inf */

    if (isnan(right))
        return isnan(y);
    return isinf(rounded) ? y == rounded : fabs(y - right) <= slack;
}

static spry_status compare(const question *q, const sp_dense_oracle *o,
                           const sp_dense_plan *plan, int exact)
{
    const char *text = plan->head.text;
    spry_status s = compare_marks(q, text);

    for (int64_t i = 0; i < o->sample && s == SPRY_OK; i++)
        for (int64_t j = 0; j < q->p->cols; j++) {
            int64_t at = i * q->p->cols + j;
            double y = (double)q->t.out[sp_dense_place(q->p, o->row[i]) + j];

            if (!agree(y, q->answer[at],
                       exact ? 0 : slack(q, at, plan->how->gain)))
                return differ(q, text, o->row[i], j, q->answer[at],
                              exact ? ", with integers" : "");
        }
    if (s == SPRY_OK && q->r)
        s = sp_dense_compare_sums(q->in_r, q->r, q->p, &q->t, text);
    return s;
}

/* ---- the door ---- */

spry_status sp_dense_oracle_make(sp_dense_oracle **out,
                                 const sp_dense_problem *p, uint64_t seed,
                                 int few)
{
    sp_dense_oracle *o = sp_alloc(1, sizeof *o);
    sp_rng r = sp_rng_seed(seed);
    spry_status s;

    *out = NULL;
    if (!o)
        return sp_fail_memory(sizeof *o);
    o->p = o->real.p = p;
    s = choose_rows(o, few ? FEW_TERMS : MOST_TERMS);
    if (s == SPRY_OK)
        s = make_operands(&o->real, &r, 0);
    if (s == SPRY_OK)
        s = answer(&o->real, o);
    if (s == SPRY_OK && !few && has_exact(p)) {
        s = make_twin(o, &r);
        if (s == SPRY_OK)
            s = make_operands(&o->exact, &r, 1);
        if (s == SPRY_OK)
            s = answer(&o->exact, o);
        if (s == SPRY_OK && o->sample < o->p->rows &&
            sp_dense_has_sums(&o->p->op))
            s = prepare_r(o, &r);
    }
    if (s == SPRY_OK)
        *out = o;
    else
        sp_dense_oracle_free(o);
    return s;
}

static void free_question(question *q)
{
    for (int i = 0; i < SPRY_STEPS + 4; i++)
        sp_free(q->memory[i]);
    sp_free(q->answer);
    sp_free(q->magnitude);
    sp_free(q->largest);
    sp_free(q->r);
    sp_free(q->in_r);
}

void sp_dense_oracle_free(sp_dense_oracle *o)
{
    if (!o)
        return;
    free_question(&o->real);
    free_question(&o->exact);
    spry_problem_free(o->twin);
    sp_free(o->weights[0]);
    sp_free(o->weights[1]);
    sp_free(o->row);
    sp_free(o);
}

static spry_status ask(const question *q, const sp_dense_oracle *o,
                       const sp_dense_plan *plan, int exact)
{
    spry_status s;

    blot(q);
    s = sp_dense_run(plan, &q->t);
    return s == SPRY_OK ? compare(q, o, plan, exact) : s;
}

/* The twin's plan twice: what is shared by mistake may differ in one run. */
static spry_status check_exact(const sp_dense_oracle *o,
                               const sp_dense_plan *plan)
{
    sp_dense_plan *twin = NULL;
    spry_status s =
        sp_dense_plan_make(&twin, o->exact.p, &plan->x, &plan->machine);

    for (int i = 0; i < 2 && s == SPRY_OK; i++)
        s = ask(&o->exact, o, twin, 1);
    if (twin)
        spry_plan_free(&twin->head);
    return s;
}

static spry_status refuse_foreign(const sp_dense_plan *plan)
{
    return plan->foreign
               ? sp_fail(SPRY_USAGE, "a plan for %s cannot run on this machine",
                         spry_isa_name(plan->machine.isa))
               : SPRY_OK;
}

spry_status sp_dense_oracle_check(const sp_dense_oracle *o,
                                  const sp_dense_plan *plan)
{
    spry_status s = refuse_foreign(plan);

    if (s == SPRY_OK && o->exact.p)
        s = check_exact(o, plan);
    if (s == SPRY_OK)
        s = ask(&o->real, o, plan, 0);
    return s;
}

spry_status sp_dense_oracle_try(const sp_dense_oracle *o,
                                const sp_dense_plan *plan,
                                double (*clock)(void), double *seconds)
{
    double begun;
    spry_status s = refuse_foreign(plan);

    if (s != SPRY_OK)
        return s;
    blot(&o->real);
    begun = clock ? clock() : 0;
    s = sp_dense_run(plan, &o->real.t);
    if (clock)
        *seconds = clock() - begun;
    return s == SPRY_OK ? compare(&o->real, o, plan, 0) : s;
}

void sp_dense_oracle_run(const sp_dense_oracle *o, const sp_dense_plan *plan)
{
    (void)sp_dense_run(plan, &o->real.t);
}

spry_status sp_dense_check(const spry_plan *head, uint64_t seed)
{
    const sp_dense_plan *plan = sp_dense_plan_of(head);
    sp_dense_oracle *o;
    spry_status s = sp_dense_oracle_make(&o, plan->p, seed, 0);

    if (s == SPRY_OK)
        s = sp_dense_oracle_check(o, plan);
    sp_dense_oracle_free(o);
    return s;
}
