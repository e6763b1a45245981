/* dag_text.c - a list of edges of any acyclic graph, into facts.
 *
 *     # comment                neurons are whole numbers from 0
 *     activation clamp 32      one for all; or relu, tanh, sigmoid, linear
 *     input 0 1 2              else: all that no edge reaches
 *     output 7 8               else: all that no edge leaves
 *     bias 3 -0.5              else: the option's
 *     bias_on_nonzero
 *     0 3 0.25                 source, target, weight */
#include <string.h>

#include "network/dag.h"

typedef struct {
    const sp_text *t;
    sp_facts *out;
    int64_t room;
    int64_t most; /* no neuron's number reaches this */
} reading;

static spry_status add(reading *r, sp_fact fact)
{
    sp_facts *f = r->out;

    if (f->count == INT32_MAX)
        return sp_fail_at(r->t, fact.at, "the graph is too large");
    if (f->count == r->room) {
        int64_t want = 2 * r->room + 256;
        sp_fact *more = sp_grow(f->fact, f->count, want, sizeof *more);

        if (!more)
            return sp_fail_memory((size_t)want * sizeof *more);
        f->fact = more;
        r->room = want;
    }
    f->fact[f->count++] = fact;
    if (fact.neuron >= f->numbers)
        f->numbers = fact.neuron + (int64_t)1;
    if (fact.kind == SP_EDGE && fact.source >= f->numbers)
        f->numbers = fact.source + (int64_t)1;
    return SPRY_OK;
}

static int at_gap(const char *at, const char *end)
{
    return at == end || strchr(" \t\r\n", *at);
}

static spry_status scan_neuron(int32_t *out, const char **at, const reading *r)
{
    int64_t x;

    *at = sp_skip_blanks(*at, r->t->end);
    if (!sp_scan_int(at, r->t->end, &x) || x < 0 || x >= r->most ||
        !at_gap(*at, r->t->end))
        return sp_fail_at(r->t, *at,
                          "a neuron must be a whole number from 0 to %lld",
                          (long long)r->most - 1);
    *out = (int32_t)x;
    return SPRY_OK;
}

static spry_status scan_value(float *out, const char **at, const reading *r)
{
    double x;

    *at = sp_skip_blanks(*at, r->t->end);
    if (!sp_scan_real(at, r->t->end, &x) || !isfinite((float)x) ||
        !at_gap(*at, r->t->end))
        return sp_fail_at(r->t, *at, "this is not a finite number");
    *out = (float)x;
    return SPRY_OK;
}

static int at_line_end(const char *at, const reading *r)
{
    at = sp_skip_blanks(at, r->t->end);
    return at == r->t->end || *at == '\n' || *at == '#';
}

/* ---- what a line may say; at stands behind the word ---- */

static spry_status read_edge(reading *r, const char **at)
{
    sp_fact f = {.at = *at, .kind = SP_EDGE};
    spry_status s = scan_neuron(&f.source, at, r);

    if (s == SPRY_OK)
        s = scan_neuron(&f.neuron, at, r);
    if (s == SPRY_OK)
        s = scan_value(&f.value, at, r);
    return s == SPRY_OK ? add(r, f) : s;
}

static spry_status read_neurons(reading *r, const char **at, sp_fact_kind kind)
{
    sp_fact f = {.at = *at, .kind = kind};
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && !at_line_end(*at, r)) {
        s = scan_neuron(&f.neuron, at, r);
        if (s == SPRY_OK)
            s = add(r, f);
    }
    return s;
}

static spry_status read_inputs(reading *r, const char **at)
{
    return read_neurons(r, at, SP_INPUT);
}

static spry_status read_outputs(reading *r, const char **at)
{
    return read_neurons(r, at, SP_OUTPUT);
}

static spry_status read_bias(reading *r, const char **at)
{
    sp_fact f = {.at = *at, .kind = SP_BIAS};
    spry_status s = scan_neuron(&f.neuron, at, r);

    if (s == SPRY_OK)
        s = scan_value(&f.value, at, r);
    return s == SPRY_OK ? add(r, f) : s;
}

static spry_status read_nonzero(reading *r, const char **at)
{
    (void)at;
    r->out->bias_on_nonzero = 1;
    return SPRY_OK;
}

static size_t word_length(const char *at, const char *end)
{
    const char *p = at;

    while (p < end && !at_gap(p, end))
        p++;
    return (size_t)(p - at);
}

static spry_status read_activation(reading *r, const char **at)
{
    spry_activation *a = &r->out->activation;
    size_t len;
    int c = 0;

    *at = sp_skip_blanks(*at, r->t->end);
    len = word_length(*at, r->t->end);
    while (spry_curve_name((spry_curve)c) &&
           (strlen(spry_curve_name((spry_curve)c)) != len ||
            memcmp(spry_curve_name((spry_curve)c), *at, len) != 0))
        c++;
    if (!spry_curve_name((spry_curve)c))
        return sp_fail_at(r->t, *at, "there is no such activation");
    *at += len;
    *a = (spry_activation){(spry_curve)c, 0};
    if (a->curve != SPRY_CLAMP)
        return SPRY_OK;
    if (*at < r->t->end && scan_value(&a->limit, at, r) == SPRY_OK &&
        a->limit >= 0)
        return SPRY_OK;
    return sp_fail_at(r->t, *at, "clamp needs a limit, not below 0");
}

static const struct {
    const char *word;
    spry_status (*read)(reading *r, const char **at);
} sayings[] = {{"input", read_inputs},
               {"output", read_outputs},
               {"bias", read_bias},
               {"activation", read_activation},
               {"bias_on_nonzero", read_nonzero}};

static spry_status read_line(reading *r, const char *at)
{
    size_t len = word_length(at, r->t->end);
    spry_status s = SPRY_OK;
    size_t i = 0;

    while (i < sizeof sayings / sizeof *sayings &&
           (strlen(sayings[i].word) != len ||
            memcmp(sayings[i].word, at, len) != 0))
        i++;
    if (i < sizeof sayings / sizeof *sayings) {
        at += len;
        s = sayings[i].read(r, &at);
    } else {
        s = read_edge(r, &at);
    }
    if (s == SPRY_OK && !at_line_end(at, r))
        s = sp_fail_at(r->t, at,
                       "there is more on the line than belongs there");
    return s;
}

spry_status sp_facts_read(sp_facts *out, const sp_text *t,
                          const spry_network_options *o)
{
    int64_t most = sp_most_rows(t);
    reading r = {t, out, 0, most < INT32_MAX ? most : INT32_MAX};
    const char *at = sp_skip_comments(t->data, t->end, '#');
    spry_status s = SPRY_OK;

    *out = (sp_facts){.activation = o->activation};
    while (s == SPRY_OK && at < t->end) {
        s = read_line(&r, at);
        at = sp_skip_comments(sp_skip_line(at, t->end), t->end, '#');
    }
    if (s == SPRY_OK && out->count == 0)
        s = sp_fail(SPRY_INPUT, "%s: holds no edges", t->name);
    if (s != SPRY_OK)
        sp_facts_free(out);
    return s;
}

void sp_facts_free(sp_facts *f)
{
    sp_free(f->fact);
    *f = (sp_facts){0};
}
