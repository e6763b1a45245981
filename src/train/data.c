/* data.c - records of a store become examples.
 *
 * A subject is a problem on a machine. Its matrix is read or generated again
 * from where it came from, and must have the key it had; one that is not at
 * hand leaves its shape, which is in the problem's origin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/dataset.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"
#include "train/internal.h"

/* ---- what the store says ---- */

typedef struct {
    char *problem, *machine, *probe; /* of the subject */
    char *source, *group;            /* of its origin; NULL until found */
    uint64_t twin; /* equal for permutations of a matrix; 0: unknown */
    sp_problem_shape task;
    int64_t rows;
} found;

typedef struct {
    sp_data *d;
    spry_op op;
    const char *machine; /* NULL: all */
    found *subject;
    int64_t subjects, room;
    sp_example *row; /* .subject is set, order as they came */
    int64_t rows, row_room;
    spry_status status;
} reading;

static void found_free(found *f)
{
    free(f->problem);
    free(f->machine);
    free(f->probe);
    free(f->source);
    free(f->group);
    *f = (found){0};
}

static void *more(void *old, int64_t count, int64_t *room, size_t size)
{
    int64_t larger = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return old;
    grown = sp_grow(old, count, larger, size);
    if (grown)
        *room = larger;
    return grown;
}

/* The subject of a record; -1 when there is no memory. Records of a problem
 * come in a row, so that the last subjects are the likely ones. */
static int64_t subject_of(reading *r, const spry_record *record)
{
    found *grown;

    for (int64_t s = r->subjects - 1; s >= 0; s--)
        if (!strcmp(r->subject[s].problem, record->problem) &&
            !strcmp(r->subject[s].machine, record->machine) &&
            !strcmp(r->subject[s].probe, record->probe))
            return s;
    grown = more(r->subject, r->subjects, &r->room, sizeof *r->subject);
    if (!grown)
        return -1;
    r->subject = grown;
    grown += r->subjects;
    *grown = (found){.problem = sp_strdup(record->problem),
                     .machine = sp_strdup(record->machine),
                     .probe = sp_strdup(record->probe)};
    if (!grown->problem || !grown->machine || !grown->probe) {
        found_free(grown);
        return -1;
    }
    return r->subjects++;
}

/* Half of the interval of the logarithm; 0 when there is none. */
static double noise_of(const spry_record *record)
{
    return record->low > 0 && record->high >= record->low
               ? log(record->high / record->low) / 2
               : 0;
}

static int add_record(const spry_record *record, void *payload)
{
    reading *r = payload;
    sp_example *row;
    int64_t s;

    row = more(r->row, r->rows, &r->row_room, sizeof *row);
    s = row ? subject_of(r, record) : -1;
    if (row)
        r->row = row;
    if (s < 0) {
        r->status = sp_fail_memory(sizeof *row);
        return 1;
    }
    row += r->rows;
    memset(row, 0, sizeof *row);
    if (spry_schedule_parse(&row->x, record->schedule) != SPRY_OK) {
        r->d->left_out++;
        return 0;
    }
    if (record->when > r->d->newest)
        r->d->newest = record->when;
    row->subject = s;
    row->verdict = (int)record->verdict;
    row->log_seconds = record->seconds > 0 ? log(record->seconds) : nan("");
    row->log_speedup = record->seconds > 0 && record->speedup > 0
                           ? log(record->speedup)
                           : nan("");
    row->noise = noise_of(record);
    r->subject[s].rows++;
    r->rows++;
    return 0;
}

static int add_origin(const spry_origin *o, void *payload)
{
    char recipe[SPRY_GROUP_TEXT];
    reading *r = payload;
    spry_type type;

    if (spry_type_parse(&type, o->type) != SPRY_OK)
        return 0;
    for (int64_t s = 0; s < r->subjects; s++) {
        found *f = &r->subject[s];

        if (f->source || strcmp(f->problem, o->problem) != 0)
            continue;
        f->task =
            (sp_problem_shape){r->op, type, o->n, o->rows, o->cols, o->nnz};
        f->source = sp_strdup(o->source);
        f->group = sp_strdup(strncmp(o->source, "gen:", 4) == 0
                                 ? spry_group_of(recipe, o->source)
                                 : o->group);
        if (!f->source || !f->group)
            r->status = sp_fail_memory(strlen(o->source));
    }
    return r->status != SPRY_OK;
}

static spry_status read_store(reading *r, spry_records *db)
{
    char prefix[32];
    spry_status s;

    snprintf(prefix, sizeof prefix, "%s-", spry_op_name(r->op));
    s = spry_records_each(db, prefix, r->machine, add_record, r);
    if (s == SPRY_OK)
        s = r->status;
    if (s == SPRY_OK)
        s = spry_records_each_origin(db, add_origin, r);
    return s == SPRY_OK ? r->status : s;
}

/* ---- subjects ---- */

static spry_status make_problem(spry_problem **out, const spry_matrix *A,
                                const sp_problem_shape *k)
{
    *out = NULL;
    if (!sp_has_tensor(k->op))
        return spry_problem_make(out, k->op, A, k->n, k->type);
    return sp_fail(SPRY_USAGE, "models of tensors are not learned yet");
}

/* The matrix, if what lies there is still the one that was measured. */
static void recall(sp_data *d, int64_t s, const found *f)
{
    if (!f->source || !*f->source ||
        spry_matrix_read(&d->A[s], f->source) != SPRY_OK)
        return;
    if (make_problem(&d->p[s], d->A[s], &f->task) == SPRY_OK &&
        !strcmp(spry_problem_key(d->p[s]), f->problem))
        return;
    spry_problem_free(d->p[s]);
    spry_matrix_free(d->A[s]);
    d->p[s] = NULL;
    d->A[s] = NULL;
}

static void make_subject(sp_data *d, int64_t s, found *f)
{
    sp_subject *subject = &d->e.subject[s];

    recall(d, s, f);
    f->twin = d->A[s] ? sp_twin_of(d->A[s]) : 0;
    if (!d->p[s] || !d->m[s] ||
        sp_subject_of(subject, sp_sparse_of(d->p[s]), d->m[s]) != SPRY_OK)
        sp_subject_bare(subject, &f->task, d->m[s]);
}

static spry_status find_machine(sp_data *d, int64_t s, spry_records *db,
                                const found *f)
{
    spry_machine *m = sp_alloc(1, sizeof *m);
    int known = 0;
    spry_status status;

    if (!m)
        return sp_fail_memory(sizeof *m);
    status = spry_records_get_probe(db, m, &known, f->probe, f->machine);
    if (status == SPRY_OK && known)
        d->m[s] = m;
    else
        sp_free(m);
    return status;
}

static spry_status data_alloc(sp_data *d, int64_t subjects, int64_t rows)
{
    d->e.subject = sp_alloc(subjects + 1, sizeof *d->e.subject);
    d->e.row = sp_alloc(rows + 1, sizeof *d->e.row);
    d->e.start = sp_alloc(subjects + 2, sizeof *d->e.start);
    d->group = sp_alloc(subjects + 1, sizeof *d->group);
    d->problem = sp_alloc(subjects + 1, sizeof *d->problem);
    d->machine = sp_alloc(subjects + 1, sizeof *d->machine);
    d->A = sp_alloc(subjects + 1, sizeof(spry_matrix *));
    d->p = sp_alloc(subjects + 1, sizeof(spry_problem *));
    d->m = sp_alloc(subjects + 1, sizeof(spry_machine *));
    if (d->e.subject && d->e.row && d->e.start && d->group && d->problem &&
        d->machine && d->A && d->p && d->m)
        return SPRY_OK;
    return sp_fail_memory((size_t)rows * sizeof *d->e.row);
}

/* The same schedule measured again is one row: the mean of both. */
static void add_row(sp_data *d, int64_t from, const sp_example *row)
{
    for (int64_t i = from; i < d->e.rows; i++) {
        sp_example *known = &d->e.row[i];

        if (!sp_schedule_equal(&known->x, &row->x))
            continue;
        if (!isfinite(known->log_seconds))
            *known = *row;
        else if (isfinite(row->log_seconds)) {
            known->log_seconds = (known->log_seconds + row->log_seconds) / 2;
            if (isfinite(row->log_speedup) && isfinite(known->log_speedup))
                known->log_speedup =
                    (known->log_speedup + row->log_speedup) / 2;
        }
        return;
    }
    d->e.row[d->e.rows++] = *row;
}

/* Races at different hours compare by their ratio to the baseline only. */
static void level_times(sp_examples *e)
{
    for (int64_t s = 0; s < e->subjects; s++) {
        double baseline = sp_baseline_of(e, s);

        for (int64_t i = e->start[s]; i < e->start[s + 1]; i++)
            if (isfinite(baseline) && isfinite(e->row[i].log_speedup))
                e->row[i].log_seconds = baseline - e->row[i].log_speedup;
    }
}

/* Rows by subject; a subject whose problem has no origin is left out. */
static spry_status sort_rows(sp_data *d, reading *r, spry_records *db)
{
    int64_t *begin = sp_alloc(r->subjects + r->rows + 3, sizeof *begin);
    int64_t *order;
    spry_status s = SPRY_OK;

    if (!begin)
        return sp_fail_memory((size_t)r->rows * sizeof *begin);
    order = begin + r->subjects + 2;
    for (int64_t k = 0; k < r->subjects; k++)
        begin[k + 1] = begin[k] + r->subject[k].rows;
    for (int64_t i = 0; i < r->rows; i++)
        order[begin[r->row[i].subject]++] = i;
    for (int64_t k = 0, i = 0; s == SPRY_OK && k < r->subjects; k++) {
        found *f = &r->subject[k];
        int64_t to = d->e.subjects, end = i + f->rows;

        if (!f->source) {
            d->left_out += f->rows;
            found_free(f);
            i = end;
            continue;
        }
        for (; i < end; i++) {
            r->row[order[i]].subject = to;
            add_row(d, d->e.start[to], &r->row[order[i]]);
        }
        s = find_machine(d, to, db, f);
        d->group[to] = f->group;
        d->machine[to] = f->machine;
        f->group = f->machine = NULL;
        if (to != k) { /* what was there has been left out */
            r->subject[to] = *f;
            *f = (found){0};
        }
        d->e.start[++d->e.subjects] = d->e.rows;
    }
    sp_free(begin);
    return s;
}

/* ---- groups ---- */

/* The pattern in a problem's key, behind operation, columns and type. */
static const char *pattern_of(const char *key)
{
    const char *at = key;

    for (int dashes = 0; *at && dashes < 3; at++)
        dashes += *at == '-';
    return at;
}

/* What is called like subject s is from now on called like subject t. */
static spry_status rename_group(sp_data *d, int64_t s, int64_t t)
{
    char *from = sp_strdup(d->group[s]);
    spry_status status = from ? SPRY_OK : sp_fail_memory(1);

    for (int64_t i = 0; status == SPRY_OK && i < d->e.subjects; i++) {
        char *name;

        if (strcmp(d->group[i], from) != 0)
            continue;
        name = sp_strdup(d->group[t]);
        if (name) {
            free(d->group[i]);
            d->group[i] = name;
        } else
            status = sp_fail_memory(strlen(from));
    }
    free(from);
    return status;
}

/* One pattern, or one that is the other with its rows and columns moved? */
static int is_same(const found *a, const found *b)
{
    return (a->twin && a->twin == b->twin) ||
           strcmp(pattern_of(a->problem), pattern_of(b->problem)) == 0;
}

/* One matrix may lie in two files of different names: then both names are of
 * one group. */
static spry_status unite_groups(sp_data *d, const reading *r)
{
    spry_status status = SPRY_OK;

    for (int64_t s = 1; s < d->e.subjects; s++)
        for (int64_t t = 0; status == SPRY_OK && t < s; t++)
            if (strcmp(d->group[s], d->group[t]) != 0 &&
                is_same(&r->subject[s], &r->subject[t]))
                status = rename_group(d, s, t);
    return status;
}

static void reading_close(reading *r)
{
    for (int64_t s = 0; s < r->subjects; s++)
        found_free(&r->subject[s]);
    sp_free(r->subject);
    sp_free(r->row);
}

/* Matrices are read and looked at until the time is over, which is the case
 * when not all were. */
static spry_status make_subjects(sp_data *d, const reading *r, int threads,
                                 double until)
{
    double begun = sp_seconds();
    int64_t made = 0;

#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(threads) reduction(+ : made) if (threads > 1)
    for (int64_t k = 0; k < d->e.subjects; k++)
        if (!(until > 0) || sp_seconds() < until) {
            make_subject(d, k, &r->subject[k]);
            made++;
        }
    if (made == d->e.subjects)
        return SPRY_OK;
    return sp_fail(SPRY_BUDGET,
                   "%lld of the %lld problems could be read within the "
                   "budget; reading all takes about %.2g s",
                   (long long)made, (long long)d->e.subjects,
                   (sp_seconds() - begun) * (double)d->e.subjects /
                       (double)(made + 1));
}

spry_status sp_data_open(sp_data *out, spry_records *db, spry_op op,
                         const char *machine, int threads)
{
    return sp_data_open_until(out, db, op, machine, threads, 0);
}

spry_status sp_data_open_until(sp_data *out, spry_records *db, spry_op op,
                               const char *machine, int threads, double until)
{
    reading r = {.d = out, .op = op, .machine = machine};
    spry_status s;

    memset(out, 0, sizeof *out);
    s = read_store(&r, db);
    if (s == SPRY_OK)
        s = data_alloc(out, r.subjects, r.rows);
    if (s == SPRY_OK)
        s = sort_rows(out, &r, db);
    if (s == SPRY_OK) {
        level_times(&out->e);
        s = make_subjects(out, &r, threads, until);
    }
    if (s == SPRY_OK)
        s = unite_groups(out, &r);
    for (int64_t k = 0; s == SPRY_OK && k < out->e.subjects; k++) {
        out->problem[k] = r.subject[k].problem;
        out->e.subject[k].name = out->problem[k];
        r.subject[k].problem = NULL;
    }
    reading_close(&r);
    if (s != SPRY_OK)
        sp_data_close(out);
    return s;
}

void sp_data_close(sp_data *d)
{
    for (int64_t s = 0; s < d->e.subjects; s++) {
        free(d->group[s]);
        free(d->problem[s]);
        free(d->machine[s]);
        spry_problem_free(d->p[s]);
        spry_matrix_free(d->A[s]);
        sp_free(d->m[s]);
    }
    sp_free(d->group);
    sp_free(d->problem);
    sp_free(d->machine);
    sp_free(d->p);
    sp_free(d->A);
    sp_free(d->m);
    sp_examples_free(&d->e);
    memset(d, 0, sizeof *d);
}
