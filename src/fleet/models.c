/* models.c - models on the server, and the one that fits a machine best.
 *
 * Where the store has records of the machine, models are judged on them; a
 * machine that nobody has measured yet takes the model whose machines are
 * nearest to it by their cards. A file is hashed and read whole before it is
 * used. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/internal.h"
#include "spry/records.h"
#include "spry/train.h"

enum { MOST_MODELS = 64, FEWEST_PROBLEMS = 3 };

/* ---- how far apart machines are ---- */

static double gap(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log2(a / b)) : 0;
}

double spry_machine_distance(const spry_machine *a, const spry_machine *b)
{
    SP_NEED_OR(-1, a, b);

    double d = 2 * gap(spry_isa_bytes(a->isa), spry_isa_bytes(b->isa));

    d += gap(a->threads, b->threads);
    for (int i = 0; i < SPRY_CACHES; i++)
        d += 0.5 * gap((double)spry_machine_cache(a, i),
                       (double)spry_machine_cache(b, i));
    if (a->probed && b->probed && a->points > 0 && b->points > 0) {
        d += gap(a->read[a->points - 1], b->read[b->points - 1]);
        d += gap(a->latency[SPRY_CACHES], b->latency[SPRY_CACHES]);
        d += gap(a->fma_f32, b->fma_f32);
        d += 0.5 * gap(a->gather, b->gather);
        d += 0.5 * gap(a->fork, b->fork);
    }
    return d;
}

/* ---- push ---- */

/* The fingerprints of the machines a model learned from, "a,b,c"; out of its
 * card, which lies in the file as JSON. */
static void find_machines(sp_buf *out, const char *data, size_t n)
{
    static const char key[] = "\"fingerprint\":";
    size_t k = sizeof key - 1;

    for (size_t i = 0; i + k + 19 < n; i++) {
        const char *at = data + i + k;

        if (memcmp(data + i, key, k) != 0)
            continue;
        at += *at == ' ';
        if (*at == '"' && strspn(at + 1, "0123456789abcdef") == 16)
            sp_buf_printf(out, "%s%.16s", out->len ? "," : "", at + 1);
    }
}

static spry_status send_model(spry_fleet *f, const sp_file *file,
                              const spry_model_facts *facts, const char *hash)
{
    sp_buf machines = {0};
    sp_cell arg[6];
    spry_status s;

    find_machines(&machines, file->data, file->len);
    if (machines.failed)
        return sp_fail_memory(machines.cap);
    arg[0] = sp_cell_text(hash);
    arg[1] = sp_cell_text(spry_op_name(facts->op));
    arg[2] = sp_cell_text(facts->kind);
    arg[3] = sp_cell_text(facts->date);
    arg[4] = sp_cell_text(machines.data ? machines.data : "");
    arg[5] = sp_cell_bytes(file->data, file->len);
    s = sp_postgres_ask(
        f->server,
        "INSERT INTO spry.model(hash, op, kind, date, machines, bytes)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        arg, 6, NULL, NULL, NULL);
    sp_buf_free(&machines);
    return s;
}

/* Others can use cost models of sparse operations; not what one machine learned
 * on top of one, and what dense operators have is not looked for here. */
static spry_status read_facts(spry_model_facts *out, const char *path)
{
    spry_status s = spry_model_info(out, path);

    if (s == SPRY_OK && strcmp(out->kind, "local") == 0)
        return sp_fail(SPRY_INPUT,
                       "%s: is what one machine learned, of no use "
                       "to others",
                       path);
    if (s == SPRY_OK && *out->operators)
        return sp_fail(SPRY_INPUT,
                       "%s: is a model of dense operators; a fleet has those "
                       "of sparse operations",
                       path);
    return s;
}

spry_status spry_fleet_push(spry_fleet *f, const char *path,
                            char hash[SPRY_FLEET_HASH])
{
    SP_NEED(f, path, hash);

    spry_model_facts facts = {.size = sizeof facts};
    sp_file file = {0};
    spry_status s = read_facts(&facts, path);

    *hash = 0;
    if (s == SPRY_OK)
        s = sp_file_read(&file, path, (size_t)1 << 28);
    if (s != SPRY_OK)
        return s;
    sp_content_hash(hash, file.data, file.len);
    s = send_model(f, &file, &facts, hash);
    sp_file_free(&file);
    return s;
}

/* ---- what there is ---- */

typedef struct {
    char hash[SPRY_FLEET_HASH];
    double distance; /* to the nearest of its machines; HUGE_VAL */
    char path[320];
    spry_grades grades;
    int bad; /* not what it should be: left out */
} candidate;

typedef struct {
    candidate model[MOST_MODELS]; /* newest first */
    int count, bad;
    char why[512]; /* about the first that is bad */
    char folder[256];
    spry_op op;
    const spry_machine *machine;
    spry_records *db;
    char *machines[MOST_MODELS];
} choice;

static spry_status note_model(const sp_cell *cell, int count, void *payload)
{
    choice *c = payload;

    if (count < 2 || c->count == MOST_MODELS ||
        cell[0].length >= SPRY_FLEET_HASH)
        return SPRY_OK;
    c->model[c->count].distance = HUGE_VAL;
    snprintf(c->model[c->count].hash, SPRY_FLEET_HASH, "%s", cell[0].data);
    c->machines[c->count] = sp_strdup(cell[1].data);
    if (!c->machines[c->count])
        return sp_fail_memory(cell[1].length);
    c->count++;
    return SPRY_OK;
}

static spry_status measure_distance(choice *c, int i)
{
    const char *at = c->machines[i];
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && *at) {
        char fingerprint[17];
        spry_machine m;
        int found = 0;
        size_t n = strcspn(at, ",");

        snprintf(fingerprint, sizeof fingerprint, "%.*s",
                 (int)(n < 16 ? n : 16), at);
        at += n + (at[n] == ',');
        s = spry_records_get_machine(c->db, &m, &found, fingerprint);
        if (s == SPRY_OK && found)
            c->model[i].distance = fmin(c->model[i].distance,
                                        spry_machine_distance(c->machine, &m));
    }
    return s;
}

typedef struct {
    candidate *model;
    int found;
} receiver;

static spry_status keep_model(const sp_cell *cell, int count, void *payload)
{
    receiver *r = payload;
    char hash[SPRY_FLEET_HASH];

    if (count < 1 || cell->type != SP_CELL_BYTES)
        return SPRY_OK;
    sp_content_hash(hash, cell->data, cell->length);
    if (strcmp(hash, r->model->hash) != 0)
        return sp_fail(SPRY_INPUT,
                       "the server's model %s is not what it "
                       "should be",
                       r->model->hash);
    r->found = 1;
    return sp_file_write(r->model->path, cell->data, cell->length);
}

/* One that is bad is told of and left out; the others are as good as ever. */
static spry_status leave_out(choice *c, int i, spry_status s)
{
    if (s != SPRY_INPUT)
        return s;
    if (c->bad++ == 0)
        snprintf(c->why, sizeof c->why, "%s", spry_message());
    c->model[i].bad = 1;
    return SPRY_OK;
}

/* Into a file, if it is a model of the operation. */
static spry_status fetch_model(spry_fleet *f, choice *c, int i)
{
    receiver r = {&c->model[i], 0};
    sp_cell arg = sp_cell_text(r.model->hash);
    spry_model_facts facts = {.size = sizeof facts};
    spry_status s;

    snprintf(r.model->path, sizeof r.model->path, "%s/model-%d.spry", c->folder,
             i);
    s = sp_postgres_ask(f->server,
                        "SELECT bytes FROM spry.model WHERE hash = $1", &arg, 1,
                        keep_model, &r, NULL);
    if (s == SPRY_OK && !r.found)
        s = sp_fail(SPRY_INPUT, "the model %s is gone", r.model->hash);
    if (s == SPRY_OK)
        s = read_facts(&facts, r.model->path);
    if (s == SPRY_OK && facts.op != c->op)
        s = sp_fail(SPRY_INPUT, "the server's model %s is one of %s",
                    r.model->hash, spry_op_name(facts.op));
    return s;
}

/* ---- choosing ---- */

/* Grades of `count` models that are files by now, first ones first. */
static spry_status grade(choice *c, const int *which, int count)
{
    const char *path[MOST_MODELS] = {NULL};
    spry_grades g[MOST_MODELS];
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    spry_status s;

    o.op = c->op;
    o.machine = c->machine->fingerprint;
    o.whole = 1;
    for (int i = 0; i < count; i++)
        path[i] = c->model[which[i]].path;
    s = spry_evaluate(g, path, count, c->db, &o);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        c->model[which[i]].grades = g[i];
    return s;
}

/* All of them on what the store has of this machine; 0 problems when that is
 * too little to tell, and distances decide. Where it fails for all together
 * one of them may be to blame. */
static spry_status judge(spry_fleet *f, choice *c)
{
    enum { FEW = 12 };
    int which[FEW], n = 0;
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < c->count && i < FEW; i++) {
        s = leave_out(c, i, fetch_model(f, c, i));
        if (!c->model[i].bad)
            which[n++] = i;
    }
    if (s != SPRY_OK || n == 0 || grade(c, which, n) == SPRY_OK)
        return s;
    for (int i = 0; i < n && n > 1; i++)
        (void)grade(c, &which[i], 1);
    return SPRY_OK;
}

/* Better on the machine's own records; else nearer; else newer. */
static int best_of(const choice *c)
{
    int best = 0;

    for (int i = 1; i < c->count; i++) {
        const candidate *x = &c->model[i], *y = &c->model[best];
        int judged = x->grades.problems >= FEWEST_PROBLEMS &&
                     y->grades.problems >= FEWEST_PROBLEMS;

        if (x->bad || y->bad)
            best = y->bad ? i : best;
        else if (judged ? x->grades.pairwise > y->grades.pairwise
                        : x->distance < y->distance)
            best = i;
    }
    return best;
}

/* ---- the door ---- */

static spry_status place_for(char out[4096], spry_op op, const char *path)
{
    char folder[4000];
    spry_status s;

    if (path)
        return snprintf(out, 4096, "%s", path) < 4096
                   ? SPRY_OK
                   : sp_fail(SPRY_USAGE, "the path is too long");
    if (!sp_user_dir(folder, sizeof folder - 16, "data"))
        return sp_fail(SPRY_SYSTEM, "neither SPRY_HOME nor HOME is set");
    strcat(folder, "/models");
    s = sp_make_dirs(folder, 0700);
    snprintf(out, 4096, "%s/cost-%s.spry", folder, spry_op_name(op));
    return s;
}

static spry_status install(spry_fleet_pulled *out, const candidate *x)
{
    spry_model_facts facts = {.size = sizeof facts};
    sp_file file = {0};
    spry_status s = spry_model_info(&facts, x->path);

    if (s == SPRY_OK)
        s = sp_file_read(&file, x->path, (size_t)1 << 28);
    if (s == SPRY_OK)
        s = sp_file_write(out->path, file.data, file.len);
    sp_file_free(&file);
    if (s != SPRY_OK)
        return s;
    snprintf(out->hash, sizeof out->hash, "%s", x->hash);
    snprintf(out->kind, sizeof out->kind, "%s", facts.kind);
    snprintf(out->date, sizeof out->date, "%s", facts.date);
    out->problems = x->grades.problems;
    out->pairwise = x->grades.problems ? x->grades.pairwise : nan("");
    out->distance = isfinite(x->distance) ? x->distance : nan("");
    return SPRY_OK;
}

/* The best of those that are what they should be. */
static spry_status install_best(spry_fleet_pulled *out, spry_fleet *f,
                                choice *c)
{
    spry_status s = SPRY_OK;
    int best;

    do {
        best = best_of(c);
        if (!*c->model[best].path)
            s = leave_out(c, best, fetch_model(f, c, best));
    } while (s == SPRY_OK && c->model[best].bad && c->bad < c->count);
    if (s == SPRY_OK && c->bad == c->count)
        return sp_fail(SPRY_INPUT, "%s", c->why);
    if (s == SPRY_OK)
        s = install(out, &c->model[best]);
    if (s == SPRY_OK && c->bad > 0)
        (void)sp_fail(SPRY_INPUT, "left out %d of %d models, the first: %s",
                      c->bad, c->count, c->why);
    else if (s == SPRY_OK)
        sp_message_clear();
    return s;
}

static spry_status choose(spry_fleet_pulled *out, spry_fleet *f, choice *c)
{
    sp_cell arg = sp_cell_text(spry_op_name(c->op));
    spry_status s = sp_postgres_ask(
        f->server,
        "SELECT hash, machines FROM spry.model WHERE op = $1 ORDER BY at DESC,"
        " hash LIMIT 64",
        &arg, 1, note_model, c, NULL);

    out->models = c->count;
    if (s == SPRY_OK && c->count == 0)
        return sp_fail(SPRY_INPUT,
                       "%s: no model of %s is there; spry fleet "
                       "push brings one",
                       spry_fleet_name(f), spry_op_name(c->op));
    for (int i = 0; s == SPRY_OK && i < c->count; i++)
        s = measure_distance(c, i);
    if (s == SPRY_OK && c->count > 1)
        s = judge(f, c);
    return s == SPRY_OK ? install_best(out, f, c) : s;
}

static void clean_up(choice *c)
{
    for (int i = 0; i < c->count; i++) {
        if (*c->model[i].path)
            unlink(c->model[i].path);
        free(c->machines[i]);
    }
    if (*c->folder)
        rmdir(c->folder);
    spry_records_close(c->db);
    sp_free(c);
}

spry_status spry_fleet_pull(spry_fleet_pulled *out, spry_fleet *f, spry_op op,
                            const spry_machine *m, const char *path)
{
    SP_NEED(out, f, m);
    SP_REFUSE((unsigned)op >= SPRY_OPS, "%d is no operation", (int)op);
    SP_ROOM(out);

    const char *tmp = getenv("TMPDIR");
    spry_fleet_pulled whole = {.pairwise = nan(""), .distance = nan("")};
    choice *c = sp_alloc(1, sizeof *c);
    spry_status s;

    if (!c)
        return sp_fail_memory(sizeof *c);
    c->op = op;
    c->machine = m;
    s = place_for(whole.path, op, path);
    if (s == SPRY_OK)
        s = spry_records_open(&c->db, f->uri);
    if (s == SPRY_OK) {
        snprintf(c->folder, sizeof c->folder, "%.200s/spry-fleet-XXXXXX",
                 tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(c->folder)) {
            s = sp_fail_errno(SPRY_SYSTEM, "%s cannot be made", c->folder);
            *c->folder = 0;
        }
    }
    if (s == SPRY_OK)
        s = choose(&whole, f, c);
    clean_up(c);
    SP_GIVE(out, &whole);
    return s;
}
