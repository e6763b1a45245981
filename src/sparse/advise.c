/* advise.c - who predicts: a learned model if there is one, else the analytic
 * one; and what may be compiled for a trial. */
#include <string.h>

#include "base/base.h"
#include "sparse/internal.h"
#include "spry/jit.h"

/* Who learned needs fewer tries. */
static const double DEFAULT_BUDGET = 10, LEARNED_BUDGET = 3.5;

int sp_sparse_barriers(const spry_schedule *x)
{
    int adds = x->panel || (x->format == SPRY_SUPER && x->super.parallel);

    if (x->threads == 1)
        return 0;
    if (x->copy) /* each pass over columns has two */
        return 3;
    return adds ? 2 : 1; /* results are zeros first */
}

sp_proposal sp_sparse_proposal(const spry_schedule *x, double predicted)
{
    sp_proposal out = {.threads = x->threads,
                       .barriers = sp_sparse_barriers(x),
                       .predicted = predicted};

    spry_schedule_text(out.text, x);
    return out;
}

void sp_sparse_note(sp_sparse_adviser *a, const char *sentence)
{
    size_t at = strlen(a->head.note);

    snprintf(a->head.note + at, sizeof a->head.note - at, "%s%s",
             at ? "; " : "", sentence);
}

/* Nothing is compiled for a plan that is taken on trust. */
static void find_compiler(sp_sparse_adviser *a)
{
    if (!a->q.measured)
        return;
    if (spry_jit_available() != SPRY_OK)
        sp_sparse_note(a, spry_message());
    else
        a->compile = a->q.patient ? SP_COMPILE_ALL : SP_COMPILE_USEFUL;
}

static void recall(sp_sparse_adviser *a)
{
    for (int i = 0; i < a->q.history->failures; i++)
        if (spry_schedule_parse(&a->failed[a->failures],
                                a->q.history->failed[i]) == SPRY_OK)
            a->failures++;
}

spry_status sp_sparse_consult(sp_adviser **out, const sp_inquiry *q)
{
    sp_sparse_adviser *a = sp_alloc(1, sizeof *a);
    spry_status s;

    *out = NULL;
    if (!a)
        return sp_fail_memory(sizeof *a);
    a->q = *q;
    a->p = sp_sparse_of(q->p);
    find_compiler(a);
    recall(a);
    s = q->search ? sp_strategy_named(&a->search, q->search) : SPRY_OK;
    if (s == SPRY_OK)
        s = sp_guess_open(&a->guess, a->p, q->m);
    if (s != SPRY_OK) {
        sp_sparse_dismiss(&a->head);
        return s;
    }
    if (a->guess.why[0])
        sp_sparse_note(a, a->guess.why);
    memcpy(a->head.who, a->guess.who, sizeof a->head.who);
    a->head.trusted = a->guess.view != NULL;
    a->q.seconds = a->head.seconds = q->seconds > 0  ? q->seconds
                                     : a->guess.view ? LEARNED_BUDGET
                                                     : DEFAULT_BUDGET;
    *out = &a->head;
    return SPRY_OK;
}

void sp_sparse_dismiss(sp_adviser *head)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;

    if (a) {
        sp_nests_free(a->nests);
        sp_guess_close(&a->guess);
    }
    sp_free(a);
}

int sp_sparse_choose(sp_adviser *head, const sp_proposal *x, int n, int plains)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;
    spry_schedule *list = sp_alloc(n + 1, sizeof *list);
    int best = 0, known = 1;

    for (int i = 0; list && i < n; i++)
        known &= spry_schedule_parse(&list[i], x[i].text) == SPRY_OK;
    if (list && known)
        best = sp_guess_choose(&a->guess, list, n, plains);
    sp_free(list);
    return best;
}
