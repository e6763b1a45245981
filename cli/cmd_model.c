/* cmd_model.c - what model files say of themselves. */
#include "cli.h"

#include <math.h>
#include <string.h>

#include "grades.h"

enum { MOST = 16 };

static const char *on;
static const opt options[] = {
    {"on", OPT_TEXT, &on, "MACHINE",
     "info, forget: what was learned there, by fingerprint (here)"},
    {0}};
static const opt_page page = {
    "model",
    "info [FILE]|compare FILE...|list|forget",
    "info     a model's kind, training data and grades on held-out problems;\n"
    "         without a file, of the models in use\n"
    "compare  several models side by side\n"
    "list     the kinds of models there are\n"
    "forget   remove what the models in use learned on this machine, or on\n"
    "         another\n"
    "\n"
    "Models in use are cost-OP.spry in SPRY_MODELS, else in the user's data\n"
    "directory (.../spry/models), else those installed with spry.",
    {options},
    1,
    MOST};

static const char *subject_of(const spry_model_facts *f)
{
    return *f->operators ? f->operators : spry_op_name(f->op);
}

static void info_json(json *j, const char *path, const spry_model_facts *f)
{
    json_text(j, "file", path);
    json_text(j, "kind", f->kind);
    json_text(j, "op", subject_of(f));
    json_integer(j, "numbers", f->numbers);
    json_integer(j, "bytes", f->bytes);
    json_text(j, "spry", f->spry);
    json_text(j, "date", f->date);
    json_text(j, "machine", f->machine);
    json_integer(j, "machines", f->machines);
    json_integer(j, "records", f->records);
    json_integer(j, "problems", f->problems);
    json_text(j, "split", f->split);
    json_integer(j, "seed", (int64_t)f->seed);
    json_integer(j, "groups", f->groups);
    json_text(j, "data", f->data);
    json_open(j, "held_out", '{');
    grades_json(j, &f->grades);
    json_close(j, '}');
}

static void info_people(const char *path, const spry_model_facts *f)
{
    printf("file      %s\nkind      %s, of %s\n", path, f->kind, subject_of(f));
    printf("size      %lld numbers, %s\n", (long long)f->numbers,
           say_bytes((double)f->bytes));
    if (*f->date)
        printf("made      by spry %s, seed %llu, from records until %s\n",
               f->spry, (unsigned long long)f->seed, f->date);
    if (f->records)
        printf("data      %lld records of %lld problems\n",
               (long long)f->records, (long long)f->problems);
    if (*f->data)
        printf("          in %lld groups, hash %s\n", (long long)f->groups,
               f->data);
    if (*f->machine)
        printf("machine   %s%s\n", f->machine,
               f->machines > 1 ? " and others" : "");
    if (f->grades.problems)
        grades_print(&f->grades, 1);
}

/* The cards of these files. */
static spry_status read_all(spry_model_facts *f, char **path, int count)
{
    spry_status s = SPRY_OK;

    for (int i = 0; i < count && s == SPRY_OK; i++) {
        f[i].size = sizeof f[i];
        s = say_status(spry_model_info(&f[i], path[i]));
    }
    return s;
}

static spry_status info(char **path, int count)
{
    static spry_model_facts f[MOST];
    spry_status s = read_all(f, path, count);
    json j;

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < count && !cli.json; i++) {
        if (i)
            printf("\n");
        info_people(path[i], &f[i]);
    }
    if (!cli.json)
        return SPRY_OK;
    j = json_begin("spry.model/1");
    json_open(&j, "models", '[');
    for (int i = 0; i < count; i++) {
        json_open(&j, NULL, '{');
        info_json(&j, path[i], &f[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
    return SPRY_OK;
}

/* ---- what was learned on a machine ---- */

static void learned_people(const spry_adapted *a)
{
    printf("\nlearned   of %s on %s, %s, %lld records of %lld problems\n",
           a->op, a->machine, a->date, (long long)a->records,
           (long long)a->problems);
    if (strcmp(a->method, "none") == 0)
        printf("          nothing yet that is better than the model itself\n");
    else
        printf("          %s: wrong order on problems held back %.1f %%, "
               "without it %.1f %%\n",
               a->method, 100 * a->after, 100 * a->before);
    printf("          %s\n", a->path);
}

static void learned_all(void)
{
    for (int op = 0; op < SPRY_OPS; op++) {
        spry_adapted a = {.size = sizeof a};
        int found;

        if (spry_adapted_info(&a, &found, (spry_op)op, on) != SPRY_OK)
            say_note("%s", spry_message());
        else if (found)
            learned_people(&a);
    }
}

static spry_status forget(void)
{
    spry_status s = SPRY_OK;
    int forgotten = 0;
    json j;

    for (int op = 0; op < SPRY_OPS && s == SPRY_OK; op++) {
        int found = 0;

        s = say_status(spry_adapted_forget(&found, (spry_op)op, on));
        forgotten += found;
    }
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        j = json_begin("spry.model/1");
        json_integer(&j, "forgotten", forgotten);
        json_end(&j);
    } else
        printf("%d model%s forgot what %s learned there\n", forgotten,
               forgotten == 1 ? "" : "s", forgotten == 1 ? "it" : "they");
    return SPRY_OK;
}

/* Those in use. */
static spry_status info_default(void)
{
    enum { OPERATORS = 3 };
    static const char *const operators[OPERATORS] = {"conv2d", "depthwise",
                                                     "matmul"};
    static char found[SPRY_OPS + OPERATORS][4096];
    char *path[SPRY_OPS + OPERATORS];
    int count = 0;
    spry_status s;

    for (int op = 0; op < SPRY_OPS; op++)
        if (spry_model_default(found[count], sizeof found[count],
                               (spry_op)op)) {
            path[count] = found[count];
            count++;
        }
    for (int i = 0; i < OPERATORS; i++)
        if (spry_model_operators(found[count], sizeof found[count],
                                 operators[i])) {
            path[count] = found[count];
            count++;
        }
    if (count == 0 && !cli.json)
        say_note("no model is in use: spry train makes one, and the analytic "
                 "one needs no file");
    s = info(path, count);
    if (s == SPRY_OK && !cli.json)
        learned_all();
    return s;
}

static spry_status compare(char **path, int count)
{
    static spry_model_facts f[MOST];
    spry_status s = read_all(f, path, count);
    table *t;

    if (s != SPRY_OK || cli.json)
        return s == SPRY_OK ? info(path, count) : s;
    t = table_new("file<kind<op<made<records>problems>held out>pairwise>top-1>"
                  "top-5>regret@20>speed-up@1>");
    for (int i = 0; i < count; i++) {
        const spry_grades *g = &f[i].grades;

        table_cell(t, "%s", path[i]);
        table_cell(t, "%s", f[i].kind);
        table_cell(t, "%s", subject_of(&f[i]));
        table_cell(t, "%s", *f[i].date ? f[i].date : "-");
        table_cell(t, "%lld", (long long)f[i].records);
        table_cell(t, "%lld", (long long)f[i].problems);
        table_cell(t, "%lld", (long long)g->problems);
        table_cell(t, "%.3f", g->pairwise);
        table_cell(t, "%.3f", g->top1);
        table_cell(t, "%.3f", g->top5);
        table_cell(t, "%.1f %%", 100 * g->regret20);
        table_cell(t, "%s", say_times(g->speedup1));
    }
    table_print(t, stdout);
    return SPRY_OK;
}

static spry_status list(void)
{
    table *t = cli.json ? NULL : table_new("kind<about<");
    json j = {0};

    if (cli.json) {
        j = json_begin("spry.model/1");
        json_open(&j, "kinds", '[');
    }
    for (int i = 0; spry_model_kind(i); i++)
        if (cli.json) {
            json_open(&j, NULL, '{');
            json_text(&j, "kind", spry_model_kind(i));
            json_text(&j, "about", spry_model_about(i));
            json_close(&j, '}');
        } else {
            table_cell(t, "%s", spry_model_kind(i));
            table_cell(t, "%s", spry_model_about(i));
        }
    if (cli.json) {
        json_close(&j, ']');
        json_end(&j);
    } else
        table_print(t, stdout);
    return SPRY_OK;
}

spry_status cmd_model(int argc, char **argv)
{
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (!strcmp(argv[0], "list") && argc == 1)
        return list();
    if (!strcmp(argv[0], "info"))
        return argc == 1 ? info_default() : info(argv + 1, argc - 1);
    if (!strcmp(argv[0], "compare") && argc > 1)
        return compare(argv + 1, argc - 1);
    if (!strcmp(argv[0], "forget") && argc == 1)
        return forget();
    return say_fail(SPRY_USAGE,
                    "model wants info [FILE], compare FILE..., list or forget");
}
