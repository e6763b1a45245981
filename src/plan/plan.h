/* plan.h - what all plans have in common.
 *
 * A plan begins with this header; what follows belongs to its kind. */
#ifndef SP_PLAN_H
#define SP_PLAN_H

#include "problem/problem.h"
#include "spry/plan.h"

typedef struct {
    /* Is there a second dense operand? */
    int (*two_operands)(const spry_plan *plan);
    spry_status (*run)(const spry_plan *plan, const sp_operands *f);
    /* The same on operands with strides; NULL: there is no such thing. */
    spry_status (*run_dense)(const spry_plan *plan, double alpha,
                             const spry_dense *B, const spry_dense *D,
                             double beta, const spry_dense *C);
    spry_status (*check)(const spry_plan *plan, uint64_t seed);
    /* The C text of its kernel, allocated. */
    spry_status (*source)(char **out, const spry_plan *plan);
    spry_status (*write)(const spry_plan *plan, const char *dir,
                         const char *name);
    /* New values on the same pattern; NULL: there is no such thing. */
    spry_status (*refill)(spry_plan *plan, const void *values);
    void (*free)(spry_plan *plan);
} sp_plan_kind;

struct spry_plan {
    const sp_plan_kind *kind;
    const spry_problem *p;
    char text[SPRY_SCHEDULE_TEXT];
    const spry_schedule *schedule; /* NULL: it is none of a matrix */
    const char *kernel;            /* its name */
    int builtin;                   /* nothing was compiled for it */
    double bytes, pack_seconds;    /* of what was laid out */
    void *story;                   /* how it was found; the tuner's */
    void (*release)(void *story);
};

/* Let go of the story and keep another. */
void sp_plan_attach(spry_plan *plan, void *story, void (*release)(void *));

/* One run's scratch memory, kept for the next; runs side by side find it
 * taken and bring their own (scratch.c). */
typedef struct sp_scratch sp_scratch;
spry_status sp_scratch_open(sp_scratch **out, int64_t count, size_t size);
void sp_scratch_close(sp_scratch *s);
void *sp_scratch_take(sp_scratch *s); /* NULL: not enough memory */
void sp_scratch_give(sp_scratch *s, void *memory);

#endif
