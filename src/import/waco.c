/* waco.c - lines of WACO's CollectedData: "SCHEDULE = ms". */
#include <ctype.h>
#include <string.h>

#include "import/internal.h"
#include "spry/space.h"

/* The output of a run has other lines beside those of candidates. */
static int is_talk(const char *line)
{
    return isalpha((unsigned char)*line) && strncmp(line, "Testing", 7) != 0;
}

spry_status sp_import_waco(sp_import *f, char *line)
{
    char text[SPRY_SCHEDULE_TEXT];
    sp_matrix_facts k = {.name = f->subject, .n = f->n};
    sp_foreign_row r = {.schedule = text, .ours = 1, .compiler = "waco"};
    spry_schedule x;
    spry_op op;
    double ms;
    spry_status s;

    if (!*f->op)
        return sp_fail(SPRY_USAGE,
                       "%s: its name does not say which operation it is of; "
                       "--op does",
                       f->path);
    s = spry_op_parse(&op, f->op);
    if (s != SPRY_OK)
        return s;
    if (is_talk(line))
        return SPRY_OK;
    s = spry_waco_parse(&x, &ms, line, op, f->m.threads);
    if (s != SPRY_OK)
        return s;
    if (!(ms > 0))
        return sp_fail(SPRY_INPUT, "a schedule without a time");
    spry_schedule_text(text, &x);
    r.seconds = ms * 1e-3;
    return sp_import_row(f, &k, &r);
}
