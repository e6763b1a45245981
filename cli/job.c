/* job.c - what a command computes, from its words to the library's nouns:
 * problem, schedule, plan. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "sources.h"

static spry_type type_of(const spry_matrix *m)
{
    if (cli.type < 0)
        return m->type;
    return cli.type ? SPRY_F64 : SPRY_F32;
}

static spry_status dense_columns(int64_t *out, int64_t otherwise)
{
    *out = cli.cols >= 0 && cli.cols <= 1e12 ? (int64_t)cli.cols : otherwise;
    if (cli.cols > (double)*out)
        return say_fail(SPRY_USAGE, "--cols takes a whole number up to 1e12");
    return SPRY_OK;
}

static spry_status open_contraction(spry_problem **out, const spry_tensor *t)
{
    int64_t n;
    spry_status s = dense_columns(&n, 32);

    if (s != SPRY_OK)
        return s;
    if (cli.op >= 0 && spry_op_modes((spry_op)cli.op) != 3)
        return say_fail(SPRY_USAGE, "a tensor takes --op mttkrp, not %s",
                        spry_op_name((spry_op)cli.op));
    return say_status(spry_problem_mttkrp(out, t, n, type_of(t->unfolded)));
}

static spry_status open_product(spry_problem **out, const spry_matrix *m,
                                const char *path)
{
    spry_op op = cli.op >= 0 ? (spry_op)cli.op : usual_op(path, cli.cols >= 0);
    spry_type type = type_of(m);
    int64_t n;
    spry_status s = dense_columns(&n, 128);

    if (s != SPRY_OK)
        return s;
    if (spry_op_modes(op) == 3)
        return say_fail(SPRY_USAGE, "%s takes a tensor: a .tns file",
                        spry_op_name(op));
    if (cli.mode > 0)
        return say_fail(SPRY_USAGE, "--mode is of tensors, not of a matrix");
    if (!spry_op_columns(op) && cli.cols >= 0 && n != 1)
        return say_fail(SPRY_USAGE,
                        "%s has one dense column; for %lld say "
                        "--op spmm",
                        spry_op_name(op), (long long)n);
    return say_status(spry_problem_make(out, op, m, n, type));
}

void close_job(job *j)
{
    spry_problem_free(j->problem);
    spry_matrix_free(j->matrix);
    spry_tensor_free(j->tensor);
    spry_network_free(j->net);
}

/* What a path names: an operator, a tensor, or a matrix. */
static spry_status open_problem(job *out, const char *path)
{
    spry_status s;

    if (is_operator(path))
        return open_operator(&out->problem, path);
    if (is_tensor(path)) {
        s = open_tensor(&out->tensor, path);
        return s == SPRY_OK ? open_contraction(&out->problem, out->tensor) : s;
    }
    s = open_matrix(&out->matrix, path);
    return s == SPRY_OK ? open_product(&out->problem, out->matrix, path) : s;
}

static spry_status open_with(job *out, const char *path, job_machine need,
                             job_opener *opener)
{
    int probed = need == JOB_PROBED || (need == JOB_TUNED && machine_given());
    spry_status s;

    memset(out, 0, sizeof *out);
    source_name(out->source, path);
    s = opener(out, path);
    if (s == SPRY_OK)
        s = open_machine(&out->machine, probed);
    if (s != SPRY_OK)
        close_job(out);
    return s;
}

spry_status open_job(job *out, const char *path, job_machine need)
{
    return open_with(out, path, need, open_problem);
}

spry_status do_job_with(job_opener *opener, const opt_page *page, int argc,
                        char **argv, job_machine need, job_body *body)
{
    job j;
    spry_status s;

    if (!opt_parse(&s, page, &argc, argv))
        return s;
    s = open_with(&j, argv[0], need, opener);
    if (s != SPRY_OK)
        return s;
    s = body(&j, argv[0]);
    close_job(&j);
    return s;
}

spry_status do_job(const opt_page *page, int argc, char **argv,
                   job_machine need, job_body *body)
{
    return do_job_with(open_problem, page, argc, argv, need, body);
}

/* Those that "csr tile=4 threads=2" names, else 1. */
static long threads_of(const char *text)
{
    static const char word[] = "threads=";
    long threads = 1;

    for (const char *at = text; (at = strstr(at, word)); at += sizeof word - 1)
        if (at == text || strchr(" \t,", at[-1]))
            threads = strtol(at + sizeof word - 1, NULL, 10);
    return threads;
}

spry_status allow_threads(const char *text)
{
    long threads = threads_of(text);

    if (cli.threads > 0 && threads > cli.threads)
        return say_fail(SPRY_USAGE,
                        "%s is on %ld threads, more than --threads %d allows",
                        text, threads, cli.threads);
    return SPRY_OK;
}

spry_status open_schedule(spry_schedule *out, const job *j, const char *text)
{
    spry_status s =
        spry_schedule_parse_for(out, text, spry_problem_op(j->problem));

    if (s == SPRY_OK && allow_threads(text) != SPRY_OK)
        return SPRY_USAGE;
    if (s == SPRY_OK)
        s = spry_schedule_legal(out, j->problem, &j->machine);
    return say_status(s);
}

spry_status open_plan(spry_plan **out, const job *j, const spry_schedule *x)
{
    return say_status(spry_plan_make(out, j->problem, x, &j->machine));
}

spry_status open_way(spry_plan **out, const job *j, const char *text)
{
    spry_status s = allow_threads(text);

    *out = NULL;
    return s == SPRY_OK
               ? say_status(spry_plan_from(out, j->problem, text, &j->machine))
               : s;
}
