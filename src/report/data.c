/* data.c - all trials of a report, packed for the page's script. */
#include <string.h>
#include <zlib.h>

#include "report/html.h"
#include "report/report.h"

/* A trial is a row of bytes, little end first: exact, and small enough for
 * ten thousand of them. The script reads the same places. */
enum {
    SCHEDULE = 0, /* 3 bytes: which of the texts */
    COMPILER = 3, /* the same */
    VERDICT = 6,
    NOISE = 7,
    WHEN = 8, /* 5 bytes */
    REALS = 13,
    VALUES = 6,
    ROW = REALS + 8 * VALUES
};

static void put_le(uint8_t *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(v >> 8 * i);
}

static void put_trial(uint8_t row[ROW], const sp_report_trial *t)
{
    const double value[VALUES] = {t->seconds, t->speedup,      t->low,
                                  t->high,    t->pack_seconds, t->bytes};

    put_le(row + SCHEDULE, (uint64_t)t->schedule, 3);
    put_le(row + COMPILER, (uint64_t)t->compiler, 3);
    row[VERDICT] = (uint8_t)t->verdict;
    row[NOISE] = (uint8_t)t->noise;
    put_le(row + WHEN, (uint64_t)t->when, 5);
    for (int k = 0; k < VALUES; k++) {
        uint64_t bits;

        memcpy(&bits, &value[k], sizeof bits);
        put_le(row + REALS + sizeof bits * (size_t)k, bits, 8);
    }
}

/* Deflated, since schedules repeat, and in base64, in which nothing can end
 * the element it stands in. */
static void put_packed(sp_buf *out, const sp_buf *json)
{
    uLongf n = compressBound((uLong)json->len);
    uint8_t *packed = sp_alloc((int64_t)n, 1);

    if (!packed || json->failed ||
        compress2(packed, &n, (const Bytef *)json->data, (uLong)json->len,
                  Z_BEST_COMPRESSION) != Z_OK)
        out->failed = 1;
    else
        sp_html_base64(out, packed, n);
    sp_free(packed);
}

static void case_data(sp_json *j, const sp_report_case *c)
{
    uint8_t *rows = sp_alloc(c->trials + 1, ROW);
    sp_buf text = {0};

    if (!rows) {
        j->out->failed = 1;
        return;
    }
    for (int i = 0; i < c->trials; i++)
        put_trial(rows + (size_t)ROW * (size_t)i, &c->trial[i]);
    sp_html_base64(&text, rows, ROW * (size_t)c->trials);
    sp_json_open(j, NULL, '{');
    sp_json_text(j, "problem", c->key);
    sp_json_text(j, "machine", c->on);
    sp_json_integer(j, "count", c->trials);
    sp_json_text(j, "rows", text.data ? text.data : "");
    sp_json_close(j, '}');
    j->out->failed |= text.failed;
    sp_buf_free(&text);
    sp_free(rows);
}

void sp_report_data(sp_buf *out, const sp_report *r)
{
    static const char *const names[VALUES] = {
        "seconds", "speedup", "low", "high", "pack_seconds", "bytes"};
    sp_buf json = {0};
    sp_json j = {.out = &json, .first = 1};

    sp_json_open(&j, NULL, '{');
    sp_json_open(&j, "values", '[');
    for (int i = 0; i < VALUES; i++)
        sp_json_text(&j, NULL, names[i]);
    sp_json_close(&j, ']');
    sp_json_open(&j, "verdicts", '[');
    for (int v = 0; v <= SPRY_VERDICT_SLOW; v++)
        sp_json_text(&j, NULL, spry_verdict_name((spry_verdict)v));
    sp_json_close(&j, ']');
    sp_json_open(&j, "texts", '[');
    for (int i = 0; i < r->texts; i++)
        sp_json_text(&j, NULL, r->text[i]);
    sp_json_close(&j, ']');
    sp_json_open(&j, "cases", '[');
    for (int i = 0; i < r->cases; i++)
        case_data(&j, &r->one[i]);
    sp_json_close(&j, ']');
    sp_json_close(&j, '}');
    sp_buf_add(out, "<script id=data type=application/octet-stream>");
    put_packed(out, &json);
    sp_buf_add(out, "</script>\n");
    sp_buf_free(&json);
}
