/* fuzz_peers.c - what bench-peers wrote, from any bytes: bars are drawn, or a
 * sentence says why not. */
#include "fuzz.h"

#include "report/charts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exact: overruns are seen */
    sp_report r = {.status = SPRY_OK};
    sp_buf page = {0};
    int number = 0;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    sp_report_parse_peers(&r, text, "fuzz.csv");
    if (r.status == SPRY_OK)
        sp_chart_peers(&page, &r, &number);
    else if (!*spry_message())
        abort();
    if (page.len && strlen(page.data) != page.len)
        abort();
    sp_buf_free(&page);
    sp_report_free(&r);
    if (sp_alloc_live())
        abort();
    free(text);
    return 0;
}
