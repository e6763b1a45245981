/* network.c - tune a sparse network for batches of 16 inputs, then run one.
 *
 *   example-network gen:radix,depth=8     or   example-network FILE.spnet */
#include <stdio.h>
#include <stdlib.h>

#include <spry.h>

enum { BATCH = 16 };

/* How many of the inputs get an answer that is not 0. */
static int answered(const float *y, int64_t outputs)
{
    int count = 0;

    for (int b = 0; b < BATCH; b++) {
        int any = 0;

        for (int64_t i = 0; i < outputs; i++)
            any |= y[b * outputs + i] > 0;
        count += any;
    }
    return count;
}

int main(int argc, char **argv)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_network *n = NULL;
    spry_matrix *images = NULL;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    float *x = NULL, *y = NULL;
    spry_status s;

    o.seconds = 2;
    s = spry_network_read(&n, argc > 1 ? argv[1] : "gen:radix,depth=8", NULL);
    if (s == SPRY_OK)
        s = spry_problem_network(&p, n, BATCH);
    if (s == SPRY_OK)
        s = spry_tune(&plan, p, &o);
    if (s == SPRY_OK)
        s = spry_inputs_strokes(&images, BATCH, n->inputs, 1);
    if (s == SPRY_OK) {
        x = malloc(BATCH * (size_t)n->inputs * sizeof *x);
        y = malloc(BATCH * (size_t)n->outputs * sizeof *y);
        s = x && y ? spry_inputs_dense(x, images, 0, BATCH, n->inputs)
                   : SPRY_SYSTEM;
    }
    if (s == SPRY_OK)
        s = spry_run(plan, x, y);
    if (s == SPRY_OK)
        printf("%lld edges, run as %s; %d of %d inputs have an answer\n",
               (long long)n->edges, spry_plan_text(plan),
               answered(y, n->outputs), BATCH);
    else
        fprintf(stderr, "%s\n", spry_message());
    free(x);
    free(y);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(images);
    spry_network_free(n);
    return (int)s;
}
