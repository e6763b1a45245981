/* fleet.h - what the files of `spry fleet` share. */
#ifndef CLI_FLEET_H
#define CLI_FLEET_H

#include "cli.h"

/* Jobs into the queue; sources are matrices, recipes and suites. */
extern const opt fleet_submit_options[];
spry_status fleet_submit(spry_fleet *f, int argc, char **argv);

#endif
