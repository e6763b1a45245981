/* html.h - text, numbers and bytes as they may stand in a page. */
#ifndef SP_REPORT_HTML_H
#define SP_REPORT_HTML_H

#include "base/base.h"

/* Nothing in `text` can end the place it stands in: an element's text or a
 * quoted attribute. Control characters and broken UTF-8 become U+FFFD. */
void sp_html_text(sp_buf *out, const char *text);

/* The same as one word of a command. */
void sp_html_word(sp_buf *out, const char *word);

void sp_html_base64(sp_buf *out, const void *data, size_t n);

/* "2.86 ms", "1.2 GB", "2.96"; "-" when not finite. */
enum { SP_HTML_NUMBER = 32 };
const char *sp_html_seconds(char out[SP_HTML_NUMBER], double seconds);
const char *sp_html_bytes(char out[SP_HTML_NUMBER], double bytes);
const char *sp_html_number(char out[SP_HTML_NUMBER], double v, int digits);

#endif
