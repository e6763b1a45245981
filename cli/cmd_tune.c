/* cmd_tune.c - a matrix in, the fastest proven schedule out. */
#include "cli.h"

static const opt_page page = {
    "tune",
    "MATRIX",
    "Find the fastest schedule for a matrix. Candidates are verified, raced\n"
    "against the plain CSR loop in interleaved pairs, and win only when the\n"
    "95 % interval of their speed-up lies above 1.02. Ctrl-C ends with the\n"
    "best so far. Asked again, the answer comes from the store.",
    {story_options, cli_compute, cli_locking},
    1,
    1};

spry_status cmd_tune(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_TUNED, story_tune);
}
