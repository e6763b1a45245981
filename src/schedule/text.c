/* text.c - a schedule as one line of text, and back. */
#include "schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/super.h"

static const char blank[] = " \t,";

static size_t add_value(char *out, size_t size, const sp_param *q,
                        int32_t value)
{
    int n = q->word ? snprintf(out, size, " %s=%s", q->name, q->word[value])
                    : snprintf(out, size, " %s=%d", q->name, (int)value);

    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

char *spry_schedule_text(char buf[SPRY_SCHEDULE_TEXT], const spry_schedule *x)
{
    SP_NEED_OR(NULL, buf, x);

    size_t at = (size_t)snprintf(buf, SPRY_SCHEDULE_TEXT, "%s",
                                 sp_formats[x->format].name);

    if (x->format == SPRY_SUPER)
        at += sp_super_text(buf + at, SPRY_SCHEDULE_TEXT - at, &x->super);
    for (int i = 0; i < sp_param_count; i++) {
        int32_t value = sp_param_get(x, &sp_params[i]);

        if (value != sp_params[i].otherwise)
            at += add_value(buf + at, SPRY_SCHEDULE_TEXT - at, &sp_params[i],
                            value);
    }
    return buf;
}

static int find_format(const char *word, size_t n)
{
    for (int i = 0; i < sp_format_count; i++)
        if (strlen(sp_formats[i].name) == n &&
            memcmp(sp_formats[i].name, word, n) == 0)
            return i;
    return -1;
}

static const sp_param *find_param(const char *word, size_t n)
{
    for (int i = 0; i < sp_param_count; i++)
        if (strlen(sp_params[i].name) == n &&
            memcmp(sp_params[i].name, word, n) == 0)
            return &sp_params[i];
    return NULL;
}

/* "12" or, where values have names, "cluster". */
static int read_value(int32_t *out, const sp_param *q, const char *word,
                      size_t n)
{
    char copy[16], *end;
    long value;

    for (int i = 0; q->word && q->word[i]; i++)
        if (strlen(q->word[i]) == n && memcmp(q->word[i], word, n) == 0) {
            *out = i;
            return 1;
        }
    if (q->word || n == 0 || n >= sizeof copy)
        return 0;
    memcpy(copy, word, n);
    copy[n] = 0;
    value = strtol(copy, &end, 10);
    *out = (int32_t)value;
    return *end == 0 && value >= 0 && value <= 1 << 30;
}

/* Another name behind a list of them, if there is room. */
static void add_to_list(char *list, size_t size, const char *name)
{
    size_t at = strlen(list);

    snprintf(list + at, size - at, "%s%s", at ? ", " : "", name);
}

/* A name that is none, and those of the formats there are. */
static spry_status no_format(const char *word, size_t n)
{
    char names[160] = "";

    for (int i = 0; i < sp_format_count; i++)
        add_to_list(names, sizeof names, sp_formats[i].name);
    add_to_list(names, sizeof names, "fixed-csr");
    return sp_fail(SPRY_USAGE,
                   "schedule: there is no format '%.*s'; there are %s",
                   (int)(n < 99 ? n : 99), word, names);
}

/* A name that is none, and those that the format has for any operation. */
static spry_status no_parameter(const spry_schedule *x, const char *word,
                                size_t n)
{
    const sp_format *f = sp_format_of(x);
    char names[320] = "";

    for (int i = 0; i < sp_param_count; i++) {
        int used = 0;

        for (int op = 0; op < SPRY_OPS; op++)
            used |= sp_param_used(&sp_params[i], x->format, (spry_op)op);
        if (used)
            add_to_list(names, sizeof names, sp_params[i].name);
    }
    return sp_fail(SPRY_USAGE,
                   "schedule: there is no parameter '%.*s'; %s has %s", (int)n,
                   word, f->name, names);
}

/* A parameter without a value that it takes, and some that it does. */
static spry_status no_value(const sp_param *q, const char *word, size_t n)
{
    char takes[160] = "";
    size_t at = 0;

    for (int i = 0; q->value[i] >= 0 && at < sizeof takes; i++)
        at += q->word ? (size_t)snprintf(takes + at, sizeof takes - at, "%s%s",
                                         i ? ", " : "", q->word[q->value[i]])
                      : (size_t)snprintf(takes + at, sizeof takes - at, "%s%d",
                                         i ? ", " : "", (int)q->value[i]);
    return sp_fail(SPRY_USAGE, "schedule: \"%.*s\": %s= takes %s %s", (int)n,
                   word, q->name, q->word ? "one of" : "a number, as", takes);
}

static spry_status read_word(spry_schedule *x, const char *word, size_t n)
{
    const char *equals = memchr(word, '=', n);
    size_t name = equals ? (size_t)(equals - word) : n;
    const sp_param *q = find_param(word, name);
    int32_t value;

    if (equals && !q && x->format != SPRY_SUPER) /* it has other words */
        return no_parameter(x, word, name);
    if (!q)
        return sp_fail(SPRY_USAGE, "schedule: \"%.*s\" is not understood",
                       (int)n, word);
    if (!equals || !read_value(&value, q, equals + 1, n - name - 1))
        return no_value(q, word, n);
    sp_param_set(x, q, value);
    return SPRY_OK;
}

/* The words behind the format's name. */
static spry_status read_words(spry_schedule *x, const char *at)
{
    size_t n;
    spry_status s = SPRY_OK;

    for (; s == SPRY_OK && *(at += strspn(at, blank)); at += n) {
        n = strcspn(at, blank);
        if (x->format != SPRY_SUPER || !sp_super_word(&x->super, at, n))
            s = read_word(x, at, n < 99 ? n : 99);
    }
    if (x->format == SPRY_SUPER)
        sp_super_settle(&x->super);
    return s;
}

static int begins_with_fixed_csr(const char *text)
{
    static const char name[] = "fixed-csr";
    size_t n = sizeof name - 1;

    return strncmp(text, name, n) == 0 && (!text[n] || strchr(blank, text[n]));
}

spry_status spry_schedule_parse(spry_schedule *out, const char *text)
{
    SP_NEED(out, text);

    const char *at = text + strspn(text, blank);
    size_t n = strcspn(at, blank);
    int format = find_format(at, n);

    if (begins_with_fixed_csr(at))
        return sp_fail(SPRY_USAGE, "schedule: what fixed-csr is depends on the "
                                   "operation");
    if (format < 0)
        return no_format(at, n);
    *out = sp_schedule_default(format);
    return read_words(out, at + n);
}

/* What a format needs for this operation and nobody said: of most it is a
 * tile or an unrolled loop, since 0 and 1 stand for the plain loop. */
static void complete(spry_schedule *x, spry_op op)
{
    int rows = sp_format_of(x)->listed ||
               (x->format == SPRY_CSR && !sp_schedule_plain(x));
    int columns = sp_has_columns(op);
    int slices = sp_format_of(x)->slices && columns;

    if (sp_format_of(x)->blocks && x->r == 1 && x->c == 1)
        x->r = x->c = 2;
    if (rows && !columns && x->unroll == 1)
        x->unroll = 4;
    if ((rows || slices || sp_format_of(x)->blocks) && columns && x->tile == 0)
        x->tile = 2;
    if (slices && x->slice == 1)
        x->slice = 2;
}

/* Words may change it, "fixed-csr threads=2 chunk=64"; threads bring the
 * parallel loop and its chunk with them. */
spry_status spry_schedule_parse_for(spry_schedule *out, const char *text,
                                    spry_op op)
{
    SP_NEED(out, text);

    const char *at = text + strspn(text, blank);
    spry_status s;

    if (!begins_with_fixed_csr(at)) {
        s = spry_schedule_parse(out, text);
        if (s == SPRY_OK)
            complete(out, op);
        return s;
    }
    at += strcspn(at, blank);
    *out = sp_super_fixed_csr(op, 1);
    s = read_words(out, at);
    if (s == SPRY_OK && out->threads > 1) {
        *out = sp_super_fixed_csr(op, out->threads);
        s = read_words(out, at);
    }
    return s;
}
