/* dense.h - dense operators on the command line: op:KIND,... */
#ifndef CLI_DENSE_H
#define CLI_DENSE_H

#include "cli.h"

int is_operator(const char *path);
spry_status open_operator(spry_problem **out, const char *path);

/* The ways to compute that texts, "a; b", names; for NULL or "all", those that a
 * tune would race. texts is split in place. */
enum { OPERATOR_WAYS = 24 };
spry_status operator_ways(spry_candidate *out, int *count, const job *j,
                          char *texts);

/* What the commands of that name do. */
spry_status predict_operator(const job *j, char *texts);
spry_status explain_operator(const job *j, const char *text);

#endif
