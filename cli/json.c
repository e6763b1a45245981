/* json.c - one JSON document on stdout, commas and escapes in their place. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of the UTF-8 character at s; 0 when it is none. */
static int utf8(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead;
        int bytes;
        unsigned least; /* anything below has a shorter form */
    } form[] = {{0x80, 0x00, 1, 0},
                {0xe0, 0xc0, 2, 0x80},
                {0xf0, 0xe0, 3, 0x800},
                {0xf8, 0xf0, 4, 0x10000}};

    for (int i = 0; i < 4; i++) {
        unsigned code = s[0] & (unsigned char)~form[i].mask;

        if ((s[0] & form[i].mask) != form[i].lead)
            continue;
        for (int k = 1; k < form[i].bytes; k++) {
            if ((s[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[k] & 0x3f);
        }
        if (code < form[i].least || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000))
            return 0;
        return form[i].bytes;
    }
    return 0;
}

/* File names are bytes; what is not UTF-8 becomes U+FFFD. */
static void quote(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    putc('"', out);
    while (*s) {
        int n = utf8(s);

        if (n == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 32 || *s == 127)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n ? n : 1;
    }
    putc('"', out);
}

static void place(json *j, const char *key)
{
    if (!j->first)
        putc(',', j->out);
    if (j->depth)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    j->first = 0;
    if (!key)
        return;
    quote(j->out, key);
    fputs(": ", j->out);
}

void json_open(json *j, const char *key, char bracket)
{
    place(j, key);
    putc(bracket, j->out);
    j->depth++;
    j->first = 1;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (!j->first)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    putc(bracket, j->out);
    j->first = 0;
}

void json_text(json *j, const char *key, const char *value)
{
    place(j, key);
    if (value)
        quote(j->out, value);
    else
        fputs("null", j->out);
}

/* The shortest form that reads back as the same number. */
void json_number(json *j, const char *key, double value)
{
    char text[32] = "null";

    for (int digits = 6; digits <= 17 && isfinite(value); digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (!(back < value || back > value))
            break;
    }
    place(j, key);
    fputs(text, j->out);
}

void json_integer(json *j, const char *key, int64_t value)
{
    place(j, key);
    fprintf(j->out, "%lld", (long long)value);
}

void json_bool(json *j, const char *key, int value)
{
    place(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_raw(json *j, const char *key, const char *document)
{
    place(j, key);
    fputs(document, j->out);
}

json json_begin(const char *schema)
{
    json j = {stdout, 0, 1};

    json_open(&j, NULL, '{');
    json_text(&j, "schema", schema);
    json_text(&j, "version", spry_version());
    return j;
}

void json_end(json *j)
{
    json_close(j, '}');
    putc('\n', j->out);
}
