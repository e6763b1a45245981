/* fuzz_job.c - jobs of a fleet from any bytes, and with them the recipes of
 * generators: what is taken can be written and read again as the same. */
#include "fuzz.h"

#include "spry/fleet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char once[SPRY_JOB_TEXT], again[SPRY_JOB_TEXT];
    spry_job job;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (spry_job_parse(&job, text) != SPRY_OK) {
        if (!*spry_message())
            abort();
    } else if (spry_job_text(once, &job) != SPRY_OK ||
               spry_job_parse(&job, once) != SPRY_OK ||
               spry_job_text(again, &job) != SPRY_OK || strcmp(once, again)) {
        abort();
    }
    if (sp_alloc_live())
        abort();
    free(text);
    return 0;
}
