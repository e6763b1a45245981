/* charts.h - what is drawn of a report. */
#ifndef SP_REPORT_CHARTS_H
#define SP_REPORT_CHARTS_H

#include "report/report.h"

/* Each writes nothing when there is nothing to draw. *number tells the plots
 * of a page apart and is counted up. */
void sp_chart_roofline(sp_buf *out, const sp_report *r, const sp_report_case *c,
                       int *number);
void sp_chart_predicted(sp_buf *out, const sp_report *r,
                        const sp_report_case *c, int *number);
void sp_chart_search(sp_buf *out, const sp_report *r, const sp_report_case *c,
                     int *number);
/* How many of all problems gained how much. */
void sp_chart_speedups(sp_buf *out, const sp_report *r, int *number);
/* The speed of other libraries, operation by operation. */
void sp_chart_peers(sp_buf *out, const sp_report *r, int *number);
/* Do machines agree on which schedules are fast? */
void sp_chart_machines(sp_buf *out, const sp_report *r);

#endif
