/* autosparse.c - lines of AutoSparse's tables: matrix, configuration,
 * milliseconds, times measured.
 *
 * A configuration is a list of words, each list in it preceded by its length:
 *
 *   splits of sparse indices    2 i 2 i0 1024 i1 128 k 2 k0 256 k1 32
 *   orders of sparse tensors    1 A 4 k0 i0 i1 k1
 *   kinds of their levels       A 4 i0 1 i1 1 k0 0 k1 1
 *   splits of loops             1 j 2 j0 64 j1 2
 *   loops                       6 j0 k0 i0 j1 i1 k1
 *   parallel vectorised unrolled factor threads chunk
 *
 * Kind 0 is dense, 1 compressed; i0 are the blocks of i and i1 their inside.
 * Every configuration is kept, in spry's words only when they say all of it:
 * storage and loops have the same order, no level is of another kind or of
 * size 1, i is split first, a loop is shared, nothing is vectorised or unrolled by hand, and the
 * splits multiply to what they did before. That is not the matrix's shape,
 * which only the matrix tells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/internal.h"
#include "schedule/super.h"

enum { AXES = 8 };

typedef struct {
    char name[4];
    int64_t size;
    int kind; /* -1: not a level */
} axis;

typedef struct {
    spry_op op;
    const char *at; /* the rest of the text */
    axis axis[AXES];
    int axes;
    char stored[AXES][4]; /* order of the levels */
    int levels;
    char loop[AXES][4];
    int loops;
    char parallel[8], vector[8], unrolled[8];
    int64_t factor, chunk;
    int strange; /* beyond what spry has words for */
    int64_t rows, cols;
} config;

/* ---- words ---- */

static int word(char *out, size_t size, config *c)
{
    size_t n;

    c->at += strspn(c->at, " ");
    n = strcspn(c->at, " ");
    if (n == 0 || n >= size)
        return 0;
    memcpy(out, c->at, n);
    out[n] = 0;
    c->at += n;
    return 1;
}

static int number(int64_t *out, config *c, int64_t most)
{
    char text[24], *end;

    if (!word(text, sizeof text, c))
        return 0;
    *out = strtoll(text, &end, 10);
    return *end == 0 && *out >= 0 && *out <= most;
}

static axis *find(config *c, const char *name)
{
    for (int i = 0; i < c->axes; i++)
        if (strcmp(c->axis[i].name, name) == 0)
            return &c->axis[i];
    return NULL;
}

/* ---- the lists ---- */

/* "i 2 i0 1024 i1 128", so many. */
static int read_splits(config *c, int kind)
{
    int64_t count, parts, length[2] = {0};
    char index[4];

    if (!number(&count, c, AXES))
        return 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t whole = 1;

        if (!word(index, sizeof index, c) || !number(&parts, c, AXES))
            return 0;
        for (int64_t k = 0; k < parts; k++) {
            axis *a = &c->axis[c->axes];

            if (c->axes == AXES || !word(a->name, sizeof a->name, c) ||
                !number(&a->size, c, (int64_t)1 << 40))
                return 0;
            a->kind = kind;
            if (__builtin_mul_overflow(whole, a->size, &whole))
                return 0;
            c->axes++;
        }
        c->strange |= parts != 2;
        c->strange |= kind >= 0 && (i == 0) != (index[0] == 'i');
        length[index[0] == 'i' ? 0 : 1] = whole;
    }
    if (kind >= 0) {
        c->rows = length[0];
        c->cols = length[1];
    }
    return 1;
}

/* The order of the levels of every sparse tensor; all must be the same. */
static int read_orders(config *c, int64_t tensors)
{
    char tensor[8], name[4];
    int64_t count;

    for (int64_t t = 0; t < tensors; t++) {
        if (!word(tensor, sizeof tensor, c) || !number(&count, c, AXES))
            return 0;
        for (int i = 0; i < count; i++) {
            if (!word(name, sizeof name, c))
                return 0;
            if (t == 0)
                memcpy(c->stored[i], name, sizeof name);
            c->strange |= strcmp(c->stored[i], name) != 0;
        }
        c->levels = (int)count;
    }
    return 1;
}

static int read_kinds(config *c, int64_t tensors)
{
    char tensor[8], name[4];
    int64_t count, kind;

    for (int64_t t = 0; t < tensors; t++) {
        if (!word(tensor, sizeof tensor, c) || !number(&count, c, AXES))
            return 0;
        for (int i = 0; i < count; i++) {
            axis *a;

            if (!word(name, sizeof name, c) || !number(&kind, c, 4) ||
                !(a = find(c, name)))
                return 0;
            c->strange |= kind > 1 || (t > 0 && a->kind != kind);
            a->kind = (int)kind;
        }
    }
    return 1;
}

static int read_loops(config *c)
{
    int64_t count;

    if (!number(&count, c, AXES))
        return 0;
    c->loops = (int)count;
    for (int i = 0; i < count; i++)
        if (!word(c->loop[i], sizeof c->loop[i], c) || !find(c, c->loop[i]))
            return 0;
    return 1;
}

/* 0: it is no configuration. */
static int read_config(config *c)
{
    int64_t tensors;
    char threads[24];

    return read_splits(c, 0) && number(&tensors, c, 3) &&
           read_orders(c, tensors) && read_kinds(c, tensors) &&
           read_splits(c, -1) && read_loops(c) &&
           word(c->parallel, sizeof c->parallel, c) &&
           word(c->vector, sizeof c->vector, c) &&
           word(c->unrolled, sizeof c->unrolled, c) &&
           number(&c->factor, c, (int64_t)1 << 40) &&
           word(threads, sizeof threads, c) && number(&c->chunk, c, 1 << 20) &&
           !*c->at && (c->strange |= strcmp(threads, "T") != 0, 1);
}

/* ---- in spry's words ---- */

/* spmv is A(i,j) with them, A(i,k) with us. */
static int index_of(const config *c, const char *name)
{
    static const char letters[] = "ijkl";
    char letter = name[0];
    const char *at;

    if (!sp_has_columns(c->op) && letter == 'j')
        letter = 'k';
    at = strchr(letters, letter);
    return at && letter ? (int)(at - letters) : -1;
}

static int log2_of(int64_t x)
{
    int n = 0;

    while (n < 40 && (int64_t)1 << n < x)
        n++;
    return (int64_t)1 << n == x ? n : -1;
}

static axis *partner(config *c, const axis *a)
{
    char name[4];

    memcpy(name, a->name, sizeof name);
    name[1] = name[1] == '0' ? '1' : '0';
    return find(c, name);
}

/* The loop of spry that an axis is; -1: nothing spry knows. A level of size 1
 * is none of spry's loops, and two configurations that differ in it only are
 * two. */
static int loop_of(config *c, const axis *a)
{
    const axis *other = partner(c, a);
    int index = index_of(c, a->name), inner = a->name[1] == '1';

    if (index < 0 || !other || a->name[2] || a->size == 1 || other->size == 1)
        return -1;
    return 2 * index + inner;
}

/* Every second storage level must be the next sparse loop. */
static int same_order(const config *c)
{
    int next = 0;

    for (int i = 0; i < c->loops; i++)
        for (int k = 0; k < c->levels; k++)
            if (strcmp(c->loop[i], c->stored[k]) == 0 && k != next++)
                return 0;
    return next == c->levels;
}

static int add_loop(spry_super *s, config *c, const char *name)
{
    const axis *a = find(c, name);
    int loop = a ? loop_of(c, a) : -1, log = a ? log2_of(a->size) : 0;

    if (loop < 0)
        return 0;
    if (sp_loop_inner(loop)) {
        if (log < 1 || log > SP_SPLIT_MOST)
            return 0;
        s->split[sp_loop_index(loop)] = (uint8_t)log;
    }
    s->order[s->loops++] = (uint8_t)loop;
    if (a->kind == 0)
        s->dense |= (uint16_t)(1u << loop);
    return 1;
}

/* 0 when spry has no words for all of it. */
static int translate(spry_schedule *x, config *c, int threads)
{
    const axis *shared = find(c, c->parallel);
    int loop = shared ? loop_of(c, shared) : -1;

    *x = sp_schedule_default(SPRY_SUPER);
    if (c->strange || !same_order(c) || strcmp(c->vector, "None") != 0 ||
        strcmp(c->unrolled, "None") != 0 || c->factor || loop < 0 ||
        threads < 2)
        return 0;
    for (int i = 0; i < c->loops; i++)
        if (!add_loop(&x->super, c, c->loop[i]))
            return 0;
    x->super.parallel = (uint8_t)(1 + loop);
    x->threads = threads;
    x->chunk = (int32_t)c->chunk;
    return sp_super_fault(x, c->op) == NULL;
}

/* Do the splits multiply to what they did for this matrix before? */
static int same_products(sp_import *f, const char *name, const config *c)
{
    if (strcmp(f->name, name) != 0 || f->rows == 0) {
        f->rows = c->rows;
        f->cols = c->cols;
    }
    return f->rows == c->rows && f->cols == c->cols;
}

/* ---- a line ---- */

spry_status sp_import_autosparse(sp_import *f, char *line)
{
    char text[SP_TEXT], about[SP_NAME + 96], *field[4] = {0}, *end = line;
    config c = {0};
    sp_matrix_facts k = {.n = f->n};
    sp_foreign_row r = {.schedule = text, .compiler = "autosparse"};
    spry_schedule x;
    double ms = 0;
    int known = spry_op_parse(&c.op, f->op) == SPRY_OK, fields;

    if ((fields = sp_import_cut(field, 4, line)) < 3)
        return sp_fail(SPRY_INPUT, "a line of fewer than three columns");
    if (f->line == 1 && strcmp(field[1], "config") == 0)
        return SPRY_OK; /* the names of the columns */
    ms = strtod(field[2], &end);
    c.at = field[1];
    if (end == field[2] || *end || !(ms > 0 && ms < 1e12))
        return sp_fail(SPRY_INPUT, "\"%.40s\" is no time", field[2]);
    if (!*field[0] || strlen(field[1]) >= sizeof text - 16 || !read_config(&c))
        return sp_fail(SPRY_INPUT, "\"%.60s\" is no configuration", field[1]);
    r.ours = known && same_products(f, field[0], &c) &&
             translate(&x, &c, f->m.threads);
    if (r.ours)
        spry_schedule_text(text, &x);
    else
        snprintf(text, sizeof text, "autosparse %s", field[1]);
    r.seconds = ms * 1e-3;
    k.name = field[0];
    snprintf(about, sizeof about, "%s %.150s, median of %.20s", f->op, k.name,
             fields > 3 ? field[3] : "1");
    r.about = about;
    return sp_import_row(f, &k, &r);
}

/* ---- as tokens ---- */

typedef struct {
    float *out;
    int most, count;
} token_writer;

static void put_token(token_writer *w, spry_token_role role, const axis *a,
                      int place, int64_t amount)
{
    static const char letters[] = "ijkl";
    const char *at = a ? strchr(letters, a->name[0]) : NULL;
    float *t;

    if (w->count >= w->most)
        return;
    t = w->out + w->count++ * SPRY_TOKEN;
    t[0] = (float)role;
    t[1] = at ? (float)(at - letters) : -1;
    t[2] = a ? (float)(a->name[1] - '0') : -1;
    t[3] = a ? log2f((float)(a->size > 0 ? a->size : 1)) : 0;
    t[4] = (float)place;
    t[5] = a ? (float)a->kind : -1;
    t[6] = log2f(1 + (float)amount);
}

int spry_config_tokens(float *out, int most, const char *schedule)
{
    static const char prefix[] = "autosparse ";
    token_writer w = {out, most, 0};
    config c = {.op = SPRY_SPMM};

    if (!schedule || (!out && most > 0) ||
        strncmp(schedule, prefix, sizeof prefix - 1) != 0)
        return 0;
    c.at = schedule + sizeof prefix - 1;
    if (!read_config(&c))
        return 0;
    for (int i = 0; i < c.axes; i++)
        put_token(&w, SPRY_TOKEN_SPLIT, &c.axis[i], i, 0);
    for (int i = 0; i < c.levels; i++)
        put_token(&w, SPRY_TOKEN_LEVEL, find(&c, c.stored[i]), i, 0);
    for (int i = 0; i < c.loops; i++)
        put_token(&w, SPRY_TOKEN_LOOP, find(&c, c.loop[i]), i, 0);
    put_token(&w, SPRY_TOKEN_PARALLEL, find(&c, c.parallel), 0, c.chunk);
    put_token(&w, SPRY_TOKEN_VECTOR, find(&c, c.vector), 0, 0);
    put_token(&w, SPRY_TOKEN_UNROLL, find(&c, c.unrolled), 0, c.factor);
    return w.count;
}
