/* candidates.c - what a tune would race, without racing it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"

static int by_seconds(const void *a, const void *b)
{
    const spry_candidate *x = a, *y = b;

    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The proposals that can be had, best first. */
static spry_status copy(spry_candidate *out, int *count, int most,
                        const sp_proposals *l)
{
    spry_candidate *all = sp_alloc(l->count + 1, sizeof *all);
    int n = 0;

    if (!all)
        return sp_fail_memory((size_t)l->count * sizeof *all);
    for (int i = 0; i < l->count; i++)
        if (l->list[i].predicted < HUGE_VAL) {
            memcpy(all[n].schedule, l->list[i].text, sizeof all[n].schedule);
            all[n++].seconds = l->list[i].predicted;
        }
    qsort(all, (size_t)n, sizeof *all, by_seconds);
    *count = n < most ? n : most;
    memcpy(out, all, (size_t)*count * sizeof *out);
    sp_free(all);
    return SPRY_OK;
}

spry_status spry_propose(spry_candidate *out, int *count, int most,
                         const spry_problem *p, const spry_tune_options *opt)
{
    SP_NEED(out, count, p);
    SP_REFUSE(most < 0, "there cannot be %d candidates", most);

    sp_tuner t;
    spry_status s = sp_tune_begin(&t, p, opt);

    *count = 0;
    if (s == SPRY_OK)
        s = sp_tune_prepare(&t);
    if (s == SPRY_OK)
        s = sp_tune_open_stores(&t);
    if (s == SPRY_OK) {
        sp_tune_know_machine(&t);
        s = sp_tune_consult(&t);
    }
    if (s == SPRY_OK)
        s = sp_tune_open_results(&t);
    if (s == SPRY_OK)
        s = sp_tune_propose(&t);
    if (s == SPRY_OK)
        s = copy(out, count, most, &t.list);
    sp_tune_end(&t);
    return s;
}
