/* kinds.c - what `generate` and `net generate` share: kinds with parameters,
 * listed, and the words of one as a single text. */
#include "cli.h"

#include <string.h>

void kind_list(json *j, const char *indent, const char *name, const char *about,
               const char *params)
{
    if (!j) {
        printf("%s%-12s %s\n%s%-12s %s\n", indent, name, about, indent, "",
               params);
        return;
    }
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    json_text(j, "about", about);
    json_text(j, "parameters", params);
    json_close(j, '}');
}

spry_status kind_join(char *spec, size_t size, const char *prefix, int argc,
                      char **argv)
{
    size_t at = (size_t)snprintf(spec, size, "%s", prefix);

    /* As other commands want it: no reason to refuse it here. */
    if (argc > 0 && strncmp(argv[0], "gen:", 4) == 0)
        argv[0] += 4;
    for (int i = 0; i < argc; i++) {
        int n = snprintf(spec + at, size - at, "%s%s", i ? "," : "", argv[i]);

        if (n < 0 || (size_t)n >= size - at)
            return say_fail(SPRY_USAGE, "too many words for a generator");
        at += (size_t)n;
    }
    return SPRY_OK;
}
