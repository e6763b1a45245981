/* card.c - what a model file says of itself: written, and read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dense/learned.h"
#include "model/cost.h"
#include "model/local.h"
#include "model/trees.h"
#include "train/internal.h"

/* ---- grades ---- */

typedef struct {
    const char *name;
    size_t offset;
} grade;

#define GRADE(name) #name, offsetof(spry_grades, name)

static const grade grades[] = {
    {GRADE(pairwise)},      {GRADE(pairwise_low)}, {GRADE(pairwise_high)},
    {GRADE(top1)},          {GRADE(top1_low)},     {GRADE(top1_high)},
    {GRADE(top5)},          {GRADE(top5_low)},     {GRADE(top5_high)},
    {GRADE(spearman)},      {GRADE(rmse)},         {GRADE(regret1)},
    {GRADE(regret5)},       {GRADE(regret20)},     {GRADE(regret20_low)},
    {GRADE(regret20_high)}, {GRADE(speedup1)},     {GRADE(speedup20)},
    {GRADE(csr1)},          {GRADE(csr20)},        {GRADE(slower)},
};
enum { GRADES = sizeof grades / sizeof *grades };

void sp_grades_clear(spry_grades *g, const char *model)
{
    memset(g, 0, sizeof *g);
    snprintf(g->model, sizeof g->model, "%s", model);
    for (int i = 0; i < GRADES; i++) {
        double none = nan("");

        memcpy((char *)g + grades[i].offset, &none, sizeof none);
    }
}

static void write_grades(sp_json *j, const spry_grades *g)
{
    sp_json_open(j, "grades", '{');
    sp_json_integer(j, "problems", g->problems);
    sp_json_integer(j, "records", g->records);
    for (int i = 0; i < GRADES; i++) {
        double value;

        memcpy(&value, (const char *)g + grades[i].offset, sizeof value);
        sp_json_number(j, grades[i].name, value);
    }
    sp_json_close(j, '}');
}

static int64_t read_count(const sp_json_doc *d, const sp_json_value *v,
                          const char *key)
{
    double value = v ? sp_json_get_number(d, v, key, 0) : 0;

    return value >= 0 && value < 9e15 ? (int64_t)value : 0;
}

static void read_grades(spry_grades *g, const sp_json_doc *d,
                        const sp_json_value *v)
{
    if (!v || v->kind != SP_JSON_OBJECT)
        return;
    g->problems = read_count(d, v, "problems");
    g->records = read_count(d, v, "records");
    for (int i = 0; i < GRADES; i++) {
        double value = sp_json_get_number(d, v, grades[i].name, nan(""));

        memcpy((char *)g + grades[i].offset, &value, sizeof value);
    }
}

/* ---- the card ---- */

void sp_card_begin(sp_json *j, const spry_trained *t,
                   const spry_train_options *opt, int64_t newest_record,
                   const char *machine)
{
    char date[24];
    time_t newest = (time_t)newest_record;
    struct tm utc;

    gmtime_r(&newest, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    sp_json_open(j, NULL, '{');
    sp_json_text(j, "spry", spry_version());
    sp_json_text(j, "date", date);
    sp_json_text(j, "machine", machine);
    sp_json_integer(j, "machines", t->machines);
    sp_json_integer(j, "records", t->records);
    sp_json_integer(j, "problems", t->problems);
    sp_json_text(j, "split", spry_split_name(opt->split));
    sp_json_integer(j, "seed", (int64_t)opt->seed);
}

void sp_card_end(sp_json *j, const spry_grades *g)
{
    write_grades(j, g);
    sp_json_close(j, '}');
}

spry_status sp_card_write(sp_buf *out, const spry_trained *t,
                          const spry_train_options *opt, const sp_data *d,
                          const char *machine)
{
    sp_json j = {.out = out, .first = 1};
    spry_status s;

    sp_card_begin(&j, t, opt, d->newest, machine);
    s = sp_card_data(&j, d);
    sp_card_end(&j, &t->grades);
    return s;
}

static void read_text(char *out, size_t size, const sp_json_doc *d,
                      const sp_json_value *v, const char *key)
{
    snprintf(out, size, "%s", v ? sp_json_get_text(d, v, key, "") : "");
}

static void read_data(spry_model_facts *out, const sp_json_doc *d,
                      const sp_json_value *v)
{
    const sp_json_value *groups;

    if (!v || v->kind != SP_JSON_OBJECT)
        return;
    groups = sp_json_get(d, v, "groups");
    read_text(out->data, sizeof out->data, d, v, "hash");
    if (groups && groups->kind == SP_JSON_ARRAY)
        out->groups = groups->count;
}

#define TEXT(field) out->field, sizeof out->field

static void read_card(spry_model_facts *out, const sp_json_doc *d)
{
    const sp_json_value *v = sp_json_get(d, d->value, "card");

    v = v && v->kind == SP_JSON_OBJECT ? v : NULL;
    read_text(TEXT(spry), d, v, "spry");
    read_text(TEXT(date), d, v, "date");
    read_text(TEXT(machine), d, v, "machine");
    read_text(TEXT(split), d, v, "split");
    out->records = read_count(d, v, "records");
    out->problems = read_count(d, v, "problems");
    out->machines = read_count(d, v, "machines");
    out->seed = (uint64_t)read_count(d, v, "seed");
    out->seconds = v ? sp_json_get_number(d, v, "seconds", nan("")) : nan("");
    read_data(out, d, v ? sp_json_get(d, v, "data") : NULL);
    if (v)
        read_grades(&out->grades, d, sp_json_get(d, v, "grades"));
}

/* Numbers in all tensors of the file. */
static int64_t count_numbers(const sp_nn *nn)
{
    const char *name;
    int64_t count = 0;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(nn, i, &name)); i++)
        count += t->size;
    return count;
}

static spry_status info_of(spry_model_facts *out, const sp_nn *nn,
                           const char *kind)
{
    sp_json_doc d;
    spry_status s = sp_json_parse(&d, sp_nn_card(nn), strlen(sp_nn_card(nn)));

    snprintf(out->kind, sizeof out->kind, "%s", kind);
    out->numbers = count_numbers(nn);
    sp_grades_clear(&out->grades, out->kind);
    if (s == SPRY_OK)
        read_card(out, &d);
    sp_json_free(&d);
    return s;
}

/* A model of dense operators; SPRY_INPUT: the file is none. */
static spry_status operators_info(spry_model_facts *out, const char *path)
{
    sp_pretrained model;
    sp_dense_class c;
    spry_status s = sp_dense_model_load(&model, &c, path);

    if (s != SPRY_OK)
        return s;
    s = info_of(out, model.nn, "operators");
    snprintf(out->operators, sizeof out->operators, "%s",
             sp_dense_class_name(c));
    sp_pretrained_free(&model);
    return s;
}

/* What a model learned on one machine; *is_local 0: the file is none such. */
static spry_status local_info(spry_model_facts *out, int *is_local,
                              const char *path)
{
    sp_local *l = NULL;
    sp_nn *nn = NULL;
    spry_status s = sp_nn_load(&nn, path);

    *is_local = s == SPRY_OK && sp_local_claims(nn);
    if (!*is_local) {
        sp_nn_free(nn);
        return SPRY_INPUT;
    }
    s = sp_local_open(&l, nn, path, NULL);
    if (s == SPRY_OK)
        s = spry_op_parse(&out->op, l->card.op);
    if (s == SPRY_OK) {
        snprintf(TEXT(kind), "local");
        snprintf(TEXT(machine), "%s", l->card.machine);
        snprintf(TEXT(date), "%s", l->card.date);
        out->machines = 1;
        out->records = l->card.records;
        out->problems = l->card.problems;
        out->numbers = count_numbers(l->nn);
        out->seconds = nan("");
        sp_grades_clear(&out->grades, out->kind);
    }
    sp_local_free(l);
    return s;
}

static spry_status cost_info(spry_model_facts *out, const sp_file *f,
                             const char *path)
{
    sp_cost *c = NULL;
    spry_status s = sp_cost_parse(&c, f->data, f->len, path);

    if (s == SPRY_OK) {
        s = info_of(out, c->nn, c->kind->name);
        out->op = c->op;
    }
    sp_cost_free(c);
    return s;
}

spry_status spry_model_info(spry_model_facts *out, const char *path)
{
    SP_NEED(out, path);
    SP_ROOM(out);

    spry_model_facts whole = {.bytes = 0};
    sp_file f;
    spry_status s = sp_file_read(&f, path, (size_t)1 << 30);
    int is_local = 0;

    if (s != SPRY_OK)
        return s;
    s = operators_info(&whole, path);
    if (s != SPRY_OK)
        s = local_info(&whole, &is_local, path);
    if (s != SPRY_OK && !is_local)
        s = cost_info(&whole, &f, path);
    whole.bytes = s == SPRY_OK ? (int64_t)f.len : 0;
    SP_GIVE(out, &whole);
    sp_file_free(&f);
    return s;
}

/* ---- names ---- */

const char *spry_model_kind(int i)
{
    return i >= 0 && sp_cost_kinds[i] ? sp_cost_kinds[i]->name : NULL;
}

const char *spry_model_about(int i)
{
    return i >= 0 && sp_cost_kinds[i] ? sp_cost_kinds[i]->about : NULL;
}

int spry_train_trees(void)
{
    return sp_boost_ready();
}

const char *spry_split_name(spry_split s)
{
    static const char *const names[] = {"by_problem", "within_problem",
                                        "by_machine"};

    return (unsigned)s <= SPRY_BY_MACHINE ? names[s] : "unknown";
}

int spry_model_default(char *out, size_t size, spry_op op)
{
    SP_NEED_OR(0, out);

    char name[64];

    snprintf(name, sizeof name, "cost-%s.spry", spry_op_name(op));
    return sp_model_path(out, size, name);
}

int spry_model_operators(char *out, size_t size, const char *operators)
{
    SP_NEED_OR(0, out, operators);

    char name[64];
    sp_dense_class c;

    if (sp_dense_class_parse(&c, operators) != SPRY_OK)
        return 0;
    snprintf(name, sizeof name, "cost-%s.spry", sp_dense_class_name(c));
    return sp_model_path(out, size, name);
}
