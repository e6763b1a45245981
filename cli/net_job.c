/* net_job.c - a network and a batch as a job: what tune, predict, verify and
 * bench of `spry net` work on. */
#include "net.h"

#include <stdlib.h>

static const char *input;
static double batch = 1;
static int enlarge;
const opt net_batching[] = {
    {"batch", OPT_COUNT, &batch, "N", "inputs that come together (1)"},
    {"input", OPT_TEXT, &input, "FILE",
     "race with these: any matrix or .npy; else pen strokes"},
    {"enlarge", OPT_FLAG, &enlarge, NULL,
     "repeat the pixels of smaller square images"},
    {"passes", OPT_TEXT, &net_passes_text, "NAMES",
     "passes that may be used, for finite inputs: all, none, merge... (all)"},
    {0}};

/* The first inputs of the file, as many as can be of use. */
static spry_status give_inputs(spry_problem *p)
{
    int64_t width = spry_problem_net(p)->inputs;
    int64_t count = spry_problem_raced(p);
    net_batch b = {0};
    float *x = NULL;
    spry_status s =
        net_batch_open(&b, input, width, spry_problem_batch(p), enlarge);

    if (s != SPRY_OK)
        return s;
    x = malloc((size_t)(count * width) * sizeof *x);
    s = x ? net_batch_load(x, &b, 0, count, width)
          : say_fail(SPRY_SYSTEM, "not enough memory for the inputs");
    if (s == SPRY_OK)
        s = say_status(spry_problem_set_inputs(p, x));
    free(x);
    net_batch_close(&b);
    return s;
}

static spry_status open_network(job *j, const char *path)
{
    int64_t count = 1;
    spry_status s = net_count(&count, "batch", batch, 1);

    if (s == SPRY_OK)
        s = net_open(&j->net, path);
    if (s == SPRY_OK)
        s = say_status(spry_problem_network(&j->problem, j->net, count));
    if (s == SPRY_OK && net_passes_text)
        s = say_status(spry_problem_set_passes(j->problem, net_passes_text));
    return s == SPRY_OK && input ? give_inputs(j->problem) : s;
}

spry_status net_do_job(const opt_page *page, int argc, char **argv,
                       job_machine need, job_body *body)
{
    return do_job_with(open_network, page, argc, argv, need, body);
}

/* ---- ways by name ---- */

/* Algorithm 1 by destination first, which all are compared with. */
static const char *const usual[] = {"edges order=destination",
                                    "edges order=source",
                                    "edges order=blocked",
                                    "edges order=clustered",
                                    "edges order=ego",
                                    "plain",
                                    "gather threads=1",
                                    "gather",
                                    "rows threads=1",
                                    "rows",
                                    "passes=all gather threads=1",
                                    "passes=all rows"};
enum { USUAL = sizeof usual / sizeof *usual };

spry_status net_ways(spry_plan *plan[NET_WAYS], int *count, const job *j,
                     char *texts)
{
    char *rest = texts;
    spry_status s = SPRY_OK;

    *count = 0;
    for (int i = 0; s == SPRY_OK; i++) {
        const char *text = texts       ? shape_split(&rest)
                           : i < USUAL ? usual[i]
                                       : NULL;

        if (!text)
            break;
        if (*count == NET_WAYS)
            s = say_fail(SPRY_USAGE, "at most %d ways at once", NET_WAYS);
        else
            s = open_way(&plan[(*count)++], j, text);
    }
    if (s == SPRY_OK && *count == 0)
        s = say_fail(SPRY_USAGE, "no way is named");
    return s;
}

void net_ways_free(spry_plan *plan[NET_WAYS], int count)
{
    while (count > 0)
        spry_plan_free(plan[--count]);
}
