/* ansor.c - lines of TVM's auto-scheduler:
 *
 *   {"i": [[WORKLOAD, TARGET, [CORES, ...], ...], [[], STEPS]],
 *    "r": [[SECONDS, ...], ERROR, ALL_SECONDS, TIME], "v": "v0.6"}
 *
 * WORKLOAD is itself the text of a list. Of sparse_dense it has the dense
 * rows, the shape and the blocks; any other is known by its hash. */
#include <math.h>
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

/* The steps as JSON again, without blanks: values lie in the order of the
 * text, so only the ends of lists must be kept in mind. */
static void write_steps(sp_json *j, const sp_json_doc *d,
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
    }
    sp_json_free(&d);
    return s;
}

/* Fastest of the times; failures carry a huge one. */
static void read_result(sp_foreign_row *r, const sp_json_doc *d,
                        const sp_json_value *result)
{
    const sp_json_value *costs = item(d, result, 0);
    double least = HUGE_VAL;

    r->verdict = verdict_of(count(item(d, result, 1)));
    r->when = count(item(d, result, 3));
    for (int i = 0; costs && i < costs->count; i++)
        least = fmin(least, number(item(d, costs, i)));
    if (r->verdict == SPRY_VERDICT_OK)
        r->seconds = least;
}

static spry_status read_doc(sp_import *f, const sp_json_doc *d)
{
    const sp_json_value *in = sp_json_get(d, d->value, "i");
    const sp_json_value *task = item(d, in, 0);
    const sp_json_value *steps = item(d, item(d, in, 1), 1);
    const char *text = string(item(d, task, 0));
    sp_foreign_row r = {.compiler = "tvm auto_scheduler"};
    sp_buf words = {0};
    sp_json j = {.out = &words};
    workload w;
    spry_status s;

    if (!text || !steps || steps->kind != SP_JSON_ARRAY)
        return sp_fail(SPRY_INPUT, "no workload or no steps");
    s = read_workload(&w, f, text);
    if (s == SPRY_OK && !f->opt->machine)
        s = sp_import_machine(&f->m, f->path,
                              (int)count(item(d, item(d, task, 2), 0)));
    if (s == SPRY_OK)
        s = spry_records_put_machine(f->db, &f->m);
    read_result(&r, d, sp_json_get(d, d->value, "r"));
    if (s == SPRY_OK && r.verdict == SPRY_VERDICT_OK &&
        !(r.seconds > 0 && r.seconds < 1e9))
        return sp_fail(SPRY_INPUT, "no time, and no error either");
    sp_buf_printf(&words, "ansor %s", w.blocks);
    write_steps(&j, d, steps);
    if (s == SPRY_OK && words.failed)
        s = sp_fail_memory(words.cap);
    r.schedule = words.data;
    if (s == SPRY_OK)
        s = sp_import_row(f, &w.k, &r);
    sp_buf_free(&words);
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
