/* job.c - what a command computes, from its words to the library's nouns:
 * problem, schedule, plan. */
#include "cli.h"

#include <string.h>

static spry_status open_problem(spry_problem **out, const spry_matrix *m)
{
    int op = cli.op >= 0 ? cli.op : cli.cols >= 0 ? SPRY_SPMM : SPRY_SPMV;
    int64_t n = cli.cols >= 0 && cli.cols <= 1e12 ? (int64_t)cli.cols : 128;
    spry_type type = m->type;

    *out = NULL;
    if (cli.type >= 0)
        type = cli.type ? SPRY_F64 : SPRY_F32;
    if (cli.cols > (double)n)
        return say_fail(SPRY_USAGE, "--cols takes a whole number below 1e12");
    if (op == SPRY_SPMV && cli.cols >= 0 && n != 1)
        return say_fail(SPRY_USAGE,
                        "spmv has one dense column; for %lld say "
                        "--op spmm",
                        (long long)n);
    if (op == SPRY_SPMV)
        return say_status(spry_problem_spmv(out, m, type));
    if (op == SPRY_SPMM)
        return say_status(spry_problem_spmm(out, m, n, type));
    return say_status(spry_problem_sddmm(out, m, n, type));
}

void close_job(job *j)
{
    spry_problem_free(j->problem);
    spry_matrix_free(j->matrix);
}

spry_status open_job(job *out, const char *path, job_machine need)
{
    int probed = need == JOB_PROBED || (need == JOB_TUNED && machine_given());
    spry_status s;

    memset(out, 0, sizeof *out);
    s = open_matrix(&out->matrix, path);
    if (s == SPRY_OK)
        s = open_problem(&out->problem, out->matrix);
    if (s == SPRY_OK)
        s = open_machine(&out->machine, probed);
    if (s != SPRY_OK)
        close_job(out);
    return s;
}

spry_status do_job(const opt_page *page, int argc, char **argv,
                   job_machine need, job_body *body)
{
    job j;
    spry_status s;

    if (!opt_parse(&s, page, &argc, argv))
        return s;
    s = open_job(&j, argv[0], need);
    if (s != SPRY_OK)
        return s;
    s = body(&j, argv[0]);
    close_job(&j);
    return s;
}

spry_status open_schedule(spry_schedule *out, const job *j, const char *text)
{
    spry_status s =
        spry_schedule_parse_for(out, text, spry_problem_op(j->problem));

    if (s == SPRY_OK)
        s = spry_schedule_legal(out, j->problem, &j->machine);
    return say_status(s);
}

spry_status open_plan(spry_plan **out, const job *j, const spry_schedule *x)
{
    return say_status(spry_plan_make(out, j->problem, x, &j->machine));
}
