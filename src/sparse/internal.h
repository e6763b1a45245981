/* internal.h - who proposes schedules during one tune. */
#ifndef SP_SPARSE_INTERNAL_H
#define SP_SPARSE_INTERNAL_H

#include "model/guess.h"
#include "schedule/schedule.h"
#include "search/search.h"
#include "sparse/sparse.h"

typedef struct {
    sp_adviser head;
    sp_inquiry q;
    const sp_sparse *p; /* q.p */
    sp_guess guess;
    sp_compiling compile;
    spry_schedule failed[SP_FAILED]; /* of the history */
    int failures;
    const sp_strategy *search; /* that was asked for by name; NULL: any */
    sp_nests *nests;           /* the table it wants; NULL: none */
    int windows;               /* a search may sort rows of csr in windows */
} sp_sparse_adviser;

/* What the tuner's table has of them (advise.c, propose.c). */
spry_status sp_sparse_consult(sp_adviser **out, const sp_inquiry *q);
void sp_sparse_predict(sp_adviser *a, sp_proposal *x, int n);
spry_status sp_sparse_propose(sp_adviser *a, sp_proposals *l);
spry_status sp_sparse_around(sp_adviser *a, sp_proposals *l,
                             const sp_proposal *leader, int leaders);
int sp_sparse_choose(sp_adviser *a, const sp_proposal *x, int n, int plains);
void sp_sparse_learn(sp_adviser *head, const sp_timing *x, int n,
                     double seconds);
void sp_sparse_dismiss(sp_adviser *a);

/* The table of nests that a->search wants, if the model can make one and the
 * budget allows; else a note (nests.c). */
spry_status sp_sparse_table(sp_sparse_adviser *a, const sp_space *space);

/* Add a sentence about what was not available. */
void sp_sparse_note(sp_sparse_adviser *a, const char *sentence);

/* A proposal is a schedule as text. */
sp_proposal sp_sparse_proposal(const spry_schedule *x, double predicted);
/* At which its threads wait for each other in a run, about. */
int sp_sparse_barriers(const spry_schedule *x);

#endif
