/* sample.h - the action `sample` of records. */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

#include "cli.h"

extern const opt sample_options[];
/* path: the store to make; "-": none, the certificate only. */
spry_status sample_records(spry_records *db, const char *path);

#endif
