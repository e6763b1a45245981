/* cmd_machine.c - do machines agree on which schedules are fast? */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* One above this is another's twin: as a task it teaches nothing new. */
static const double ALIKE = 0.98;

static int simulate;
static const opt options[] = {
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm", "of these records (spmm)"},
    {"simulate", OPT_FLAG, &simulate, NULL,
     "add one with half of the first's bandwidth, caches and vectors"},
    {0}};
static const opt_page page = {
    "machine",
    "compare [STORE...]",
    "compare  the machines of the store, and of others, by how they order\n"
    "         schedules that were measured on both: Spearman's correlation,\n"
    "         mean over shared problems. Above 0.98 two count as one.\n"
    "\n"
    "A machine is real, virtual (a real one that was limited) or simulated: its\n"
    "times are measured ones, scaled by the ratio that the analytic model\n"
    "predicts.",
    {options},
    1,
    MOST};

static void print_json(const spry_task *t, const spry_likeness *l, int n)
{
    json j = json_begin("spry.machine/1");

    json_open(&j, "tasks", '[');
    for (int i = 0; i < n; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "kind", t[i].kind);
        json_text(&j, "machine", t[i].machine);
        json_text(&j, "name", t[i].name);
        json_integer(&j, "store", t[i].store);
        json_integer(&j, "problems", t[i].problems);
        json_integer(&j, "records", t[i].records);
        json_open(&j, "rank", '[');
        for (int k = 0; k < n; k++)
            json_number(&j, NULL, l[i * n + k].rank);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_people(const spry_task *t, const spry_likeness *l, int n)
{
    for (int i = 0; i < n; i++)
        printf("%c  %-9s %s, %s, store %d: %lld problems, %lld records\n",
               'A' + i, t[i].kind, t[i].name, t[i].machine, t[i].store + 1,
               (long long)t[i].problems, (long long)t[i].records);
    printf("\n  ");
    for (int k = 0; k < n; k++)
        printf("%16c", 'A' + k);
    printf("\n");
    for (int i = 0; i < n; i++) {
        printf("%c ", 'A' + i);
        for (int k = 0; k < n; k++)
            if (l[i * n + k].problems)
                printf("  %8.3f (%3lld)", l[i * n + k].rank,
                       (long long)l[i * n + k].problems);
            else
                printf("%16s", "-");
        printf("\n");
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (l[i * n + k].rank > ALIKE)
                printf("%c and %c order schedules alike: one task\n", 'A' + k,
                       'A' + i);
    if (n && !strcmp(t[n - 1].kind, "simulated"))
        printf("times actual / (cores x bandwidth) x latency instead would "
               "re-rank %lld pairs: a factor orders nothing anew\n",
               (long long)t[n - 1].reranked_by_formula);
}

static spry_status compare(char **path, int count)
{
    static const spry_imagined half = {1, 0.5, 1.5, 0.5, 0.5};
    static spry_task task[MOST];
    static spry_likeness like[MOST * MOST];
    spry_records *db[MOST] = {NULL};
    const spry_adapt_options usual = SPRY_ADAPT_DEFAULTS;
    spry_op op = cli.op < 0 ? usual.op : (spry_op)cli.op;
    int n = 0;
    spry_status s = open_store_to_read(&db[0]);

    for (int i = 0; i < count && s == SPRY_OK; i++)
        s = open_store_of(&db[i + 1], path[i]);
    if (s == SPRY_OK)
        s = say_status(spry_machines_compare(
            task, &n, like, MOST, db, count + 1, op, simulate ? &half : NULL));
    for (int i = 0; i <= count; i++)
        spry_records_close(db[i]);
    if (s != SPRY_OK)
        return s;
    if (cli.json)
        print_json(task, like, n);
    else if (n == 0)
        say_note("the store has no records of %s", spry_op_name(op));
    else
        print_people(task, like, n);
    return SPRY_OK;
}

spry_status cmd_machine(int argc, char **argv)
{
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (strcmp(argv[0], "compare") != 0)
        return say_fail(SPRY_USAGE, "machine wants compare [STORE...]");
    return compare(argv + 1, argc - 1);
}
