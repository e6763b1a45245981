/* curves.h - the action `curves` of records. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include "cli.h"

spry_status curves_of_records(spry_records *db, const char *unused);

#endif
