/* read.c - "key value" lines -> a machine; the files of both directions.
 *
 * Keys that are not in the table are skipped, so newer files can be read;
 * a value that makes no sense fails with path:line. The fingerprint is
 * written for people and computed again when read. */
#include "spry/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "machine/fields.h"
#include "machine/internal.h"

typedef struct {
    spry_machine *m;
    const char *path;
    int line;
    int seen[FIELDS]; /* values read; 0: the key did not occur */
} reader;

static spry_status bad_value(const reader *r, const field *f)
{
    return sp_fail(SPRY_INPUT, "%s:%d: bad value for '%s'", r->path, r->line,
                   f->key);
}

static void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
}

static spry_status read_word(reader *r, const field *f, const char *at,
                             const char *end)
{
    size_t size = f->kind == NAME ? sizeof r->m->name : 16, n;
    char word[sizeof r->m->name];

    while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    n = (size_t)(end - at);
    if (f->kind == PRINT)
        return SPRY_OK;
    if (n == 0 || n >= size || memchr(at, 0, n))
        return bad_value(r, f);
    memcpy(word, at, n);
    word[n] = 0;
    if (f->kind == ISA)
        return spry_isa_parse(&r->m->isa, word) == SPRY_OK ? SPRY_OK
                                                           : bad_value(r, f);
    memcpy(r->m->name, word, n + 1);
    return SPRY_OK;
}

/* One number of f at *at into its place in the machine. */
static int read_number(spry_machine *m, const field *f, int i, const char **at,
                       const char *end)
{
    char *to = (char *)m + f->at + (size_t)i * f->stride;
    int64_t wide;
    double real;
    int whole;

    if (f->kind == REAL) {
        if (!sp_scan_real(at, end, &real) || !(real >= f->least) ||
            !(real <= f->most))
            return 0;
        memcpy(to, &real, sizeof real);
        return 1;
    }
    if (!sp_scan_int(at, end, &wide) || (double)wide < f->least ||
        (double)wide > f->most)
        return 0;
    whole = (int)wide;
    if (f->kind == INT)
        memcpy(to, &whole, sizeof whole);
    else
        memcpy(to, &wide, sizeof wide);
    return 1;
}

static spry_status read_numbers(reader *r, const field *f, int *count,
                                const char *at, const char *end)
{
    *count = 0;
    for (skip_blanks(&at, end); at < end; skip_blanks(&at, end))
        if (*count == f->count || !read_number(r->m, f, (*count)++, &at, end) ||
            (at < end && !strchr(" \t\r", *at)))
            return bad_value(r, f);
    if (*count == 0 || (f->rule < PER_POINT && *count != f->count))
        return bad_value(r, f);
    return SPRY_OK;
}

static spry_status read_line(reader *r, const char *at, const char *end)
{
    const char *key = at;
    size_t n;

    while (at < end && !strchr(" \t\r", *at))
        at++;
    n = (size_t)(at - key);
    skip_blanks(&at, end);
    for (int i = 0; i < FIELDS; i++) {
        const field *f = &sp_machine_fields[i];

        if (strlen(f->key) != n || memcmp(f->key, key, n) != 0)
            continue;
        if (r->seen[i])
            return sp_fail(SPRY_INPUT, "%s:%d: '%s' is there twice", r->path,
                           r->line, f->key);
        if (f->kind >= INT)
            return read_numbers(r, f, &r->seen[i], at, end);
        r->seen[i] = 1;
        return read_word(r, f, at, end);
    }
    return SPRY_OK;
}

/* What no single line can tell: nothing missing, as many bandwidths as
 * thread counts, the counts rising to all threads. */
static spry_status check_whole(const reader *r)
{
    const spry_machine *m = r->m;

    for (int i = 0; i < FIELDS; i++) {
        if (sp_machine_fields[i].rule == NEEDED && !r->seen[i])
            return sp_fail(SPRY_INPUT, "%s: '%s' is missing", r->path,
                           sp_machine_fields[i].key);
        if (r->seen[i] != m->points &&
            (sp_machine_fields[i].rule == PER_POINT ||
             (sp_machine_fields[i].rule == IF_ANY && r->seen[i])))
            return sp_fail(SPRY_INPUT, "%s: '%s' needs as many values as 'at'",
                           r->path, sp_machine_fields[i].key);
    }
    for (int i = 1; i < m->points; i++)
        if (m->at[i] <= m->at[i - 1])
            return sp_fail(SPRY_INPUT, "%s: 'at' must rise", r->path);
    if (m->points > 0 && m->at[m->points - 1] > m->threads)
        return sp_fail(SPRY_INPUT, "%s: 'at' goes beyond 'threads'", r->path);
    return SPRY_OK;
}

spry_status spry_machine_parse(spry_machine *out, const char *text,
                               const char *path_for_errors)
{
    SP_NEED(out, text);

    spry_machine m = {.sockets = 1, .line = 64};
    reader r = {.m = &m, .path = path_for_errors};
    spry_status s = SPRY_OK;

    memset(out, 0, sizeof *out);
    while (s == SPRY_OK && *text) {
        const char *end = text + strcspn(text, "\n");

        r.line++;
        skip_blanks(&text, end);
        if (text < end && *text != '#')
            s = read_line(&r, text, end);
        text = *end ? end + 1 : end;
    }
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(sp_machine_fields[i].key, "at") == 0)
            m.points = r.seen[i];
    if (s == SPRY_OK)
        s = check_whole(&r);
    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < SPRY_CACHES; i++)
        if (m.cache[i].bytes > 0 && m.cache[i].shared_by < 1)
            m.cache[i].shared_by = 1;
    sp_fingerprint(&m);
    *out = m;
    return SPRY_OK;
}

spry_status spry_machine_read(spry_machine *out, const char *path)
{
    SP_NEED(out, path);

    sp_file f;
    spry_status s;

    memset(out, 0, sizeof *out);
    s = sp_file_read(&f, path, 1 << 20);
    if (s != SPRY_OK)
        return s;
    s = spry_machine_parse(out, f.data, path);
    sp_file_free(&f);
    return s;
}

spry_status spry_machine_write(const spry_machine *m, const char *path)
{
    SP_NEED(m, path);

    char *text;
    spry_status s = spry_machine_text(&text, m);

    if (s == SPRY_OK)
        s = sp_file_write(path, text, strlen(text));
    free(text);
    return s;
}
