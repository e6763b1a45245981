/* sample.c - records sample: a store thinned out, and its certificate. */
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *way = "spread", *kind = "gbdt", *keep = "30%";
static int certify, importance;
const opt sample_options[] = {
    {"keep", OPT_TEXT, &keep, "SHARE", "sample: of all records, 30% or 0.3"},
    {"way", OPT_TEXT, &way, "NAME",
     "sample: spread, leverage, k-means or random (spread)"},
    {"certify", OPT_FLAG, &certify, NULL,
     "sample: compare models trained on it, for each way of choosing"},
    {"importance", OPT_FLAG, &importance, NULL,
     "sample: which features explain the time"},
    {"kind", OPT_TEXT, &kind, "MODEL", "sample: what the certificate trains"},
    {0}};

static spry_status read_share(double *out)
{
    char *end;
    double x = strtod(keep, &end);

    if (end != keep && *end == '%' && !end[1])
        x /= 100;
    else if (end == keep || *end)
        x = 0;
    if (!(x > 0 && x <= 1))
        return say_fail(SPRY_USAGE, "'%s' is no share of the records", keep);
    *out = x;
    return SPRY_OK;
}

/* ---- the certificate ---- */

static void print_lines(const spry_certificate *line, int count)
{
    table *t = table_new("way<kept>records>pairwise>top-1>top-5>"
                         "pairs lost>top-1 lost>problems>");

    for (int i = 0; i < count; i++) {
        const spry_grades *g = &line[i].grades, *all = &line[0].grades;

        table_cell(t, "%s", i ? line[i].way : "all");
        table_cell(t, "%.0f %%",
                   100 * (double)line[i].kept /
                       fmax(1, (double)line[i].records));
        table_cell(t, "%" PRId64, line[i].kept);
        table_cell(t, "%.3f", g->pairwise);
        table_cell(t, "%.3f", g->top1);
        table_cell(t, "%.3f", g->top5);
        table_cell(t, "%+.1f", 100 * (all->pairwise - g->pairwise));
        table_cell(t, "%+.1f", 100 * (all->top1 - g->top1));
        table_cell(t, "%" PRId64, g->problems);
    }
    table_print(t, stdout);
    printf("lost: points behind what learned from all, records over all "
           "turns\n");
}

static void json_lines(json *j, const spry_certificate *line, int count)
{
    json_open(j, "certificate", '[');
    for (int i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "way", i ? line[i].way : "all");
        json_number(j, "share", line[i].share);
        json_integer(j, "records", line[i].records);
        json_integer(j, "kept", line[i].kept);
        json_number(j, "seconds", line[i].seconds);
        json_number(j, "pairwise", line[i].grades.pairwise);
        json_number(j, "top1", line[i].grades.top1);
        json_number(j, "top5", line[i].grades.top5);
        json_integer(j, "problems", line[i].grades.problems);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static spry_status print_certificate(json *j, spry_records *db,
                                     const spry_sample_options *o)
{
    enum { MOST = 16 };
    spry_certificate line[MOST] = {{.way = "random", .share = 1}};
    int count = 1;
    spry_status s;

    for (int i = 0; spry_sample_way(i) && count < MOST; i++)
        line[count++] =
            (spry_certificate){.way = spry_sample_way(i), .share = o->share};
    s = say_status(spry_sample_certify(line, count, db, o));
    if (s == SPRY_OK && cli.json)
        json_lines(j, line, count);
    else if (s == SPRY_OK)
        print_lines(line, count);
    return s;
}

/* ---- importance ---- */

static spry_status print_importance(json *j, spry_records *db,
                                    const spry_sample_options *o)
{
    enum { MOST = 20 };
    spry_feature_weight w[MOST];
    table *t = NULL;
    int count;
    spry_status s = say_status(spry_sample_importance(w, MOST, &count, db, o));

    if (s != SPRY_OK)
        return s;
    if (cli.json)
        json_open(j, "importance", '{');
    else
        t = table_new("feature<variance of log time>");
    for (int i = 0; i < count; i++)
        if (cli.json)
            json_number(j, w[i].name, w[i].importance);
        else {
            table_cell(t, "%s", w[i].name);
            table_cell(t, "%.1f %%", 100 * w[i].importance);
        }
    if (cli.json)
        json_close(j, '}');
    else
        table_print(t, stdout);
    return s;
}

/* ---- a store from a store ---- */

static spry_status make_store(json *j, spry_records *db, const char *path,
                              const spry_sample_options *o)
{
    spry_records *to = NULL;
    spry_sampled n = {.size = sizeof n};
    spry_status s;

    if (strcmp(path, spry_records_path(db)) == 0)
        return say_fail(SPRY_USAGE, "the sample goes into another store");
    s = say_status(spry_records_open(&to, path));
    if (s == SPRY_OK)
        s = say_status(spry_records_sample(&n, db, to, o));
    spry_records_close(to);
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        json_integer(j, "records", n.records);
        json_integer(j, "invalid", n.invalid);
        json_integer(j, "rare", n.rare);
        json_integer(j, "spared", n.spared);
        json_integer(j, "kept", n.kept);
    } else
        printf("%s of %s records kept; %s were invalid, %s rare\n",
               say_count((double)n.kept), say_count((double)n.records),
               say_count((double)n.invalid), say_count((double)n.rare));
    return s;
}

spry_status sample_records(spry_records *db, const char *path)
{
    spry_sample_options o = SPRY_SAMPLE_DEFAULTS;
    json j = {0};
    spry_status s = read_share(&o.share);

    if (s != SPRY_OK)
        return s;
    if (cli.op >= 0)
        o.op = (spry_op)cli.op;
    o.way = way;
    o.kind = kind;
    o.seed = cli.seed;
    o.threads = cli.threads;
    if (cli.json)
        j = json_begin("spry.sample/1");
    if (strcmp(path, "-") != 0)
        s = make_store(&j, db, path, &o);
    if (s == SPRY_OK && importance)
        s = print_importance(&j, db, &o);
    if (s == SPRY_OK && (certify || (strcmp(path, "-") == 0 && !importance)))
        s = print_certificate(&j, db, &o);
    if (cli.json && s == SPRY_OK)
        json_end(&j);
    return s;
}
