/* emit.h - shared by the emitters of this room. */
#ifndef SP_EMIT_H
#define SP_EMIT_H

#include "codegen/codegen.h"

/* A kernel being written. */
typedef struct {
    sp_buf *out;
    const sp_spec *k;
    const char *T; /* element type: "float" */
    const char *v; /* vector type stem: "f32x" */
    const char *I; /* type of start, row and base */
    const char *J; /* type of col */
    int lanes;     /* elements in a vector register */
    int pads;      /* watch results for what padding may have spoilt */
} sp_emit;

/* Dense columns held at once, as vectors of these many elements. */
typedef struct {
    int width[32];
    int offset[32]; /* elements before it */
    int count;
    int total; /* elements in all */
} sp_pieces;

void sp_line(sp_emit *e, const char *fmt, ...) SP_PRINTF_LIKE(2, 3);

/* "f32x8", or "float" when width is 1; the second for unaligned memory. */
const char *sp_vec(char out[16], const sp_emit *e, int width);
const char *sp_mem(char out[16], const sp_emit *e, int width);

/* `count` elements as full vectors, then halves. */
sp_pieces sp_pieces_of(const sp_emit *e, int count);

/* Columns of entries k + from ... are loaded two at a time where that takes
 * a load port's load off; sp_column then names the one of entry k + at. */
void sp_emit_columns(sp_emit *e, int from, int count);
const char *sp_column(char out[48], const sp_emit *e, int at);

/* Bytes k + at ... of an array, a word at a time; sp_byte names one of such a
 * group of `width`, which begins at a multiple of its width. */
void sp_emit_bytes(sp_emit *e, const char *array, int at, int width);
const char *sp_byte(char out[48], const sp_emit *e, const char *array, int at,
                    int width);

/* The values of entries k + at ... as one vector, of a palette looked up;
 * sp_emit_codes comes before the expression, in lines of its own. */
void sp_emit_codes(sp_emit *e, int at, int width);
void sp_emit_values(sp_emit *e, int at, int width);

/* Operand pointers, alpha, beta and the rest that every kernel starts with. */
void sp_emit_opening(sp_emit *e);
/* return: whether a watched result was not finite. */
void sp_emit_closing(sp_emit *e);
/* Note a result in the watch of its width. */
void sp_emit_watch(sp_emit *e, int width, const char *value);

/* A whole spmm kernel around `body`: pass over pass, unit by unit, tile *
 * lanes dense columns at a time, then narrower ones. */
typedef void sp_tile_body(sp_emit *e, const sp_pieces *p);
void sp_emit_passes(sp_emit *e, sp_tile_body *body);
/* Store accumulators named "<stem><piece>" into row pointer c. */
void sp_emit_store(sp_emit *e, const sp_pieces *p, const char *stem);
/* Store vector i of a group of rows that begins at i0, spmv.c's "s<i>", which
 * alpha has multiplied. */
void sp_emit_store_part(sp_emit *e, int i);
/* Prefetch the lines of a tile at address `from` (+ j). */
void sp_emit_prefetch(sp_emit *e, const sp_pieces *p, const char *from);

/* How results are stored past the cache, or, where that cannot be done,
 * stored. */
void sp_emit_stream(sp_buf *out, spry_isa isa);

/* One per kind of kernel. */
typedef void sp_emitter(sp_emit *e);
sp_emitter sp_emit_plain, sp_emit_csr_spmv, sp_emit_csr_spmm, sp_emit_bcsr_spmv,
    sp_emit_bcsr_spmm, sp_emit_sell_spmv, sp_emit_sell_spmm, sp_emit_dia_spmv,
    sp_emit_symmetric, sp_emit_sddmm, sp_emit_mttkrp, sp_emit_super;

#endif
