/* job.c - a job as one line of text, and nothing else.
 *
 *   collect matrix=gen:uniform,rows=2100,nnz=83000#1 op=spmm cols=32 type=f32
 *   threads=2 schedules=100 from=both seconds=60 seed=1
 *
 * Whoever can write to the queue may be hostile. So every word is known, every
 * number bounded, every word stands at most once, and a matrix is a generator's
 * recipe or a hash: no text of a job ever names a file or reaches a shell. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/recipe.h"
#include "fleet/internal.h"
#include "spry/fleet.h"
#include "spry/matrix.h"

static const char *const kinds[] = {"collect", "tune", "survey"};
static const char *const draws[] = {"both", "super", "families"};
enum { KINDS = 3, DRAWS = 3 };

/* A matrix may take so much memory, and takes so much for each row, column
 * and entry while it is generated. */
static const double MOST_BYTES = 2147483648.0, BYTES_EACH = 24;

/* ---- values ---- */

static int word_among(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Decimal digits and at most one point; no sign, exponent or blank. What is
 * refused leaves *out as it was: it may not fit what it is for. */
static spry_status read_number(double *out, const char *name, const char *text,
                               double low, double high, int whole)
{
    const char *at = text, *end = text + strlen(text);
    double x;
    size_t digits = strspn(text, whole ? "0123456789" : "0123456789.");

    if (digits == 0 || digits > 20 || text[digits] ||
        !sp_scan_real(&at, end, &x) || at != end)
        return sp_fail(SPRY_USAGE, "a job's %s is a number, not '%.40s'", name,
                       text);
    if (!(x >= low && x <= high))
        return sp_fail(SPRY_USAGE, "a job's %s lies within %g and %g, not '%s'",
                       name, low, high, text);
    *out = x;
    return SPRY_OK;
}

/* ---- matrices ---- */

static spry_status check_hash(const char *hex)
{
    if (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
        return sp_fail(SPRY_USAGE,
                       "a job's matrix has 64 digits behind sha256:");
    return SPRY_OK;
}

/* What a recipe says of a matrix; an axis that is not said is as the first. */
typedef struct {
    double rows, cols, axes, first, per_row, nnz, density;
    int band; /* density is that of the band */
} outline;

static int is_axis(const char *name)
{
    return name[0] == 'n' && name[1] && strchr("xyz", name[1]) && !name[2];
}

/* Entries of a row: degree, count, head, half of a band; N*rows in all. */
static double per_row_of(const char *name, const char *value, double v)
{
    static const char *const names[] = {"degree", "count", "head"};
    const char *at = value, *end = value + strlen(value);
    double n = 0;

    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return v;
    if (strcmp(name, "band") == 0)
        return 2 * v + 1;
    if (sp_scan_real(&at, end, &n) && *at == '*') /* nnz or edges */
        return n;
    return 1;
}

static void add_word(outline *o, const char *name, const char *value)
{
    double v = 0;
    int known = sp_parse_count(value, &v) && v > 0;

    if (!known)
        v = 0;
    if (strcmp(name, "scale") == 0)
        o->rows = fmax(o->rows, exp2(fmin(v, 60)));
    else if (strcmp(name, "rows") == 0 || strcmp(name, "used") == 0)
        o->rows = fmax(o->rows, v);
    else if (strcmp(name, "cols") == 0)
        o->cols = v;
    else if (strcmp(name, "left") == 0 || strcmp(name, "right") == 0)
        o->rows += known ? v : o->first;
    else if (strcmp(name, "density") == 0)
        o->density = v;
    else if (strcmp(name, "nnz") == 0 || strcmp(name, "edges") == 0)
        o->nnz = v;
    o->band |= strcmp(name, "band") == 0;
    o->first = o->first > 0 ? o->first : v;
    if (is_axis(name))
        o->axes *= known ? v : o->first;
    o->per_row = fmax(o->per_row, per_row_of(name, value, v));
}

/* Roughly the bytes that a matrix takes while it is generated. */
static double bytes_of(const sp_recipe *r, const char *kind)
{
    outline o = {.axes = 1, .per_row = 1};
    double entries;

    for (int i = 0; i < r->count; i++)
        add_word(&o, r->param[i].name, r->param[i].value);
    kind += strcspn(kind, "0123456789"); /* points of a stencil */
    if (*kind)
        o.per_row = fmax(o.per_row, strtod(kind, NULL));
    o.rows = fmax(o.rows, o.axes);
    o.cols = o.cols > 0 ? o.cols : o.rows;
    if (!o.band && (o.nnz > 0 || o.density > 0))
        entries = fmax(o.nnz, o.rows * o.cols * o.density);
    else
        entries = fmax(o.nnz, o.rows * o.per_row);
    return BYTES_EACH * (o.rows + o.cols + entries);
}

/* Where the usual value is a number, so is the given one, and not negative. */
static spry_status check_numbers(const sp_recipe *given, const char *kind,
                                 const char *params)
{
    sp_recipe usual;
    double number;
    spry_status s = sp_recipe_parse(&usual, kind, params, "");

    for (int i = 0; s == SPRY_OK && i < given->count; i++) {
        const char *value = given->param[i].value;

        if (sp_parse_count(usual.param[i].value, &number) &&
            (!sp_parse_count(value, &number) || !(number >= 0) ||
             isinf(number)))
            s = sp_fail(SPRY_USAGE, "a job's %s is a number, not '%s'",
                        given->param[i].name, value);
    }
    return s;
}

static spry_status check_recipe(const char *spec)
{
    char kind[64], text[SPRY_JOB_MATRIX];
    size_t n = strcspn(spec, ",#");
    const char *seed = strchr(spec, '#');
    sp_recipe r;
    double number;
    int i = 0;
    spry_status s;

    if (strspn(spec, "abcdefghijklmnopqrstuvwxyz0123456789_=,.#-") !=
        strlen(spec))
        return sp_fail(SPRY_USAGE, "a job's recipe has letters, digits and "
                                   "_=,.#- only");
    if (!seed || strchr(seed + 1, '#'))
        return sp_fail(SPRY_USAGE, "a job's recipe ends in one #SEED");
    s = read_number(&number, "seed", seed + 1, 0, 9e15, 1);
    if (s != SPRY_OK)
        return s;
    snprintf(kind, sizeof kind, "%.*s", n < 60 ? (int)n : 60, spec);
    while (spry_generator_name(i) && strcmp(spry_generator_name(i), kind) != 0)
        i++;
    if (!spry_generator_name(i))
        return sp_fail(SPRY_USAGE, "a job's recipe names no generator '%s'",
                       kind);
    snprintf(text, sizeof text, "%.*s", (int)(seed - spec - (ptrdiff_t)n),
             spec + n);
    s = sp_recipe_parse(&r, kind, spry_generator_params(i), text);
    if (s == SPRY_OK)
        s = check_numbers(&r, kind, spry_generator_params(i));
    if (s == SPRY_OK && !(bytes_of(&r, kind) <= MOST_BYTES))
        s = sp_fail(SPRY_USAGE,
                    "a job's matrix may take %.0f MB, about %.0f bytes for "
                    "each row, column and entry",
                    MOST_BYTES / 1048576, BYTES_EACH);
    return s;
}

static spry_status check_matrix(const char *text)
{
    if (strncmp(text, "gen:", 4) == 0)
        return check_recipe(text + 4);
    if (strncmp(text, "sha256:", 7) == 0)
        return check_hash(text + 7);
    return sp_fail(SPRY_USAGE,
                   "a job's matrix is gen:SPEC#SEED or sha256:HEX, "
                   "not '%.40s'",
                   text);
}

/* ---- fields ---- */

static spry_status set_matrix(spry_job *j, const char *text)
{
    if (strlen(text) >= sizeof j->matrix)
        return sp_fail(SPRY_USAGE, "a job's matrix is too long");
    snprintf(j->matrix, sizeof j->matrix, "%s", text);
    return check_matrix(text);
}

static spry_status set_op(spry_job *j, const char *text)
{
    spry_status s = spry_op_parse(&j->op, text);

    if (s == SPRY_OK && spry_op_modes(j->op) != 2)
        s = sp_fail(SPRY_USAGE,
                    "a job's operation is on a matrix, and %s is not", text);
    return s;
}

static spry_status set_type(spry_job *j, const char *text)
{
    return spry_type_parse(&j->type, text);
}

static spry_status set_from(spry_job *j, const char *text)
{
    int i = word_among(draws, DRAWS, text);

    if (i < 0)
        return sp_fail(SPRY_USAGE,
                       "a job's schedules are from both, super or "
                       "families, not '%.40s'",
                       text);
    j->from = (spry_draw)i;
    return SPRY_OK;
}

static spry_status set_cols(spry_job *j, const char *text)
{
    double x = 0;
    spry_status s = read_number(&x, "cols", text, 1, 4096, 1);

    j->cols = (int64_t)x;
    return s;
}

static spry_status set_threads(spry_job *j, const char *text)
{
    double x = 0;
    spry_status s = read_number(&x, "threads", text, 0, 4096, 1);

    j->threads = (int)x;
    return s;
}

static spry_status set_schedules(spry_job *j, const char *text)
{
    double x = 0;
    spry_status s = read_number(&x, "schedules", text, 1, 10000, 1);

    j->schedules = (int)x;
    return s;
}

static spry_status set_seconds(spry_job *j, const char *text)
{
    return read_number(&j->seconds, "seconds", text, 0.1, 86400, 0);
}

static spry_status set_seed(spry_job *j, const char *text)
{
    double x = 0;
    spry_status s = read_number(&x, "seed", text, 0, 9e15, 1);

    j->seed = (uint64_t)x;
    return s;
}

static const struct {
    const char *name;
    spry_status (*set)(spry_job *j, const char *text);
} fields[] = {{"matrix", set_matrix},   {"op", set_op},
              {"cols", set_cols},       {"type", set_type},
              {"threads", set_threads}, {"schedules", set_schedules},
              {"from", set_from},       {"seconds", set_seconds},
              {"seed", set_seed}};
enum { FIELDS = sizeof fields / sizeof *fields };

static spry_status set_field(spry_job *j, char *word, unsigned *seen)
{
    char *value = strchr(word, '=');

    if (!value)
        return sp_fail(SPRY_USAGE, "a job's words are name=value, not '%.40s'",
                       word);
    *value++ = 0;
    for (int i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].name, word) != 0)
            continue;
        if (*seen & 1u << i)
            return sp_fail(SPRY_USAGE, "a job says %s twice", word);
        *seen |= 1u << i;
        return fields[i].set(j, value);
    }
    return sp_fail(SPRY_USAGE, "a job has no '%.40s'", word);
}

/* ---- the line ---- */

/* Printable, not too long: what may be quoted in a sentence. */
static spry_status check_line(const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || n >= SPRY_JOB_TEXT)
        return sp_fail(SPRY_USAGE, "a job has 1 to %d characters, not %zu",
                       SPRY_JOB_TEXT - 1, n);
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return sp_fail(SPRY_USAGE,
                           "character %zu of the job is not a printable one",
                           i + 1);
    return SPRY_OK;
}

spry_status spry_job_parse(spry_job *out, const char *text)
{
    SP_NEED(out, text);

    char line[SPRY_JOB_TEXT], *word, *next;
    unsigned seen = 0;
    int kind;
    spry_status s = check_line(text);

    *out = (spry_job){.op = SPRY_SPMM,
                      .cols = 128,
                      .type = SPRY_F32,
                      .schedules = 100,
                      .seconds = 600,
                      .seed = 1};
    if (s != SPRY_OK)
        return s;
    snprintf(line, sizeof line, "%s", text);
    word = line;
    next = strchr(word, ' ');
    if (next)
        *next++ = 0;
    kind = word_among(kinds, KINDS, word);
    if (kind < 0)
        return sp_fail(SPRY_USAGE,
                       "a job is collect, tune or survey, not '%.40s'", word);
    out->kind = (spry_job_kind)kind;
    while (s == SPRY_OK && (word = next)) {
        next = strchr(word, ' ');
        if (next)
            *next++ = 0;
        s = set_field(out, word, &seen);
    }
    if (s == SPRY_OK && !*out->matrix)
        s = sp_fail(SPRY_USAGE, "a job needs matrix=");
    return s;
}

spry_status spry_job_text(char out[SPRY_JOB_TEXT], const spry_job *job)
{
    SP_NEED(out, job);

    char seconds[SP_REAL];
    spry_job back;
    int n;

    *out = 0;
    SP_REFUSE((unsigned)job->kind >= KINDS || (unsigned)job->from >= DRAWS ||
                  !memchr(job->matrix, 0, sizeof job->matrix) ||
                  (job->type != SPRY_F32 && job->type != SPRY_F64),
              "that is no job");
    sp_print_real(seconds, job->seconds, SPRY_F64);
    n = snprintf(out, SPRY_JOB_TEXT,
                 "%s matrix=%s op=%s cols=%lld type=%s threads=%d "
                 "schedules=%d from=%s seconds=%s seed=%llu",
                 kinds[job->kind], job->matrix, spry_op_name(job->op),
                 (long long)job->cols, spry_type_name(job->type), job->threads,
                 job->schedules, draws[job->from], seconds,
                 (unsigned long long)job->seed);
    if (n >= SPRY_JOB_TEXT)
        return sp_fail(SPRY_USAGE, "the job is too long");
    return spry_job_parse(&back, out);
}
