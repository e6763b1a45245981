/* problem.h - what all problems have in common.
 *
 * A problem begins with this header; what follows belongs to its kind. Rooms
 * that do not know a kind ask its table. */
#ifndef SP_PROBLEM_H
#define SP_PROBLEM_H

#include <stddef.h>

#include "base/base.h"
#include "spry/problem.h"
#include "spry/records.h"

/* One call: alpha and beta, and where the dense operands are. */
typedef struct {
    double alpha, beta;
    const void *B, *D;
    void *C;
} sp_operands;

typedef struct {
    const char *name;
    /* In words, for people and records: "spmm 128 f32 100x100 nnz 500". */
    void (*about)(char *out, size_t size, const spry_problem *p);
    /* The fields from `op` on, for the store. */
    void (*origin)(spry_origin *out, const spry_problem *p);
    /* What it is, as fields of a document; source: where it came from. */
    void (*fields)(sp_json *j, const spry_problem *p, const char *source);
    /* Is there nothing to compute? */
    int (*nothing)(const spry_problem *p);
    /* Bytes of what plans lay out, as it is given. */
    double (*given_bytes)(const spry_problem *p);
    double (*flops)(const spry_problem *p);
    double (*bytes)(const spry_problem *p);
    int64_t (*input_size)(const spry_problem *p, int which);
    int64_t (*output_size)(const spry_problem *p);
    spry_status (*reference)(const spry_problem *p, const sp_operands *f);
    void (*free)(spry_problem *p);
} sp_problem_kind;

/* Is every operand there that has elements, and C apart from the others? */
spry_status sp_operands_check(const spry_problem *p, const sp_operands *f);

struct spry_problem {
    const sp_problem_kind *kind;
    char key[128]; /* equal keys, equal tuning */
};

#endif
