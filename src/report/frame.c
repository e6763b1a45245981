/* frame.c - what every page begins and ends with. */
#include "report/frame.h"

#include <string.h>

#include "report/html.h"
#include "report/style.h"

/* The browser runs and loads nothing but what this page was written with. */
void sp_page_head(sp_buf *out, const char *title)
{
    uint8_t digest[SP_SHA256];

    sp_sha256(digest, sp_report_script, strlen(sp_report_script));
    sp_buf_add(out,
               "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
               "<meta http-equiv=Content-Security-Policy content=\""
               "default-src 'none';style-src 'unsafe-inline';img-src "
               "data:;script-src 'sha256-");
    sp_html_base64(out, digest, sizeof digest);
    sp_buf_add(out, "'\">\n<meta name=viewport content=\"width=device-width\">"
                    "\n<title>");
    sp_html_text(out, title);
    sp_buf_add(out, "</title>\n<style>\n");
    sp_buf_add(out, sp_report_style);
    sp_buf_add(out, "</style></head><body>\n<h1>");
    sp_html_text(out, title);
    sp_buf_add(out, "</h1>\n");
}

void sp_page_foot(sp_buf *out)
{
    sp_buf_add(out, "<script>");
    sp_buf_add(out, sp_report_script);
    sp_buf_add(out, "</script>\n</body></html>\n");
}
