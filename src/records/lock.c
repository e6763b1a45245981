/* lock.c - answers in a file that does not change: what is computed, and how,
 * stays as it is until somebody freezes anew.
 *
 * JSON lines. The first is the head, with the SHA-256 of all that follows;
 * the others are answers, as an export has them. */
#include <string.h>

#include "records/internal.h"
#include "records/records.h"

#define SCHEMA "spry.lock/1"

/* ---- out ---- */

typedef struct {
    sp_buf text;
    char problem[512], machine[64]; /* of the row before */
    uint64_t seen;                  /* classes of calls that it had */
    int64_t count;
} freezer;

static int is_same(const freezer *f, const spry_answer *a)
{
    return strcmp(f->problem, a->problem) == 0 &&
           strcmp(f->machine, a->machine) == 0;
}

/* Rows come by problem and machine, the newest first. */
static spry_status freeze(const sp_table_shape *shape, const sp_stored_row *row,
                          const char *id, void *payload)
{
    freezer *f = payload;
    const spry_answer *a = &row->answer;
    int class = sp_calls_class(a->calls) + 1;
    uint64_t bit = (uint64_t)1 << (class < 63 ? class : 63);

    if (!is_same(f, a))
        f->seen = 0;
    snprintf(f->problem, sizeof f->problem, "%s", a->problem);
    snprintf(f->machine, sizeof f->machine, "%s", a->machine);
    if (f->seen & bit)
        return SPRY_OK;
    f->seen |= bit;
    f->count++;
    sp_row_to_json(&f->text, shape, row, id);
    sp_buf_add(&f->text, "\n");
    return f->text.failed ? sp_fail_memory(f->text.cap) : SPRY_OK;
}

static void seal(char hex[2 * SP_SHA256 + 1], const char *text, size_t n)
{
    uint8_t digest[SP_SHA256];

    sp_sha256(digest, text, n);
    sp_hex(hex, digest, sizeof digest);
}

static spry_status write_lock(const freezer *f, const char *path)
{
    char hex[2 * SP_SHA256 + 1];
    sp_buf all = {0};
    sp_json j = {.out = &all};
    spry_status s;

    seal(hex, f->text.data ? f->text.data : "", f->text.len);
    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "schema", SCHEMA);
    sp_json_text(&j, "spry", spry_version());
    sp_json_integer(&j, "answers", f->count);
    sp_json_text(&j, "sha256", hex);
    sp_json_close(&j, '}');
    sp_buf_add(&all, "\n");
    sp_buf_bytes(&all, f->text.data, f->text.len);
    s = all.failed ? sp_fail_memory(all.cap)
                   : sp_file_write(path, all.data, all.len);
    sp_buf_free(&all);
    return s;
}

spry_status spry_records_freeze(spry_records *db, const char *path,
                                int64_t *answers)
{
    SP_NEED(db, path);

    freezer f = {.count = 0};
    sp_damage damage = {0};
    sp_question q = {SP_FROZEN_ANSWERS, NULL, 0};
    spry_status s = sp_walk(db, sp_answer_shape, &q, freeze, &f, &damage);

    if (s == SPRY_OK && damage.bad)
        s = sp_fail(SPRY_STORE, "%s: %lld damaged rows, the first: %.300s",
                    db->path, (long long)damage.bad, damage.why);
    if (s == SPRY_OK)
        s = write_lock(&f, path);
    if (answers)
        *answers = f.count;
    sp_buf_free(&f.text);
    return s;
}

/* ---- in ---- */

static spry_status not_a_lock(const char *path)
{
    return sp_fail(SPRY_INPUT, "%s:1: not a lock file of spry (%s)", path,
                   SCHEMA);
}

/* *rest: where the lines with answers begin. */
static spry_status read_head(const char **rest, const sp_file *f,
                             const char *path)
{
    const char *end = memchr(f->data, '\n', f->len);
    char hex[2 * SP_SHA256 + 1];
    sp_json_doc head;
    spry_status s = SPRY_OK;

    if (!end)
        return not_a_lock(path);
    if (sp_json_parse(&head, f->data, (size_t)(end - f->data)) != SPRY_OK)
        return not_a_lock(path);
    *rest = end + 1;
    seal(hex, *rest, f->len - (size_t)(*rest - f->data));
    if (strcmp(sp_json_get_text(&head, head.value, "schema", ""), SCHEMA) != 0)
        s = not_a_lock(path);
    else if (strcmp(sp_json_get_text(&head, head.value, "sha256", ""), hex) !=
             0)
        s = sp_fail(SPRY_INPUT,
                    "%s: was changed or cut short after it was frozen", path);
    sp_json_free(&head);
    return s;
}

/* Is it the answer, or better than the one so far? *out keeps its line. */
static spry_status consider(sp_locked *out, const char *line, size_t len,
                            const spry_answer *want)
{
    spry_records none = {.engine = NULL};
    sp_stored_row row;
    sp_json_doc doc;
    int class = sp_calls_class(want->calls);
    spry_status s = sp_json_parse(&doc, line, len);

    if (s != SPRY_OK)
        return s;
    s = sp_row_from_json(&row, &none, sp_answer_shape, &doc);
    if (s == SPRY_OK && sp_row_valid(sp_answer_shape, &row) != SPRY_OK)
        s = SPRY_INPUT;
    if (s == SPRY_OK && strcmp(row.answer.problem, want->problem) == 0) {
        int same = strcmp(row.answer.machine, want->machine) == 0;
        int fits = sp_calls_class(row.answer.calls) == class;

        out->elsewhere += !same;
        if (same && (fits || (!out->found && row.answer.calls == 0))) {
            sp_json_free(&out->doc);
            out->doc = doc;
            out->answer = row.answer;
            out->found = 1;
            return SPRY_OK;
        }
    }
    sp_json_free(&doc);
    return s;
}

static spry_status look_through(sp_locked *out, const char *at, const char *end,
                                const spry_answer *want, const char *path)
{
    size_t n = strlen(want->problem);
    const char *key = strstr(at, want->problem);
    spry_status s = SPRY_OK;

    for (int64_t line = 2; at < end && s == SPRY_OK; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        if (key && key < at)
            key = strstr(at, want->problem);
        if (!key)
            break;
        if (key + n <= stop)
            s = consider(out, at, (size_t)(stop - at), want);
        if (s == SPRY_INPUT)
            s = sp_fail(s, "%s:%lld: %.300s", path, (long long)line,
                        spry_message());
        at = stop + 1;
    }
    return s;
}

spry_status sp_lock_find(sp_locked *out, const char *path, const char *problem,
                         const char *machine, double calls)
{
    const size_t limit = (size_t)1 << 31;
    const spry_answer want = {
        .problem = problem, .machine = machine, .calls = calls};
    sp_file f;
    spry_status s;

    *out = (sp_locked){.found = 0};
    s = sp_file_read(&f, path, limit);
    if (s != SPRY_OK)
        return s;
    s = sp_lock_search(out, &f, path, &want);
    sp_file_free(&f);
    return s;
}

spry_status sp_lock_search(sp_locked *out, const sp_file *file,
                           const char *path, const spry_answer *want)
{
    const char *rest = NULL;
    spry_status s;

    *out = (sp_locked){.found = 0};
    s = read_head(&rest, file, path);
    if (s == SPRY_OK)
        s = look_through(out, rest, file->data + file->len, want, path);
    if (s != SPRY_OK)
        sp_locked_free(out);
    return s;
}

void sp_locked_free(sp_locked *x)
{
    sp_json_free(&x->doc);
    *x = (sp_locked){.found = 0};
}
