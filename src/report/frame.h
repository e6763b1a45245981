/* frame.h - what every page begins and ends with. */
#ifndef SP_REPORT_FRAME_H
#define SP_REPORT_FRAME_H

#include "base/base.h"

/* From the first byte to the title above the text. */
void sp_page_head(sp_buf *out, const char *title);
/* The script, which reads what sp_report_data wrote, and the end. */
void sp_page_foot(sp_buf *out);

#endif
