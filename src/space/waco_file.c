/* waco_file.c - a file of WACO's lines into schedules and times.
 *
 * Lists of schedules and records have one per line. What a run printed has
 * other lines too; of it only those that begin with "Testing" count. */
#include "spry/space.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "schedule/schedule.h"

static const size_t LARGEST = (size_t)1 << 30;

typedef struct {
    spry_waco_list list;
    spry_waco_entry *entry;
    int64_t room;
} reading;

static spry_status add(reading *r, const spry_waco_entry *e)
{
    if (r->list.count == r->room) {
        int64_t room = r->room ? 2 * r->room : 128;
        void *more = sp_grow(r->entry, r->list.count, room, sizeof *r->entry);

        if (!more)
            return sp_fail_memory((size_t)room * sizeof *r->entry);
        r->entry = more;
        r->room = room;
    }
    r->entry[r->list.count++] = *e;
    return SPRY_OK;
}

static int is_talk(const char *line)
{
    return isalpha((unsigned char)*line);
}

static int counts(const char *line, int talk)
{
    if (*line == 0)
        return 0;
    return !talk || strncmp(line, "Testing", 7) == 0;
}

/* Line by line; the text is cut up in place. */
static spry_status read_lines(reading *r, char *text, const char *path,
                              spry_op op, int threads)
{
    spry_status s = SPRY_OK;
    int number = 0, talk = is_talk(text + strspn(text, " \t\r\n"));

    while (s == SPRY_OK && *text) {
        char *end = text + strcspn(text, "\n"), *next = end + (*end != 0);
        spry_waco_entry e = {.line = ++number};

        *end = 0;
        text += strspn(text, " \t\r");
        if (counts(text, talk)) {
            s = spry_waco_parse(&e.schedule, &e.ms, text, op, threads);
            if (s == SPRY_OK)
                s = add(r, &e);
            else if (s == SPRY_INPUT) {
                char why[200];

                snprintf(why, sizeof why, "%.199s", spry_message());
                s = sp_fail(SPRY_INPUT, "%s:%d: %s", path, number, why);
            }
        }
        text = next;
    }
    return s;
}

spry_status spry_waco_read(spry_waco_list **out, const char *path, spry_op op,
                           int threads)
{
    SP_NEED_NEW(out, path);
    SP_REFUSE(threads < 0, "there cannot be %d threads", threads);
    SP_REFUSE((unsigned)op >= SPRY_OPS, "%d is no operation", (int)op);

    reading *r = sp_alloc(1, sizeof *r);
    sp_file f = {0};
    spry_status s;

    if (!r)
        return sp_fail_memory(sizeof *r);
    s = sp_file_read(&f, path, LARGEST);
    if (s == SPRY_OK)
        s = read_lines(r, f.data, path, op, threads);
    sp_file_free(&f);
    r->list.entry = r->entry;
    *out = &r->list;
    if (s != SPRY_OK) {
        spry_waco_free(*out);
        *out = NULL;
    }
    return s;
}

void spry_waco_free(spry_waco_list *list)
{
    reading *r = (reading *)list; /* the list is its first member */

    if (!r)
        return;
    sp_free(r->entry);
    sp_free(r);
}
