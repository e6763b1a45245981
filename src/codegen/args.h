/* args.h - what a kernel is handed.
 *
 * One list makes both the C struct here and its text in generated code, so
 * the two cannot drift apart. A kernel walks units [first, last): rows,
 * block rows, slices or groups of rows, depending on the format. */
#ifndef SP_ARGS_H
#define SP_ARGS_H

#include <stdint.h>

#define SP_ARGS(X)                                                            \
    X(int64_t, first) /* units to walk */                                     \
    X(int64_t, last)                                                          \
    X(int64_t, rows) /* of A */                                               \
    X(int64_t, cols)                                                          \
    X(int64_t, columns)    /* dense columns */                                \
    X(int64_t, n)          /* elements from a row of B to the next */         \
    X(int64_t, wide)       /* the same of C */                                \
    X(const void *, start) /* [units + 1] first entry of each unit */         \
    X(const void *, col)   /* column of each entry or block */                \
    X(const void *, val)                                                      \
    X(const void *, code)   /* palette: where in val each entry's value is */ \
    X(const void *, row)    /* row of each unit; NULL: the unit itself */     \
    X(const void *, base)   /* added to the unit's columns; NULL: nothing */  \
    X(const void *, out)    /* sddmm: where the unit's results go */          \
    X(const void *, whole)  /* sell: where entries some rows lack begin, */   \
    X(const void *, length) /* and how many each row has; palette only */     \
    X(const void *, mid)    /* mttkrp: middle index of each fiber or entry */ \
    X(const void *, mid_start)   /* mttkrp: first entry of each fiber */      \
    X(const int64_t *, diagonal) /* dia: offsets, ascending */                \
    X(int64_t, diagonals)                                                     \
    X(const int64_t *, level) /* super: see pack.h */                         \
    X(int64_t, results)       /* elements of C */                             \
    X(int64_t, threads)                                                       \
    X(int64_t, chunk)                                                         \
    X(const void *, B)                                                        \
    X(const void *, D)                                                        \
    X(void *, C)                                                              \
    X(double, alpha)                                                          \
    X(double, beta)                                                           \
    X(int64_t, prefetch)     /* entries ahead */                              \
    X(int64_t, mid_prefetch) /* fibers ahead */                               \
    X(int64_t, pass)         /* dense columns per pass over the units */      \
    X(int64_t, stream)       /* results bypass the cache */

#define SP_FIELD(type, name) type name;
typedef struct {
    SP_ARGS(SP_FIELD)
} sp_args;
#undef SP_FIELD

/* Nonzero: a result is not finite, and padding may be to blame. */
typedef int sp_kernel(const sp_args *a);

#endif
