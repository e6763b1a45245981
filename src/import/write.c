/* write.c - records in the words of those they came from, or could be of. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/internal.h"
#include "problem/operation.h"
#include "spry/space.h"

/* ---- Ansor ---- */

typedef struct {
    FILE *f;
    sp_buf line;
    int64_t written;
    spry_status status;
} ansor_writer;

/* A record that was read from such a line has the task in its words and the
 * steps in its schedule; its compiler is "tvm auto_scheduler v0.6 error 7". */
static int write_ansor(const spry_record *r, void *payload)
{
    ansor_writer *w = payload;
    char number[SP_REAL];
    const char *steps = strchr(r->schedule, '[');
    const char *version = strstr(r->compiler, " v"),
               *error = strstr(r->compiler, " error ");

    if (strncmp(r->schedule, "ansor ", 6) != 0 || !steps || *r->about != '[')
        return 0;
    w->line.len = 0;
    sp_buf_printf(&w->line, "{\"i\":[%s,[[],%s]],\"r\":[[", r->about, steps);
    for (int i = 0; i < r->samples; i++) {
        sp_print_real(number, r->sample[i], SPRY_F64);
        sp_buf_printf(&w->line, "%s%s", i ? "," : "", number);
    }
    sp_print_real(number, r->pack_seconds, SPRY_F64);
    sp_buf_printf(&w->line, "],%d,%s,%lld],\"v\":\"%.*s\"}\n",
                  error ? atoi(error + 7) : 0, number, (long long)r->when,
                  version ? (int)strcspn(version + 1, " ") : 4,
                  version ? version + 1 : "v0.6");
    if (w->line.failed)
        w->status = sp_fail_memory(w->line.cap);
    else if (fwrite(w->line.data, 1, w->line.len, w->f) != w->line.len)
        w->status = sp_fail_errno(SPRY_SYSTEM, "cannot write the records");
    w->written++;
    return w->status != SPRY_OK;
}

static spry_status ansor_file(spry_records *db, const char *path,
                              int64_t *written)
{
    ansor_writer w = {.status = SPRY_OK};
    char why[512];
    sp_writer out;
    spry_status s = sp_writer_open(&out, path);

    if (s != SPRY_OK)
        return s;
    w.f = out.f;
    s = spry_records_each(db, NULL, NULL, write_ansor, &w);
    if (s == SPRY_OK)
        s = w.status;
    sp_buf_free(&w.line);
    *written = w.written;
    if (s == SPRY_OK && w.written)
        return sp_writer_close(&out, 1);
    snprintf(why, sizeof why, "%s", spry_message());
    sp_writer_close(&out, 0);
    return s == SPRY_OK ? sp_fail(SPRY_USAGE, "the store has no record that "
                                              "came from Ansor")
                        : sp_fail(s, "%s", why);
}

/* ---- WACO ---- */

typedef struct {
    char *problem, *name;
    spry_op op;
} named;

typedef struct {
    const char *folder;
    named *list;
    int64_t count, room, written;
    FILE *f;
    const named *open; /* whose file f is */
    spry_status status;
} waco_writer;

/* A problem's name for a file: of its matrix, without folders and endings. */
static int take_name(const spry_origin *o, void *payload)
{
    char group[SPRY_GROUP_TEXT], name[SPRY_GROUP_TEXT];
    const char *base = sp_import_base(o->source);
    waco_writer *w = payload;
    spry_op op;
    named *more;

    if (spry_op_parse(&op, o->op) != SPRY_OK || sp_has_tensor(op))
        return 0;
    if (w->count == w->room) {
        more = sp_grow(w->list, w->count, 2 * w->room + 16, sizeof *more);
        if (!more) {
            w->status = sp_fail_memory(sizeof *more);
            return 1;
        }
        w->list = more;
        w->room = 2 * w->room + 16;
    }
    snprintf(name, sizeof name, "%s",
             strstr(o->problem, "-named-") ? strstr(o->problem, "-named-") + 7
             : *o->source                  ? base
                                           : spry_group_of(group, o->group));
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            *at = '_';
    w->list[w->count] = (named){sp_strdup(o->problem), sp_strdup(name), op};
    w->count++;
    if (!w->list[w->count - 1].problem || !w->list[w->count - 1].name)
        w->status = sp_fail_memory(sizeof name);
    return w->status != SPRY_OK;
}

static const named *find_name(const waco_writer *w, const char *problem)
{
    for (int64_t i = w->count - 1; i >= 0; i--)
        if (strcmp(w->list[i].problem, problem) == 0)
            return &w->list[i];
    return NULL;
}

static spry_status open_file(waco_writer *w, const named *n)
{
    static const char *const ops[] = {"SpMV", "SpMM", "SDDMM"};
    char path[4096];

    if (w->open == n)
        return SPRY_OK;
    if (w->f && fclose(w->f) != 0)
        return sp_fail_errno(SPRY_SYSTEM, "cannot write the records");
    snprintf(path, sizeof path, "%s/%s__%s.txt", w->folder, ops[n->op],
             n->name);
    w->f = fopen(path, "a");
    w->open = n;
    return w->f ? SPRY_OK
                : sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", path);
}

static int write_waco(const spry_record *r, void *payload)
{
    waco_writer *w = payload;
    char text[SPRY_WACO_TEXT];
    const named *n = find_name(w, r->problem);
    spry_schedule x;

    if (!n || r->seconds <= 0 ||
        spry_schedule_parse(&x, r->schedule) != SPRY_OK ||
        x.format != SPRY_SUPER || spry_waco_text(text, &x, n->op) != SPRY_OK)
        return 0;
    w->status = open_file(w, n);
    if (w->status == SPRY_OK &&
        fprintf(w->f, "%s = %.9g\n", text, 1e3 * r->seconds) < 0)
        w->status = sp_fail_errno(SPRY_SYSTEM, "cannot write the records");
    w->written++;
    return w->status != SPRY_OK;
}

static spry_status waco_folder(spry_records *db, const char *path,
                               int64_t *written)
{
    waco_writer w = {.folder = path, .status = SPRY_OK};
    spry_status s;

    if (mkdir(path, 0777) != 0)
        return sp_fail_errno(SPRY_SYSTEM, "%s: cannot be made", path);
    s = spry_records_each_origin(db, take_name, &w);
    if (s == SPRY_OK && w.status == SPRY_OK)
        s = spry_records_each(db, NULL, NULL, write_waco, &w);
    if (s == SPRY_OK)
        s = w.status;
    if (w.f && fclose(w.f) != 0 && s == SPRY_OK)
        s = sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", path);
    for (int64_t i = 0; i < w.count; i++) {
        free(w.list[i].problem);
        free(w.list[i].name);
    }
    sp_free(w.list);
    *written = w.written;
    if (s == SPRY_OK && w.written == 0)
        s = sp_fail(SPRY_USAGE, "the store has no nest that WACO has words "
                                "for");
    return s;
}

spry_status spry_records_write(spry_records *db, const char *path,
                               spry_import_format format, int64_t *written)
{
    SP_NEED(db, path);

    int64_t count = 0;
    spry_status s;

    if (written)
        *written = 0;
    if (format == SPRY_IMPORT_ANSOR)
        s = ansor_file(db, path, &count);
    else if (format == SPRY_IMPORT_WACO)
        s = waco_folder(db, path, &count);
    else
        return sp_fail(SPRY_USAGE, "only Ansor's and WACO's records can be "
                                   "written");
    if (written)
        *written = count;
    return s;
}
