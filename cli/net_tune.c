/* net_tune.c - a network in, the fastest proven way to run it out. */
#include "net.h"

static const opt_page page = {
    "net tune",
    "NETWORK",
    "Find the fastest way to run a network: passes, form, tile and threads.\n"
    "Ways are verified, raced against plain loops in interleaved pairs, and\n"
    "win only when the 95 % interval of their speed-up lies above 1.02.\n"
    "net run then runs it so, and asked again, the answer comes from the\n"
    "store. Passes hold for finite inputs (net run leaves them out for\n"
    "others). Ctrl-C ends with the best so far.",
    {story_options, net_batching, net_reading, cli_locking},
    1,
    1};

spry_status net_tune(int argc, char **argv)
{
    return net_do_job(&page, argc, argv, JOB_TUNED, story_tune);
}
