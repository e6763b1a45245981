/* recipe.c - from "key=value ..." to a generator's parameters. */
#include "base/recipe.h"

#include <math.h>
#include <string.h>

static const char *const blanks = " \t\n,";

/* One "name=value" of a text. */
typedef struct {
    const char *name, *value;
    size_t name_length, value_length, length;
} assignment;

/* The next word of text; 0 at the end. A word that is no assignment has a
 * value_length of 0. */
static int next_assignment(assignment *a, const char *text)
{
    const char *word = text + strspn(text, blanks), *equal;
    size_t length = strcspn(word, blanks);

    *a = (assignment){.name = word, .length = length};
    equal = memchr(word, '=', length);
    if (equal) {
        a->name_length = (size_t)(equal - word);
        a->value = equal + 1;
        a->value_length = length - a->name_length - 1;
    }
    return length > 0;
}

static int find(const sp_recipe *r, const char *name, size_t length)
{
    for (int i = 0; i < r->count; i++)
        if (strlen(r->param[i].name) == length &&
            memcmp(r->param[i].name, name, length) == 0)
            return i;
    return -1;
}

static void set_value(sp_recipe *r, int i, const assignment *a)
{
    memcpy(r->param[i].value, a->value, a->value_length);
    r->param[i].value[a->value_length] = 0;
}

static void read_defaults(sp_recipe *r)
{
    assignment a;

    for (const char *at = r->params; next_assignment(&a, at);
         at = a.name + a.length) {
        memcpy(r->param[r->count].name, a.name, a.name_length);
        set_value(r, r->count++, &a);
    }
}

static spry_status read_given(sp_recipe *r, const char *text)
{
    assignment a;

    for (; next_assignment(&a, text); text = a.name + a.length) {
        int i = find(r, a.name, a.name_length);

        if (i < 0 || a.value_length == 0 || a.value_length >= SP_RECIPE_VALUE)
            return sp_fail(
                SPRY_USAGE, "%s: '%.*s' is no parameter; it takes %s", r->kind,
                (int)(a.length < 60 ? a.length : 60), a.name, r->params);
        if (r->param[i].given)
            return sp_fail(SPRY_USAGE, "%s: %s is given twice", r->kind,
                           r->param[i].name);
        r->param[i].given = 1;
        set_value(r, i, &a);
    }
    return SPRY_OK;
}

static spry_status unknown_kind(const char *what, const char *const *kind,
                                int count, const char *name, size_t length)
{
    char list[512] = "";
    size_t used = 0;

    for (int k = 0; k < count && used < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 k ? ", " : "", kind[k]);
    return sp_fail(SPRY_USAGE, "no %s '%.*s'; there are %s", what,
                   (int)(length < 40 ? length : 40), name, list);
}

spry_status sp_recipe_kind(int *out, const char **rest, const char *text,
                           const char *what, const char *const *kind, int count)
{
    const char *name = text + strspn(text, " \t\n");
    size_t length = strcspn(name, blanks);

    *rest = name + length;
    for (*out = 0; *out < count; ++*out)
        if (strlen(kind[*out]) == length &&
            memcmp(kind[*out], name, length) == 0)
            return SPRY_OK;
    return unknown_kind(what, kind, count, name, length);
}

spry_status sp_recipe_parse(sp_recipe *out, const char *kind,
                            const char *params, const char *text)
{
    *out = (sp_recipe){.kind = kind, .params = params};
    read_defaults(out);
    return read_given(out, text);
}

int sp_recipe_find(const sp_recipe *r, const char *name)
{
    return find(r, name, strlen(name));
}

const char *sp_recipe_text(const sp_recipe *r, const char *name)
{
    return r->param[sp_recipe_find(r, name)].value;
}

spry_status sp_recipe_refuse(const sp_recipe *r, const char *name)
{
    return sp_fail(SPRY_USAGE, "%s: '%s' is no value for %s", r->kind,
                   sp_recipe_text(r, name), name);
}

spry_status sp_recipe_real(double *out, const sp_recipe *r, const char *name,
                           double low, double high)
{
    const char *text = sp_recipe_text(r, name), *at = text;

    if (!sp_parse_count(text, out) &&
        !(sp_scan_real(&at, text + strlen(text), out) && !*at))
        return sp_recipe_refuse(r, name);
    if (*out >= low && *out <= high)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "%s: %s is %.15g; it must be in %.15g .. %.15g",
                   r->kind, name, *out, low, high);
}

spry_status sp_recipe_count(int64_t *out, const sp_recipe *r, const char *name,
                            int64_t low, int64_t high)
{
    double x;
    spry_status s = sp_recipe_real(&x, r, name, (double)low, (double)high);

    *out = 0;
    if (s != SPRY_OK)
        return s;
    *out = (int64_t)x;
    return x == floor(x) ? SPRY_OK : sp_recipe_refuse(r, name);
}

spry_status sp_recipe_list(int64_t *out, int *count, int most,
                           const sp_recipe *r, const char *name)
{
    const char *at = sp_recipe_text(r, name), *end = at + strlen(at);

    for (*count = 0; *count < most; at++) {
        if (!sp_scan_int(&at, end, &out[*count]) || out[*count] < 1)
            break;
        ++*count;
        if (at == end)
            return SPRY_OK;
        if (*at != 'x')
            break;
    }
    return sp_recipe_refuse(r, name);
}
