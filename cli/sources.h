/* sources.h - many matrices, named on a command line. */
#ifndef CLI_SOURCES_H
#define CLI_SOURCES_H

#include "cli.h"

typedef struct {
    char **name; /* whole paths, and gen:SPEC#SEED */
    int count;
} sources;

/* What the store keeps: the whole path, or gen:SPEC#SEED, so that it is the
 * same matrix for whoever reads the store. */
enum { SOURCE_NAME = 4096 };
void source_name(char out[SOURCE_NAME], const char *path);

/* A file, a folder of files, or gen:SPEC; says its own failure. */
spry_status sources_add(sources *l, const char *path);
spry_status sources_add_suite(sources *l, const char *suite);
void sources_free(sources *l);

#endif
