/* text.h - reading entries from lines of text, for any room that must. */
#ifndef SP_MATRIX_TEXT_H
#define SP_MATRIX_TEXT_H

#include "base/base.h"

/* A file in memory, a zero byte behind it. */
typedef struct {
    const char *name; /* for sentences, and for its ending */
    const char *data, *end;
} sp_text;

/* SPRY_INPUT, "name:line: ..." with the line that holds `at`. */
spry_status sp_fail_at(const sp_text *t, const char *at, const char *fmt, ...)
    SP_PRINTF_LIKE(3, 4);

/* Rows, or neurons, that a file of this size may have: they take memory even
 * when they have no entries. */
int64_t sp_most_rows(const sp_text *t);
/* The same, of so many bytes of text. */
int64_t sp_most_rows_of(int64_t bytes);

/* Behind blanks, but not behind a line's end. */
const char *sp_skip_blanks(const char *at, const char *end);
/* Words from here to the end of the line. */
int sp_count_words(const char *at, const char *end);
/* At the next line. */
const char *sp_skip_line(const char *at, const char *end);
/* Behind blank lines and those that begin with `comment`; at the first
 * character of the next line that says something, or at the end. */
const char *sp_skip_comments(const char *at, const char *end, char comment);

/* Entries as a reader gathers them. */
typedef struct {
    int64_t nnz;
    int64_t *row, *col; /* [nnz] zero-based */
    int64_t *third;     /* [nnz] of tensors: the last index; else NULL */
    double *val;        /* [nnz], or NULL: all ones */
} sp_triples;

spry_status sp_triples_make(sp_triples *out, int64_t nnz, int with_values);
/* The largest index + 1. */
int64_t sp_index_size(const int64_t *index, int64_t n);
void sp_triples_free(sp_triples *t);

/* Lines of "row col" or "row col value", parsed by all threads; of tensors
 * "row col third value". */
typedef struct {
    const char *at;     /* where in the text they begin */
    char comment;       /* lines that begin with it say nothing */
    int base;           /* the first row is 0 or 1 */
    int values;         /* there is a value */
    int more;           /* what follows in the line is passed over */
    int finite;         /* NaN and Inf are no values */
    int64_t rows, cols; /* no index reaches beyond */
    int64_t third;      /* nor the third one; 0: there is none */
} sp_lines;

/* Exactly `declared` entries; any number when it is -1. */
spry_status sp_lines_read(sp_triples *out, const sp_text *t,
                          const sp_lines *lines, int64_t declared);

#endif
