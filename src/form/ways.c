/* ways.c - passes and a form: their text. */
#include <string.h>

#include "form/internal.h"

static const char prefix[] = "passes=";

unsigned sp_way_rest(void)
{
    unsigned bit = 0;

    (void)spry_passes_parse(&bit, "rest");
    return bit;
}

static spry_status parse_passes(unsigned *out, const char *text, size_t len)
{
    char names[128];

    if (len >= sizeof names)
        return sp_fail(SPRY_USAGE, "'%.40s...' is too long for passes", text);
    memcpy(names, text, len);
    names[len] = 0;
    return spry_passes_parse(out, names);
}

spry_status sp_way_parse(sp_way *out, const char *text)
{
    sp_way w = {0};
    spry_status s = SPRY_OK;

    *out = w;
    if (strncmp(text, prefix, strlen(prefix)) == 0) {
        size_t len;

        text += strlen(prefix);
        len = strcspn(text, " ");
        s = parse_passes(&w.passes, text, len);
        text += len + strspn(text + len, " ");
    }
    if (s == SPRY_OK)
        s = sp_form_parse(&w.form, text);
    if (s != SPRY_OK)
        return s;
    if (w.form.rest)
        w.passes |= sp_way_rest();
    w.form.rest = 0;
    *out = w;
    return SPRY_OK;
}

const char *sp_way_text(char out[SP_WAY_TEXT], const sp_way *w)
{
    char form[SP_FORM_TEXT];
    unsigned all;
    int at = 0, first = 1;

    (void)spry_passes_parse(&all, NULL);
    if (w->passes)
        at = snprintf(out, SP_WAY_TEXT, "%s", prefix);
    if (w->passes == all)
        at += snprintf(out + at, (size_t)(SP_WAY_TEXT - at), "all");
    for (int i = 0; w->passes != all && spry_pass_name(i); i++)
        if (w->passes >> i & 1) {
            at += snprintf(out + at, (size_t)(SP_WAY_TEXT - at), "%s%s",
                           first ? "" : ",", spry_pass_name(i));
            first = 0;
        }
    sp_form_text(form, &w->form);
    snprintf(out + at, (size_t)(SP_WAY_TEXT - at), "%s%s", at ? " " : "", form);
    return out;
}
