/* codegen.h - from a schedule to C text.
 *
 * The same generator writes the built-in kernels when spry is built and
 * specialised ones when it runs. It writes text and opens no file. */
#ifndef SP_CODEGEN_H
#define SP_CODEGEN_H

#include "base/base.h"
#include "codegen/args.h"
#include "schedule/schedule.h"

/* What tells one kernel from another; all else is an argument. */
typedef struct {
    spry_op op;
    spry_type type;
    spry_isa isa;
    int32_t format;
    int32_t plain;   /* the baseline's loop, left to the compiler */
    int32_t scatter; /* mttkrp: the result's mode is the innermost */
    int32_t tile, unroll, r, c, slice, gather;
    int32_t symmetric;          /* one triangle stands for both */
    int32_t index;              /* 8, 16, 32 or 64 bits */
    int32_t palette;            /* values in a table; 1: all are one */
    int32_t prefetch;           /* 0 or 1 */
    int64_t n;                  /* dense columns compiled in; 0: any */
    spry_super super;           /* its nest, */
    int64_t size[SPRY_INDICES]; /* blocks of every index, cut to its length, */
    int32_t dynamic;            /* iterations handed out in chunks, */
    int32_t own; /* and shared results small enough for copies of one's own */
} sp_spec;

/* The kernel that x needs; `index` is the width pack settled on. */
sp_spec sp_codegen_spec(const spry_schedule *x, const sp_sparse *p,
                        spry_isa isa, int32_t index);

/* A C identifier, unique per spec. */
enum { SP_KERNEL_NAME = 96 };
char *sp_codegen_name(char out[SP_KERNEL_NAME], const sp_spec *k);

/* Types and helpers that kernels of this instruction set stand on. */
void sp_codegen_prelude(sp_buf *out, spry_isa isa);
/* The compiler's intrinsics and what is made of them: slow to read, so only
 * for kernels that use them. */
void sp_codegen_intrinsics(sp_buf *out, spry_isa isa);
/* One function, int NAME(const sp_args *), `storage` before it: "" or
 * "static ". */
void sp_codegen_kernel(sp_buf *out, const sp_spec *k, const char *storage);
/* A whole file around the text of kernels of one instruction set. */
void sp_codegen_around(sp_buf *out, spry_isa isa, const sp_buf *kernels);
/* A whole file with one kernel. */
void sp_codegen_file(sp_buf *out, const sp_spec *k);

/* Compiler flags that a kernel needs, its -O first, NULL-terminated. */
enum { SP_FLAGS = 16 };
const char *const *sp_codegen_flags(const char *out[SP_FLAGS],
                                    const sp_spec *k);

/* Does this kind of storage pad with zeros that the kernel multiplies? */
int sp_codegen_pads(const sp_spec *k);

/* The i-th kernel built in for an instruction set; 0 past the last. Plain
 * ones come first. */
int sp_codegen_builtin(sp_spec *out, spry_isa isa, int i);

/* A built-in kernel, or NULL. */
sp_kernel *sp_builtin_find(const sp_spec *k);

/* Vector lanes of an element type. */
int sp_codegen_lanes(spry_isa isa, spry_type type);

/* What the generator's own output at build time looks like. */
typedef struct {
    const char *name;
    sp_kernel *run;
} sp_builtin;
typedef struct {
    spry_isa isa;
    const sp_builtin *kernel;
    int count;
} sp_builtin_set;

#endif
