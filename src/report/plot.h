/* plot.h - axes and marks as SVG. */
#ifndef SP_REPORT_PLOT_H
#define SP_REPORT_PLOT_H

#include "base/base.h"

typedef struct {
    double low, high;
    int log; /* 1: logarithmic, low above 0 */
    const char *label;
} sp_axis;

typedef struct {
    sp_buf *out;
    sp_axis x, y;
    int number;  /* tells the plots of a page apart */
    sp_buf note; /* plain text below it, if any; closing frees it */
} sp_plot;

/* Colours and shapes are told apart by both: the style knows these. */
typedef enum {
    SP_MARK_TRIAL,    /* a circle */
    SP_MARK_BASELINE, /* a square */
    SP_MARK_WINNER,   /* a diamond */
    SP_MARKS
} sp_mark;

/* Wide enough for all of v[n]; those not above 0 do not count on a log axis.
 * With `zero` a linear axis begins there. */
sp_axis sp_axis_of(const double *v, int n, int log, int zero,
                   const char *label);

/* The frame with its ticks; title and desc are for who cannot see it. */
void sp_plot_open(sp_plot *p, const char *title, const char *desc);
void sp_plot_close(sp_plot *p);

/* Many marks of one kind; what lies in the same pixel is drawn once. */
void sp_plot_marks(sp_plot *p, sp_mark mark, const double *x, const double *y,
                   int n);
/* One that can be reached by keyboard and says what it is. */
void sp_plot_named(sp_plot *p, sp_mark mark, double x, double y,
                   const char *name);
/* A line through n points, in the style's class; steps: as stairs. */
void sp_plot_line(sp_plot *p, const char *style, const double *x,
                  const double *y, int n, int steps);
/* A name along the line from a to b, beginning `skip` pixels after a; if
 * skip is negative, as many before b. */
void sp_plot_along(sp_plot *p, const char *name, const double a[2],
                   const double b[2], int skip);

#endif
