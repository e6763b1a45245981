/* cmd_report.c - what was measured, as one page of HTML. */
#include "cli.h"

static const char *file = "report.html", *title, *problem;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "FILE", "write the page there (report.html)"},
    {"title", OPT_TEXT, &title, "TEXT", "what the page is called"},
    {"problem", OPT_TEXT, &problem, "PREFIX", "only problems that begin so"},
    {0}};
static const opt_page page = {
    "report",
    "[STORE]",
    "Write one self-contained page about a store: the verdicts, how the\n"
    "searches went, how sure the model was, every trial. It loads nothing\n"
    "from anywhere and can be passed on. spry tune --report does the same for\n"
    "one tune.",
    {options},
    0,
    1};

spry_status cmd_report(int argc, char **argv)
{
    spry_report_options o = SPRY_REPORT_DEFAULTS;
    spry_records *db;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (argc == 1)
        cli.store = argv[0];
    s = open_store_to_read(&db);
    if (s != SPRY_OK)
        return s;
    o.title = title;
    o.problem = problem;
    s = say_status(spry_report_store(file, db, &o));
    spry_records_close(db);
    return s;
}
