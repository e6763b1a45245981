/* cmd_train.c - a model from what was measured. */
#include "cli.h"

#include <string.h>

#include "fit.h"
#include "grades.h"

static const char *kind = "spry", *out, *meta;
static int whole;
static const opt options[] = {
    {"kind", OPT_TEXT, &kind, "NAME", "which model (spry); see spry model"},
    {"meta", OPT_TEXT, &meta, "NAME",
     "spry and waconet: maml, fomaml, reptile or anil over machines"},
    {"out", OPT_TEXT, &out, "FILE", "write it there (cost-OP.spry)"},
    {"whole", OPT_FLAG, &whole, NULL,
     "after grading, train again with the held-out records"},
    {0}};
static const opt_page page = {
    "train",
    "",
    "Train a model on the records of a store to predict which schedules are\n"
    "fast. 70 % of the matrices are for training, 15 % for validation, 15 % for\n"
    "the test, whose grades are printed and stored in the model file. Resized or\n"
    "permuted copies of a matrix stay on the side of the original.\n"
    "\n"
    "kinds: spry (the analytic bound corrected by trees), waconet, mlp, gbdt,\n"
    "gbdt-leaf, sequence, sequence-rank, analytic. Trees need XGBoost for\n"
    "training, not for use.",
    {options, fit_options},
    0,
    0};

static void print_json(const spry_trained *t, const char *file,
                       const spry_train_options *o)
{
    json j = json_begin("spry.train/1");

    json_text(&j, "file", file);
    json_text(&j, "kind", o->kind);
    json_integer(&j, "records", t->records);
    json_integer(&j, "problems", t->problems);
    json_integer(&j, "groups", t->groups);
    json_integer(&j, "machines", t->machines);
    json_integer(&j, "left_out", t->left_out);
    json_number(&j, "data_seconds", t->data_seconds);
    json_number(&j, "seconds", t->seconds);
    json_integer(&j, "rounds", t->rounds);
    json_open(&j, "held_out", '{');
    grades_json(&j, &t->grades);
    json_close(&j, '}');
    json_end(&j);
}

static void print_people(const spry_trained *t, const char *file,
                         const spry_train_options *o)
{
    printf("%s, a model of %s, of the kind %s\n", file, fit_subject(o),
           o->kind);
    printf("learned from  %lld records of %lld problems, %lld %s, %lld "
           "machine%s\n",
           (long long)t->records, (long long)t->problems, (long long)t->groups,
           o->operators ? "operators" : "matrices", (long long)t->machines,
           t->machines == 1 ? "" : "s");
    if (t->left_out)
        printf("left out      %lld records of unknown problems, or in "
               "words of others\n",
               (long long)t->left_out);
    printf("in            %s, and %s to read the data\n",
           say_seconds(t->seconds), say_seconds(t->data_seconds));
    if (t->grades.problems == 0)
        say_note("too few problems to hold some out: nobody knows how well it "
                 "chooses; spry collect measures more");
    else
        grades_print(&t->grades, 1);
}

static spry_status train(const char *file, spry_train_options *o)
{
    spry_records *db = NULL;
    spry_trained t = {.size = sizeof t};
    spry_status s = open_store_to_read(&db);

    if (s != SPRY_OK)
        return s;
    o->kind = o->operators && !strcmp(kind, "spry") ? "operators" : kind;
    o->meta = meta;
    o->whole = whole;
    stop_within(1);
    s = say_status(spry_train(&t, db, file, o));
    progress_clear();
    spry_records_close(db);
    if (s != SPRY_OK)
        return s;
    if (cli.json)
        print_json(&t, file, o);
    else
        print_people(&t, file, o);
    return SPRY_OK;
}

spry_status cmd_train(int argc, char **argv)
{
    char file[64];
    spry_train_options o;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    o = fit_asked();
    snprintf(file, sizeof file, "cost-%s.spry", fit_subject(&o));
    return train(out ? out : file, &o);
}
