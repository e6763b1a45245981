/* schedule.h - the space of schedules, as a table of parameters.
 *
 * Text form, legality, enumeration and mutation all read the same two
 * tables, so a new parameter or format is one line in each. */
#ifndef SP_SCHEDULE_H
#define SP_SCHEDULE_H

#include "base/base.h"
#include "problem/sparse.h"
#include "spry/schedule.h"

/* One field of spry_schedule. */
typedef struct {
    const char *name;
    size_t offset;
    int32_t otherwise;       /* default */
    const char *const *word; /* names of values 0, 1 ...; NULL: a number */
    int32_t value[12];       /* worth trying; ends with -1 */
} sp_param;

/* One format: what it is, and which parameters it has, per operation. */
typedef struct {
    const char *name;
    const char *uses[SPRY_OPS]; /* names, blank-separated; NULL: not for that
                                   operation */
    int plain;                  /* at its defaults it is a plain loop */
    int pads;                   /* it stores zeros, which kernels multiply */
    int listed;                 /* rows without an entry are left out */
    int blocks;                 /* of r x c */
    int slices;    /* rows side by side, the shorter ones filled up */
    int ordered;   /* dense rows are walked in order, and no unit has a start */
    int fibers;    /* of a tensor: what shares two indices shares a product */
    double cycles; /* to pack an entry */
} sp_format;

extern const sp_param sp_params[];
extern const int sp_param_count;
extern const sp_format sp_formats[];
extern const int sp_format_count;

static inline const sp_format *sp_format_of(const spry_schedule *x)
{
    SP_ASSERT(x->format >= 0 && x->format < sp_format_count);
    return &sp_formats[x->format];
}

int32_t sp_param_get(const spry_schedule *x, const sp_param *q);
void sp_param_set(spry_schedule *x, const sp_param *q, int32_t value);
/* Does this format use the parameter for this operation? */
int sp_param_used(const sp_param *q, int32_t format, spry_op op);

/* All parameters at their default. */
spry_schedule sp_schedule_default(int32_t format);

/* Rows of a slice of sell: one in each lane of its vectors, or, where lanes
 * are dense columns, side by side. 1 for other formats. */
int sp_schedule_slice(const spry_schedule *x, spry_op op, int lanes);

/* Rows of diagonals of one triangle that lie together; of all of them, as many
 * as a group has. A multiple of any group. */
enum { SP_TRIANGLE_ROWS = 2048 };

/* How what blocks leave is computed: rows, with the rest of x. */
spry_schedule sp_schedule_of_rest(const spry_schedule *x, const sp_sparse *p,
                                  int lanes);
/* Is there a list of the rows that have something left? */
int sp_rest_listed(int64_t used, int64_t rows, int based);
/* SPRY_USAGE when either of the two has nothing to hold. */
spry_status sp_rest_check(int64_t blocks, int64_t left);

/* Are rows walked in an order of their own? */
int sp_schedule_sorts(const spry_schedule *x);

/* The operand of a tensor's innermost mode: 0 B, 1 D, 2 the result. */
int sp_schedule_innermost(const spry_schedule *x);

/* The plain loop: nothing but threads and chunk set. */
int sp_schedule_plain(const spry_schedule *x);

/* spry_schedule_legal without a sentence, for those who ask often. */
int sp_schedule_is_legal(const spry_schedule *x, const sp_sparse *p,
                         const spry_machine *m);

int sp_schedule_equal(const spry_schedule *a, const spry_schedule *b);

/* Move to a legal neighbour: one parameter, now and then the format. 0 when
 * none was found in a fair number of tries. */
int sp_schedule_mutate(spry_schedule *x, const sp_sparse *p,
                       const spry_machine *m, sp_rng *r);

/* May slices of neighbouring rows be walked in steps that store so many
 * entries? SPRY_USAGE when more than a quarter of them are fillers. */
spry_status sp_schedule_steps(int64_t stored, int64_t entries);

/* Packing a panel walks all rows, so that short ones allow only a few; a
 * matrix of any shape is packed in time that its entries are worth. */
int64_t sp_schedule_panels(int64_t rows, int64_t entries);

#endif
