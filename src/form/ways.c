/* ways.c - passes and a form: their text, and a network ready to run. */
#include <stdlib.h>
#include <string.h>

#include "form/choose.h"

struct spry_ready {
    spry_way way;
    spry_network *smaller; /* NULL: the passes changed nothing */
    spry_runner *runner;
    int64_t edges;
};

static const char prefix[] = "passes=";

/* The bit of the pass that is done while running. */
static unsigned rest_bit(void)
{
    unsigned bit = 0;

    (void)spry_passes_parse(&bit, "rest");
    return bit;
}

/* ---- text ---- */

static spry_status parse_passes(unsigned *out, const char *text, size_t len)
{
    char names[128];

    if (len >= sizeof names)
        return sp_fail(SPRY_USAGE, "'%.40s...' is too long for passes", text);
    memcpy(names, text, len);
    names[len] = 0;
    return spry_passes_parse(out, names);
}

spry_status spry_way_parse(spry_way *out, const char *text)
{
    SP_NEED(out, text);

    spry_way w = {0};
    spry_status s = SPRY_OK;

    *out = w;
    if (strncmp(text, prefix, strlen(prefix)) == 0) {
        size_t len;

        text += strlen(prefix);
        len = strcspn(text, " ");
        s = parse_passes(&w.passes, text, len);
        text += len + strspn(text + len, " ");
    }
    if (s == SPRY_OK)
        s = spry_form_parse(&w.form, text);
    if (s != SPRY_OK)
        return s;
    if (w.form.rest)
        w.passes |= rest_bit();
    w.form.rest = 0;
    *out = w;
    return SPRY_OK;
}

const char *spry_way_text(char out[SPRY_WAY_TEXT], const spry_way *w)
{
    SP_NEED_OR("", out, w);

    char form[SPRY_FORM_TEXT];
    unsigned all;
    int at = 0, first = 1;

    (void)spry_passes_parse(&all, NULL);
    if (w->passes)
        at = snprintf(out, SPRY_WAY_TEXT, "%s", prefix);
    if (w->passes == all)
        at += snprintf(out + at, (size_t)(SPRY_WAY_TEXT - at), "all");
    for (int i = 0; w->passes != all && spry_pass_name(i); i++)
        if (w->passes >> i & 1) {
            at += snprintf(out + at, (size_t)(SPRY_WAY_TEXT - at), "%s%s",
                           first ? "" : ",", spry_pass_name(i));
            first = 0;
        }
    spry_form_text(form, &w->form);
    snprintf(out + at, (size_t)(SPRY_WAY_TEXT - at), "%s%s", at ? " " : "",
             form);
    return out;
}

/* ---- ready ---- */

static spry_status make_runner(spry_ready *r, const spry_network *n)
{
    spry_form form = r->way.form;
    spry_status s;

    form.rest = r->way.passes & rest_bit() && strcmp(form.name, "rows") == 0;
    s = spry_runner_make(&r->runner, n, &form);
    if (s == SPRY_OK) {
        r->way.form = *spry_runner_form(r->runner);
        r->way.form.rest = 0;
        r->edges = n->edges;
    }
    return s;
}

/* With `done`, n is what the passes left. */
static spry_status make_ready(spry_ready **out, const spry_network *n,
                              const spry_way *w, int done)
{
    spry_ready *r = sp_alloc(1, sizeof *r);
    spry_status s = r ? SPRY_OK : sp_no_memory(sizeof *r);

    *out = NULL;
    if (s == SPRY_OK)
        r->way = *w;
    if (s == SPRY_OK && !done && w->passes & ~rest_bit())
        s = spry_network_compile(&r->smaller, n, w->passes, NULL);
    if (s == SPRY_OK)
        s = make_runner(r, r->smaller ? r->smaller : n);
    if (s == SPRY_OK)
        *out = r;
    else
        spry_ready_free(r);
    return s;
}

spry_status spry_ready_make(spry_ready **out, const spry_network *n,
                            const spry_way *w)
{
    SP_NEED_NEW(out, n, w);
    return make_ready(out, n, w, 0);
}

spry_status sp_ready_of(spry_ready **out, const spry_network *compiled,
                        const spry_way *w)
{
    return make_ready(out, compiled, w, 1);
}

spry_status spry_ready_run(const spry_ready *r, float *y, const float *x,
                           int64_t batch)
{
    SP_NEED(r, y, x);
    SP_REFUSE(batch < 0, "a batch cannot have %lld inputs", (long long)batch);
    return spry_runner_run(r->runner, y, x, batch);
}

spry_status spry_ready_categories(const spry_ready *r, uint8_t *any,
                                  const spry_matrix *m, int64_t first,
                                  int64_t count)
{
    SP_NEED(r, any, m);
    return spry_runner_categories(r->runner, any, m, first, count);
}

const spry_way *spry_ready_way(const spry_ready *r)
{
    SP_NEED_OR(NULL, r);
    return &r->way;
}

int64_t spry_ready_edges(const spry_ready *r)
{
    SP_NEED_OR(0, r);
    return r->edges;
}

void spry_ready_free(spry_ready *r)
{
    if (!r)
        return;
    spry_runner_free(r->runner);
    spry_network_free(r->smaller);
    sp_free(r);
}
