/* json.c - the story of a tune as a document for programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "problem/problem.h"
#include "spry/tune.h"

static double rank_of(const spry_trial *t)
{
    return t->verdict == SPRY_VERDICT_OK ? t->speedup : -1;
}

/* The fastest first, failures last. */
static int by_rank(const void *a, const void *b)
{
    double x = rank_of(*(const spry_trial *const *)a);
    double y = rank_of(*(const spry_trial *const *)b);

    return (x < y) - (x > y);
}

static void add_problem(sp_json *j, const spry_problem *p, const char *source)
{
    sp_json_open(j, "problem", '{');
    p->kind->fields(j, p, source);
    sp_json_text(j, "type", spry_type_name(spry_problem_type(p)));
    sp_json_text(j, "key", spry_problem_key(p));
    sp_json_close(j, '}');
}

static void add_machine(sp_json *j, const spry_machine *m)
{
    char grade[2] = {spry_machine_grade(m), 0};

    sp_json_open(j, "machine", '{');
    sp_json_text(j, "name", m->name);
    sp_json_text(j, "fingerprint", m->fingerprint);
    sp_json_integer(j, "threads", m->threads);
    sp_json_text(j, "isa", spry_isa_name(m->isa));
    sp_json_text(j, "noise", grade);
    sp_json_close(j, '}');
}

static void add_speedup(sp_json *j, double speedup, double low, double high)
{
    sp_json_number(j, "speedup", speedup);
    sp_json_number(j, "speedup_low", low);
    sp_json_number(j, "speedup_high", high);
}

static void add_trial(sp_json *j, const spry_trial *t, double plain)
{
    sp_json_open(j, NULL, '{');
    sp_json_text(j, "schedule", t->schedule);
    sp_json_text(j, "verdict", spry_verdict_name(t->verdict));
    sp_json_number(j, "seconds", t->seconds);
    add_speedup(j, t->speedup, t->low, t->high);
    sp_json_integer(j, "pairs", t->pairs);
    sp_json_number(j, "predicted", t->predicted);
    sp_json_number(j, "pack_seconds", t->pack_seconds);
    sp_json_number(j, "pack_runs", t->pack_seconds / plain);
    sp_json_number(j, "bytes", t->bytes);
    sp_json_text(j, "why", t->why);
    sp_json_close(j, '}');
}

static void add_answer(sp_json *j, const spry_tuning *t)
{
    sp_json_open(j, "baseline", '{');
    sp_json_text(j, "schedule", t->baseline);
    sp_json_number(j, "seconds", t->baseline_seconds);
    sp_json_close(j, '}');
    sp_json_open(j, "best", '{');
    sp_json_text(j, "schedule", t->best);
    sp_json_number(j, "seconds", t->seconds);
    add_speedup(j, t->speedup, t->low, t->high);
    sp_json_close(j, '}');
    sp_json_bool(j, "verified", t->verified);
    sp_json_bool(j, "changed", t->changed);
    sp_json_bool(j, "measured", t->trials > 0 || t->looked_up);
    sp_json_number(j, "break_even_calls", t->break_even_calls);
    sp_json_number(j, "convert_seconds", t->convert_seconds);
    sp_json_number(j, "convert_runs", spry_tuning_convert_runs(t));
    sp_json_number(j, "tuning_seconds", t->tuning_seconds);
    sp_json_bool(j, "looked_up", t->looked_up);
    sp_json_bool(j, "stopped", t->stopped);
    sp_json_text(j, "note", t->note);
    sp_json_text(j, "model", t->model);
}

static void add_trials(sp_json *j, const spry_tuning *t,
                       const spry_trial **order)
{
    for (int i = 0; i < t->trials; i++)
        order[i] = &t->trial[i];
    qsort(order, (size_t)t->trials, sizeof *order, by_rank);
    sp_json_open(j, "trials", '[');
    for (int i = 0; i < t->trials; i++)
        add_trial(j, order[i], t->baseline_seconds);
    sp_json_close(j, ']');
}

spry_status spry_plan_story(char **out, const spry_plan *plan,
                            const char *source)
{
    SP_NEED_NEW(out, plan);

    const spry_tuning *t = spry_plan_tuning(plan);
    const spry_trial **order;
    sp_buf text = {0};
    sp_json j = {&text, 0, 1, 1};

    if (!t)
        return sp_fail(SPRY_USAGE, "no tune made this plan");
    order = sp_alloc(t->trials + 1, sizeof *order);
    if (!order)
        return sp_fail_memory((size_t)t->trials * sizeof *order);
    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "schema", "spry.tune/1");
    sp_json_text(&j, "version", spry_version());
    add_problem(&j, spry_plan_problem(plan), source);
    add_machine(&j, &t->machine);
    add_answer(&j, t);
    add_trials(&j, t, order);
    sp_json_close(&j, '}');
    sp_free(order);
    *out = sp_buf_steal(&text);
    return *out ? SPRY_OK : sp_fail_memory(0);
}
