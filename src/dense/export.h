/* export.h - plans as C that stands alone: a list of steps over an arena.
 *
 * DIR gets NAME.c with the steps, NAME.h, NAME.bin with the weights, a
 * CMakeLists.txt, an example, and in kernels/ the loops that the steps need:
 * the very text that is built into the library. */
#ifndef SP_DENSE_EXPORT_H
#define SP_DENSE_EXPORT_H

#include "base/base.h"
#include "dense/dense.h"
#include "dense/move.h"

/* Where an operand lies: 'a' in the arena, 'w' in constant `which`, 'i' in
 * input `which`, 'o' in output `which`, so many bytes behind its beginning;
 * 0: there is none. */
typedef struct {
    int home, which;
    int64_t at;
} sp_export_place;

/* An operator, a move, or rows of `in` that `b` names. */
typedef struct {
    const sp_dense_plan *plan; /* or NULL */
    const sp_move *move;       /* or NULL: then it is rows */
    int64_t rows, each, count;
    int shares;
    sp_export_place in, b, add, out, more[SPRY_STEPS];
} sp_export_step;

typedef struct {
    const char *name;
    char shape[128]; /* "1 x 3 x 224 x 224", for people */
    int64_t count;
    int whole; /* int64_t, else float */
} sp_export_operand;

typedef struct {
    const void *data;
    int64_t bytes;
} sp_export_constant;

typedef struct {
    const char *about; /* what it is, for people */
    const sp_export_step *step;
    const sp_export_operand *input, *output;
    const sp_export_constant *constant;
    int steps, inputs, outputs, constants, threads;
    int64_t arena, scratch; /* bytes; scratch of each thread */
    spry_isa isa;
} sp_export;

/* SPRY_USAGE when name is no C identifier or there is no such folder. */
spry_status sp_export_write(const sp_export *x, const char *dir,
                            const char *name);
/* One operator. */
spry_status sp_export_plan(const sp_dense_plan *plan, const char *dir,
                           const char *name);

#endif
