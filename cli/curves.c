/* curves.c - how models learned: a line for each training, or every round of
 * it for programs. */
#include "curves.h"

#include <math.h>
#include <string.h>

/* The training whose rounds are walked; they come one after the other. */
typedef struct {
    char run[128], kind[64], op[32];
    int rounds, best; /* `best`: round of the least regret; 0: not tested */
    double loss, regret, seconds;
    int64_t when;
    table *rows;
    json json;
} curve;

static void end_run(curve *c)
{
    if (c->rounds == 0)
        return;
    if (cli.json) {
        json_close(&c->json, ']');
        json_close(&c->json, '}');
        return;
    }
    table_cell(c->rows, "%s", say_date(c->when));
    table_cell(c->rows, "%s", c->kind);
    table_cell(c->rows, "%s", c->op);
    table_cell(c->rows, "%d", c->rounds);
    table_cell(c->rows, "%.3f", c->loss);
    if (c->best)
        table_cell(c->rows, "%.1f %%", 100 * expm1(c->regret));
    else
        table_cell(c->rows, "-");
    table_cell(c->rows, "%d", c->best);
    table_cell(c->rows, "%s", say_seconds(c->seconds));
}

static void begin_run(curve *c, const spry_round *r)
{
    snprintf(c->run, sizeof c->run, "%s", r->run);
    snprintf(c->kind, sizeof c->kind, "%s", r->kind);
    snprintf(c->op, sizeof c->op, "%s", r->op);
    c->rounds = c->best = 0;
    c->when = r->when;
    if (!cli.json)
        return;
    json_open(&c->json, NULL, '{');
    json_text(&c->json, "run", r->run);
    json_text(&c->json, "kind", r->kind);
    json_text(&c->json, "op", r->op);
    json_integer(&c->json, "when", r->when);
    json_open(&c->json, "rounds", '[');
}

static int add_round(const spry_round *r, void *payload)
{
    curve *c = payload;

    if (c->rounds == 0 || strcmp(c->run, r->run) != 0) {
        end_run(c);
        begin_run(c, r);
    }
    c->rounds++;
    c->loss = r->loss;
    c->seconds = r->seconds;
    if (r->tested && (!c->best || r->regret < c->regret)) {
        c->best = r->round;
        c->regret = r->regret;
    }
    if (cli.json) {
        json_open(&c->json, NULL, '{');
        json_integer(&c->json, "round", r->round);
        json_number(&c->json, "loss", r->loss);
        json_number(&c->json, "regret", r->tested ? r->regret : HUGE_VAL);
        json_number(&c->json, "seconds", r->seconds);
        json_close(&c->json, '}');
    }
    return 0;
}

spry_status curves_of_records(spry_records *db, const char *unused)
{
    curve c = {.rounds = 0};
    spry_status s;

    (void)unused;
    if (cli.json) {
        c.json = json_begin("spry.curves/1");
        json_open(&c.json, "curves", '[');
    } else {
        c.rows = table_new("when<model<op<rounds>loss>regret>best>time>");
    }
    s = say_status(spry_records_each_round(db, add_round, &c));
    end_run(&c);
    if (cli.json) {
        json_close(&c.json, ']');
        json_end(&c.json);
    } else {
        table_print(c.rows, stdout);
    }
    return s;
}
