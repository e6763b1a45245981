/* net_verify.c - ways to run a network, compared with the reference. */
#include "net.h"

static char *texts;
static const opt options[] = {
    {"ways", OPT_TEXT, &texts, "\"A; B\"", "verify these; else all forms"},
    {0}};
static const opt_page page = {
    "net verify",
    "NETWORK",
    "Compare ways to run a network with the reference: full tiles, tails and\n"
    "all threads, every output of every input; bit for bit where all sums are\n"
    "exact, else within the error bound. Exit 4 if one is wrong.",
    {options, net_batching, net_reading},
    1,
    1};

static void print_one(json *j, const spry_plan *plan, spry_status s)
{
    if (!cli.json) {
        printf("%-40s %s\n", spry_plan_text(plan),
               s == SPRY_OK ? "right" : spry_message());
        return;
    }
    json_open(j, NULL, '{');
    json_text(j, "way", spry_plan_text(plan));
    json_bool(j, "right", s == SPRY_OK);
    json_text(j, "why", s == SPRY_OK ? "" : spry_message());
    json_close(j, '}');
}

static spry_status verify(const job *from, const char *path)
{
    spry_plan *plan[NET_WAYS];
    int count;
    json j = {0};
    spry_status s = net_ways(plan, &count, from, texts), worst = SPRY_OK;

    (void)path;
    if (s == SPRY_OK && cli.json) {
        j = json_begin("spry.net.verify/1");
        json_open(&j, "results", '[');
    }
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        spry_status one = spry_plan_check(plan[i], cli.seed);

        print_one(&j, plan[i], one);
        worst = one != SPRY_OK ? one : worst;
    }
    if (s == SPRY_OK && cli.json) {
        json_close(&j, ']');
        json_end(&j);
    }
    net_ways_free(plan, count);
    return s == SPRY_OK ? worst : s;
}

spry_status net_verify(int argc, char **argv)
{
    return net_do_job(&page, argc, argv, JOB_DETECTED, verify);
}
