/* generate_spec.c - from "key=value ..." to a kind's parameters.
 *
 * The params text of a kind is read by the same rules as the user's spec and
 * comes first: it names all parameters there are and gives their defaults. A
 * default may also be a parameter named before it, or a multiple of one
 * ("cols=rows", "nnz=16*rows"), or auto: worked out by the kind. */
#include "matrix/generate.h"

#include <math.h>
#include <string.h>

enum { TOKEN = 64 };

typedef struct {
    char name[SP_PARAM_NAME];
    char value[TOKEN];
} assignment;

static const char *const blanks = " \t\n,";

/* Where the parameter is in g->param, or -1. */
static int place_of(const sp_gen *g, const char *name)
{
    for (int k = 0; k < g->params; k++)
        if (strcmp(g->param[k].name, name) == 0)
            return k;
    return -1;
}

/* The next "name=value" at *at into a; 0 at the end, -1 when it is none. */
static int next_assignment(assignment *a, const char **at)
{
    const char *word = *at + strspn(*at, blanks), *equal;
    size_t len = strcspn(word, blanks), name, value;

    *at = word + len;
    if (len == 0)
        return 0;
    equal = memchr(word, '=', len);
    if (!equal)
        return -1;
    name = (size_t)(equal - word);
    value = len - name - 1;
    if (name == 0 || value == 0 || name >= sizeof a->name ||
        value >= sizeof a->value)
        return -1;
    memcpy(a->name, word, name);
    a->name[name] = 0;
    memcpy(a->value, equal + 1, value);
    a->value[value] = 0;
    return 1;
}

/* Values are "random", "ones", or so many different ones. */
static int read_value(const char *name, const char *text, double *out)
{
    if (strcmp(name, "values") != 0)
        return sp_parse_count(text, out) && isfinite(*out);
    *out = strcmp(text, "ones") == 0;
    if (*out == 1 || strcmp(text, "random") == 0)
        return 1;
    return sp_parse_count(text, out) && *out >= 1 && *out <= 1 << 20 &&
           *out == floor(*out);
}

/* What a default that is not a plain value stands for: auto, another
 * parameter, or a multiple of one. Run once the user's values are known. */
static void resolve(sp_gen *g, const assignment *a)
{
    sp_param *p = &g->param[place_of(g, a->name)];
    const char *star = strchr(a->value, '*'), *at = a->value;
    int base = place_of(g, star ? star + 1 : a->value);
    double factor = 1;

    if (p->origin == SP_GIVEN)
        return;
    if (star)
        sp_scan_real(&at, star, &factor);
    p->origin = base >= 0 ? SP_DEFAULT : SP_AUTO;
    p->value = base >= 0 ? factor * g->param[base].value : 0;
}

static void read_defaults(sp_gen *g)
{
    const char *at = g->kind->params;
    assignment a;

    while (g->params < SP_PARAMS && next_assignment(&a, &at) > 0) {
        sp_param *p = &g->param[g->params++];

        memcpy(p->name, a.name, sizeof p->name);
        p->origin = SP_DEFAULT;
        if (!read_value(a.name, a.value, &p->value))
            p->origin = SP_AUTO;
    }
}

static void resolve_defaults(sp_gen *g)
{
    const char *at = g->kind->params;
    assignment a;
    double value;

    while (next_assignment(&a, &at) > 0)
        if (!read_value(a.name, a.value, &value))
            resolve(g, &a);
}

static spry_status read_given(sp_gen *g, const char *spec)
{
    const char *at = spec, *before = at;
    assignment a;
    int got;

    while ((got = next_assignment(&a, &at)) != 0) {
        int place = got > 0 ? place_of(g, a.name) : -1;
        sp_param *p = place >= 0 ? &g->param[place] : NULL;

        before += strspn(before, blanks);
        if (!p)
            return sp_fail(
                SPRY_USAGE, "%s: '%.*s' is no parameter; it takes %s",
                g->kind->name, (int)(at - before), before, g->kind->params);
        if (p->origin == SP_GIVEN)
            return sp_fail(SPRY_USAGE, "%s: %s is given twice", g->kind->name,
                           a.name);
        if (!read_value(a.name, a.value, &p->value))
            return sp_fail(SPRY_USAGE, "%s: '%s' is no value for %s",
                           g->kind->name, a.value, a.name);
        p->origin = SP_GIVEN;
        before = at;
    }
    return SPRY_OK;
}

spry_status sp_gen_parse(sp_gen *g, const char *spec)
{
    spry_status s;

    g->params = 0;
    read_defaults(g);
    s = read_given(g, spec);
    if (s != SPRY_OK)
        return s;
    resolve_defaults(g);
    g->values = sp_gen_count(g, "values");
    if (sp_gen_origin(g, "index") == SP_GIVEN &&
        sp_gen_real(g, "index") != 32 && sp_gen_real(g, "index") != 64)
        return sp_fail(SPRY_USAGE, "%s: index must be 32 or 64", g->kind->name);
    return SPRY_OK;
}

double sp_gen_real(const sp_gen *g, const char *name)
{
    return g->param[place_of(g, name)].value;
}

int64_t sp_gen_count(const sp_gen *g, const char *name)
{
    return (int64_t)fmin(g->param[place_of(g, name)].value, 0x1p62);
}

sp_origin sp_gen_origin(const sp_gen *g, const char *name)
{
    return g->param[place_of(g, name)].origin;
}

spry_status sp_gen_range(const sp_gen *g, const char *name, double low,
                         double high)
{
    double x = sp_gen_real(g, name);

    if (x >= low && x <= high)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "%s: %s is %.15g; it must be in %.15g .. %.15g",
                   g->kind->name, name, x, low, high);
}

spry_status sp_gen_entries(const sp_gen *g, double entries)
{
    const double most = 0x1p34;

    if (entries <= most)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "%s: %.3g entries are too many; at most %.3g",
                   g->kind->name, entries, most);
}

spry_status sp_gen_whole(const sp_gen *g, const char *name, double low,
                         double high)
{
    double x = sp_gen_real(g, name);

    if (x != floor(x))
        return sp_fail(SPRY_USAGE, "%s: %s is %.15g; it must be a whole number",
                       g->kind->name, name, x);
    return sp_gen_range(g, name, low, high);
}
