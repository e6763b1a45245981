/* cmd_run.c - compute with a matrix: operands from .npy or from chance, the
 * result to .npy. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *x_file, *y_file, *out_file, *schedule = "tuned";
static int chance;
static double calls = 1;
static const opt options[] = {
    {"x", OPT_TEXT, &x_file, "FILE.npy",
     "the dense operand; its shape selects spmv or spmm"},
    {"y", OPT_TEXT, &y_file, "FILE.npy",
     "the second operand of sddmm and mttkrp"},
    {"random", OPT_FLAG, &chance, NULL, "random operands, by --seed (default)"},
    {"out", OPT_TEXT, &out_file, "FILE.npy",
     "write the result there; - for stdout"},
    {"schedule", OPT_TEXT, &schedule, "TEXT",
     "use this schedule (the tuned, else the predicted one)"},
    {"calls", OPT_COUNT, &calls, "N", "repeat N times and time it (1)"},
    {0}};
static const opt_page page = {
    "run",
    "MATRIX",
    "Compute y = A x (spmv), C = A B (spmm), A .* (B D') (sddmm) or, of a\n"
    "tensor, C(i,j) = sum A(i,k,l) B(k,j) D(l,j) (mttkrp).\n"
    "Results: rows, rows x columns, or one number per entry in row order.",
    {options, cli_compute, cli_locking},
    1,
    1};

typedef struct {
    dense in[2], out;
} operands;

static void free_operands(operands *o)
{
    free(o->in[0].data);
    free(o->in[1].data);
    free(o->out.data);
}

/* What the files say is the default for what the options leave open. */
static void follow_shape(const dense *x, const char *path)
{
    if (cli.type < 0)
        cli.type = x->type == SPRY_F64;
    if (cli.op < 0)
        cli.op = (int)usual_op(path, x->dims == 2);
    if (cli.cols < 0 && spry_op_columns((spry_op)cli.op))
        cli.cols = (double)x->shape[1];
}

static spry_status read_operands(operands *o, const char *path)
{
    spry_status s = SPRY_OK;

    if (x_file && chance)
        return say_fail(SPRY_USAGE, "--x and --random exclude each other");
    if (x_file)
        s = npy_read(&o->in[0], x_file);
    if (s == SPRY_OK && x_file)
        follow_shape(&o->in[0], path);
    if (s == SPRY_OK && y_file)
        s = npy_read(&o->in[1], y_file);
    return s;
}

/* The shape that operand `which` (2: the result) must have. */
static dense wanted(const spry_problem *p, int which)
{
    dense d = {0, {0, 1}, spry_problem_type(p), NULL};

    d.dims = spry_problem_shape(d.shape, p, which);
    return d;
}

static double next_unit(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

static spry_status make(dense *d, uint64_t seed, int filled)
{
    int64_t count = d->shape[0] * d->shape[1];

    d->data = calloc((size_t)count + 1, (size_t)d->type);
    if (!d->data)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s numbers",
                        say_count((double)count));
    for (int64_t i = 0; filled && i < count; i++)
        if (d->type == SPRY_F64)
            ((double *)d->data)[i] = next_unit(&seed);
        else
            ((float *)d->data)[i] = (float)next_unit(&seed);
    return SPRY_OK;
}

/* Bring operand `which` into the shape and type of the problem. */
static spry_status fit(dense *d, const spry_problem *p, int which,
                       const char *file)
{
    dense want = wanted(p, which);

    if (!d->data) {
        *d = want;
        return make(d, cli.seed + (uint64_t)which, which < 2);
    }
    if (spry_problem_operator(p) &&
        d->shape[0] * d->shape[1] == want.shape[0]) /* however it is shaped */
        return dense_convert(d, want.type);
    if (d->shape[0] != want.shape[0] || d->shape[1] != want.shape[1])
        return say_fail(SPRY_INPUT,
                        "%s: it is %lld x %lld, the problem needs %lld x %lld",
                        file, (long long)d->shape[0], (long long)d->shape[1],
                        (long long)want.shape[0], (long long)want.shape[1]);
    return dense_convert(d, want.type);
}

static spry_status fit_all(operands *o, const spry_problem *p)
{
    int two = wanted(p, 1).dims > 0;
    spry_status s;

    if (y_file && !two)
        return say_fail(SPRY_USAGE,
                        "--y is the second operand of --op sddmm and mttkrp");
    s = fit(&o->in[0], p, 0, x_file);
    if (s == SPRY_OK && two)
        s = fit(&o->in[1], p, 1, y_file);
    if (s == SPRY_OK)
        s = fit(&o->out, p, 2, NULL);
    return s;
}

/* Calls that were made, and seconds of one, their mean. */
typedef struct {
    int64_t calls;
    double seconds;
} timing;

static spry_status compute(const spry_plan *plan, operands *o, timing *t)
{
    double begin = now_seconds();
    int64_t done = 0, wanted_calls = calls < 1e18 ? (int64_t)calls : INT64_MAX;
    spry_status s = SPRY_OK;

    for (; done < wanted_calls && s == SPRY_OK && !stop_asked(); done++)
        s = spry_run_scaled(plan, 1, o->in[0].data, o->in[1].data, 0,
                            o->out.data);
    if (done == 0)
        return say_fail(SPRY_BUDGET, "stopped before the first call");
    t->calls = done;
    t->seconds = (now_seconds() - begin) / (double)done;
    return say_status(s);
}

static void print_result(const spry_plan *plan, const timing *t)
{
    double seconds = t->seconds;
    double flops = spry_problem_flops(spry_plan_problem(plan));
    double rate = seconds > 0 ? flops / seconds : 0;
    /* With the array on stdout, the words step aside. */
    FILE *out = out_file && strcmp(out_file, "-") == 0 ? stderr : stdout;

    if (cli.json && out == stdout) {
        json j = json_begin("spry.run/1");

        json_text(&j, "problem", spry_problem_key(spry_plan_problem(plan)));
        json_text(&j, "schedule", spry_plan_text(plan));
        json_text(&j, "kernel", spry_plan_kernel(plan));
        json_integer(&j, "calls", t->calls);
        json_number(&j, "seconds", seconds);
        json_number(&j, "flops_per_second", rate);
        json_number(&j, "pack_seconds", spry_plan_pack_seconds(plan));
        json_text(&j, "out", out_file);
        json_end(&j);
        return;
    }
    fprintf(out, "%s: %s a call, %s, packed in %s%s%s\n", spry_plan_text(plan),
            say_seconds(seconds), say_rate(rate, "FLOP/s"),
            say_seconds(spry_plan_pack_seconds(plan)), out_file ? ", to " : "",
            out_file ? out_file : "");
}

static spry_status run(const char *path, operands *o)
{
    spry_plan *plan = NULL;
    timing t = {0};
    job j;
    spry_status s = open_job(&j, path, JOB_TUNED);

    if (s != SPRY_OK)
        return s;
    s = fit_all(o, j.problem);
    if (s == SPRY_OK)
        s = open_named(&plan, &j, schedule, SPRY_PREDICT);
    if (s == SPRY_OK)
        s = compute(plan, o, &t);
    if (s == SPRY_OK && out_file && !stop_asked())
        s = npy_write(&o->out, out_file);
    if (s == SPRY_OK)
        print_result(plan, &t);
    spry_plan_free(plan);
    close_job(&j);
    return s;
}

spry_status cmd_run(int argc, char **argv)
{
    operands o = {0};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (calls < 1)
        return say_fail(SPRY_USAGE, "--calls takes 1 or more");
    s = read_operands(&o, argv[0]);
    if (s == SPRY_OK && calls > 1)
        stop_watch();
    if (s == SPRY_OK)
        s = run(argv[0], &o);
    free_operands(&o);
    return s;
}
