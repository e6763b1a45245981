/* ansor.c - lines of TVM's auto-scheduler:
 *
 *   {"i": [[WORKLOAD, TARGET, [CORES, ...], ...], [[], STEPS]],
 *    "r": [[SECONDS, ...], ERROR, ALL_SECONDS, TIME], "v": "v0.6"}
 *
 * WORKLOAD is itself the text of a list. Of sparse_dense it has the dense
 * rows, the shape and the blocks; any other is known by its hash, its shape as
 * that of a product of matrices. Nothing of a line is lost: the task, with all
 * hardware parameters, is what the record is about, the steps are its
 * schedule, every repeat a sample, ALL_SECONDS the time to make it, version and
 * error stand behind the compiler; write.c makes the line again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/internal.h"

enum { DEEPEST = 32 }; /* as deep as sp_json_parse goes */

static const sp_json_value *item(const sp_json_doc *d, const sp_json_value *v,
                                 int at)
{
    const sp_json_value *x;

    if (!v || v->kind != SP_JSON_ARRAY || at >= v->count)
        return NULL;
    for (x = v + 1; at > 0; at--)
        x = &d->value[x->next];
    return x;
}

static double number(const sp_json_value *v)
{
    return v && v->kind == SP_JSON_NUMBER ? v->number : (double)NAN;
}

static const char *string(const sp_json_value *v)
{
    return v && v->kind == SP_JSON_STRING ? v->text : NULL;
}

static int64_t count(const sp_json_value *v)
{
    double x = number(v);

    return x >= 0 && x <= 0x1p53 ? (int64_t)x : 0;
}

/* A list as JSON again, without blanks: values lie in the order of the text,
 * so only the ends of lists must be kept in mind. */
static void write_list(sp_json *j, const sp_json_doc *d,
                       const sp_json_value *steps)
{
    const sp_json_value *end[DEEPEST];
    int depth = 0;

    for (const sp_json_value *v = steps; v < &d->value[steps->next]; v++) {
        while (depth > 0 && v == end[depth - 1]) {
            sp_json_close(j, ']');
            depth--;
        }
        if (v->kind == SP_JSON_ARRAY && depth < DEEPEST) {
            sp_json_open(j, NULL, '[');
            end[depth++] = &d->value[v->next];
        } else if (v->kind == SP_JSON_NUMBER)
            sp_json_number(j, NULL, v->number);
        else
            sp_json_text(j, NULL, v->kind == SP_JSON_STRING ? v->text : "?");
    }
    while (depth-- > 0)
        sp_json_close(j, ']');
}

static spry_verdict verdict_of(int64_t error)
{
    static const spry_verdict verdicts[] = {
        SPRY_VERDICT_OK,         SPRY_VERDICT_INFEASIBLE,
        SPRY_VERDICT_INFEASIBLE, SPRY_VERDICT_INFEASIBLE,
        SPRY_VERDICT_CRASH,      SPRY_VERDICT_WRONG,
        SPRY_VERDICT_TIMEOUT,    SPRY_VERDICT_TIMEOUT};

    return error >= 0 && error < 8 ? verdicts[error] : SPRY_VERDICT_CRASH;
}

/* What the workload's own list says. */
typedef struct {
    sp_matrix_facts k;
    char name[SP_NAME], blocks[48];
} workload;

/* "sparse_dense...", dense rows, shape, [blocks, r, c], ... */
static void read_sparse(workload *w, sp_import *f, const sp_json_doc *d)
{
    const sp_json_value *blocks = item(d, d->value, 4);
    int64_t r = count(item(d, blocks, 1)), c = count(item(d, blocks, 2));

    snprintf(f->op, sizeof f->op, "spmm");
    snprintf(w->name, sizeof w->name, "%s", f->subject);
    snprintf(w->blocks, sizeof w->blocks, "bsr=%lldx%lld ", (long long)r,
             (long long)c);
    w->k.n = count(item(d, d->value, 1));
    w->k.rows = count(item(d, d->value, 2));
    w->k.cols = count(item(d, d->value, 3));
    if (r <= 1 << 20 && c <= 1 << 20 && count(item(d, blocks, 0)) <= 1 << 20)
        w->k.nnz = count(item(d, blocks, 0)) * r * c;
}

/* All numbers of the workload's list, those of lists in it too. */
static int read_sizes(int64_t *out, int most, const sp_json_doc *d)
{
    int n = 0;

    for (const sp_json_value *v = d->value + 1;
         v < &d->value[d->value->next] && n < most; v++)
        if (v->kind == SP_JSON_NUMBER)
            out[n++] = count(v);
    return n;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/* The product of matrices that it is: N, L, M of a hand-written one; [N, K],
 * [., .], [N, M]; and [N, H, W, C], [R, S, C, K], ... [N, P, Q, K] of a
 * convolution. */
static void read_dense(sp_matrix_facts *k, const sp_json_doc *d)
{
    enum { SIZES = 32 };
    int64_t size[SIZES];
    int n = read_sizes(size, SIZES, d);

    if (n == 3) {
        k->rows = size[0];
        k->cols = size[1];
        k->n = size[2];
    } else if (n == 6) {
        k->rows = size[0];
        k->cols = size[1];
        k->n = size[5];
    } else if (n >= 12 && n % 4 == 0) {
        k->rows = times(times(size[n - 4], size[n - 3]), size[n - 2]);
        k->cols = times(times(size[4], size[5]), size[6]);
        k->n = size[n - 1];
    }
    k->nnz = times(k->rows, k->cols);
}

static spry_status read_workload(workload *w, sp_import *f, const char *text)
{
    uint8_t digest[SP_SHA256];
    char hex[17];
    sp_json_doc d;
    spry_status s = sp_json_parse(&d, text, strlen(text));
    const char *kind = s == SPRY_OK ? string(item(&d, d.value, 0)) : NULL;

    *w = (workload){.blocks = ""};
    w->k.name = w->name;
    if (s != SPRY_OK)
        return s;
    if (!kind)
        s = sp_fail(SPRY_INPUT, "a workload without a name");
    else if (strncmp(kind, "sparse_dense", 12) == 0)
        read_sparse(w, f, &d);
    else {
        sp_sha256(digest, text, strlen(text));
        sp_hex(hex, digest, 8);
        snprintf(f->op, sizeof f->op, "dense");
        snprintf(w->name, sizeof w->name, "%.40s-%s", kind, hex);
        read_dense(&w->k, &d);
    }
    sp_json_free(&d);
    return s;
}

/* ---- the result ---- */

enum { REPEATS = 64 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median; failures carry a huge one. */
static spry_status read_result(sp_foreign_row *r, double sample[2 * REPEATS],
                               const sp_json_doc *d,
                               const sp_json_value *result)
{
    const sp_json_value *costs = item(d, result, 0);
    double all = number(item(d, result, 2)), *sorted = sample + REPEATS;
    int n = costs && costs->kind == SP_JSON_ARRAY ? costs->count : 0;

    if (n > REPEATS)
        return sp_fail(SPRY_INPUT, "more than %d times", REPEATS);
    r->verdict = verdict_of(count(item(d, result, 1)));
    r->when = count(item(d, result, 3));
    r->pack_seconds = all >= 0 && all < 1e30 ? all : 0;
    for (int i = 0; i < n; i++) {
        sample[i] = sorted[i] = number(item(d, costs, i));
        if (!(sample[i] >= 0 && sample[i] <= 1e30))
            return sp_fail(SPRY_INPUT, "a time that is none");
    }
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    r->samples = n;
    r->sample = sample;
    if (r->verdict != SPRY_VERDICT_OK)
        return SPRY_OK;
    r->seconds = n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
    return r->seconds > 0 && r->seconds < 1e9
               ? SPRY_OK
               : sp_fail(SPRY_INPUT, "no time, and no error either");
}

/* "tvm auto_scheduler v0.6", with the number of an error behind it. */
static spry_status read_version(char *out, size_t size, const sp_json_doc *d)
{
    const sp_json_value *result = sp_json_get(d, d->value, "r");
    const char *v = sp_json_get_text(d, d->value, "v", "v0.6");
    int64_t error = count(item(d, result, 1));

    if (strlen(v) != 4 || strncmp(v, "v0.", 3) != 0 || v[3] < '2' || v[3] > '6')
        return sp_fail(SPRY_INPUT, "version \"%.20s\" is none of v0.2 to v0.6",
                       v);
    snprintf(out, size, "tvm auto_scheduler %s", v);
    if (error && error < 1000)
        snprintf(out, size, "tvm auto_scheduler %s error %d", v, (int)error);
    return SPRY_OK;
}

/* ---- a line ---- */

static spry_status find_machine(sp_import *f, const sp_json_doc *d,
                                const sp_json_value *task)
{
    spry_status s = SPRY_OK;

    if (!f->opt->machine)
        s = sp_import_machine(&f->m, f->path,
                              (int)count(item(d, item(d, task, 2), 0)));
    return s == SPRY_OK ? spry_records_put_machine(f->db, &f->m) : s;
}

static spry_status read_doc(sp_import *f, const sp_json_doc *d)
{
    const sp_json_value *in = sp_json_get(d, d->value, "i");
    const sp_json_value *task = item(d, in, 0);
    const sp_json_value *steps = item(d, item(d, in, 1), 1);
    const char *text = string(item(d, task, 0));
    char compiler[64];
    double sample[2 * REPEATS];
    sp_foreign_row r = {.compiler = compiler};
    sp_buf words = {0}, about = {0};
    sp_json j = {.out = &words}, a = {.out = &about};
    workload w;
    spry_status s;

    if (!text || !steps || steps->kind != SP_JSON_ARRAY)
        return sp_fail(SPRY_INPUT, "no workload or no steps");
    s = read_workload(&w, f, text);
    if (s == SPRY_OK)
        s = read_version(compiler, sizeof compiler, d);
    if (s == SPRY_OK)
        s = read_result(&r, sample, d, sp_json_get(d, d->value, "r"));
    if (s == SPRY_OK)
        s = find_machine(f, d, task);
    if (s != SPRY_OK)
        return s;
    sp_buf_printf(&words, "ansor %s", w.blocks);
    write_list(&j, d, steps);
    write_list(&a, d, task);
    if (words.failed || about.failed)
        s = sp_fail_memory(words.cap + about.cap);
    r.schedule = words.data;
    r.about = about.data;
    if (s == SPRY_OK)
        s = sp_import_row(f, &w.k, &r);
    sp_buf_free(&words);
    sp_buf_free(&about);
    return s;
}

spry_status sp_import_ansor(sp_import *f, char *line)
{
    sp_json_doc d;
    spry_status s;

    if (*line == '#' || !*line)
        return SPRY_OK;
    s = sp_json_parse(&d, line, strlen(line));
    if (s != SPRY_OK)
        return s;
    s = read_doc(f, &d);
    sp_json_free(&d);
    return s;
}
