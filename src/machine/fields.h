/* fields.h - one row per fact of a machine that is written down: the table
 * by which text.c writes and read.c reads. */
#ifndef SP_MACHINE_FIELDS_H
#define SP_MACHINE_FIELDS_H

#include <stddef.h>

#include "spry/machine.h"

typedef enum { NAME, PRINT, ISA, INT, WIDE, REAL } kind;
/* PER_POINT: one value for each of `at`; IF_ANY: so many or none. */
typedef enum { OPTIONAL, NEEDED, PER_POINT, IF_ANY } rule;

typedef struct {
    const char *key;
    kind kind;
    rule rule;
    size_t at, stride;
    int count; /* values on the line; of points: at most */
    double least, most;
} field;

enum { FIELDS = 25 };
extern const field sp_machine_fields[FIELDS];

#endif
