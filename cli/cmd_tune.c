/* cmd_tune.c - a matrix in, the fastest proven schedule out. */
#include "cli.h"

static const opt_page page = {
    "tune",
    "MATRIX",
    "Find the fastest schedule for a matrix. Candidates are verified, timed in\n"
    "turns with the plain CSR loop, and win only if the whole 95 % interval\n"
    "of their speed-up is above 1.02. Ctrl-C ends with the best so far. Asked\n"
    "again, the answer comes from the store.",
    {story_options, cli_compute, cli_locking},
    1,
    1};

spry_status cmd_tune(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_TUNED, story_tune);
}
