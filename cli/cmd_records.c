/* cmd_records.c - what was measured: listed, shown, moved, checked. */
#include "cli.h"
#include "curves.h"
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char *problem, *fingerprint;
static const char *matrices;
static int limit = 50, days = 30, format;
static const opt options[] = {
    {"problem", OPT_TEXT, &problem, "PREFIX",
     "list: only problems that begin so"},
    {"on", OPT_TEXT, &fingerprint, "MACHINE", "list: only this machine's"},
    {"limit", OPT_INTEGER, &limit, "N", "list: the latest N, 0 for all (50)"},
    {"format", OPT_WORD, &format, "json|waco|autosparse|ansor|ginkgo",
     "import, export: the format (json: spry's own)"},
    {"matrices", OPT_TEXT, &matrices, "FOLDER",
     "import: where to look for the matrices they name"},
    {"days", OPT_INTEGER, &days, "N", "gc: failed trials older than this (30)"},
    {0}};
static const opt_page page = {
    "records",
    "list|show ID|export FILE|import FILE|merge STORE|sample STORE|curves|"
    "check|gc",
    "list    one line for each record\n"
    "show    all of one record, by its id or the beginning of it\n"
    "export  write everything as JSON lines; - for stdout; --format ansor\n"
    "        writes records imported from Ansor, waco a folder of loop nests\n"
    "import  read JSON lines, or with --format a file or folder of another\n"
    "        project; damaged lines are skipped and counted, and it fails when\n"
    "        all are\n"
    "merge   add everything from another store\n"
    "sample  copy the records of --op that are most useful for training into\n"
    "        another store; - for none, only the certificate\n"
    "curves  learning curves: a line for each training, with --json every round\n"
    "check   verify the file and every row's hash\n"
    "gc      remove old failed records and compact the file",
    {options, sample_options, cli_compute},
    1,
    2};

/* ---- one record ---- */

/* Packing in runs of the baseline that this trial was paired with. */
static double pack_runs(const spry_record *r)
{
    double plain = r->seconds * r->speedup;

    return plain > 0 ? r->pack_seconds / plain : HUGE_VAL;
}

static void json_record(json *j, const spry_record *r, int samples)
{
    char grade[2] = {r->noise, 0};

    json_text(j, "id", r->id);
    json_text(j, "problem", r->problem);
    json_text(j, "about", r->about);
    json_text(j, "schedule", r->schedule);
    json_text(j, "machine", r->machine);
    json_text(j, "compiler", r->compiler);
    json_text(j, "verdict", spry_verdict_name(r->verdict));
    json_text(j, "noise", grade);
    json_number(j, "seconds", r->seconds);
    json_number(j, "speedup", r->speedup);
    json_number(j, "speedup_low", r->low);
    json_number(j, "speedup_high", r->high);
    json_number(j, "pack_seconds", r->pack_seconds);
    json_number(j, "pack_runs", pack_runs(r));
    json_number(j, "bytes", r->bytes);
    json_integer(j, "when", r->when);
    if (!samples)
        return;
    json_open(j, "samples", '[');
    for (int i = 0; i < r->samples; i++)
        json_number(j, NULL, r->sample[i]);
    json_close(j, ']');
}

static void print_record(const spry_record *r)
{
    printf("id         %s\nproblem    %s\n           %s\nschedule   %s\n"
           "machine    %s, noise %c\ncompiler   %s\nwhen       %s UTC\n"
           "verdict    %s\n",
           r->id, r->problem, r->about, r->schedule, r->machine, r->noise,
           r->compiler, say_date(r->when), spry_verdict_name(r->verdict));
    if (r->verdict != SPRY_VERDICT_OK)
        return;
    printf("time       %s, median of %d\n", say_seconds(r->seconds),
           r->samples);
    if (r->speedup > 0)
        printf("speed-up   %.2f, 95 %% interval %s\n", r->speedup,
               say_interval(r->low, r->high));
    printf("packing    %s", say_seconds(r->pack_seconds));
    if (isfinite(pack_runs(r)))
        printf(" or %s plain runs", say_runs(pack_runs(r)));
    printf(", %s\nsamples   ", say_bytes(r->bytes));
    for (int i = 0; i < r->samples; i++)
        printf(" %s%s", say_seconds(r->sample[i]),
               i + 1 < r->samples ? "," : "");
    printf("\n");
}

/* ---- list ---- */

typedef struct {
    int64_t skip; /* records before the latest `limit` */
    table *rows;
    json json;
} listing;

static int count_one(const spry_record *r, void *payload)
{
    (void)r;
    ++*(int64_t *)payload;
    return 0;
}

static int list_one(const spry_record *r, void *payload)
{
    listing *l = payload;

    if (l->skip-- > 0)
        return 0;
    if (cli.json) {
        json_open(&l->json, NULL, '{');
        json_record(&l->json, r, 0);
        json_close(&l->json, '}');
        return 0;
    }
    table_cell(l->rows, "%.8s", r->id);
    table_cell(l->rows, "%s", say_date(r->when));
    table_cell(l->rows, "%s", r->about);
    table_cell(l->rows, "%s", r->schedule);
    table_cell(l->rows, "%s", r->seconds > 0 ? say_seconds(r->seconds) : "-");
    table_cell(l->rows, "%s", r->speedup > 0 ? say_times(r->speedup) : "-");
    table_cell(l->rows, "%s", spry_verdict_name(r->verdict));
    return 0;
}

static spry_status list(spry_records *db, const char *unused)
{
    listing l = {0};
    int64_t all = 0, answers, machines, records;
    spry_status s;

    (void)unused;
    s = spry_records_each(db, problem, fingerprint, count_one, &all);
    if (s == SPRY_OK)
        s = spry_records_count(db, &records, &answers, &machines);
    if (s != SPRY_OK)
        return say_status(s);
    l.skip = limit && all > limit ? all - limit : 0;
    if (cli.json) {
        l.json = json_begin("spry.records/1");
        json_text(&l.json, "store", spry_records_path(db));
        json_integer(&l.json, "count", records);
        json_integer(&l.json, "answers", answers);
        json_integer(&l.json, "machines", machines);
        json_open(&l.json, "records", '[');
    } else {
        l.rows = table_new("id<when<problem<schedule<time>speed-up>verdict<");
    }
    s = say_status(spry_records_each(db, problem, fingerprint, list_one, &l));
    if (cli.json) {
        json_close(&l.json, ']');
        json_end(&l.json);
    } else {
        table_print(l.rows, stdout);
        fprintf(stderr,
                "%" PRId64 " records, %" PRId64 " answers, %" PRId64
                " machines in %s\n",
                records, answers, machines, spry_records_path(db));
    }
    return s;
}

/* ---- show ---- */

typedef struct {
    const char *id;
    int found; /* 2: or more */
} wanted;

static int show_one(const spry_record *r, void *payload)
{
    wanted *w = payload;

    if (strncmp(r->id, w->id, strlen(w->id)) != 0)
        return 0;
    if (w->found++)
        return 1;
    if (cli.json) {
        json j = json_begin("spry.record/1");

        json_record(&j, r, 1);
        json_end(&j);
    } else {
        print_record(r);
    }
    return strcmp(r->id, w->id) == 0;
}

static spry_status show(spry_records *db, const char *id)
{
    wanted w = {id, 0};
    spry_status s = spry_records_each(db, NULL, NULL, show_one, &w);

    if (s == SPRY_OK && !w.found)
        return say_fail(SPRY_USAGE, "no record's id begins with '%s'", id);
    if (s == SPRY_OK && w.found > 1)
        say_note("other records' ids begin with '%s', too; this is the first",
                 id);
    return say_status(s);
}

/* ---- the rest: do it, say how many ---- */

static void print_count(const char *what, int64_t count, const char *words)
{
    if (cli.json) {
        json j = json_begin("spry.records/1");

        json_integer(&j, what, count);
        json_end(&j);
        return;
    }
    printf("%s %s %s\n", say_count((double)count), words, what);
}

static spry_status export_foreign(spry_records *db, const char *path)
{
    spry_import_format whose = (spry_import_format)(format - 1);
    int piped = strcmp(path, "-") == 0;
    int64_t records;
    spry_status s;

    if (piped && whose == SPRY_IMPORT_WACO)
        return say_fail(SPRY_USAGE, "--format waco writes a folder, not -");
    s = say_written(spry_records_write(db, path, whose, &records), path);
    if (s == SPRY_OK && !piped)
        print_count("exported", records, "records");
    return s;
}

/* A row is a line. */
static spry_status export_to(spry_records *db, const char *path)
{
    int64_t rows;
    spry_status s;

    if (format)
        return export_foreign(db, path);
    s = say_written(spry_records_export_rows(db, path, &rows), path);
    if (s == SPRY_OK && strcmp(path, "-") != 0)
        print_count("exported", rows, "rows");
    return s;
}

static int show_lines(int64_t lines, void *payload)
{
    const char *const *path = payload;
    char text[300];

    snprintf(text, sizeof text, "%s lines of %.200s", say_count((double)lines),
             *path);
    progress_say(text);
    return stop_asked();
}

static spry_status import_foreign(spry_records *db, const char *path)
{
    spry_import_options o = SPRY_IMPORT_DEFAULTS;
    spry_machine m = {0};
    spry_imported in = {.size = sizeof in};
    spry_status s = SPRY_OK;
    json j;

    stop_watch();
    if (cli.machine)
        s = open_machine(&m, 0);
    if (s != SPRY_OK)
        return s;
    o.machine = cli.machine ? &m : NULL;
    o.op = cli.op >= 0 ? spry_op_name((spry_op)cli.op) : NULL;
    o.matrices = matrices;
    o.progress = show_lines;
    o.payload = &path;
    s = say_status(
        spry_import(&in, db, path, (spry_import_format)(format - 1), &o));
    progress_clear();
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        j = json_begin("spry.records/1");
        json_integer(&j, "files", in.files);
        json_integer(&j, "lines", in.lines);
        json_integer(&j, "added", in.added);
        json_integer(&j, "in_our_words", in.ours);
        json_integer(&j, "bad", in.bad);
        json_end(&j);
    } else
        printf("%s records added, of %s lines in %s files; the schedules of "
               "%s in spry's words\n",
               say_count((double)in.added), say_count((double)in.lines),
               say_count((double)in.files), say_count((double)in.ours));
    if (in.bad)
        say_note("%" PRId64 " damaged lines skipped: %s", in.bad, in.why);
    return s;
}

static spry_status import_from(spry_records *db, const char *path)
{
    int64_t added = 0, bad = 0;
    struct stat st;
    spry_status s;

    if (format)
        return import_foreign(db, path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return say_fail(SPRY_USAGE,
                        "%s: a folder takes --format waco, autosparse or ansor",
                        path);
    s = say_status(spry_records_import(db, path, &added, &bad));
    if (s == SPRY_OK)
        print_count("added", added, "rows");
    if (s == SPRY_OK && bad)
        say_note("%" PRId64 " damaged lines skipped: %s", bad, spry_message());
    return s;
}

static spry_status merge(spry_records *db, const char *path)
{
    int64_t added = 0;
    spry_status s = say_status(spry_records_merge(db, path, &added));

    if (s == SPRY_OK)
        print_count("added", added, "rows");
    return s;
}

static spry_status check(spry_records *db, const char *unused)
{
    int64_t bad = 0;
    spry_status s = say_status(spry_records_check(db, &bad));

    (void)unused;
    print_count("damaged", bad, "records");
    return s;
}

static spry_status gc(spry_records *db, const char *unused)
{
    int64_t dropped = 0;
    spry_status s = say_status(spry_records_gc(db, days, &dropped));

    (void)unused;
    if (s == SPRY_OK)
        print_count("dropped", dropped, "records");
    return s;
}

static const struct {
    const char *name;
    spry_status (*run)(spry_records *db, const char *argument);
    int arguments;
    spry_status (*open)(spry_records **out);
} actions[] = {{"list", list, 0, open_store_to_read},
               {"show", show, 1, open_store_to_read},
               {"export", export_to, 1, open_store_to_read},
               {"import", import_from, 1, open_store},
               {"merge", merge, 1, open_store},
               {"sample", sample_records, 1, open_store_to_read},
               {"curves", curves_of_records, 0, open_store_to_read},
               {"check", check, 0, open_store_to_read},
               {"gc", gc, 0, open_store_to_read},
               {NULL, NULL, 0, NULL}};

spry_status cmd_records(int argc, char **argv)
{
    spry_records *db = NULL;
    int a = 0;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    while (actions[a].name && strcmp(actions[a].name, argv[0]) != 0)
        a++;
    if (!actions[a].name)
        return opt_unknown_action("records", argv[0], actions, sizeof *actions);
    if (argc - 1 != actions[a].arguments)
        return say_fail(SPRY_USAGE, "records %s takes %s", argv[0],
                        actions[a].arguments ? "one argument" : "no argument");
    s = actions[a].open(&db);
    if (s == SPRY_OK)
        s = actions[a].run(db, argv[1]);
    spry_records_close(db);
    return s;
}
