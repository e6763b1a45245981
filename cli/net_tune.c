/* net_tune.c - a network in, the fastest proven way to run it out. */
#include "net.h"

static const opt_page page = {
    "net tune",
    "NETWORK",
    "Find the fastest way to run a network: passes, form, tile and threads.\n"
    "Ways are verified, timed in turns with plain loops, and win only if the\n"
    "whole 95 % interval of their speed-up is above 1.02. net run then uses the\n"
    "winner, and asked again, the answer comes from the store. Passes are exact\n"
    "for finite inputs (net run leaves them out for others). Ctrl-C ends with\n"
    "the best so far.\n"
    "An operator graph has options of its own: spry net tune x.onnx --help.",
    {story_options, net_batching, net_reading, cli_locking},
    1,
    1};

spry_status net_tune(int argc, char **argv)
{
    return net_do_job(&page, argc, argv, JOB_TUNED, story_tune);
}
