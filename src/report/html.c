/* html.c - nothing a name contains may become markup. */
#include "report/html.h"

#include <math.h>
#include <string.h>

static const char *entity(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void sp_html_text(sp_buf *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    const unsigned char *end = p + strlen(text);

    while (p < end) {
        size_t n = sp_utf8_length(p, end);
        const char *special = entity(*p);

        if (special)
            sp_buf_add(out, special);
        else if (n == 0 || (*p < ' ' && *p != '\t' && *p != '\n') || *p == 127)
            sp_buf_add(out, "\xef\xbf\xbd");
        else
            sp_buf_bytes(out, p, n);
        p += n ? n : 1;
    }
}

void sp_html_word(sp_buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789/._-+:@%,=";
    sp_buf quoted = {0};

    if (*word && word[strspn(word, plain)] == 0) {
        sp_html_text(out, word);
        return;
    }
    sp_buf_add(&quoted, "'");
    for (; *word; word++)
        if (*word == '\'')
            sp_buf_add(&quoted, "'\\''");
        else
            sp_buf_bytes(&quoted, word, 1);
    sp_buf_add(&quoted, "'");
    sp_html_text(out, quoted.data ? quoted.data : "");
    out->failed |= quoted.failed;
    sp_buf_free(&quoted);
}

void sp_html_base64(sp_buf *out, const void *data, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        unsigned v = (unsigned)p[i] << 16;
        char four[4];

        v |= left > 1 ? (unsigned)p[i + 1] << 8 : 0;
        v |= left > 2 ? (unsigned)p[i + 2] : 0;
        four[0] = digit[v >> 18];
        four[1] = digit[v >> 12 & 63];
        four[2] = left > 1 ? digit[v >> 6 & 63] : '=';
        four[3] = left > 2 ? digit[v & 63] : '=';
        sp_buf_bytes(out, four, sizeof four);
    }
}

const char *sp_html_number(char out[SP_HTML_NUMBER], double v, int digits)
{
    if (isfinite(v))
        snprintf(out, SP_HTML_NUMBER, "%.*g", digits, v);
    else
        snprintf(out, SP_HTML_NUMBER, "-");
    return out;
}

/* v in the largest unit that leaves it at least 1. */
static const char *in_units(char out[SP_HTML_NUMBER], double v, double least,
                            const char *const *unit, int units)
{
    double scale = least;
    int u = 0;

    if (!isfinite(v)) {
        snprintf(out, SP_HTML_NUMBER, "-");
        return out;
    }
    for (; u + 1 < units && v >= 999.5 * scale; u++)
        scale *= 1000;
    snprintf(out, SP_HTML_NUMBER, "%.3g %s", v / scale, unit[u]);
    return out;
}

const char *sp_html_seconds(char out[SP_HTML_NUMBER], double seconds)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};

    return in_units(out, seconds, 1e-9, unit, 4);
}

const char *sp_html_bytes(char out[SP_HTML_NUMBER], double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};

    return in_units(out, bytes, 1, unit, 5);
}
