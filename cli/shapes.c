/* shapes.c - a handful of schedules that stands for every family.
 *
 * What predict ranks and verify checks when no schedule is named. Each text
 * is tried on one thread and on all; what is not legal for the problem is
 * passed over. */
#include "cli.h"

#include <string.h>

static const char *const shapes[] = {
    "csr",
    "csr index=64",
    "csr unroll=2",
    "csr unroll=4",
    "csr unroll=8 index=16",
    "csr unroll=4 prefetch=16",
    "csr unroll=4 order=rcm",
    "csr tile=1",
    "csr tile=1 unroll=4",
    "csr tile=2 unroll=2",
    "csr tile=4 index=16",
    "csr tile=4 unroll=2 prefetch=8",
    "csr tile=4 unroll=4",
    "csr tile=4 panel=1024",
    "csr tile=4 pass=32",
    "csr tile=4 stream=1",
    "csr tile=4 order=length",
    "csr tile=4 sigma=64",
    "csr tile=4 order=cluster",
    "csr tile=4 fixed=1",
    "csr tile=4 chunk=64",
    "csr tile=8",
    "bcsr r=2 c=2",
    "bcsr r=4 c=4 index=16",
    "bcsr r=8 c=1",
    "bcsr r=4 c=4 rest=50",
    "bcsr r=4 c=4 tile=2 rest=50",
    "bcsr r=2 c=2 tile=2",
    "bcsr r=4 c=4 tile=2",
    "bcsr r=8 c=8 tile=1",
    "sell slice=1",
    "sell slice=2 sigma=512",
    "sell slice=1 sigma=64 gather=1",
    "sell tile=4 slice=2",
    "sell tile=2 slice=4 sigma=512",
    "csr unroll=8 palette=1",
    "sell slice=2 sigma=512 palette=1",
    "sell slice=2 index=8",
    "csr unroll=8 palette=256",
    "sell slice=2 palette=256",
    "sell slice=2 palette=16",
    "sell slice=2 palette=8",
    "dia slice=4 symmetric=1",
    "dcsr unroll=4",
    "dcsr tile=4",
    "csr tile=2 prefetch=8",
    "csf",
    "csf tile=1",
    "csf tile=2 unroll=2",
    "csf tile=4",
    "csf tile=4 prefetch=8",
    "csf tile=8 index=16",
    "csf tile=4 modes=ilk",
    "csf tile=4 modes=kli",
    "csf tile=2 modes=lki",
    "dia",
    "dia slice=4",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

char *shape_split(char **rest)
{
    char *text = *rest, *end;

    if (!text)
        return NULL;
    text += strspn(text, " ;");
    if (!*text)
        return NULL;
    end = text + strcspn(text, ";");
    *rest = *end ? end + 1 : NULL;
    *end = 0;
    while (end > text && end[-1] == ' ')
        *--end = 0;
    return text;
}

/* Each on one thread and on all, as far as it is legal. */
static int list_families(spry_schedule *out, const job *j)
{
    int count = 0;

    for (int i = 0; i < 2 * SHAPES; i++) {
        spry_schedule *x = &out[count];
        int threads = i % 2 ? j->machine.threads : 1;

        if ((i % 2 && threads == 1) ||
            spry_schedule_parse(x, shapes[i / 2]) != SPRY_OK)
            continue;
        x->threads = threads;
        count += spry_schedule_legal(x, j->problem, &j->machine) == SPRY_OK;
    }
    return count;
}

spry_status shape_list(spry_schedule out[SHAPES_MOST], int *count, const job *j,
                       char *texts)
{
    char *text;
    spry_status s = SPRY_OK;

    *count = 0;
    if (!texts || strcmp(texts, "all") == 0) {
        *count = list_families(out, j);
        return SPRY_OK;
    }
    while (s == SPRY_OK && (text = shape_split(&texts))) {
        if (*count == SHAPES_MOST)
            return say_fail(SPRY_USAGE, "at most %d schedules at once",
                            SHAPES_MOST);
        s = open_schedule(&out[*count], j, text);
        *count += s == SPRY_OK;
    }
    if (s == SPRY_OK && *count == 0)
        s = say_fail(SPRY_USAGE, "no schedule is named");
    return s;
}
