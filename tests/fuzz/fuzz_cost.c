/* fuzz_cost.c - a cost model from any bytes: it scores, or says why not. */
#include "fuzz.h"
#include "model/cost.h"

/* Whatever was let in must be safe to use. */
static void use_model(const sp_cost *c)
{
    const sp_problem_shape k = {c->op, SPRY_F32, 8, 100, 100, 500};
    spry_schedule x = spry_schedule_baseline(1);
    sp_subject subject;
    sp_view *v = NULL;
    double score;

    sp_subject_bare(&subject, &k, NULL);
    if (sp_cost_look(&v, c, &subject) == SPRY_OK)
        sp_view_score(&score, v, &x, 1);
    if (v && sp_cost_width(c)) {
        float *half = malloc((size_t)sp_cost_width(c) * sizeof *half), out;

        if (half && sp_cost_halves(half, c, &x, 1) == SPRY_OK)
            sp_view_join(&out, v, half, 1);
        free(half);
    }
    sp_view_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact: overruns are seen */
    sp_cost *c = NULL;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (sp_cost_parse(&c, copy, size, "fuzz.spry") == SPRY_OK)
        use_model(c);
    else if (c || !*spry_message() || sp_alloc_live())
        abort();
    sp_cost_free(c);
    free(copy);
    return 0;
}
