/* grades.h - how well models choose, printed. */
#ifndef CLI_GRADES_H
#define CLI_GRADES_H

#include "cli.h"

/* Members of an open object. */
void grades_json(json *j, const spry_grades *g);
/* A table, one row per model, and what its columns mean. */
void grades_print(const spry_grades *g, int count);

#endif
