/* plot.c - numbers -> SVG. Coordinates have one decimal: a tenth of a pixel. */
#include "report/plot.h"

#include <math.h>
#include <string.h>

#include "report/html.h"

enum {
    WIDTH = 460,
    HEIGHT = 290,
    LEFT = 62,
    RIGHT = 14,
    TOP = 12,
    BOTTOM = 44,
    MANY = 300 /* marks; beyond, those that would cover each other merge */
};

/* ---- axes ---- */

sp_axis sp_axis_of(const double *v, int n, int log, int zero, const char *label)
{
    sp_axis a = {HUGE_VAL, -HUGE_VAL, log, label};

    for (int i = 0; i < n; i++)
        if (isfinite(v[i]) && (!log || v[i] > 0)) {
            a.low = fmin(a.low, v[i]);
            a.high = fmax(a.high, v[i]);
        }
    if (!(a.low <= a.high))
        a.low = a.high = 1;
    if (log) {
        a.low /= 1.25;
        a.high *= 1.25;
    } else {
        double pad = 0.05 * fmax(a.high - a.low, 1e-3 * fabs(a.high));

        a.low = zero ? fmin(0, a.low) : a.low - pad;
        a.high += pad > 0 ? pad : 1;
    }
    return a;
}

/* 0 .. 1 along the axis, clipped. */
static double along(const sp_axis *a, double v)
{
    double t = a->log ? log(v / a->low) / log(a->high / a->low)
                      : (v - a->low) / (a->high - a->low);

    return t < 0 || !(v == v) ? 0 : t > 1 ? 1 : t;
}

static double at_x(const sp_plot *p, double v)
{
    return LEFT + along(&p->x, v) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const sp_plot *p, double v)
{
    return HEIGHT - BOTTOM - along(&p->y, v) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that there are about five. */
static double step_of(const sp_axis *a)
{
    double rough = (a->high - a->low) / 5, ten = pow(10, floor(log10(rough)));
    double lead = rough / ten;

    return ten * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

enum { TICKS = 24 };

/* On a log axis every power of ten, and 2 and 5 times it when there are few. */
static int log_ticks(double out[TICKS], const sp_axis *a)
{
    static const double lead[] = {1, 2, 5};
    double decades = log10(a->high / a->low);
    int fine = decades < 3, every = (int)ceil(decades / 8), n = 0;
    int first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));

    every = every < 1 ? 1 : every;
    for (int e = first; e <= last; e += every)
        for (int k = 0; k < (fine ? 3 : 1); k++) {
            double v = lead[k] * pow(10, e);

            if (v >= a->low && v <= a->high && n < TICKS)
                out[n++] = v;
        }
    return n;
}

static int ticks_of(double out[TICKS], const sp_axis *a)
{
    double step = a->log ? 0 : step_of(a);
    int n = 0;

    if (a->log)
        return log_ticks(out, a);
    for (double v = ceil(a->low / step) * step; v <= a->high && n < TICKS;
         v += step)
        out[n++] = fabs(v) < step / 1e6 ? 0 : v;
    return n;
}

static void x_axis(sp_plot *p)
{
    double tick[TICKS];
    int n = ticks_of(tick, &p->x);

    for (int i = 0; i < n; i++) {
        double x = at_x(p, tick[i]);

        sp_buf_printf(p->out,
                      "<path class=grid d=\"M%.1f %dV%d\"/>"
                      "<text x=%.1f y=%d text-anchor=middle>%.6g</text>",
                      x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 16,
                      tick[i]);
    }
    sp_buf_printf(p->out, "<text x=%d y=%d text-anchor=middle class=label>",
                  (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
    sp_html_text(p->out, p->x.label);
    sp_buf_add(p->out, "</text>");
}

static void y_axis(sp_plot *p)
{
    double tick[TICKS];
    int n = ticks_of(tick, &p->y), middle = (TOP + HEIGHT - BOTTOM) / 2;

    for (int i = 0; i < n; i++) {
        double y = at_y(p, tick[i]);

        sp_buf_printf(p->out,
                      "<path class=grid d=\"M%d %.1fH%d\"/>"
                      "<text x=%d y=%.1f text-anchor=end>%.6g</text>",
                      LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, tick[i]);
    }
    sp_buf_printf(p->out,
                  "<text transform=\"translate(14 %d) rotate(-90)\""
                  " text-anchor=middle class=label>",
                  middle);
    sp_html_text(p->out, p->y.label);
    sp_buf_add(p->out, "</text>");
}

void sp_plot_open(sp_plot *p, const char *title, const char *desc)
{
    sp_buf_add(p->out, "<figure><figcaption>");
    sp_html_text(p->out, title);
    sp_buf_printf(p->out,
                  "</figcaption>"
                  "<svg viewBox=\"0 0 %d %d\" role=img"
                  " aria-labelledby=\"t%d d%d\"><title id=t%d>",
                  WIDTH, HEIGHT, p->number, p->number, p->number);
    sp_html_text(p->out, title);
    sp_buf_printf(p->out, "</title><desc id=d%d>", p->number);
    sp_html_text(p->out, desc);
    sp_buf_add(p->out, "</desc>");
    x_axis(p);
    y_axis(p);
    sp_buf_printf(p->out, "<path class=axis d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP,
                  HEIGHT - BOTTOM, WIDTH - RIGHT);
}

void sp_plot_close(sp_plot *p)
{
    sp_buf_add(p->out, "</svg>");
    if (p->note.data) {
        sp_buf_add(p->out, "<p class=faint>");
        sp_html_text(p->out, p->note.data);
        sp_buf_add(p->out, "</p>");
    }
    p->out->failed |= p->note.failed;
    sp_buf_free(&p->note);
    sp_buf_add(p->out, "</figure>\n");
}

/* ---- names of lines ---- */

void sp_plot_along(sp_plot *p, const char *name, const double a[2],
                   const double b[2], int skip)
{
    double x = at_x(p, a[0]), y = at_y(p, a[1]);
    double dx = at_x(p, b[0]) - x, dy = at_y(p, b[1]) - y;
    double length = hypot(dx, dy);

    if (!(length > 0))
        return;
    if (skip < 0)
        skip += (int)length;
    sp_buf_printf(p->out,
                  "<text class=name transform=\"translate(%.1f %.1f) "
                  "rotate(%.1f)\" y=-4>",
                  x + dx / length * skip, y + dy / length * skip,
                  180 / acos(-1) * atan2(dy, dx));
    sp_html_text(p->out, name);
    sp_buf_add(p->out, "</text>\n");
}

/* ---- marks ---- */

static const char *const mark_class[SP_MARKS] = {"trial", "base", "best"};
/* Drawn from the middle of the mark; a trial is a dot as wide as its line. */
static const char *const mark_path[SP_MARKS] = {"h0", "m-4-4h8v8h-8z",
                                                "m0-6l6 6l-6 6l-6-6z"};

void sp_plot_marks(sp_plot *p, sp_mark mark, const double *x, const double *y,
                   int n)
{
    int cell = n > MANY ? 6 : 1;
    uint8_t *seen = sp_alloc(WIDTH * HEIGHT, 1);

    if (n > 0)
        sp_buf_printf(p->out, "<path class=%s d=\"", mark_class[mark]);
    for (int i = 0; i < n; i++) {
        double px = at_x(p, x[i]), py = at_y(p, y[i]);
        int at = (int)py / cell * WIDTH + (int)px / cell;

        if (seen && seen[at])
            continue;
        if (seen)
            seen[at] = 1;
        sp_buf_printf(p->out, "M%.0f %.0f%s", px, py, mark_path[mark]);
    }
    if (n > 0)
        sp_buf_add(p->out, "\"/>\n");
    sp_free(seen);
}

void sp_plot_named(sp_plot *p, sp_mark mark, double x, double y,
                   const char *name)
{
    sp_buf_printf(p->out,
                  "<path class=%s tabindex=0 d=\"M%.1f %.1f%s\"><title>",
                  mark_class[mark], at_x(p, x), at_y(p, y), mark_path[mark]);
    sp_html_text(p->out, name);
    sp_buf_add(p->out, "</title></path>\n");
}

void sp_plot_line(sp_plot *p, const char *style, const double *x,
                  const double *y, int n, int steps)
{
    sp_buf_printf(p->out, "<path class=\"line %s\" d=\"", style);
    for (int i = 0; i < n; i++) {
        double px = at_x(p, x[i]), py = at_y(p, y[i]);

        if (steps && i)
            sp_buf_printf(p->out, "H%.1fV%.1f", px, py);
        else
            sp_buf_printf(p->out, "%c%.1f %.1f", i ? 'L' : 'M', px, py);
    }
    sp_buf_add(p->out, "\"/>\n");
}
