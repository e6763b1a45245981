/* cmd_report.c - what was measured, as one page of HTML. */
#include "cli.h"

#include <string.h>
#include <sys/stat.h>

static const char *file = "report.html", *title, *problem, *peers;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "FILE",
     "write the page there; - for stdout (report.html)"},
    {"title", OPT_TEXT, &title, "TEXT", "what the page is called"},
    {"problem", OPT_TEXT, &problem, "PREFIX", "only problems that begin so"},
    {"peers", OPT_TEXT, &peers, "FILE",
     "show other libraries: what PEERS_CSV=FILE make bench-peers wrote"},
    {0}};
static const opt_page page = {
    "report",
    "[STORE]",
    "Write one self-contained HTML page about a store: verdicts, how searches\n"
    "went, how good predictions were, every record. It loads nothing from\n"
    "elsewhere. spry tune --report does the same for one tune.",
    {options},
    0,
    1};

static void print_json(const char *store)
{
    json j = json_begin("spry.report/1");
    struct stat st = {0};

    (void)stat(file, &st);
    json_text(&j, "out", file);
    json_text(&j, "store", store);
    json_integer(&j, "bytes", st.st_size);
    json_end(&j);
}

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
    o.peers = peers;
    s = say_written(spry_report_store(file, db, &o), file);
    if (s == SPRY_OK && cli.json && strcmp(file, "-") != 0)
        print_json(spry_records_path(db));
    spry_records_close(db);
    return s;
}
