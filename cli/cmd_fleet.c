/* cmd_fleet.c - many machines, one store: jobs out, records in. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "fleet.h"

static int jobs, idle_exit, tries;
static double lease;
static const char *matrices, *name, *out;
static const opt options[] = {
    {"lease", OPT_SECONDS, &lease, "TIME",
     "init: how long a worker may be silent (60s; later, as it is)"},
    {"tries", OPT_INTEGER, &tries, "N",
     "init: how often a job is tried (5; later, as it is)"},
    {"jobs", OPT_INTEGER, &jobs, "N", "work: stop after so many"},
    {"idle-exit", OPT_FLAG, &idle_exit, NULL, "work: stop when no job is left"},
    {"matrices", OPT_TEXT, &matrices, "FOLDER",
     "work: files that jobs may name by hash"},
    {"name", OPT_TEXT, &name, "TEXT", "work: who this is (the host)"},
    {"out", OPT_TEXT, &out, "FILE", "pull: write it there (where tunes look)"},
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm", "pull: of this (all)"},
    {0}};
static const opt_page page = {
    "fleet",
    "init|submit SOURCE...|work|status|upload STORE|push MODEL|pull",
    "Many machines that measure for one store, a PostgreSQL database named by\n"
    "--store postgresql://USER@HOST/NAME. Passwords belong into ~/.pgpass or\n"
    "PGPASSWORD; ?sslmode=verify-full asks for TLS (docs/fleet.md).\n"
    "\n"
    "init    create tables, functions and roles, or update them\n"
    "submit  put jobs for matrices, gen:SPEC or a --suite into the queue; files\n"
    "        are uploaded and named by their hash\n"
    "work    take jobs, measure them here, store the records; Ctrl-C returns\n"
    "        the job in progress\n"
    "status  queue, workers, machines, and why jobs failed\n"
    "upload  add all rows of a local store; a worker's rights suffice\n"
    "push    upload a model\n"
    "pull    download the model that fits this machine best, by its records\n"
    "        in the store or by the most similar machine\n"
    "\n"
    "A job is text without code, paths or flags. It is leased: a worker that is\n"
    "silent too long loses it, and a result that comes too late is refused, so\n"
    "every job is done once. train, evaluate, adapt, records and tune take the\n"
    "same --store.",
    {options, fleet_submit_options},
    1,
    100000};

/* ---- init ---- */

/* What holds now, by the database. */
static spry_status read_settings(spry_fleet_counts *c)
{
    spry_fleet *f = NULL;
    spry_status s = say_status(spry_fleet_open(&f, cli.store));

    if (s == SPRY_OK)
        s = say_status(spry_fleet_status(c, f));
    spry_fleet_close(f);
    return s;
}

static spry_status init(spry_fleet *unused, int argc, char **argv)
{
    spry_fleet_options o = SPRY_FLEET_DEFAULTS;
    spry_fleet_counts now = {.size = sizeof now};
    int roles;
    json j;
    spry_status s;

    (void)unused;
    (void)argc;
    (void)argv;
    o.lease = lease;
    o.tries = tries;
    s = say_status(spry_fleet_init(cli.store, &o, &roles));
    if (s == SPRY_OK)
        s = read_settings(&now);
    if (s != SPRY_OK)
        return s;
    if (!roles)
        say_note(
            "this user may not make roles: somebody who may makes "
            "spry_reader, spry_submitter and spry_worker, then init again");
    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_number(&j, "lease", now.lease);
        json_integer(&j, "tries", now.tries);
        json_bool(&j, "roles", roles);
        json_end(&j);
    } else
        printf("ready: a lease lasts %s, a job is tried %" PRId64 " times%s\n",
               say_seconds(now.lease), now.tries,
               roles ? ", roles are there" : ", without roles");
    return s;
}

/* ---- work ---- */

static int show(const spry_fleet_worked *now, void *unused)
{
    char text[300];

    (void)unused;
    snprintf(text, sizeof text, "%" PRId64 " done, %" PRId64 " failed%s%.200s",
             now->done, now->failed, *now->job ? ": " : ", waiting", now->job);
    progress_say(text);
    return stop_asked();
}

static spry_status work(spry_fleet *f, int argc, char **argv)
{
    spry_fleet_work_options o = SPRY_FLEET_WORK_DEFAULTS;
    spry_fleet_worked w = {.size = sizeof w};
    spry_machine m;
    const char *store = cli.store;
    json j;
    spry_status s;

    (void)argc;
    (void)argv;
    cli.store = NULL; /* this machine's numbers are known here */
    s = open_machine(&m, 2);
    cli.store = store;
    if (s != SPRY_OK)
        return s;
    o.machine = &m;
    o.jobs = jobs;
    o.idle_exit = idle_exit;
    o.matrices = matrices;
    o.name = name;
    o.progress = show;
    stop_watch();
    s = say_status(spry_fleet_work(&w, f, &o));
    progress_clear();
    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_integer(&j, "done", w.done);
        json_integer(&j, "failed", w.failed);
        json_integer(&j, "late", w.late);
        json_integer(&j, "rows", w.rows);
        json_number(&j, "seconds", w.seconds);
        json_end(&j);
    } else
        printf("%" PRId64 " jobs done, %" PRId64 " failed, %" PRId64
               " came too late; %" PRId64 " new rows in %s\n",
               w.done, w.failed, w.late, w.rows, say_seconds(w.seconds));
    return s;
}

/* ---- status ---- */

enum { FAILURES_SHOWN = 20 };

typedef struct {
    json j;
    table *rows;
    int count;
} listing;

static int list_worker(const spry_fleet_worker *w, void *payload)
{
    listing *l = payload;

    if (!cli.json) {
        table_cell(l->rows, "%" PRId64, w->id);
        table_cell(l->rows, "%s", w->name);
        table_cell(l->rows, "%s", w->machine);
        table_cell(l->rows, "%" PRId64, w->done);
        table_cell(l->rows, "%" PRId64, w->failed);
        table_cell(l->rows, "%s", say_seconds(w->silent));
        table_cell(l->rows, "%s", w->job);
        return 0;
    }
    json_open(&l->j, NULL, '{');
    json_integer(&l->j, "id", w->id);
    json_text(&l->j, "name", w->name);
    json_text(&l->j, "machine", w->machine);
    json_integer(&l->j, "done", w->done);
    json_integer(&l->j, "failed", w->failed);
    json_number(&l->j, "silent_seconds", w->silent);
    json_text(&l->j, "job", *w->job ? w->job : NULL);
    json_close(&l->j, '}');
    return 0;
}

static int list_failure(const spry_fleet_failure *x, void *payload)
{
    listing *l = payload;

    if (cli.json) {
        json_open(&l->j, NULL, '{');
        json_integer(&l->j, "id", x->id);
        json_text(&l->j, "job", x->work);
        json_text(&l->j, "reason", x->reason);
        json_close(&l->j, '}');
        return 0;
    }
    printf("%s  %" PRId64 "  %.60s\n     %s\n",
           l->count ? "" : "\nfailed jobs, the latest first\n", x->id, x->work,
           x->reason);
    return ++l->count >= FAILURES_SHOWN;
}

static void counts_json(json *j, const spry_fleet_counts *c)
{
    json_integer(j, "ready", c->ready);
    json_integer(j, "leased", c->leased);
    json_integer(j, "done", c->done);
    json_integer(j, "failed", c->failed);
    json_integer(j, "late", c->late);
    json_integer(j, "workers_now", c->workers);
    json_integer(j, "machines", c->machines);
    json_integer(j, "records", c->records);
    json_integer(j, "answers", c->answers);
    json_integer(j, "models", c->models);
    json_integer(j, "matrices", c->matrices);
    json_number(j, "jobs_per_second", c->rate);
    json_number(j, "lease", c->lease);
    json_integer(j, "tries", c->tries);
}

static spry_status status_json(spry_fleet *f, const spry_fleet_counts *c)
{
    listing l = {.j = json_begin("spry.fleet/1")};
    spry_status s;

    json_text(&l.j, "store", spry_fleet_name(f));
    counts_json(&l.j, c);
    json_open(&l.j, "workers", '[');
    s = say_status(spry_fleet_each_worker(f, list_worker, &l));
    json_close(&l.j, ']');
    json_open(&l.j, "failures", '[');
    if (s == SPRY_OK)
        s = say_status(spry_fleet_each_failure(f, list_failure, &l));
    json_close(&l.j, ']');
    json_end(&l.j);
    return s;
}

static spry_status status(spry_fleet *f, int argc, char **argv)
{
    listing l = {0};
    spry_fleet_counts c = {.size = sizeof c};
    spry_status s = say_status(spry_fleet_status(&c, f));

    (void)argc;
    (void)argv;
    if (s != SPRY_OK)
        return s;
    if (cli.json)
        return status_json(f, &c);
    printf("queue     %" PRId64 " ready, %" PRId64 " leased, %" PRId64
           " done, %" PRId64 " failed; %.1f a second in the last minute\n"
           "leases    %s, %" PRId64 " tries; %" PRId64
           " results came too late\n"
           "store     %" PRId64 " records, %" PRId64 " answers, %" PRId64
           " machines, %" PRId64 " models, %" PRId64 " matrices\n"
           "workers   %" PRId64 " at work\n",
           c.ready, c.leased, c.done, c.failed, c.rate, say_seconds(c.lease),
           c.tries, c.late, c.records, c.answers, c.machines, c.models,
           c.matrices, c.workers);
    l.rows = table_new("id>name<machine<done>failed>silent>job<");
    s = say_status(spry_fleet_each_worker(f, list_worker, &l));
    table_print(l.rows, stdout);
    if (s == SPRY_OK)
        s = say_status(spry_fleet_each_failure(f, list_failure, &l));
    return s;
}

/* ---- models and rows ---- */

static spry_status upload(spry_fleet *f, int argc, char **argv)
{
    int64_t added = 0, all = 0;
    spry_status s = SPRY_OK;
    json j;

    for (int i = 0; s == SPRY_OK && i < argc; i++) {
        s = say_status(spry_fleet_upload(f, argv[i], &added));
        all += added;
    }
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_integer(&j, "added", all);
        json_end(&j);
    } else
        printf("%s rows added\n", say_count((double)all));
    return s;
}

static spry_status push(spry_fleet *f, int argc, char **argv)
{
    char hash[SPRY_FLEET_HASH];
    spry_status s = SPRY_OK;
    json j = {0};

    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_open(&j, "models", '[');
    }
    for (int i = 0; s == SPRY_OK && i < argc; i++) {
        s = say_status(spry_fleet_push(f, argv[i], hash));
        if (s == SPRY_OK && cli.json)
            json_text(&j, NULL, hash);
        else if (s == SPRY_OK)
            printf("%s  %s\n", hash, argv[i]);
    }
    if (cli.json) {
        json_close(&j, ']');
        json_end(&j);
    }
    return s;
}

static void print_pulled(json *j, const spry_fleet_pulled *p)
{
    if (cli.json) {
        json_open(j, NULL, '{');
        json_text(j, "file", p->path);
        json_text(j, "hash", p->hash);
        json_text(j, "kind", p->kind);
        json_text(j, "date", p->date);
        json_integer(j, "models", p->models);
        json_integer(j, "problems", p->problems);
        json_number(j, "pairwise", p->pairwise);
        json_number(j, "distance", p->distance);
        json_close(j, '}');
        return;
    }
    printf("%s\n  %s of %s, of %" PRId64 " models; ", p->path, p->kind,
           *p->date ? p->date : "?", p->models);
    if (p->problems)
        printf("%.1f %% of pairs right on %" PRId64 " problems of this "
               "machine\n",
               100 * p->pairwise, p->problems);
    else if (isfinite(p->distance))
        printf("it learned on a machine at distance %.2f\n", p->distance);
    else
        printf("nothing is known of its machines\n");
}

static spry_status pull(spry_fleet *f, int argc, char **argv)
{
    spry_fleet_pulled p = {.size = sizeof p};
    spry_machine m;
    const char *store = cli.store;
    json j = {0};
    int found = 0;
    spry_status s, one = SPRY_OK;

    (void)argc;
    (void)argv;
    if (out && cli.op < 0)
        return say_fail(SPRY_USAGE, "--out wants one model: name its --op");
    cli.store = NULL;
    s = open_machine(&m, 1);
    cli.store = store;
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_open(&j, "pulled", '[');
    }
    for (int op = 0; op < SPRY_OPS; op++) {
        if (cli.op >= 0 ? op != cli.op : spry_op_modes((spry_op)op) != 2)
            continue;
        one = spry_fleet_pull(&p, f, (spry_op)op, &m, out);
        if (one == SPRY_OK) {
            if (*spry_message())
                say_note("%s", spry_message());
            print_pulled(&j, &p);
            found++;
        } else if (one != SPRY_INPUT || cli.op >= 0)
            s = say_status(one);
    }
    if (cli.json) {
        json_close(&j, ']');
        json_end(&j);
    }
    if (s == SPRY_OK && !found)
        s = say_status(one);
    return s;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    spry_status (*run)(spry_fleet *f, int argc, char **argv);
    int min, max; /* arguments */
} actions[] = {
    {"init", init, 0, 0},          {"submit", fleet_submit, 0, 100000},
    {"work", work, 0, 0},          {"status", status, 0, 0},
    {"upload", upload, 1, 100000}, {"push", push, 1, 100000},
    {"pull", pull, 0, 0},          {NULL, NULL, 0, 0}};

spry_status cmd_fleet(int argc, char **argv)
{
    spry_fleet *f = NULL;
    int a = 0;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    while (actions[a].name && strcmp(actions[a].name, argv[0]) != 0)
        a++;
    if (!actions[a].name)
        return opt_unknown_action("fleet", argv[0], actions, sizeof *actions);
    if (argc - 1 < actions[a].min || argc - 1 > actions[a].max)
        return say_fail(SPRY_USAGE, "fleet %s takes %s", argv[0],
                        actions[a].max ? "one argument or more"
                                       : "no argument");
    if (!cli.store || !spry_records_is_server(cli.store))
        return say_fail(SPRY_USAGE,
                        "fleet wants --store postgresql://USER@HOST/NAME");
    if (actions[a].run != init)
        s = say_status(spry_fleet_open(&f, cli.store));
    if (s == SPRY_OK)
        s = actions[a].run(f, argc - 1, argv + 1);
    spry_fleet_close(f);
    return s;
}
