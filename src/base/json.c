/* json.c - values to JSON text, with the commas where they belong.
 *
 * What comes out always parses: numbers have a point in every locale, and
 * bytes that are no UTF-8 are replaced. json_read.c is the way back. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Letters after a backslash and what they stand for. */
static const char escape_letter[] = "\"\\bfnrt";
static const char escape_meaning[] = "\"\\\b\f\n\r\t";

static void write_escaped(sp_buf *out, unsigned char c)
{
    const char *at = strchr(escape_meaning, c);

    if (at)
        sp_buf_printf(out, "\\%c", escape_letter[at - escape_meaning]);
    else
        sp_buf_printf(out, "\\u%04x", c);
}

/* A byte that is no UTF-8 becomes U+FFFD, so the output always parses. */
static void write_quoted(sp_buf *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    const unsigned char *end = p + strlen(text);

    sp_buf_add(out, "\"");
    while (p < end) {
        size_t n = sp_utf8_length(p, end);

        if (n == 1 && (*p < 0x20 || *p == '"' || *p == '\\'))
            write_escaped(out, *p);
        else if (n)
            sp_buf_bytes(out, p, n);
        else
            sp_buf_add(out, "\xef\xbf\xbd");
        p += n ? n : 1;
    }
    sp_buf_add(out, "\"");
}

static void begin_line(sp_json *j)
{
    if (j->spaced)
        sp_buf_printf(j->out, "\n%*s", 2 * j->depth, "");
}

/* What stands before every value: the comma and the key. */
static void write_lead(sp_json *j, const char *key)
{
    if (j->depth > 0 && !j->first)
        sp_buf_add(j->out, ",");
    if (j->depth > 0)
        begin_line(j);
    j->first = 0;
    if (key) {
        write_quoted(j->out, key);
        sp_buf_add(j->out, j->spaced ? ": " : ":");
    }
}

void sp_json_open(sp_json *j, const char *key, char bracket)
{
    write_lead(j, key);
    sp_buf_bytes(j->out, &bracket, 1);
    j->depth++;
    j->first = 1;
}

void sp_json_close(sp_json *j, char bracket)
{
    j->depth--;
    if (!j->first)
        begin_line(j);
    sp_buf_bytes(j->out, &bracket, 1);
    j->first = 0;
}

void sp_json_text(sp_json *j, const char *key, const char *value)
{
    write_lead(j, key);
    if (value)
        write_quoted(j->out, value);
    else
        sp_buf_add(j->out, "null");
}

/* Some locales print a comma, or even a character of several bytes. */
static void restore_point(char *text)
{
    char *out = text;

    for (const char *p = text; *p; p++)
        if (strchr("0123456789+-e", *p))
            *out++ = *p;
        else if (out == text || out[-1] != '.')
            *out++ = '.';
    *out = 0;
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
void sp_json_number(sp_json *j, const char *key, double value)
{
    char text[40];

    write_lead(j, key);
    if (!isfinite(value)) {
        sp_buf_add(j->out, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    restore_point(text);
    sp_buf_add(j->out, text);
}

void sp_json_integer(sp_json *j, const char *key, int64_t value)
{
    write_lead(j, key);
    sp_buf_printf(j->out, "%lld", (long long)value);
}

void sp_json_bool(sp_json *j, const char *key, int value)
{
    write_lead(j, key);
    sp_buf_add(j->out, value ? "true" : "false");
}
