/* export_inside.h - what the files of the exporter share. */
#ifndef SP_DENSE_EXPORT_INSIDE_H
#define SP_DENSE_EXPORT_INSIDE_H

#include "dense/export.h"
#include "dense/internal.h"

enum { SP_EXPORT_ALIGN = 64, SP_EXPORT_MARKS = 40 };

/* Texts that are built in, by the name of their file (texts.cmake). */
typedef struct {
    const char *name;
    const unsigned char *text;
} sp_export_text;
extern const sp_export_text sp_export_texts[];

/* Arrays in the file of weights, in its order. */
typedef struct {
    sp_export_constant *part;
    int64_t *at;
    int parts;
    int64_t bytes; /* of the file */
    char stamp[33];
} sp_export_weights;

/* Part numbers of an operator's arrays; -1: there is none. */
typedef struct {
    int packed, bias, op_weights, op_bias;
} sp_export_arrays;

/* What is being written. */
typedef struct {
    const sp_export *x;
    const char *dir, *name;
    sp_export_weights w;
    sp_export_arrays *of; /* [steps] */
    int uses[SP_ALGORITHMS];
    int mr[SP_TILE_V + 1]; /* the widest tile of v vectors; 0: none */
    int depth[3][3];       /* of a depthwise [s / 2][stride] */
    sp_buf entries, moves, calls;
    int operators, move_count;
    int64_t scratch;
    struct {
        const char *name; /* what @NAME@ stands for in templates */
        sp_buf text;
    } mark[SP_EXPORT_MARKS];
    int marks;
} sp_exporting;

/* What an algorithm's files and names are; kernel NULL: not to be had. */
typedef struct {
    const char *kernel, *source; /* NAME of kernels/NAME.c; what walks */
    const char *part, *loop, *table;
} sp_export_algorithm;
extern const sp_export_algorithm sp_export_algorithms[SP_ALGORITHMS];

/* Tables as C (export_tables.c): operators, moves, steps. */
void sp_export_entry(sp_buf *out, const sp_dense_plan *plan,
                     const sp_export_weights *w, const sp_export_arrays *a);
void sp_export_move(sp_buf *out, const sp_move *z);
void sp_export_call(sp_buf *out, const sp_export_step *s, int which,
                    const sp_export_weights *w);

/* Fill in what marks stand for; write a text with or without them to a file
 * below the folder (export_marks.c). */
void sp_export_mark(sp_exporting *z);
spry_status sp_export_put(const sp_exporting *z, const char *file,
                          const char *text);
void sp_export_unmark(sp_exporting *z);

#endif
