/* net_words.c - options that are lists, "a,b,c", and counts. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

spry_status net_split(net_words *out, const char *option, const char *text)
{
    char *at = out->text;

    out->count = 0;
    if (strlen(text) >= sizeof out->text)
        return say_fail(SPRY_USAGE, "--%s is too long", option);
    memcpy(out->text, text, strlen(text) + 1);
    for (char *comma = at; comma; at = comma + 1) {
        comma = strchr(at, ',');
        if (comma)
            *comma = 0;
        if (out->count == NET_LIST || !*at)
            return say_fail(SPRY_USAGE,
                            "--%s takes 1 to %d words with commas between, "
                            "not '%s'",
                            option, NET_LIST, text);
        out->word[out->count++] = at;
        if (!comma)
            break;
    }
    return SPRY_OK;
}

spry_status net_memories(int64_t out[NET_LIST], int *count, const char *text)
{
    net_words w = {.count = 0};
    spry_status s = net_split(&w, "memory", text);

    for (int i = 0; s == SPRY_OK && i < w.count; i++) {
        char *end;

        out[i] = strtoll(w.word[i], &end, 10);
        if (*end || out[i] < 3)
            s = say_fail(SPRY_USAGE, "--memory takes numbers from 3, not '%s'",
                         w.word[i]);
    }
    *count = s == SPRY_OK ? w.count : 0;
    return s;
}

spry_status net_count(int64_t *out, const char *option, double said,
                      int64_t usual)
{
    static const double most = 1e12;

    *out = said < 0 ? usual : said <= most ? (int64_t)said : 0;
    if (said >= 0 && (*out < 1 || (double)*out < said))
        return say_fail(SPRY_USAGE,
                        "--%s takes a whole number from 1 to %g, not %g",
                        option, most, said);
    return SPRY_OK;
}

spry_status net_print_names(const char *schema, const char *key, net_word *name,
                            net_word *help)
{
    json j;

    if (!cli.json) {
        for (int i = 0; name(i); i++)
            printf("%-12s %s\n", name(i), help(i));
        return SPRY_OK;
    }
    j = json_begin(schema);
    json_open(&j, key, '[');
    for (int i = 0; name(i); i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", name(i));
        json_text(&j, "about", help(i));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
    return SPRY_OK;
}
