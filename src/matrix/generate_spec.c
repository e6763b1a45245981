/* generate_spec.c - from a recipe to the numbers it stands for.
 *
 * A default may also be a parameter named before it, or a multiple of one
 * ("cols=rows", "nnz=16*rows"), or auto: worked out by the kind. */
#include "matrix/generate.h"

#include <math.h>
#include <string.h>

/* Values are "random", "ones", "symmetric", or so many different ones. */
static int read_value(const char *name, const char *text, double *out)
{
    if (strcmp(name, "values") != 0)
        return sp_parse_count(text, out) && isfinite(*out);
    *out = strcmp(text, "ones") == 0;
    if (*out == 1 || strcmp(text, "random") == 0)
        return 1;
    if (strcmp(text, "symmetric") == 0) {
        *out = SP_SYMMETRIC_VALUES;
        return 1;
    }
    return sp_parse_count(text, out) && *out >= 1 && *out <= 1 << 20 &&
           *out == floor(*out);
}

/* What a default that is not a plain value stands for: auto, another
 * parameter, or a multiple of one. */
static void resolve(sp_gen *g, int i)
{
    const char *at = g->recipe.param[i].value, *star = strchr(at, '*');
    int from = sp_recipe_find(&g->recipe, star ? star + 1 : at);
    double factor = 1;

    if (star)
        sp_scan_real(&at, star, &factor);
    g->param[i].origin = from >= 0 ? SP_DEFAULT : SP_AUTO;
    g->param[i].value = from >= 0 ? factor * g->param[from].value : 0;
}

static spry_status read_values(sp_gen *g)
{
    for (int i = 0; i < g->recipe.count; i++) {
        const char *name = g->recipe.param[i].name;
        int given = g->recipe.param[i].given;

        g->param[i].origin = given ? SP_GIVEN : SP_DEFAULT;
        if (read_value(name, g->recipe.param[i].value, &g->param[i].value))
            continue;
        if (given)
            return sp_recipe_refuse(&g->recipe, name);
        resolve(g, i);
    }
    return SPRY_OK;
}

spry_status sp_gen_parse(sp_gen *g, const char *text)
{
    spry_status s =
        sp_recipe_parse(&g->recipe, g->kind->name, g->kind->params, text);

    if (s == SPRY_OK)
        s = read_values(g);
    if (s != SPRY_OK)
        return s;
    g->values = sp_gen_count(g, "values");
    if (sp_gen_origin(g, "index") == SP_GIVEN &&
        sp_gen_real(g, "index") != 32 && sp_gen_real(g, "index") != 64)
        return sp_fail(SPRY_USAGE, "%s: index must be 32 or 64", g->kind->name);
    return SPRY_OK;
}

double sp_gen_real(const sp_gen *g, const char *name)
{
    return g->param[sp_recipe_find(&g->recipe, name)].value;
}

int64_t sp_gen_count(const sp_gen *g, const char *name)
{
    return (int64_t)fmin(g->param[sp_recipe_find(&g->recipe, name)].value,
                         0x1p62);
}

sp_origin sp_gen_origin(const sp_gen *g, const char *name)
{
    return g->param[sp_recipe_find(&g->recipe, name)].origin;
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
