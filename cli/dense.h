/* dense.h - dense operators on the command line: op:KIND,... */
#ifndef CLI_DENSE_H
#define CLI_DENSE_H

#include "cli.h"

int is_operator(const char *path);
spry_status open_operator(spry_problem **out, const char *path);

/* What the commands of that name do; texts is split in place. */
spry_status predict_operator(const job *j, char *texts);
spry_status verify_operator(const job *j, char *texts);
spry_status explain_operator(const job *j, const char *text);

#endif
