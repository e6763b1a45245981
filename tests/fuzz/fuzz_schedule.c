/* fuzz_schedule.c - schedules as text, spry's and WACO's: what is read can be
 * written and read again as the same. The first byte chooses the operation. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/super.h"
#include "spry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good)
{
    if (!good)
        abort();
}

static void try_spry(const char *text, spry_op op)
{
    char again[SPRY_SCHEDULE_TEXT];
    spry_schedule x, y;

    if (spry_schedule_parse_for(&x, text, op) != SPRY_OK ||
        (x.format == SPRY_SUPER && sp_super_fault(&x, op)))
        return;
    must(spry_schedule_parse(&y, spry_schedule_text(again, &x)) == SPRY_OK);
    must(sp_schedule_equal(&x, &y));
}

static void try_waco(const char *text, spry_op op)
{
    char again[SPRY_WACO_TEXT];
    float vector[SPRY_WACO_VECTOR];
    spry_schedule x, y;
    double ms;

    if (spry_waco_parse(&x, &ms, text, op, 0) != SPRY_OK)
        return;
    must(spry_waco_text(again, &x, op) == SPRY_OK);
    must(spry_waco_parse(&y, &ms, again, op, 0) == SPRY_OK);
    must(sp_schedule_equal(&x, &y) && spry_waco_vector(vector, &x, op) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[400];
    spry_op op;

    if (size < 1 || size > sizeof text)
        return 0;
    op = (spry_op)(data[0] % SPRY_OPS);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    try_spry(text, op);
    try_waco(text, op);
    return 0;
}
