/* passes.c - the table of passes, in the order in which they run. */
#include "shrink/passes.h"

#include <string.h>

static const sp_pass *const passes[] = {
    &sp_pass_factor, &sp_pass_merge,    &sp_pass_inline,
    &sp_pass_dead,   &sp_pass_renumber, &sp_pass_rest,
};
enum { PASSES = sizeof passes / sizeof passes[0] };

const sp_pass *sp_pass_at(int i)
{
    return i >= 0 && i < PASSES ? passes[i] : NULL;
}

const char *spry_pass_name(int i)
{
    return sp_pass_at(i) ? passes[i]->name : NULL;
}

const char *spry_pass_help(int i)
{
    return sp_pass_at(i) ? passes[i]->help : NULL;
}

static spry_status unknown_pass(const char *name, size_t len)
{
    char list[128] = "";
    size_t used = 0;

    for (int i = 0; i < PASSES && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i ? ", " : "", passes[i]->name);
    return sp_fail(SPRY_USAGE, "no pass '%.*s'; there are %s, all and none",
                   len < 40 ? (int)len : 40, name, list);
}

static int is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

spry_status spry_passes_parse(unsigned *out, const char *text)
{
    SP_NEED(out);

    static const unsigned all = (1u << PASSES) - 1;

    *out = 0;
    if (!text || strcmp(text, "all") == 0)
        *out = all;
    if (!text || strcmp(text, "all") == 0 || strcmp(text, "none") == 0)
        return SPRY_OK;
    for (;;) {
        size_t len = strcspn(text, ",");
        int i = 0;

        while (i < PASSES && !is_word(text, len, passes[i]->name))
            i++;
        if (i == PASSES)
            return unknown_pass(text, len);
        *out |= 1u << i;
        if (!text[len])
            return SPRY_OK;
        text += len + 1;
    }
}
