/* peers.c - what bench-peers wrote (PEERS_CSV, docs/peers.md) -> bars.
 *
 * A line says how long a library takes over spry's tuned plan: the geometric
 * mean of so many problems of an operation. These are the benchmark's, not
 * those of the store, and the page says so. */
#include <math.h>
#include <string.h>

#include "report/charts.h"
#include "report/html.h"

static const char header[] =
    "operation,library,times,low,high,problems,machine";

enum { FIELDS = 7, MOST_BYTES = 1 << 20, MOST_PEERS = 1000 };

/* ---- reading ---- */

/* Cut one field off *at, in place; quotes around it go. *at is NULL behind the
 * last one. NULL: damaged, or none is left. */
static char *field(char **at)
{
    char *from = *at, *to = from, *begin = from;
    int quoted = from && *from == '"';

    if (!from)
        return NULL;
    for (from += quoted; *from && (quoted || *from != ','); from++) {
        if (quoted && *from == '"') {
            quoted = from[1] == '"';
            if (!quoted) {
                from++;
                break;
            }
            from++;
        }
        *to++ = *from;
    }
    if (quoted || (*from && *from != ','))
        return NULL;
    *at = *from ? from + 1 : NULL;
    *to = 0;
    return begin;
}

/* A number that is not negative; an empty one is 0. */
static int number(double *out, const char *text)
{
    const char *end = text + strlen(text);

    *out = 0;
    return !*text || (sp_scan_real(&text, end, out) && text == end &&
                      isfinite(*out) && *out >= 0);
}

static int read_line(sp_report *r, sp_report_peer *p, char *line)
{
    char *part[FIELDS];
    double problems;

    for (int i = 0; i < FIELDS; i++) {
        part[i] = field(&line);
        if (!part[i])
            return 0;
    }
    if (line || !*part[0] || !*part[1] || !number(&p->times, part[2]) ||
        !(p->times > 0) || !number(&p->low, part[3]) ||
        !number(&p->high, part[4]) || !number(&problems, part[5]))
        return 0;
    p->operation = sp_report_text(r, part[0]);
    p->library = sp_report_text(r, part[1]);
    p->problems = (int64_t)fmin(problems, 1e9);
    p->machine = sp_report_text(r, part[6]);
    return 1;
}

/* The next line, cut off *at; NULL past the last. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    if (!*line)
        return NULL;
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = 0;
    if (end && end > line && end[-1] == '\r')
        end[-1] = 0;
    return line;
}

static spry_status read_text(sp_report *r, char *text, const char *path)
{
    char *line = next_line(&text);

    if (!line || strcmp(line, header) != 0)
        return sp_fail(SPRY_INPUT,
                       "%s: not what PEERS_CSV=FILE make bench-peers writes",
                       path);
    for (int n = 2; (line = next_line(&text)); n++) {
        if (n > MOST_PEERS || !read_line(r, &r->peer[r->peers], line))
            return sp_fail(SPRY_INPUT, "%s:%d: no such line of bench-peers",
                           path, n);
        r->peers++;
    }
    return r->status;
}

void sp_report_parse_peers(sp_report *r, char *text, const char *path)
{
    r->peer = sp_alloc(MOST_PEERS, sizeof *r->peer);
    r->status = !r->peer ? sp_fail_memory(MOST_PEERS * sizeof *r->peer)
                         : read_text(r, text, path);
}

void sp_report_read_peers(sp_report *r, const char *path)
{
    sp_file f;

    if (!path || r->status != SPRY_OK)
        return;
    r->status = sp_file_read(&f, path, MOST_BYTES);
    if (r->status != SPRY_OK)
        return;
    sp_report_parse_peers(r, f.data, path);
    sp_file_free(&f);
}

/* ---- drawing ---- */

/* A longer bar is cut; its number says all. */
static const double LONGEST = 8;

enum { WIDTH = 460, LEFT = 104, BARS = 300, TOP = 6, STEP = 22, THICK = 14 };

typedef struct {
    sp_buf *out;
    const sp_report *r;
    int operation; /* a text */
    int bars, number;
    double most; /* the end of the axis */
} chart;

/* Bounds that bound nothing are not drawn as if they did. */
static int is_bounded(const sp_report_peer *p)
{
    return p->low > 0 && p->high > p->low && p->high < 100 * p->low;
}

static double at(const chart *c, double times)
{
    return LEFT + BARS * fmin(times, c->most) / c->most;
}

static void bar(const chart *c, const sp_report_peer *p, int row)
{
    double y = TOP + STEP * row, end = at(c, p->times);
    double high = is_bounded(p) ? at(c, p->high) : end;
    char shown[SP_HTML_NUMBER];

    sp_buf_printf(c->out, "<text x=%d y=%.0f text-anchor=end class=label>",
                  LEFT - 6, y + 12);
    sp_html_text(c->out, c->r->text[p->library]);
    sp_buf_printf(c->out, "</text><path class=%s d=\"M%d %.0fH%.1fv%dH%dz\"/>",
                  p->times < 1 ? "less" : "peer", LEFT, y, end, THICK, LEFT);
    if (p->times > c->most)
        sp_buf_printf(c->out, "<path class=cut d=\"M%.1f %.0fl6 %d\"/>",
                      end - 16, y + THICK + 1, -THICK - 2);
    else if (is_bounded(p))
        sp_buf_printf(c->out, "<path class=axis d=\"M%.1f %.0fH%.1f\"/>",
                      at(c, p->low), y + THICK / 2.0, high);
    sp_buf_printf(c->out, "<text x=%.1f y=%.0f>%s<title>%lld problems",
                  fmax(end, high) + 6, y + 12,
                  sp_html_number(shown, p->times, 3), (long long)p->problems);
    if (is_bounded(p))
        sp_buf_printf(c->out, ", %.2f to %.2f", p->low, p->high);
    sp_buf_add(c->out, "</title></text>\n");
}

static void measure_bars(chart *c)
{
    c->bars = 0;
    c->most = 2;
    for (int i = 0; i < c->r->peers; i++) {
        const sp_report_peer *p = &c->r->peer[i];

        if (p->operation != c->operation)
            continue;
        c->bars++;
        c->most = fmax(c->most, fmin(LONGEST, p->times));
        if (is_bounded(p))
            c->most = fmax(c->most, fmin(LONGEST, p->high));
    }
}

static void draw_operation(chart *c)
{
    const char *name = c->r->text[c->operation];
    int bottom, row = 0;

    measure_bars(c);
    bottom = TOP + STEP * c->bars;
    sp_buf_add(c->out, "<figure><figcaption>");
    sp_html_text(c->out, name);
    sp_buf_printf(c->out,
                  "</figcaption><svg viewBox=\"0 0 %d %d\" role=img "
                  "aria-labelledby=\"t%d d%d\"><title id=t%d>",
                  WIDTH, bottom + 22, c->number, c->number, c->number);
    sp_html_text(c->out, name);
    sp_buf_printf(c->out,
                  "</title><desc id=d%d>Time of every library over that of "
                  "spry's tuned plan</desc>",
                  c->number++);
    for (int i = 0; i < c->r->peers; i++)
        if (c->r->peer[i].operation == c->operation)
            bar(c, &c->r->peer[i], row++);
    sp_buf_printf(c->out,
                  "<path class=one d=\"M%.1f %dV%d\"/>"
                  "<text x=%.1f y=%d text-anchor=middle>spry = 1</text>"
                  "<path class=axis d=\"M%d %dV%d\"/></svg></figure>\n",
                  at(c, 1), TOP - 4, bottom, at(c, 1), bottom + 15, LEFT,
                  TOP - 4, bottom);
}

/* Is it the first of its operation? */
static int is_first(const sp_report *r, int i)
{
    for (int j = 0; j < i; j++)
        if (r->peer[j].operation == r->peer[i].operation)
            return 0;
    return 1;
}

void sp_chart_peers(sp_buf *out, const sp_report *r, int *number)
{
    chart c = {.out = out, .r = r, .number = *number};

    if (!r->peers)
        return;
    sp_buf_add(out, "<h2>Beside other libraries</h2><p>Their time over that of "
                    "spry's tuned plan: geometric means over problems of "
                    "bench-peers, not of this store, with 95 % intervals");
    if (r->text[r->peer[0].machine][0]) {
        sp_buf_add(out, "; measured on ");
        sp_html_text(out, r->text[r->peer[0].machine]);
    }
    sp_buf_add(out, ". Above 1 spry is faster.</p><div class=charts>\n");
    for (int i = 0; i < r->peers; i++)
        if (is_first(r, i)) {
            c.operation = r->peer[i].operation;
            draw_operation(&c);
        }
    sp_buf_add(out, "</div>\n");
    *number = c.number;
}
