/* queue.c - the server's functions as C calls. */
#include <string.h>

#include "fleet/internal.h"

static spry_status take_integer(const sp_cell *cell, int count, void *payload)
{
    if (count > 0)
        *(int64_t *)payload = cell->integer;
    return SPRY_OK;
}

static spry_status take_enrolled(const sp_cell *cell, int count, void *payload)
{
    sp_enrolled *out = payload;

    if (count < 2 || cell[1].type != SP_CELL_TEXT ||
        cell[1].length >= sizeof out->key)
        return sp_fail(SPRY_STORE, "the queue gave no key");
    out->id = cell[0].integer;
    snprintf(out->key, sizeof out->key, "%s", cell[1].data);
    return SPRY_OK;
}

spry_status sp_queue_enroll(sp_postgres *c, sp_enrolled *out, const char *name,
                            const char *machine)
{
    sp_cell arg[] = {sp_cell_text(name), sp_cell_text(machine),
                     sp_cell_text(spry_version())};

    *out = (sp_enrolled){0};
    return sp_postgres_ask(c, "SELECT worker, key FROM spry.enroll($1, $2, $3)",
                           arg, 3, take_enrolled, out, NULL);
}

static spry_status take_lease(const sp_cell *cell, int count, void *payload)
{
    sp_lease *l = payload;

    if (count < 6)
        return sp_fail(SPRY_STORE, "the queue's answer has %d columns", count);
    l->id = cell[0].integer;
    l->token = cell[1].integer;
    l->lease = cell[2].real;
    l->pause = cell[3].real;
    l->open = cell[4].integer != 0;
    if (cell[5].type == SP_CELL_TEXT && cell[5].length < sizeof l->work)
        snprintf(l->work, sizeof l->work, "%s", cell[5].data);
    return SPRY_OK;
}

spry_status sp_queue_take(sp_postgres *c, sp_lease *out, const sp_enrolled *who,
                          const char *machine)
{
    sp_cell arg[] = {sp_cell_integer(who->id), sp_cell_text(who->key),
                     sp_cell_text(machine)};

    *out = (sp_lease){0};
    return sp_postgres_ask(c,
                           "SELECT job, fence, lease, pause, open, work"
                           " FROM spry.take($1, $2, $3)",
                           arg, 3, take_lease, out, NULL);
}

spry_status sp_queue_beat(sp_postgres *c, const sp_enrolled *who,
                          const sp_lease *l, int *ours)
{
    sp_cell arg[] = {sp_cell_integer(who->id), sp_cell_text(who->key),
                     sp_cell_integer(l->id), sp_cell_integer(l->token)};
    int64_t yes = 1;
    spry_status s = sp_postgres_ask(c, "SELECT spry.beat($1, $2, $3, $4)", arg,
                                    4, take_integer, &yes, NULL);

    *ours = yes != 0;
    return s;
}

static spry_status take_end(const sp_cell *cell, int count, void *payload)
{
    int64_t *out = payload;

    for (int i = 0; i < 2 && i < count; i++)
        out[i] = cell[i].integer;
    return SPRY_OK;
}

spry_status sp_queue_finish(sp_postgres *c, const sp_enrolled *who,
                            const sp_lease *l, const char *rows, double seconds,
                            int *ours, int64_t *added)
{
    sp_cell arg[] = {sp_cell_integer(who->id), sp_cell_text(who->key),
                     sp_cell_integer(l->id),   sp_cell_integer(l->token),
                     sp_cell_text(rows),       sp_cell_real(seconds)};
    int64_t end[2] = {0, 0};
    spry_status s = sp_postgres_ask(
        c, "SELECT ours, added FROM spry.finish($1, $2, $3, $4, $5::jsonb, $6)",
        arg, 6, take_end, end, NULL);

    *ours = s == SPRY_OK && end[0] != 0;
    if (added)
        *added = end[1];
    return s;
}

spry_status sp_queue_fail(sp_postgres *c, const sp_enrolled *who,
                          const sp_lease *l, const char *reason, sp_blame blame)
{
    sp_cell arg[] = {sp_cell_integer(who->id), sp_cell_text(who->key),
                     sp_cell_integer(l->id),   sp_cell_integer(l->token),
                     sp_cell_text(reason),     sp_cell_integer(blame)};

    return sp_postgres_ask(c,
                           "SELECT spry.give_back($1, $2, $3, $4, $5,"
                           " CASE $6 WHEN 0 THEN NULL ELSE $6 = 2 END)",
                           arg, 6, NULL, NULL, NULL);
}
