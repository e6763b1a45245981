/* chart.c - how much slower the others are, as a picture.
 *
 * A panel for every operation, a bar for everyone who took part: the geometric
 * mean of their time over spry's, with its 95 % interval and the number of
 * problems. Logarithmic, so that twice as slow is equally long everywhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

/* A bar that is longer is cut there; its number says all. */
static const double LONGEST = 16;

enum {
    LEFT = 92,   /* where bars begin: names stand before it */
    PANEL = 236, /* from one panel to the next */
    BARS = 150,  /* the length of an axis */
    TOP = 58,
    STEP = 22,
    PANELS = 3
};

static const struct {
    const char *name;
    spry_op op;
} panels[PANELS] = {
    {"SpMV", SPRY_SPMV}, {"SpMM", SPRY_SPMM}, {"SDDMM", SPRY_SDDMM}};

/* Colours follow the page it is shown on. */
static const char style[] =
    "<style>text{font:13px sans-serif;fill:#24292f}.small{font-size:11px;"
    "fill:#57606a}rect{fill:#3b7dd8}path{stroke:#57606a;fill:none}"
    ".one{stroke:#cf5b21;stroke-width:1.5}@media(prefers-color-scheme:dark)"
    "{text{fill:#e6edf3}.small{fill:#9da7b1}rect{fill:#5a96e6}"
    "path{stroke:#9da7b1}.one{stroke:#f0883e}}</style>\n";

typedef struct {
    FILE *out;
    const bench_report *r;
    double most; /* of all bars */
    int shown[WHOS], bars;
} chart;

static sp_interval mean_of(const chart *c, int panel, int who, int *n)
{
    bench_filter f = BENCH_EVERY;

    f.op = (int)panels[panel].op;
    return bench_mean(c->r, &f, bench_who_ratio, who, n);
}

static void find_bars(chart *c)
{
    c->most = 2;
    for (int who = WHO_PLAIN; who < c->r->whos; who++) {
        int seen = 0;

        for (int k = 0; k < PANELS; k++) {
            int n;
            sp_interval v = mean_of(c, k, who, &n);

            seen += n;
            if (n)
                c->most = fmax(c->most, fmin(v.mid, LONGEST));
        }
        if (seen)
            c->shown[c->bars++] = who;
    }
}

/* The axis begins at a half, so that who is faster than spry is seen. */
static double along(const chart *c, double x)
{
    return BARS * log2(2 * fmin(fmax(x, 0.5), c->most)) / log2(2 * c->most);
}

static void draw_bar(const chart *c, int panel, int bar, int x)
{
    int n, y = TOP + STEP * bar;
    sp_interval v = mean_of(c, panel, c->shown[bar], &n);
    double end = n ? along(c, v.mid) : 0;

    if (!n) {
        fprintf(c->out,
                "<text class=\"small\" x=\"%d\" y=\"%d\">\xe2\x80\x93</text>\n",
                x + 4, y + 12);
        return;
    }
    fprintf(c->out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\"/>\n",
            x, y, end);
    if (isfinite(v.low) && isfinite(v.high)) {
        fprintf(c->out, "<path d=\"M%.1f %dH%.1f\"/>\n", x + along(c, v.low),
                y + 7, x + along(c, v.high));
        end = fmax(end, along(c, v.high));
    }
    fprintf(c->out,
            "<text class=\"small\" x=\"%.1f\" y=\"%d\">%.2f<title>%d problems"
            "</title></text>\n",
            x + end + 5, y + 11, v.mid, n);
}

static void draw_panel(const chart *c, int panel)
{
    int x = LEFT + PANEL * panel, bottom = TOP + STEP * c->bars;
    double one = x + along(c, 1);

    fprintf(c->out, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n",
            x, TOP - 12, panels[panel].name);
    for (int bar = 0; bar < c->bars; bar++)
        draw_bar(c, panel, bar, x);
    fprintf(c->out,
            "<path class=\"one\" d=\"M%.1f %dV%d\"/><text class=\"small\" "
            "x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">spry = 1</text>\n",
            one, TOP - 4, bottom, one, bottom + 14);
}

static void draw(const chart *c)
{
    int high = TOP + STEP * c->bars + 24, wide = LEFT + PANEL * PANELS - 20;

    fprintf(c->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            "<title>Time over spry's, by operation and library</title>\n%s"
            "<text x=\"4\" y=\"20\">Time over spry's: geometric means of %d "
            "problems on %d cores (%s), 95 %% intervals</text>\n",
            wide, high, wide, high, style, c->r->rows, c->r->machine.cores,
            spry_isa_name(c->r->machine.isa));
    for (int bar = 0; bar < c->bars; bar++)
        fprintf(c->out,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                LEFT - 8, TOP + STEP * bar + 12, c->r->who[c->shown[bar]]);
    for (int panel = 0; panel < PANELS; panel++)
        draw_panel(c, panel);
    fprintf(c->out, "</svg>\n");
}

void bench_write_chart(const bench_report *r)
{
    const char *path = getenv("PEERS_SVG");
    chart c = {.r = r};

    if (!path || !*path)
        return;
    c.out = fopen(path, "w");
    if (!c.out) {
        perror(path);
        return;
    }
    find_bars(&c);
    draw(&c);
    if (fclose(c.out) == 0)
        printf("the same as a picture: %s\n", path);
    else
        perror(path);
}
