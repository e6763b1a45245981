/* spec.c - from "key=value ..." to a generator's parameters.
 *
 * The params text of a generator is read by the same rules as the user's and
 * comes first: it names all parameters there are and gives the defaults. */
#include <string.h>

#include "network/internal.h"

static const char *const blanks = " \t\n,";

static int place_of(const sp_spec *p, const char *name, size_t len)
{
    for (int i = 0; i < p->count; i++)
        if (strlen(p->param[i].name) == len &&
            memcmp(p->param[i].name, name, len) == 0)
            return i;
    return -1;
}

/* The next word of *at and where its value begins, NULL when it has none;
 * 0 at the end. */
static size_t next_word(const char **word, const char **value, const char *at)
{
    size_t len;

    *word = at + strspn(at, blanks);
    len = strcspn(*word, blanks);
    *value = memchr(*word, '=', len);
    if (*value)
        ++*value;
    return len;
}

static void set_value(sp_spec *p, int place, const char *value, size_t len)
{
    memcpy(p->param[place].value, value, len);
    p->param[place].value[len] = 0;
}

static void read_defaults(sp_spec *p)
{
    const char *word, *value, *at = p->params;
    size_t len;

    for (; (len = next_word(&word, &value, at)) > 0; at = word + len) {
        memcpy(p->param[p->count].name, word, (size_t)(value - word) - 1);
        set_value(p, p->count++, value, (size_t)(word + len - value));
    }
}

static spry_status read_given(sp_spec *p, const char *at)
{
    const char *word, *value;
    size_t len;

    for (; (len = next_word(&word, &value, at)) > 0; at = word + len) {
        int i = value ? place_of(p, word, (size_t)(value - word) - 1) : -1;
        size_t size = value ? (size_t)(word + len - value) : 0;

        if (i < 0 || size >= SP_SPEC_VALUE)
            return sp_fail(SPRY_USAGE,
                           "%s: '%.*s' is no parameter; it takes %s", p->kind,
                           (int)(len < 60 ? len : 60), word, p->params);
        if (p->param[i].given)
            return sp_fail(SPRY_USAGE, "%s: %s is given twice", p->kind,
                           p->param[i].name);
        p->param[i].given = 1;
        set_value(p, i, value, size);
    }
    return SPRY_OK;
}

spry_status sp_spec_parse(sp_spec *out, const char *kind, const char *params,
                          const char *text)
{
    *out = (sp_spec){.kind = kind, .params = params};
    read_defaults(out);
    return read_given(out, text);
}

const char *sp_spec_text(const sp_spec *p, const char *name)
{
    return p->param[place_of(p, name, strlen(name))].value;
}

static spry_status no_value(const sp_spec *p, const char *name)
{
    return sp_fail(SPRY_USAGE, "%s: '%s' is no value for %s", p->kind,
                   sp_spec_text(p, name), name);
}

spry_status sp_spec_real(double *out, const sp_spec *p, const char *name,
                         double low, double high)
{
    const char *text = sp_spec_text(p, name), *at = text;

    if (!sp_parse_count(text, out) &&
        !(sp_scan_real(&at, text + strlen(text), out) && !*at))
        return no_value(p, name);
    if (*out >= low && *out <= high)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "%s: %s is %.15g; it must be in %.15g .. %.15g",
                   p->kind, name, *out, low, high);
}

spry_status sp_spec_count(int64_t *out, const sp_spec *p, const char *name,
                          int64_t low, int64_t high)
{
    double x;
    spry_status s = sp_spec_real(&x, p, name, (double)low, (double)high);

    *out = 0;
    if (s != SPRY_OK)
        return s;
    *out = (int64_t)x;
    return x == floor(x) ? SPRY_OK : no_value(p, name);
}

spry_status sp_spec_list(int64_t *out, int *count, int most, const sp_spec *p,
                         const char *name)
{
    const char *at = sp_spec_text(p, name), *end = at + strlen(at);

    for (*count = 0; *count < most; at++) {
        if (!sp_scan_int(&at, end, &out[*count]) || out[*count] < 1)
            break;
        ++*count;
        if (at == end)
            return SPRY_OK;
        if (*at != 'x')
            break;
    }
    return no_value(p, name);
}

spry_status sp_spec_neuron(spry_activation *a, float *bias, const sp_spec *p)
{
    const char *word = sp_spec_text(p, "activation");
    double limit, b;
    spry_status s = sp_spec_real(&limit, p, "limit", 0, 1e30);

    if (s == SPRY_OK)
        s = sp_spec_real(&b, p, "bias", -1e30, 1e30);
    if (s != SPRY_OK)
        return s;
    *bias = (float)b;
    for (int c = 0; spry_curve_name((spry_curve)c); c++)
        if (strcmp(word, spry_curve_name((spry_curve)c)) == 0) {
            a->curve = (spry_curve)c;
            a->limit = a->curve == SPRY_CLAMP ? (float)limit : 0;
            return SPRY_OK;
        }
    return no_value(p, "activation");
}
