/* waco.c - SuperSchedules in WACO's words: one line of text, and the row of
 * numbers its network is fed.
 *
 *   4 8 32 i1 k1 j1 i0 k0 j0 1 1 0 1 i1 48 32
 *
 * Splits, all loops (also inside indices that are not split), a format bit
 * for every level of A (1: dense), parallel loop, threads, chunk. */
#include "spry/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/super.h"

enum { WORDS = 64, TAIL = 3 };

/* A line's meaning, every index with both of its loops. */
typedef struct {
    const sp_operation *d;
    int indices;
    int index[SPRY_INDICES]; /* in the order of the splits */
    spry_super s;            /* not settled */
    int threads, chunk;
} line;

static line empty_line(spry_op op)
{
    line w = {.d = sp_operation_of(op)};

    for (int i = 0; i < w.d->modes; i++)
        w.index[w.indices++] = w.d->sparse[i];
    if (w.d->dense >= 0)
        w.index[w.indices++] = w.d->dense;
    w.s.loops = (uint8_t)(2 * w.indices);
    return w;
}

static int words_of(const line *w)
{
    return 3 * w->indices + 2 * w->d->modes + TAIL;
}

/* ---- reading ---- */

typedef struct {
    const char *at;
    size_t n;
} word;

static int split_words(word out[WORDS], const char *text)
{
    static const char blank[] = " \t\r\n";
    int count = 0;

    for (const char *at = text; *(at += strspn(at, blank));) {
        word w = {at, strcspn(at, blank)};

        if (count == WORDS)
            return -1;
        out[count++] = w;
        at += w.n;
    }
    return count;
}

static int is_word(const word *w, const char *text)
{
    return w->n == strlen(text) && memcmp(w->at, text, w->n) == 0;
}

static spry_status bad_word(const word *w, const char *what)
{
    return sp_fail(SPRY_INPUT, "\"%.*s\" is not %s",
                   (int)(w->n < 40 ? w->n : 40), w->at, what);
}

static int read_number(int64_t *out, const word *w)
{
    const char *at = w->at, *end = w->at + w->n;

    return sp_scan_int(&at, end, out) && at == end;
}

/* "i1" is 2 * index, "i0" what is inside; -1: neither. */
static int read_loop(const line *l, const word *w)
{
    static const char letters[] = "ijkl";

    for (int i = 0; i < l->indices; i++)
        if (w->n == 2 && w->at[0] == letters[l->index[i]] &&
            (w->at[1] == '0' || w->at[1] == '1'))
            return 2 * l->index[i] + (w->at[1] == '0');
    return -1;
}

static spry_status read_splits(line *l, const word **w)
{
    for (int i = 0; i < l->indices; i++, ++*w) {
        int64_t v;

        if (!read_number(&v, *w) || v < 1 || v & (v - 1) ||
            v > INT64_C(1) << SP_SPLIT_MOST)
            return bad_word(*w, "a split, a power of two");
        l->s.split[l->index[i]] = (uint8_t)__builtin_ctzll((uint64_t)v);
    }
    return SPRY_OK;
}

static spry_status read_order(line *l, const word **w)
{
    for (int q = 0; q < l->s.loops; q++, ++*w) {
        int loop = read_loop(l, *w);

        if (loop < 0)
            return bad_word(*w, "a loop of the operation");
        l->s.order[q] = (uint8_t)loop;
    }
    return SPRY_OK;
}

static spry_status read_formats(line *l, const word **w)
{
    for (int b = 0; b < 2 * l->d->modes; b++, ++*w) {
        if (!is_word(*w, "0") && !is_word(*w, "1"))
            return bad_word(*w, "a format, 0 or 1");
        if (*(*w)->at == '1')
            l->s.dense |= (uint16_t)(1u << (2 * l->d->sparse[b / 2] + b % 2));
    }
    return SPRY_OK;
}

static spry_status read_tail(line *l, const word *w)
{
    int loop = read_loop(l, w);
    int64_t threads, chunk;

    if (loop < 0)
        return bad_word(w, "a loop of the operation");
    if (!read_number(&threads, w + 1) || threads < 1 || threads > INT32_MAX)
        return bad_word(w + 1, "a number of threads");
    if (!read_number(&chunk, w + 2) || chunk < 1 || chunk > 1 << 30)
        return bad_word(w + 2, "a chunk");
    l->s.parallel = (uint8_t)(loop + 1);
    l->threads = (int)threads;
    l->chunk = (int)chunk;
    return SPRY_OK;
}

/* Which words are the schedule, and the time behind them. */
static spry_status find_schedule(const word **first, double *ms, const word *w,
                                 int count, int wanted)
{
    int equals = 0, talk = count > 0 && is_word(w, "Testing");
    const char *at;

    while (equals < count && !is_word(&w[equals], "="))
        equals++;
    *ms = -1;
    if (equals < wanted || (equals > wanted && !talk))
        return sp_fail(SPRY_INPUT, "%d words, where a schedule has %d", equals,
                       wanted);
    *first = w + equals - wanted;
    if (equals == count)
        return SPRY_OK;
    at = equals + 1 < count ? w[equals + 1].at : "";
    if (equals + 1 == count ||
        !sp_scan_real(&at, w[equals + 1].at + w[equals + 1].n, ms) ||
        at != w[equals + 1].at + w[equals + 1].n || !isfinite(*ms) || *ms < 0)
        return sp_fail(SPRY_INPUT, "no time stands behind the =");
    return SPRY_OK;
}

/* A line's nest as a schedule; with one thread nothing is shared. */
static spry_status finish(spry_schedule *out, line *l, spry_op op, int threads)
{
    const char *fault;

    *out = sp_schedule_default(SPRY_SUPER);
    out->super = l->s;
    out->threads = threads ? threads : l->threads;
    out->chunk = l->chunk;
    sp_super_settle(&out->super);
    if (out->threads == 1) {
        out->super.parallel = 0;
        out->chunk = 0;
    }
    fault = sp_super_fault(out, op);
    return fault ? sp_fail(SPRY_INPUT, "%s", fault) : SPRY_OK;
}

spry_status spry_waco_parse(spry_schedule *out, double *ms, const char *text,
                            spry_op op, int threads)
{
    SP_NEED(out, text);
    SP_REFUSE(threads < 0, "there cannot be %d threads", threads);
    SP_REFUSE((unsigned)op >= SPRY_OPS, "%d is no operation", (int)op);

    word words[WORDS];
    const word *w = words;
    line l = empty_line(op);
    int count = split_words(words, text);
    spry_status s = find_schedule(&w, ms, words, count, words_of(&l));

    if (s == SPRY_OK)
        s = read_splits(&l, &w);
    if (s == SPRY_OK)
        s = read_order(&l, &w);
    if (s == SPRY_OK)
        s = read_formats(&l, &w);
    if (s == SPRY_OK)
        s = read_tail(&l, w);
    return s == SPRY_OK ? finish(out, &l, op, threads) : s;
}

/* ---- writing ---- */

/* The loops that a split of 1 leaves out go right behind their blocks'. */
static int expand(line *out, const spry_schedule *x, spry_op op)
{
    int n = 0;

    *out = empty_line(op);
    if (x->format != SPRY_SUPER || sp_super_fault(x, op) ||
        (x->threads > 1 && x->chunk == 0))
        return 0;
    memcpy(out->s.split, x->super.split, sizeof out->s.split);
    for (int q = 0; q < x->super.loops; q++) {
        int loop = x->super.order[q];

        out->s.order[n++] = (uint8_t)loop;
        if (!x->super.split[sp_loop_index(loop)])
            out->s.order[n++] = (uint8_t)(loop + 1);
    }
    out->s.dense = x->super.dense;
    out->s.parallel = x->threads > 1 ? x->super.parallel : 1 + 2 * SP_I;
    out->threads = x->threads;
    out->chunk = x->threads > 1 ? x->chunk : 1;
    return 1;
}

/* Its name with both loops, whether it is split or not. */
static size_t put_loop(char *out, size_t size, int loop)
{
    return (size_t)snprintf(out, size, " %c%c", "ijkl"[sp_loop_index(loop)],
                            sp_loop_inner(loop) ? '0' : '1');
}

spry_status spry_waco_text(char buf[SPRY_WACO_TEXT], const spry_schedule *x,
                           spry_op op)
{
    SP_NEED(buf, x);
    SP_REFUSE((unsigned)op >= SPRY_OPS, "%d is no operation", (int)op);

    const size_t size = SPRY_WACO_TEXT;
    size_t at = 0;
    line l;

    if (!expand(&l, x, op))
        return sp_fail(SPRY_USAGE, "WACO has no words for this schedule");
    for (int i = 0; i < l.indices; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%ld", i ? " " : "",
                               1L << l.s.split[l.index[i]]);
    for (int q = 0; q < l.s.loops; q++)
        at += put_loop(buf + at, size - at, l.s.order[q]);
    for (int b = 0; b < 2 * l.d->modes; b++)
        at +=
            (size_t)snprintf(buf + at, size - at, " %d",
                             l.s.dense >> (2 * l.d->sparse[b / 2] + b % 2) & 1);
    at += put_loop(buf + at, size - at, l.s.parallel - 1);
    snprintf(buf + at, size - at, " %d %d", l.threads, l.chunk);
    return SPRY_OK;
}

/* ---- numbers ---- */

/* Which row of the order's matrix a loop is: i1 i0 k1 k0 ... */
static int row_of(const line *l, int loop)
{
    int i = 0;

    while (l->index[i] != sp_loop_index(loop))
        i++;
    return 2 * i + sp_loop_inner(loop);
}

int spry_waco_vector(float out[SPRY_WACO_VECTOR], const spry_schedule *x,
                     spry_op op)
{
    SP_NEED_OR(0, out, x);

    line l;
    int n = 0, loops, parallel;

    if ((unsigned)op >= SPRY_OPS || !expand(&l, x, op))
        return 0;
    memset(out, 0, SPRY_WACO_VECTOR * sizeof *out);
    loops = l.s.loops;
    for (int i = 0; i < l.indices; i++)
        out[n++] = (float)l.s.split[l.index[i]];
    for (int q = 0; q < loops; q++)
        out[n + row_of(&l, l.s.order[q]) * loops + q] = 1;
    n += loops * loops;
    for (int b = 0; b < 2 * l.d->modes; b++)
        out[n++] = (float)(l.s.dense >> (2 * l.d->sparse[b / 2] + b % 2) & 1);
    parallel = row_of(&l, l.s.parallel - 1);
    /* blocks first: WACO only knows those of i and, for sddmm, j */
    out[n++] = (float)(parallel / 2 + (parallel % 2 ? l.indices : 0));
    out[n++] = 0;
    out[n++] = (float)(31 - __builtin_clz((unsigned)l.chunk));
    return n;
}
