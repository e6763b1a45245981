/* rows.c - one measured fact of theirs, a record of ours. */
#include <string.h>
#include <strings.h>

#include "import/internal.h"
#include "problem/operation.h"

/* Rows of one transaction: few enough for others to come between. */
enum { BATCH = 5000 };

spry_status sp_import_flush(sp_import *f)
{
    int pending = f->pending;

    f->pending = 0;
    return pending ? spry_records_commit(f->db) : SPRY_OK;
}

static spry_status begin(sp_import *f)
{
    spry_status s = SPRY_OK;

    if (f->pending >= BATCH)
        s = sp_import_flush(f);
    if (s == SPRY_OK && f->pending == 0)
        s = spry_records_batch(f->db);
    f->pending += s == SPRY_OK;
    return s;
}

/* ---- the matrix, if it is at hand ---- */

/* The file NAME.mtx, .csr ... of the folder; 0 when there is none. */
static int find_file(char *out, size_t size, const char *folder,
                     const char *name)
{
    static const char *const endings[] = {
        ".mtx", ".mtx.gz", ".csr", ".csr.gz", ".npz", ".smtx", ".smtx.gz"};
    FILE *there = NULL;

    for (size_t i = 0; !there && i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(out, size, "%s/%s%s", folder, name, endings[i]);
        there = fopen(out, "rb");
    }
    if (there)
        fclose(there);
    return there != NULL;
}

static spry_status make_problem(spry_problem **out, const spry_matrix *A,
                                const char *op, int64_t n)
{
    spry_op which;
    spry_status s = spry_op_parse(&which, op);

    *out = NULL;
    return s == SPRY_OK ? spry_problem_make(out, which, A, n, SPRY_F32) : s;
}

/* Key and shape from the matrix itself; 0 when it is not to be had. */
static int know_matrix(sp_import *f, spry_origin *o, char *path, size_t size)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;

    if (!f->opt->matrices ||
        !find_file(path, size, f->opt->matrices, f->name) ||
        spry_matrix_read(&A, path) != SPRY_OK)
        return 0;
    if (make_problem(&p, A, f->op, f->n) == SPRY_OK) {
        snprintf(f->key, sizeof f->key, "%s", spry_problem_key(p));
        o->source = path;
        o->rows = A->rows;
        o->cols = A->cols;
        o->nnz = A->nnz;
    }
    spry_problem_free(p);
    spry_matrix_free(A);
    return o->source == path;
}

/* ---- the problem ---- */

static spry_status begin_problem(sp_import *f, const sp_matrix_facts *k)
{
    char group[SPRY_GROUP_TEXT], path[4096];
    const sp_operation *d = sp_operation_named(f->op);
    int64_t n = d && d->dense < 0 ? 1 : k->n;
    spry_origin o = {.problem = f->key,
                     .source = k->source ? k->source : "",
                     .group = group,
                     .op = f->op,
                     .type = k->type ? k->type : "f32",
                     .n = n,
                     .rows = k->rows,
                     .cols = k->cols,
                     .nnz = k->nnz};

    f->n = n;
    snprintf(f->name, sizeof f->name, "%s", k->name);
    spry_group_of(group, k->name);
    f->rows = f->cols = 0;
    snprintf(f->key, sizeof f->key, "%s-%lld-%s-named-%s", f->op, (long long)n,
             o.type, k->name);
    if (!k->type)
        know_matrix(f, &o, path, sizeof path);
    snprintf(f->about, sizeof f->about, "%s %lld %s %s", f->op, (long long)n,
             o.type, k->name);
    return spry_records_put_origin(f->db, &o);
}

/* What the store cannot keep, such as text that is not UTF-8, is the line's
 * fault. */
static spry_status refused(sp_import *f, spry_status s)
{
    if (s != SPRY_USAGE)
        return s;
    *f->name = 0;
    return sp_fail(SPRY_INPUT, "%s", spry_message());
}

spry_status sp_import_row(sp_import *f, const sp_matrix_facts *k,
                          const sp_foreign_row *r)
{
    spry_record record = {.problem = f->key,
                          .about = r->about ? r->about : f->about,
                          .schedule = r->schedule,
                          .machine = f->m.fingerprint,
                          .compiler = r->compiler,
                          .verdict = r->verdict,
                          .noise = '?',
                          .seconds = r->seconds,
                          .when = r->when,
                          .pack_seconds = r->pack_seconds,
                          .bytes = r->bytes,
                          .samples = r->samples ? r->samples : r->seconds > 0,
                          .sample = r->samples ? r->sample : &r->seconds};
    spry_status s = begin(f);

    if (s == SPRY_OK && strcmp(f->name, k->name) != 0)
        s = begin_problem(f, k);
    if (s == SPRY_OK)
        s = spry_records_add(f->db, &record);
    f->good += s == SPRY_OK;
    f->out->ours += s == SPRY_OK && r->ours;
    return refused(f, s);
}
