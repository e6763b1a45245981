/* walk.c - rows into the store and rows out of it, one at a time.
 *
 * No row leaves the store unless its contents still give its id: one that
 * rotted on the disk is skipped and reported, the others are not its
 * hostages. */
#include "records/internal.h"

#include <limits.h>
#include <string.h>

/* ---- in ---- */

/* Samples are stored as little-endian doubles; in db->bytes until the next
 * row. */
static spry_status pack_reals(sp_cell *out, spry_records *db, const sp_value *v)
{
    size_t n = 8 * (size_t)v->count;
    uint8_t *more;

    if (n > db->bytes_room) {
        more = sp_grow(db->bytes, 0, (int64_t)n, 1);
        if (!more)
            return sp_fail_memory(n);
        db->bytes = more;
        db->bytes_room = n;
    }
    for (int i = 0; i < v->count; i++)
        sp_little_endian(db->bytes + 8 * (size_t)i, &v->reals[i]);
    *out = sp_cell_bytes(db->bytes, n);
    return SPRY_OK;
}

static spry_status pack_value(sp_cell *out, spry_records *db, const sp_value *v)
{
    switch (v->type) {
    case SP_VALUE_TEXT: *out = sp_cell_text(v->text); break;
    case SP_VALUE_REAL: *out = sp_cell_real(v->real); break;
    case SP_VALUE_INTEGER: *out = sp_cell_integer(v->integer); break;
    case SP_VALUE_REALS: return pack_reals(out, db, v);
    }
    return SPRY_OK;
}

spry_status sp_row_cells(sp_cell cell[SP_CELLS], spry_records *db,
                         const sp_table_shape *shape, const sp_stored_row *row,
                         const char *id)
{
    spry_status s = SPRY_OK;

    cell[0] = sp_cell_text(id);
    for (int i = 0; i < shape->fields && s == SPRY_OK; i++) {
        sp_value v = sp_column_get(&shape->field[i], row);

        s = pack_value(&cell[i + 1], db, &v);
    }
    return s;
}

spry_status sp_row_insert(spry_records *db, const sp_table_shape *shape,
                          sp_statement how, const sp_stored_row *row,
                          const char *id, int *added)
{
    sp_cell cell[SP_CELLS];
    int64_t changes = 0;
    spry_status s = sp_row_cells(cell, db, shape, row, id);

    if (s == SPRY_OK)
        s = sp_store_ask(db, how, cell, shape->fields + 1, NULL, NULL,
                         &changes);
    *added = s == SPRY_OK ? (int)changes : 0;
    return s;
}

spry_status sp_row_add(spry_records *db, const sp_table_shape *shape,
                       const sp_stored_row *row, const char *id, int *added)
{
    char own[SP_ID];
    spry_status s = sp_row_valid(shape, row);

    *added = 0;
    if (s == SPRY_OK)
        s = shape->identify(own, shape, row);
    if (s == SPRY_OK && id && strcmp(id, own) != 0)
        s = sp_fail(SPRY_INPUT, "%s %s: its contents give %s", shape->table, id,
                    own);
    return s == SPRY_OK ? sp_row_insert(db, shape, shape->add, row, own, added)
                        : s;
}

/* ---- out ---- */

spry_status sp_sample_room(spry_records *db, int64_t n)
{
    double *more;

    if (n <= db->sample_room)
        return SPRY_OK;
    more = sp_grow(db->sample, 0, n, sizeof *more);
    if (!more)
        return sp_fail_memory((size_t)n * sizeof *more);
    db->sample = more;
    db->sample_room = n;
    return SPRY_OK;
}

static spry_status load_reals(sp_value *v, spry_records *db,
                              const sp_cell *cell)
{
    const uint8_t *blob = (const uint8_t *)cell->data;
    int count = (int)(cell->length / 8);
    spry_status s = sp_sample_room(db, count);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < count; i++) {
        uint64_t bits = 0;

        for (int k = 0; k < 8; k++)
            bits |= (uint64_t)blob[8 * i + k] << 8 * k;
        memcpy(&db->sample[i], &bits, sizeof bits);
    }
    v->reals = db->sample;
    v->count = count;
    return cell->length % 8 ? SPRY_STORE : SPRY_OK;
}

/* SPRY_STORE when the column does not hold what it should. */
static spry_status load_value(sp_value *v, spry_records *db,
                              const sp_cell *cell)
{
    static const sp_cell_type types[] = {[SP_VALUE_TEXT] = SP_CELL_TEXT,
                                         [SP_VALUE_REAL] = SP_CELL_REAL,
                                         [SP_VALUE_INTEGER] = SP_CELL_INTEGER,
                                         [SP_VALUE_REALS] = SP_CELL_BYTES};

    if (cell->type != types[v->type])
        return SPRY_STORE;
    v->text = cell->data;
    v->real = cell->real;
    v->integer = cell->integer;
    if (v->type == SP_VALUE_REALS)
        return load_reals(v, db, cell);
    return v->type != SP_VALUE_TEXT || strlen(v->text) == cell->length
               ? SPRY_OK
               : SPRY_STORE;
}

/* The row of these cells. SPRY_STORE when it is damaged; any other failure is
 * not the row's fault. */
static spry_status load_row(sp_stored_row *row, spry_records *db,
                            const sp_table_shape *shape, const sp_cell *cell)
{
    const char *id = cell->type == SP_CELL_TEXT ? cell->data : NULL;
    char own[SP_ID];
    spry_status s;

    memset(row, 0, sizeof *row);
    for (int i = 0; i < shape->fields; i++) {
        sp_value v = {.type = sp_column_type(&shape->field[i])};

        s = load_value(&v, db, &cell[i + 1]);
        if (s == SPRY_OK && !sp_column_set(&shape->field[i], row, &v))
            s = SPRY_STORE;
        if (s == SPRY_STORE)
            return sp_fail(s, "%s %s: \"%s\" is damaged", shape->table,
                           id ? id : "?", shape->field[i].name);
        if (s != SPRY_OK)
            return s;
    }
    s = sp_row_valid(shape, row);
    if (s == SPRY_OK)
        s = shape->identify(own, shape, row);
    if (s != SPRY_OK)
        return s == SPRY_SYSTEM ? s : SPRY_STORE;
    if (!id || strcmp(id, own) != 0)
        return sp_fail(SPRY_STORE, "%s %s: its contents give %s", shape->table,
                       id ? id : "?", own);
    return SPRY_OK;
}

static void note_damage(sp_damage *damage)
{
    if (damage->bad++ == 0)
        snprintf(damage->why, sizeof damage->why, "%s", spry_message());
}

typedef struct {
    spry_records *db;
    const sp_table_shape *shape;
    sp_row_visit *visit;
    void *payload;
    sp_damage *damage;
} walker;

static spry_status walk_row(const sp_cell *cell, int count, void *payload)
{
    const walker *w = payload;
    sp_stored_row row;
    spry_status s;

    if (count <= w->shape->fields)
        return sp_fail(SPRY_STORE, "%s: a %s has too few columns", w->db->path,
                       w->shape->table);
    s = load_row(&row, w->db, w->shape, cell);
    if (s == SPRY_OK)
        return w->visit(w->shape, &row, cell->data, w->payload);
    if (s != SPRY_STORE)
        return s;
    note_damage(w->damage);
    return SPRY_OK;
}

spry_status sp_walk(spry_records *db, const sp_table_shape *shape,
                    const sp_question *q, sp_row_visit *visit, void *payload,
                    sp_damage *damage)
{
    walker w = {db, shape, visit, payload, damage};

    return sp_store_ask(db, q->which, q->arg, q->args, walk_row, &w, NULL);
}

spry_status sp_walk_told(spry_records *db, const sp_table_shape *shape,
                         const sp_question *q, sp_row_visit *visit,
                         void *payload)
{
    sp_damage damage = {0};
    spry_status s = sp_walk(db, shape, q, visit, payload, &damage);

    sp_damage_say(&damage, db->path);
    return s;
}

spry_status sp_walk_table(spry_records *db, const sp_table_shape *shape,
                          sp_row_visit *visit, void *payload)
{
    sp_question all = {shape->all, NULL, 0};
    spry_status s;

    if (db->version < shape->since)
        return SPRY_OK; /* an older store, only read */
    s = sp_walk_told(db, shape, &all, visit, payload);
    return s == SPRY_STOPPED ? SPRY_OK : s;
}

spry_status sp_walk_all(spry_records *db, sp_row_visit *visit, void *payload,
                        sp_damage *damage)
{
    spry_status s = SPRY_OK;

    for (int i = 0; i < SP_SHAPES && s == SPRY_OK; i++) {
        sp_question all = {sp_shapes[i].all, NULL, 0};

        if (sp_shapes[i].since <= db->version) /* else older, only read */
            s = sp_walk(db, &sp_shapes[i], &all, visit, payload, damage);
    }
    return s;
}

void sp_damage_say(const sp_damage *damage, const char *path)
{
    if (damage->bad)
        sp_fail(SPRY_STORE, "%s: %lld damaged rows skipped, the first: %s",
                path, (long long)damage->bad, damage->why);
}
