/* json_read.c - JSON text to one flat array of values.
 *
 * Strict JSON (RFC 8259) in UTF-8. Since texts come out as C strings, an
 * escaped zero byte is refused. */
#include "base/base.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

/* Letters after a backslash and what they stand for. */
static const char escape_letter[] = "\"\\/bfnrt";
static const char escape_meaning[] = "\"\\/\b\f\n\r\t";

typedef struct {
    sp_json_doc *doc;
    int room; /* values that fit in doc->value */
    const char *text, *at, *end;
    char *string; /* free space; no text is longer than it was written */
} reader;

static spry_status refuse(const reader *r, const char *what)
{
    return sp_fail(SPRY_INPUT, "JSON at offset %zu: %s",
                   (size_t)(r->at - r->text), what);
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' ||
                              *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Step over c if it is next. */
static int took(reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return 0;
    r->at++;
    return 1;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)((at - digits) % 16) : -1;
}

/* Four hex digits at r->at; -1 when they are not there. */
static long read_hex4(reader *r)
{
    long code = 0;

    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(r->at[i]);

        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    r->at += 4;
    return code;
}

static void put_utf8(reader *r, long code)
{
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    *r->string++ = (char)(lead[n] | code >> 6 * (n - 1));
    for (int i = n - 2; i >= 0; i--)
        *r->string++ = (char)(0x80 | (code >> 6 * i & 0x3f));
}

/* Behind "\u": one character, which may take a second "\u". */
static spry_status read_unicode(reader *r)
{
    long code = read_hex4(r), low;

    if (code < 0)
        return refuse(r, "four hex digits should follow \\u");
    if (code == 0)
        return refuse(r, "a zero byte cannot be part of a text");
    if (code >> 10 == 0x37)
        return refuse(r, "a low surrogate stands alone");
    if (code >> 10 == 0x36) {
        low = took(r, '\\') && took(r, 'u') ? read_hex4(r) : -1;
        if (low >> 10 != 0x37)
            return refuse(r, "a high surrogate stands alone");
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
    }
    put_utf8(r, code);
    return SPRY_OK;
}

/* Behind a backslash. */
static spry_status read_escape(reader *r)
{
    const char *at;

    if (took(r, 'u'))
        return read_unicode(r);
    at = r->at < r->end && *r->at ? strchr(escape_letter, *r->at) : NULL;
    if (!at)
        return refuse(r, "unknown escape");
    *r->string++ = escape_meaning[at - escape_letter];
    r->at++;
    return SPRY_OK;
}

/* Behind the opening quote; *out is the text without escapes. */
static spry_status read_string(reader *r, const char **out)
{
    spry_status s = SPRY_OK;

    *out = r->string;
    while (s == SPRY_OK && !took(r, '"')) {
        size_t n;

        if (r->at == r->end)
            return refuse(r, "the text has no closing quote");
        if (took(r, '\\')) {
            s = read_escape(r);
            continue;
        }
        n = sp_utf8_length((const unsigned char *)r->at,
                           (const unsigned char *)r->end);
        if (n == 0 || (unsigned char)*r->at < 0x20)
            return refuse(r, n ? "control character in a text" : "not UTF-8");
        memcpy(r->string, r->at, n);
        r->string += n;
        r->at += n;
    }
    *r->string++ = 0;
    return s;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the number at p by JSON's grammar, NULL when it is none. */
static const char *number_end(const char *p, const char *end)
{
    const char *start;

    p += p < end && *p == '-';
    start = p;
    p = skip_digits(p, end);
    if (p == start || (*start == '0' && p - start > 1))
        return NULL;
    if (p < end && *p == '.') {
        start = ++p;
        p = skip_digits(p, end);
        if (p == start)
            return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        start = p;
        p = skip_digits(p, end);
        if (p == start)
            return NULL;
    }
    return p;
}

static spry_status read_number(reader *r, double *out)
{
    const char *end = number_end(r->at, r->end);
    size_t n;

    if (!end)
        return refuse(r, "no value here");
    n = (size_t)(end - r->at);
    memcpy(r->string, r->at, n); /* free space, to end it with a zero */
    r->string[n] = 0;
    *out = strtod(r->string, NULL);
    if (!isfinite(*out))
        return refuse(r, "the number is too large");
    r->at = end;
    return SPRY_OK;
}

static int took_word(reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return 0;
    r->at += n;
    return 1;
}

/* The next free value; -1 when memory is short. */
static int new_value(reader *r)
{
    sp_json_doc *doc = r->doc;

    if (doc->count == r->room) {
        int room = r->room ? 2 * r->room : 16;
        sp_json_value *more =
            sp_grow(doc->value, doc->count, room, sizeof *more);

        if (!more)
            return -1;
        doc->value = more;
        r->room = room;
    }
    doc->value[doc->count] = (sp_json_value){0};
    return doc->count++;
}

static spry_status read_value(reader *r, const char *key, int depth);

/* Behind the opening bracket, up to and over the closing one. */
static spry_status read_members(reader *r, int self, int depth)
{
    int object = r->doc->value[self].kind == SP_JSON_OBJECT;
    char close = object ? '}' : ']';
    int count = 0;

    if (depth >= DEPTH)
        return refuse(r, "nested too deeply");
    skip_space(r);
    if (took(r, close))
        return SPRY_OK;
    do {
        const char *key = NULL;
        spry_status s = SPRY_OK;

        skip_space(r);
        if (object) {
            s = took(r, '"') ? read_string(r, &key)
                             : refuse(r, "a key should be here");
            skip_space(r);
            if (s == SPRY_OK && !took(r, ':'))
                s = refuse(r, "a colon should be here");
        }
        if (s == SPRY_OK)
            s = read_value(r, key, depth + 1);
        if (s != SPRY_OK)
            return s;
        count++;
        skip_space(r);
    } while (took(r, ','));
    r->doc->value[self].count = count;
    return took(r, close) ? SPRY_OK
                          : refuse(r, "a comma or closing bracket should be "
                                      "here");
}

/* A value that is no bracket, into *v. */
static spry_status read_scalar(reader *r, sp_json_value *v)
{
    static const struct {
        const char *word;
        sp_json_kind kind;
    } words[] = {{"null", SP_JSON_NULL},
                 {"false", SP_JSON_FALSE},
                 {"true", SP_JSON_TRUE}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (took_word(r, words[i].word)) {
            v->kind = words[i].kind;
            return SPRY_OK;
        }
    v->kind = SP_JSON_STRING;
    if (took(r, '"'))
        return read_string(r, &v->text);
    v->kind = SP_JSON_NUMBER;
    return read_number(r, &v->number);
}

static spry_status read_value(reader *r, const char *key, int depth)
{
    int self = new_value(r), array;
    spry_status s;

    if (self < 0)
        return sp_fail_memory((size_t)r->room * 2 * sizeof(sp_json_value));
    r->doc->value[self].key = key;
    skip_space(r);
    array = took(r, '[');
    if (array || took(r, '{')) {
        r->doc->value[self].kind = array ? SP_JSON_ARRAY : SP_JSON_OBJECT;
        s = read_members(r, self, depth);
    } else {
        s = read_scalar(r, &r->doc->value[self]);
    }
    r->doc->value[self].next = r->doc->count;
    return s;
}

/* In the C locale, where strtod knows the point whatever the program set. */
static spry_status read_root(reader *r)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
    spry_status s;

    if (!c)
        return sp_fail_errno(SPRY_SYSTEM, "no C locale");
    before = uselocale(c);
    s = read_value(r, NULL, 0);
    uselocale(before);
    freelocale(c);
    return s;
}

spry_status sp_json_parse(sp_json_doc *out, const char *text, size_t len)
{
    reader r = {out, 0, text, text, text + len, NULL};
    spry_status s;

    *out = (sp_json_doc){0};
    if (len > INT_MAX / 4)
        return sp_fail(SPRY_INPUT, "JSON of %zu bytes is too long", len);
    out->strings = r.string = sp_alloc_raw((int64_t)len + 1, 1);
    if (!out->strings)
        return sp_fail_memory(len + 1);
    s = read_root(&r);
    skip_space(&r);
    if (s == SPRY_OK && r.at != r.end)
        s = refuse(&r, "more text behind the value");
    if (s != SPRY_OK)
        sp_json_free(out);
    return s;
}

void sp_json_free(sp_json_doc *doc)
{
    sp_free(doc->value);
    sp_free(doc->strings);
    *doc = (sp_json_doc){0};
}

const sp_json_value *sp_json_get(const sp_json_doc *doc, const sp_json_value *v,
                                 const char *key)
{
    int at;

    if (!v || v->kind != SP_JSON_OBJECT)
        return NULL;
    at = (int)(v - doc->value) + 1;
    for (int i = 0; i < v->count; i++, at = doc->value[at].next)
        if (strcmp(doc->value[at].key, key) == 0)
            return &doc->value[at];
    return NULL;
}

const char *sp_json_get_text(const sp_json_doc *doc, const sp_json_value *v,
                             const char *key, const char *otherwise)
{
    const sp_json_value *member = sp_json_get(doc, v, key);

    return member && member->kind == SP_JSON_STRING ? member->text : otherwise;
}

double sp_json_get_number(const sp_json_doc *doc, const sp_json_value *v,
                          const char *key, double otherwise)
{
    const sp_json_value *member = sp_json_get(doc, v, key);

    return member && member->kind == SP_JSON_NUMBER ? member->number
                                                    : otherwise;
}
