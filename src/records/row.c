/* row.c - a record, an answer or a machine to a row of its table.
 *
 * The shapes below are the one place that knows all fields; what SQL, JSON
 * and the hash do with them is a loop. */
#include "records/internal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define AT(type, name, kind, member)                   \
    {                                                  \
        name, SP_COLUMN_##kind, offsetof(type, member) \
    }

static const sp_table_column record_fields[] = {
    AT(spry_record, "problem", NEEDED, problem),
    AT(spry_record, "about", TEXT, about),
    AT(spry_record, "schedule", NEEDED, schedule),
    AT(spry_record, "machine", NEEDED, machine),
    AT(spry_record, "compiler", TEXT, compiler),
    AT(spry_record, "verdict", VERDICT, verdict),
    AT(spry_record, "noise", NOISE, noise),
    AT(spry_record, "seconds", REAL, seconds),
    AT(spry_record, "speedup", REAL, speedup),
    AT(spry_record, "low", REAL, low),
    AT(spry_record, "high", REAL, high),
    AT(spry_record, "pack_seconds", REAL, pack_seconds),
    AT(spry_record, "bytes", REAL, bytes),
    AT(spry_record, "at", COUNT, when),
    AT(spry_record, "samples", SAMPLES, samples),
    AT(spry_record, "probe", LATER, probe),
};

static const sp_table_column answer_fields[] = {
    AT(spry_answer, "problem", NEEDED, problem),
    AT(spry_answer, "machine", NEEDED, machine),
    AT(spry_answer, "baseline", NEEDED, baseline),
    AT(spry_answer, "schedule", NEEDED, schedule),
    AT(spry_answer, "baseline_seconds", REAL, baseline_seconds),
    AT(spry_answer, "seconds", REAL, seconds),
    AT(spry_answer, "speedup", REAL, speedup),
    AT(spry_answer, "low", REAL, low),
    AT(spry_answer, "high", REAL, high),
    AT(spry_answer, "pack_seconds", REAL, pack_seconds),
    AT(spry_answer, "tuning_seconds", REAL, tuning_seconds),
    AT(spry_answer, "calls", REAL, calls),
    AT(spry_answer, "effort", SMALL, effort),
    AT(spry_answer, "at", COUNT, when),
    AT(spry_answer, "kernel", LATER, kernel),
};

static const sp_table_column machine_fields[] = {
    AT(sp_machine_row, "text", NEEDED, text),
};

static const sp_table_column origin_fields[] = {
    AT(spry_origin, "problem", NEEDED, problem),
    AT(spry_origin, "source", TEXT, source),
    AT(spry_origin, "base", NEEDED, group), /* GROUP is a word of SQL */
    AT(spry_origin, "op", NEEDED, op),
    AT(spry_origin, "type", NEEDED, type),
    AT(spry_origin, "n", COUNT, n),
    AT(spry_origin, "rows", COUNT, rows),
    AT(spry_origin, "cols", COUNT, cols),
    AT(spry_origin, "nnz", COUNT, nnz),
};

static const sp_table_column curve_fields[] = {
    AT(spry_round, "run", NEEDED, run),
    AT(spry_round, "kind", NEEDED, kind),
    AT(spry_round, "op", NEEDED, op),
    AT(spry_round, "round", SMALL, round),
    AT(spry_round, "loss", REAL, loss),
    AT(spry_round, "tested", SMALL, tested),
    AT(spry_round, "regret", REAL, regret),
    AT(spry_round, "seconds", REAL, seconds),
    AT(spry_round, "at", COUNT, when),
};

static spry_status identify_by_hash(char id[SP_ID], const sp_table_shape *shape,
                                    const sp_stored_row *row);
static spry_status identify_machine(char id[SP_ID], const sp_table_shape *shape,
                                    const sp_stored_row *row);

#define FIELDS(list) list, (int)(sizeof(list) / sizeof(list)[0])

const sp_table_shape sp_shapes[SP_SHAPES] = {
    {"machine", "fingerprint", FIELDS(machine_fields), SP_ADD_MACHINE,
     SP_ALL_MACHINES, 1, identify_machine},
    {"problem", "id", FIELDS(origin_fields), SP_ADD_ORIGIN, SP_ALL_ORIGINS, 2,
     identify_by_hash},
    {"record", "id", FIELDS(record_fields), SP_ADD_RECORD, SP_ALL_RECORDS, 1,
     identify_by_hash},
    {"answer", "id", FIELDS(answer_fields), SP_ADD_ANSWER, SP_ALL_ANSWERS, 1,
     identify_by_hash},
    {"curve", "id", FIELDS(curve_fields), SP_ADD_CURVE, SP_ALL_CURVES, 3,
     identify_by_hash},
    {"probe", "id", FIELDS(machine_fields), SP_ADD_PROBE, SP_ALL_PROBES, 4,
     identify_by_hash},
};
const sp_table_shape *const sp_machine_shape = &sp_shapes[0];
const sp_table_shape *const sp_origin_shape = &sp_shapes[1];
const sp_table_shape *const sp_record_shape = &sp_shapes[2];
const sp_table_shape *const sp_answer_shape = &sp_shapes[3];
const sp_table_shape *const sp_curve_shape = &sp_shapes[4];
const sp_table_shape *const sp_probe_shape = &sp_shapes[5];

/* ---- fields ---- */

static const char *const verdicts[] = {
    "ok", "wrong", "crash", "timeout", "infeasible", "slow", "doubtful"};
enum { VERDICTS = sizeof verdicts / sizeof verdicts[0] };

const char *spry_verdict_name(spry_verdict v)
{
    return (unsigned)v < VERDICTS ? verdicts[v] : "unknown";
}

static const char *const grades[] = {"A", "B", "C", "D", "?"};
enum { GRADES = sizeof grades / sizeof grades[0] };

static const char *grade_text(char noise)
{
    for (int i = 0; i < GRADES; i++)
        if (grades[i][0] == noise)
            return grades[i];
    return noise ? NULL : "?";
}

sp_value_type sp_column_type(const sp_table_column *f)
{
    static const sp_value_type types[] = {
        [SP_COLUMN_TEXT] = SP_VALUE_TEXT,
        [SP_COLUMN_NEEDED] = SP_VALUE_TEXT,
        [SP_COLUMN_LATER] = SP_VALUE_TEXT,
        [SP_COLUMN_REAL] = SP_VALUE_REAL,
        [SP_COLUMN_COUNT] = SP_VALUE_INTEGER,
        [SP_COLUMN_SMALL] = SP_VALUE_INTEGER,
        [SP_COLUMN_VERDICT] = SP_VALUE_TEXT,
        [SP_COLUMN_NOISE] = SP_VALUE_TEXT,
        [SP_COLUMN_SAMPLES] = SP_VALUE_REALS,
    };

    return types[f->kind];
}

sp_value sp_column_get(const sp_table_column *f, const sp_stored_row *row)
{
    const char *member = (const char *)row + f->offset;
    sp_value v = {.type = sp_column_type(f)};
    int small = 0;

    switch (f->kind) {
    case SP_COLUMN_TEXT:
    case SP_COLUMN_NEEDED:
    case SP_COLUMN_LATER:
        memcpy(&v.text, member, sizeof v.text);
        v.text = v.text ? v.text : "";
        break;
    case SP_COLUMN_REAL:
        memcpy(&v.real, member, sizeof v.real);
        v.real += 0.0; /* SQLite knows no -0 */
        break;
    case SP_COLUMN_COUNT: memcpy(&v.integer, member, sizeof v.integer); break;
    case SP_COLUMN_SMALL:
        memcpy(&small, member, sizeof small);
        v.integer = small;
        break;
    case SP_COLUMN_VERDICT:
        v.text = (unsigned)row->record.verdict < VERDICTS
                     ? verdicts[row->record.verdict]
                     : NULL;
        break;
    case SP_COLUMN_NOISE: v.text = grade_text(row->record.noise); break;
    case SP_COLUMN_SAMPLES:
        v.reals = row->record.sample;
        v.count = row->record.samples;
        break;
    }
    return v;
}

static int set_verdict(sp_stored_row *row, const char *name)
{
    for (int i = 0; i < VERDICTS; i++)
        if (strcmp(verdicts[i], name) == 0) {
            row->record.verdict = (spry_verdict)i;
            return 1;
        }
    return 0;
}

int sp_column_set(const sp_table_column *f, sp_stored_row *row,
                  const sp_value *v)
{
    char *member = (char *)row + f->offset;
    int small;

    switch (f->kind) {
    case SP_COLUMN_TEXT:
    case SP_COLUMN_LATER:
    case SP_COLUMN_NEEDED: memcpy(member, &v->text, sizeof v->text); break;
    case SP_COLUMN_REAL: memcpy(member, &v->real, sizeof v->real); break;
    case SP_COLUMN_COUNT: memcpy(member, &v->integer, sizeof v->integer); break;
    case SP_COLUMN_SMALL:
        small = v->integer > INT_MAX ? -1 : (int)v->integer;
        memcpy(member, &small, sizeof small);
        break;
    case SP_COLUMN_VERDICT: return set_verdict(row, v->text);
    case SP_COLUMN_NOISE:
        row->record.noise = v->text[0];
        return v->text[0] && !v->text[1];
    case SP_COLUMN_SAMPLES:
        row->record.sample = v->reals;
        row->record.samples = v->count;
        break;
    }
    return 1;
}

/* ---- validity ---- */

static int is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    const unsigned char *end = p + strlen(text);

    while (p < end) {
        size_t n = sp_utf8_length(p, end);

        if (n == 0)
            return 0;
        p += n;
    }
    return 1;
}

static int is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

static int can_be_stored(const sp_table_column *f, const sp_value *v)
{
    switch (v->type) {
    case SP_VALUE_TEXT:
        return v->text && is_utf8(v->text) &&
               (v->text[0] || f->kind != SP_COLUMN_NEEDED);
    case SP_VALUE_REAL: return is_amount(v->real);
    case SP_VALUE_INTEGER: return v->integer >= 0;
    case SP_VALUE_REALS:
        for (int i = 0; i < v->count; i++)
            if (!is_amount(v->reals[i]))
                return 0;
        return v->count >= 0;
    }
    return 0;
}

spry_status sp_row_valid(const sp_table_shape *shape, const sp_stored_row *row)
{
    for (int i = 0; i < shape->fields; i++) {
        sp_value v = sp_column_get(&shape->field[i], row);

        if (!can_be_stored(&shape->field[i], &v))
            return sp_fail(SPRY_USAGE, "%s: the value of \"%s\" cannot be kept",
                           shape->table, shape->field[i].name);
    }
    return SPRY_OK;
}

/* ---- identity ---- */

void sp_little_endian(uint8_t out[8], const void *word)
{
    uint64_t bits;

    memcpy(&bits, word, sizeof bits);
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(bits >> 8 * i);
}

static void add_word(sp_buf *b, const void *word)
{
    uint8_t bytes[8];

    sp_little_endian(bytes, word);
    sp_buf_bytes(b, bytes, sizeof bytes);
}

/* Texts end with a zero byte, which none contains; numbers are 8 bytes. So
 * different rows have different bytes. */
static void add_value(sp_buf *b, const sp_value *v)
{
    switch (v->type) {
    case SP_VALUE_TEXT: sp_buf_bytes(b, v->text, strlen(v->text) + 1); break;
    case SP_VALUE_REAL: add_word(b, &v->real); break;
    case SP_VALUE_INTEGER: add_word(b, &v->integer); break;
    case SP_VALUE_REALS:
        for (int i = 0; i < v->count; i++)
            add_word(b, &v->reals[i]);
        break;
    }
}

static spry_status identify_by_hash(char id[SP_ID], const sp_table_shape *shape,
                                    const sp_stored_row *row)
{
    uint8_t digest[SP_SHA256];
    sp_buf bytes = {0};
    spry_status s;

    sp_buf_bytes(&bytes, shape->table, strlen(shape->table) + 1);
    for (int i = 0; i < shape->fields; i++) {
        sp_value v = sp_column_get(&shape->field[i], row);

        if (shape->field[i].kind != SP_COLUMN_LATER || *v.text)
            add_value(&bytes, &v);
    }
    if (!bytes.failed) {
        sp_sha256(digest, bytes.data, bytes.len);
        sp_hex(id, digest, (SP_ID - 1) / 2);
    }
    s = bytes.failed ? sp_fail_memory(bytes.cap) : SPRY_OK;
    sp_buf_free(&bytes);
    return s;
}

static spry_status identify_machine(char id[SP_ID], const sp_table_shape *shape,
                                    const sp_stored_row *row)
{
    spry_machine m;
    spry_status s = spry_machine_parse(&m, row->machine.text, shape->table);

    if (s == SPRY_OK)
        snprintf(id, SP_ID, "%s", m.fingerprint);
    return s;
}
