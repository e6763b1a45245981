/* import.c - a file or a folder of another's records, line by line.
 *
 * Files are read through a window, so a million records need no more memory
 * than one; rows go into the store in transactions of a few thousand. */
#include "spry/import.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

#include "import/internal.h"

enum { USUAL = 1 << 10, LONGEST = 1 << 20, OFTEN = 2000 };

static const sp_foreign foreigns[] = {
    {SPRY_IMPORT_WACO, ".txt", sp_import_waco, 256, "e5_2680v3"},
    {SPRY_IMPORT_AUTOSPARSE, ".tsv", sp_import_autosparse, 128, ""},
    {SPRY_IMPORT_ANSOR, ".json", sp_import_ansor, 0, ""},
    {SPRY_IMPORT_GINKGO, ".tsv", sp_import_ginkgo, 1, ""},
};
enum { FOREIGNS = sizeof foreigns / sizeof foreigns[0] };

/* ---- what a name says ---- */

const char *sp_import_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int sp_import_cut(char **field, int most, char *line)
{
    int n = 0;

    field[n++] = line;
    while (n < most && (line = strchr(line, '\t'))) {
        *line++ = 0;
        field[n++] = line;
    }
    return n;
}

int sp_import_says(const char *path, const char *word)
{
    size_t n = strlen(word);

    for (; *path; path++)
        if (strncasecmp(path, word, n) == 0)
            return 1;
    return 0;
}

/* The first operation that a text names, unless one is known. */
static void take_op(sp_import *f, const char *text)
{
    for (int op = 0; op < SPRY_OPS && !*f->op; op++)
        if (sp_import_says(text, spry_op_name((spry_op)op)))
            snprintf(f->op, sizeof f->op, "%s", spry_op_name((spry_op)op));
}

/* The operation: as told, else the last that the path names; of a name such
 * as epyc7543__mmadd.tsv, what stands behind the machine. */
static void find_op(sp_import *f, const sp_foreign *k)
{
    const char *name = sp_import_base(f->path), *mark = strstr(name, "__");
    size_t n = 0;

    snprintf(f->op, sizeof f->op, "%s",
             f->opt->op                        ? f->opt->op
             : k->format == SPRY_IMPORT_GINKGO ? "spmv"
                                               : "");
    take_op(f, name);
    take_op(f, f->path);
    if (*f->op || !mark)
        return;
    for (mark += 2; n < 20 && isalnum((unsigned char)mark[n]); n++)
        f->op[n] = mark[n];
    f->op[n] = 0;
}

/* The matrix: of SpMM__NAME.txt and host__NAME_sparse_dense.json, NAME. */
static void find_subject(sp_import *f, const sp_foreign *k)
{
    const char *name = sp_import_base(f->path), *mark = strstr(name, "__");
    const char *end;

    if (mark)
        name = mark + 2;
    end = strstr(name, "_sparse_dense");
    if (!end)
        end = strstr(name, k->ending);
    snprintf(f->subject, sizeof f->subject, "%.*s",
             end && end - name < 150 ? (int)(end - name) : 150, name);
}

static spry_status find_machine(sp_import *f, const sp_foreign *k)
{
    spry_status s = SPRY_OK;

    if (f->opt->machine)
        f->m = *f->opt->machine;
    else if (k->format == SPRY_IMPORT_ANSOR)
        return SPRY_OK; /* every line says */
    else if (k->format == SPRY_IMPORT_GINKGO)
        s = sp_import_device(&f->m, f->path);
    else
        s = sp_import_machine(&f->m, *k->machine ? k->machine : f->path, 0);
    return s == SPRY_OK ? spry_records_put_machine(f->db, &f->m) : s;
}

/* ---- one file ---- */

static void note_bad(sp_import *f)
{
    if (f->out->bad++ == 0)
        snprintf(f->out->why, sizeof f->out->why, "%.300s:%lld: %.180s",
                 f->path, (long long)f->line, spry_message());
}

/* A line, in room that grows with the longest. */
typedef struct {
    gzFile in;
    char *text;
    int room;
} line_reader;

static spry_status make_room(line_reader *l, const char *path)
{
    int room = l->room ? 4 * l->room : USUAL;
    char *more;

    if (room > LONGEST)
        return sp_fail(SPRY_INPUT, "%s: a line of more than %d characters",
                       path, LONGEST);
    more = sp_grow(l->text, l->room, room, 1);
    if (!more)
        return sp_fail_memory((size_t)room);
    l->text = more;
    l->room = room;
    return SPRY_OK;
}

static int is_whole(gzFile in)
{
    int code;

    gzerror(in, &code);
    return gzeof(in) && (code == Z_OK || code == Z_STREAM_END);
}

/* The next line without its end; *more is 0 at the end of the file. What
 * stands behind a zero byte is skipped, so lengths are the file's. */
static spry_status next_line(line_reader *l, int *more, const char *path)
{
    int n = 0;

    do {
        z_off_t at = gztell(l->in);
        spry_status s = n + 1 < l->room ? SPRY_OK : make_room(l, path);

        if (s != SPRY_OK)
            return s;
        if (!gzgets(l->in, l->text + n, l->room - n)) {
            if (!is_whole(l->in))
                return sp_fail(SPRY_INPUT, "%s: damaged or cut short", path);
            break;
        }
        n += (int)(gztell(l->in) - at);
    } while (n + 1 == l->room && l->text[n - 1] != '\n');
    *more = n > 0;
    l->text[n] = 0;
    n = (int)strlen(l->text);
    while (n > 0 && isspace((unsigned char)l->text[n - 1]))
        l->text[--n] = 0;
    return SPRY_OK;
}

static spry_status read_lines(sp_import *f, const sp_foreign *k, line_reader *l)
{
    spry_status s = SPRY_OK;
    int more;

    while (s == SPRY_OK && (s = next_line(l, &more, f->path)) == SPRY_OK &&
           more) {
        f->line++;
        if (!*l->text)
            continue;
        s = k->read(f, l->text);
        f->out->lines++;
        if (s == SPRY_INPUT) {
            note_bad(f);
            s = SPRY_OK;
        }
        if (f->line % OFTEN == 0 && f->opt->progress &&
            f->opt->progress(f->out->lines, f->opt->payload))
            s = sp_fail(SPRY_STOPPED, "the import was stopped");
    }
    return s;
}

static spry_status read_file(sp_import *f, const sp_foreign *k)
{
    line_reader l = {.in = gzopen(f->path, "rb")};
    int64_t bad = f->out->bad;
    spry_status s, flushed;

    if (!l.in)
        return sp_fail_errno(SPRY_INPUT, "%s: cannot be opened", f->path);
    f->line = f->good = 0;
    *f->name = 0;
    f->n = k->n;
    find_op(f, k);
    find_subject(f, k);
    s = find_machine(f, k);
    if (s == SPRY_OK)
        s = read_lines(f, k, &l);
    flushed = sp_import_flush(f);
    gzclose_r(l.in);
    sp_free(l.text);
    f->out->files++;
    if (s == SPRY_OK && f->good == 0)
        return f->out->bad > bad
                   ? sp_fail(SPRY_INPUT, "%s (and no line of it is a record)",
                             f->out->why)
                   : sp_fail(SPRY_INPUT, "%s: no record is in it", f->path);
    return s == SPRY_OK ? flushed : s;
}

/* ---- a folder ---- */

static int is_ours(const char *name, const sp_foreign *k)
{
    size_t n = strlen(name), e = strlen(k->ending);

    if (n > 3 && strcmp(name + n - 3, ".gz") == 0)
        n -= 3;
    return n > e && strncmp(name + n - e, k->ending, e) == 0 &&
           strncmp(name, "MANIFEST", 8) != 0 &&
           strncmp(name, "matrices.", 9) != 0;
}

static spry_status read_folder(sp_import *f, const sp_foreign *k,
                               const char *path)
{
    struct dirent **list;
    int count = scandir(path, &list, NULL, alphasort);
    int64_t before = f->out->files;
    spry_status s = SPRY_OK;

    if (count < 0)
        return sp_fail_errno(SPRY_INPUT, "%s: cannot be opened", path);
    for (int i = 0; i < count; i++) {
        if (s == SPRY_OK && is_ours(list[i]->d_name, k) &&
            snprintf(f->path, sizeof f->path, "%s/%s", path, list[i]->d_name) <
                (int)sizeof f->path)
            s = read_file(f, k);
        free(list[i]);
    }
    free(list);
    if (s == SPRY_OK && f->out->files == before)
        return sp_fail(SPRY_INPUT, "%s: no %s file lies there", path,
                       k->ending);
    return s;
}

spry_status spry_import(spry_imported *out, spry_records *db, const char *path,
                        spry_import_format format,
                        const spry_import_options *opt)
{
    SP_NEED(out, db, path);
    SP_REFUSE((unsigned)format >= FOREIGNS, "%d is no format of records",
              (int)format);
    SP_ROOM(out);

    spry_imported whole = {.files = 0};
    spry_import_options o = SPRY_IMPORT_DEFAULTS;
    sp_import *f;
    int64_t before = 0, after = 0, answers, machines;
    struct stat st;
    spry_status s = SP_TAKE_OPTIONS(&o, opt);

    if (s != SPRY_OK)
        return s;
    f = sp_alloc(1, sizeof *f);
    if (!f)
        return sp_fail_memory(sizeof *f);
    f->db = db;
    f->opt = &o;
    f->out = &whole;
    s = spry_records_count(db, &before, &answers, &machines);
    if (s == SPRY_OK && stat(path, &st) != 0)
        s = sp_fail_errno(SPRY_INPUT, "%s: cannot be opened", path);
    else if (s == SPRY_OK && S_ISDIR(st.st_mode))
        s = read_folder(f, &foreigns[format], path);
    else if (s == SPRY_OK) {
        snprintf(f->path, sizeof f->path, "%s", path);
        s = read_file(f, &foreigns[format]);
    }
    if (spry_records_count(db, &after, &answers, &machines) == SPRY_OK)
        whole.added = after - before;
    SP_GIVE(out, &whole);
    sp_file_free(&f->properties);
    sp_free(f);
    return s;
}
