/* nest.h - a loop nest being written: super.c writes the loops, body.c what
 * stands inside them. */
#ifndef SP_NEST_H
#define SP_NEST_H

#include "codegen/emit.h"
#include "schedule/super.h"

/* How sums are held between the loops and C. */
typedef enum {
    SP_HOLD_NONE,   /* not at all: the row is added to C at once */
    SP_HOLD_SCALAR, /* one number */
    SP_HOLD_PIECES, /* vector registers */
    SP_HOLD_ARRAY   /* an array, for rows longer than the registers */
} sp_holding;

typedef struct {
    sp_emit *e;
    const sp_spec *k;
    const sp_operation *d;
    const spry_super *s;
    int level[SPRY_LOOPS]; /* of the loop at each place; -1: dense operands */
    int levels;
    int parallel; /* place of that loop; -1: none */
    int atomic;   /* threads add to the same results */
    int row;      /* the innermost loop is one row operation, not written */
    int hold;     /* place before whose loop sums begin at 0 */
    int depth;    /* of braces */
    int64_t span; /* elements of the dense block at hand */
    int64_t held; /* and of the one that sums were begun for */
} sp_nest;

void sp_nest_line(sp_nest *w, const char *fmt, ...) SP_PRINTF_LIKE(2, 3);

/* The number of loops that are written as such. */
static inline int sp_nest_loops(const sp_nest *w)
{
    return w->s->loops - w->row;
}

/* Sums to 0; one step of the innermost loop; sums to C. */
void sp_nest_begin(sp_nest *w);
void sp_nest_step(sp_nest *w);
void sp_nest_end(sp_nest *w);
/* Can a row of this many elements be held over the loops around it? */
int sp_nest_holds(const sp_nest *w, int64_t span);

#endif
