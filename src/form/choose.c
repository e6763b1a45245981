/* choose.c - the fastest way to run a network, proven in a race.
 *
 * spry_network_choose, at the end, is the whole of it: know the machine and
 * the store, look up, else make the network smaller, name ways, race them,
 * and leave the plain loop only when the lower bound says so. */
#include <string.h>

#include "form/choose.h"

/* Never slower: the 95 % lower bound of the speed-up must exceed this. */
static const double WORTH = 1.02;

static const double DEFAULT_SECONDS = 10;

/* Races are with as many inputs as the plain loop does in a second or so and
 * as fit in this much memory. */
static const double RACE_EDGES = 4e9;
enum { RACE_BYTES = 1 << 26, CHECKED = 4 };

/* ---- beginning ---- */

static spry_status read_options(sp_chooser *c, const spry_choose_options *given)
{
    static const spry_choose_options defaults = SPRY_CHOOSE_DEFAULTS;

    c->o = defaults;
    if (SP_TAKE_OPTIONS(&c->o, given) != SPRY_OK)
        return SPRY_USAGE;
    if (c->o.batch < 1 || !(c->o.seconds >= 0) || !(c->o.calls >= 0) ||
        c->o.threads < 0)
        return sp_fail(SPRY_USAGE, "a batch holds an input at least; seconds, "
                                   "calls and threads are not negative");
    if (c->o.seconds <= 0)
        c->o.seconds = DEFAULT_SECONDS;
    return spry_passes_parse(&c->passes, c->o.passes);
}

static spry_status know_machine(sp_chooser *c)
{
    spry_machine *m = &c->out->machine;
    spry_status s = spry_machine_detect(m);

    if (s == SPRY_OK && c->o.threads > 0)
        s = spry_machine_limit(m, c->o.threads, m->isa);
    return s;
}

static int64_t inputs_to_race(const sp_chooser *c)
{
    const spry_network *n = c->n;
    int64_t most = RACE_BYTES / (4 * (n->inputs + n->outputs));
    double worth = RACE_EDGES / (double)(n->edges + 1);

    if (worth < (double)most)
        most = (int64_t)worth;
    most = most < 1 ? 1 : most;
    return c->o.batch < most ? c->o.batch : most;
}

static void name_question(sp_chooser *c)
{
    char key[33];
    unsigned all;

    (void)spry_passes_parse(&all, NULL);
    spry_network_key(key, c->n);
    snprintf(c->key, sizeof c->key, "net-%s-%lld", key, (long long)c->o.batch);
    if (c->passes != all)
        snprintf(c->key + strlen(c->key), sizeof c->key - strlen(c->key), "-%x",
                 c->passes);
}

/* ---- inputs ---- */

static spry_status make_arrays(sp_chooser *c)
{
    int64_t raced = c->out->raced, outputs = c->n->outputs;

    c->checked = raced < CHECKED ? raced : CHECKED;
    c->y = sp_alloc(raced * outputs, sizeof *c->y);
    c->right = sp_alloc(c->checked * outputs, sizeof *c->right);
    if (!c->y || !c->right)
        return sp_no_memory((size_t)(raced * outputs) * sizeof *c->y);
    if (!c->o.x)
        return sp_choose_inputs(c);
    c->own_x = sp_alloc_raw(raced * c->n->inputs, sizeof *c->own_x);
    if (!c->own_x)
        return sp_no_memory((size_t)(raced * c->n->inputs) * 4);
    memcpy(c->own_x, c->o.x, (size_t)(raced * c->n->inputs) * sizeof *c->own_x);
    c->x = c->own_x;
    return SPRY_OK;
}

static spry_status make_smaller(sp_chooser *c)
{
    double begin = sp_seconds();
    spry_status s = SPRY_OK;

    if (c->passes)
        s = spry_network_compile(&c->smaller, c->n, c->passes, NULL);
    c->compile_seconds = sp_seconds() - begin;
    return s;
}

/* ---- deciding ---- */

static double all_in_all(const spry_way_trial *t, double calls)
{
    return t->make_seconds + calls * t->seconds;
}

/* The best that is surely faster; with few calls, in total. */
static int winner(const sp_chooser *c)
{
    const spry_way_trial *t = c->out->trial;
    int best = 0;

    for (int i = 1; i < c->out->trials; i++) {
        if (t[i].verdict != SPRY_VERDICT_OK || !(t[i].low > WORTH) ||
            t[i].pairs < 1)
            continue;
        if (c->o.calls > 0 ? all_in_all(&t[i], c->o.calls) <
                                 all_in_all(&t[best], c->o.calls)
                           : best == 0 || t[i].speedup > t[best].speedup)
            best = i;
    }
    return best;
}

static void decide(sp_chooser *c)
{
    spry_choice *out = c->out;
    int best = winner(c);
    const spry_way_trial *t = &out->trial[best], *plain = &out->trial[0];
    double saved = plain->seconds - t->seconds;

    out->baseline = plain->way;
    out->baseline_seconds = plain->seconds;
    out->best = t->way;
    out->seconds = t->seconds;
    out->speedup = best ? t->speedup : 1;
    out->low = best ? t->low : 1;
    out->high = best ? t->high : 1;
    out->changed = best != 0;
    out->measured = 1;
    out->make_seconds = t->make_seconds;
    out->tuning_seconds = sp_seconds() - c->begun;
    out->break_even_calls =
        best && saved > 0 ? (t->make_seconds + out->tuning_seconds) / saved
                          : HUGE_VAL;
}

/* Nothing is measured: what the prediction says. */
static void guess(sp_chooser *c)
{
    spry_choice *out = c->out;
    const spry_way_trial *t = sp_choose_guess(c), *plain = &out->trial[0];

    out->baseline = plain->way;
    out->baseline_seconds = plain->predicted;
    out->best = t->way;
    out->seconds = t->predicted;
    out->speedup = out->low = out->high = plain->predicted / t->predicted;
    out->changed = 1;
    out->trials = 0;
    out->break_even_calls = HUGE_VAL;
    out->tuning_seconds = sp_seconds() - c->begun;
}

static spry_status search(sp_chooser *c)
{
    spry_status s = make_smaller(c);

    if (s != SPRY_OK)
        return s;
    sp_choose_list(c);
    if (c->o.lookup) {
        guess(c);
        return SPRY_OK;
    }
    s = make_arrays(c);
    if (s == SPRY_OK)
        s = sp_choose_race(c);
    if (s != SPRY_OK)
        return s;
    decide(c);
    sp_choose_remember(c);
    return SPRY_OK;
}

static void end(sp_chooser *c)
{
    for (int i = 0; i < SPRY_WAYS_MOST; i++)
        spry_ready_free(c->ready[i]);
    spry_network_free(c->smaller);
    spry_records_close(c->db);
    sp_free(c->own_x);
    sp_free(c->y);
    sp_free(c->right);
}

spry_status spry_network_choose(spry_choice *out, const spry_network *n,
                                const spry_choose_options *options)
{
    SP_NEED(out, n);

    sp_chooser c = {.n = n, .out = out, .begun = sp_seconds()};
    spry_status s = read_options(&c, options);

    memset(out, 0, sizeof *out);
    if (s == SPRY_OK)
        s = know_machine(&c);
    if (s != SPRY_OK)
        return s;
    out->batch = c.o.batch;
    out->raced = inputs_to_race(&c);
    name_question(&c);
    sp_choose_open(&c);
    if (sp_choose_lookup(&c))
        out->tuning_seconds = sp_seconds() - c.begun;
    else
        s = search(&c);
    end(&c);
    return s;
}

/* ---- given ways ---- */

/* The passes of the ways that have some: one set for all. */
static spry_status list_ways(sp_chooser *c, const spry_way *way, int count)
{
    if (count < 1 || count > SPRY_WAYS_MOST)
        return sp_fail(SPRY_USAGE, "1 to %d ways can be raced, not %d",
                       SPRY_WAYS_MOST, count);
    c->passes = 0;
    for (int i = 0; i < count; i++) {
        unsigned passes = way[i].passes;

        if (passes && c->passes && passes != c->passes)
            return sp_fail(SPRY_USAGE, "ways with different passes cannot be "
                                       "raced together");
        c->passes |= passes;
        c->out->trial[i].way = way[i];
    }
    c->out->trials = count;
    c->out->baseline = way[0];
    return SPRY_OK;
}

spry_status spry_ways_race(spry_choice *out, const spry_network *n,
                           const spry_way *way, int count,
                           const spry_choose_options *options)
{
    SP_NEED(out, n, way);

    sp_chooser c = {.n = n, .out = out, .begun = sp_seconds()};
    spry_status s = read_options(&c, options);

    memset(out, 0, sizeof *out);
    if (s == SPRY_OK)
        s = know_machine(&c);
    if (s == SPRY_OK)
        s = list_ways(&c, way, count);
    if (s != SPRY_OK)
        return s;
    out->batch = c.o.batch;
    out->raced = inputs_to_race(&c);
    s = make_smaller(&c);
    if (s == SPRY_OK)
        s = make_arrays(&c);
    if (s == SPRY_OK)
        s = sp_choose_compare(&c);
    out->measured = s == SPRY_OK;
    out->tuning_seconds = sp_seconds() - c.begun;
    end(&c);
    return s;
}
