/* style.h - the page's style and script, as they stand in it. */
#ifndef SP_REPORT_STYLE_H
#define SP_REPORT_STYLE_H

extern const char sp_report_style[], sp_report_script[];

#endif
