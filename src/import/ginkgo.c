/* ginkgo.c - lines of Ginkgo's tables, DEVICE_API__BRANCH.tsv:
 *
 *   matrix  format  time_s  storage_bytes  repetitions  completed
 *
 * and of matrices.tsv beside them, which has the shape and the properties of
 * every matrix. These are kept as the source of its problem,
 * "properties:row_min=18,row_max=50 ...", for the features of a matrix that is
 * not at hand. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/internal.h"

enum { COLUMNS = 24, LINE = 2048 };

/* matrices.tsv of the file's folder, once; none is no failure. */
static void read_properties(sp_import *f)
{
    static const char *const names[] = {"matrices.tsv", "matrices.tsv.gz"};
    size_t folder = (size_t)(sp_import_base(f->path) - f->path);
    char path[sizeof f->path + 32];

    if (*f->properties_of && strlen(f->properties_of) == folder + 1 &&
        strncmp(f->properties_of + 1, f->path, folder) == 0)
        return;
    sp_file_free(&f->properties);
    f->properties = (sp_file){0};
    snprintf(f->properties_of, sizeof f->properties_of, "=%.*s",
             (int)(folder < 4000 ? folder : 4000), f->path);
    for (int i = 0; i < 2 && !f->properties.data; i++) {
        snprintf(path, sizeof path, "%.*s%s", (int)folder, f->path, names[i]);
        if (sp_file_read(&f->properties, path, (size_t)1 << 28) != SPRY_OK)
            f->properties = (sp_file){0};
    }
    sp_message_clear();
}

static int64_t count(const char *text)
{
    double x = strtod(text, NULL);

    return x >= 0 && x <= 0x1p53 ? (int64_t)x : 0;
}

/* A property as a number: yes and no are 1 and 0. */
static int value_of(double *out, const char *text)
{
    char *end;

    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
        *out = *text == 'T';
        return 1;
    }
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out);
}

/* Fill in the shape, and the properties behind it as text. */
static void know_matrix(sp_matrix_facts *k, sp_buf *text, char *head, char *row)
{
    char *name[COLUMNS], *field[COLUMNS];
    int names = sp_import_cut(name, COLUMNS, head);
    int fields = sp_import_cut(field, COLUMNS, row), any = 0;

    for (int i = 1; i < names && i < fields; i++) {
        double x;

        if (strcmp(name[i], "rows") == 0)
            k->rows = count(field[i]);
        else if (strcmp(name[i], "cols") == 0)
            k->cols = count(field[i]);
        else if (strcmp(name[i], "nnz") == 0)
            k->nnz = count(field[i]);
        else if (strcmp(name[i], "id") != 0 && value_of(&x, field[i]))
            sp_buf_printf(text, "%s%s=%.6g",
                          any++ ? "," : "properties:", name[i], x);
    }
}

/* The line of matrices.tsv about this matrix; 0 when there is none. */
static int find_matrix(char head[LINE], char row[LINE], const sp_import *f,
                       const char *name)
{
    const char *data = f->properties.data, *at, *end;
    char key[SP_NAME + 4];
    size_t n;

    if (!data || strlen(name) >= SP_NAME)
        return 0;
    snprintf(key, sizeof key, "\n%s\t", name);
    at = memmem(data, f->properties.len, key, strlen(key));
    if (!at)
        return 0;
    n = strcspn(data, "\r\n");
    snprintf(head, LINE, "%.*s", n < LINE - 1 ? (int)n : LINE - 1, data);
    at++;
    end = memchr(at, '\n', (size_t)(data + f->properties.len - at));
    n = end ? (size_t)(end - at) : (size_t)(data + f->properties.len - at);
    snprintf(row, LINE, "%.*s", n < LINE - 1 ? (int)n : LINE - 1, at);
    row[strcspn(row, "\r")] = 0;
    return 1;
}

static int is_word(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_-+.", *text))
            return 0;
    return 1;
}

/* The columns as a row, or the sentence why not. */
static spry_status read_fields(sp_foreign_row *r, char *text, size_t size,
                               char **field, int fields)
{
    char *end;

    if (fields < 3)
        return sp_fail(SPRY_INPUT, "a line of fewer than three columns");
    if (!*field[0] || !*field[1] || strlen(field[1]) > 40 ||
        strlen(field[0]) >= SP_NAME || !is_word(field[1]))
        return sp_fail(SPRY_INPUT, "no matrix or no format");
    snprintf(text, size, "ginkgo %s", field[1]);
    r->bytes = fields > 3 ? (double)count(field[3]) : 0;
    if (fields > 5 && strcmp(field[5], "0") == 0) {
        r->verdict = SPRY_VERDICT_CRASH;
        return SPRY_OK;
    }
    r->seconds = strtod(field[2], &end);
    if (end == field[2] || *end || !(r->seconds > 0 && r->seconds < 1e9))
        return sp_fail(SPRY_INPUT, "\"%.40s\" is no time", field[2]);
    return SPRY_OK;
}

spry_status sp_import_ginkgo(sp_import *f, char *line)
{
    char text[64], about[SP_NAME + 96], compiler[64], *field[6];
    char head[LINE], row[LINE];
    const char *branch = strstr(sp_import_base(f->path), "__");
    int fields = sp_import_cut(field, 6, line);
    sp_foreign_row r = {.schedule = text, .compiler = compiler, .about = about};
    sp_matrix_facts k = {
        .n = 1, .type = sp_import_says(f->path, "float") ? "f32" : "f64"};
    sp_buf properties = {0};
    spry_status s;

    if (f->line == 1 && strcmp(field[0], "matrix") == 0)
        return SPRY_OK; /* the names of the columns */
    s = read_fields(&r, text, sizeof text, field, fields);
    if (s != SPRY_OK)
        return s;
    k.name = field[0];
    snprintf(compiler, sizeof compiler, "ginkgo %.*s",
             branch ? (int)strcspn(branch + 2, ".") : 0,
             branch ? branch + 2 : "");
    snprintf(about, sizeof about, "spmv 1 %s %s, repetitions %.20s", k.type,
             k.name, fields > 4 && *field[4] ? field[4] : "unknown");
    if (strcmp(f->name, k.name) != 0) {
        read_properties(f);
        if (find_matrix(head, row, f, k.name))
            know_matrix(&k, &properties, head, row);
        if (properties.failed)
            s = sp_fail_memory(properties.cap);
        k.source = properties.data;
    }
    if (s == SPRY_OK)
        s = sp_import_row(f, &k, &r);
    sp_buf_free(&properties);
    return s;
}
