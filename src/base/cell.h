/* cell.h - one column of a table's row, whichever engine keeps the table. */
#ifndef SP_CELL_H
#define SP_CELL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "spry/status.h"

typedef enum {
    SP_CELL_NULL,
    SP_CELL_TEXT,
    SP_CELL_REAL,
    SP_CELL_INTEGER,
    SP_CELL_BYTES
} sp_cell_type;

typedef struct {
    sp_cell_type type;
    const char *data; /* text, zero-terminated, or bytes */
    size_t length;    /* of data */
    double real;
    int64_t integer;
} sp_cell;

/* A row of a result; its data live until the visitor returns. Anything but
 * SPRY_OK ends the walk and is its status. */
typedef spry_status sp_cells_visit(const sp_cell *cell, int count,
                                   void *payload);

/* NULL is a cell, too. */
static inline sp_cell sp_cell_text(const char *text)
{
    return (sp_cell){.type = text ? SP_CELL_TEXT : SP_CELL_NULL,
                     .data = text,
                     .length = text ? strlen(text) : 0};
}

static inline sp_cell sp_cell_real(double real)
{
    return (sp_cell){.type = SP_CELL_REAL, .real = real};
}

static inline sp_cell sp_cell_integer(int64_t integer)
{
    return (sp_cell){.type = SP_CELL_INTEGER, .integer = integer};
}

static inline sp_cell sp_cell_bytes(const void *data, size_t length)
{
    return (sp_cell){.type = SP_CELL_BYTES, .data = data, .length = length};
}

#endif
