/* cmd_freeze.c - the answers of a store, in a file that pins them. */
#include "cli.h"

#include <string.h>

static const char *out_file = "spry.lock";
static const opt options[] = {{"out", OPT_TEXT, &out_file, "FILE",
                               "the lock file; - for stdout (spry.lock)"},
                              {0}};
static const opt_page page = {
    "freeze",
    "",
    "Write what tunes have decided into a lock file: the newest answer for\n"
    "each problem, machine and number of calls, with the kernel that computes\n"
    "it. With --lock FILE, or SPRY_LOCK, the same problem is computed by the\n"
    "same schedule and the same kernel, and nothing is measured.",
    {options},
    0,
    0};

spry_status cmd_freeze(int argc, char **argv)
{
    spry_records *db = NULL;
    int64_t answers = 0;
    int to_stdout;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    to_stdout = strcmp(out_file, "-") == 0;
    s = open_store_to_read(&db);
    if (s != SPRY_OK)
        return s;
    s = say_written(spry_records_freeze(db, out_file, &answers), out_file);
    spry_records_close(db);
    if (s != SPRY_OK || to_stdout)
        return s;
    if (answers == 0)
        say_note("the store has no answer yet: nothing is frozen");
    if (cli.json) {
        json j = json_begin("spry.freeze/1");

        json_text(&j, "out", out_file);
        json_integer(&j, "answers", answers);
        json_end(&j);
    } else {
        printf("%s answers, frozen in %s\n", say_count((double)answers),
               out_file);
    }
    return s;
}
