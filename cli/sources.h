/* sources.h - many matrices, named on a command line. */
#ifndef CLI_SOURCES_H
#define CLI_SOURCES_H

#include "cli.h"

typedef struct {
    char **name; /* whole paths, and gen:SPEC#SEED */
    int count;
} sources;

/* A file, a folder of files, or gen:SPEC; says its own failure. */
spry_status sources_add(sources *l, const char *path);
spry_status sources_add_suite(sources *l, const char *suite);
void sources_free(sources *l);

#endif
