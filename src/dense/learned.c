/* learned.c - models of operators: kept, found and asked.
 *
 * A model tells how ways compare with each other; how long the best of them
 * takes is left to arithmetic, which knows the machine's clock. */
#include "dense/learned.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {"conv2d", "depthwise", "matmul"};

sp_dense_class sp_dense_class_of(const spry_operator *op)
{
    if (op->kind == SPRY_MATMUL)
        return SP_LEARN_MATMUL;
    if (op->kind != SPRY_CONV2D)
        return SP_LEARN_NONE;
    return sp_operator_depthwise(op) ? SP_LEARN_DEPTHWISE : SP_LEARN_CONV2D;
}

const char *sp_dense_class_name(sp_dense_class c)
{
    return (unsigned)c < SP_LEARN_NONE ? names[c] : "none";
}

spry_status sp_dense_class_parse(sp_dense_class *out, const char *name)
{
    for (int i = 0; i < SP_LEARN_NONE; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (sp_dense_class)i;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "operators that are learned are conv2d, depthwise and "
                   "matmul, not '%s'",
                   name);
}

/* ---- files ---- */

spry_status sp_dense_model_save(const sp_pretrained *s, sp_dense_class c,
                                const char *card, const char *path)
{
    sp_buf b = {0};
    spry_status status = sp_trees_keep(s->nn, "trees", &s->trees);

    sp_buf_printf(&b,
                  "{\"kind\":\"operators\",\"op\":\"%s\",\"features\":%d,"
                  "\"card\":%s}",
                  sp_dense_class_name(c), SP_DENSE_FEATURES_VERSION, card);
    if (status == SPRY_OK)
        status =
            b.failed ? sp_fail_memory(b.len) : sp_nn_save(s->nn, b.data, path);
    sp_buf_free(&b);
    return status;
}

/* Which operators the file says it is of. */
static spry_status read_head(sp_dense_class *c, const char *card,
                             const char *path)
{
    sp_json_doc doc;
    spry_status s = sp_json_parse(&doc, card, strlen(card));

    if (s != SPRY_OK)
        return s;
    if (strcmp(sp_json_get_text(&doc, doc.value, "kind", ""), "operators") !=
            0 ||
        sp_dense_class_parse(c, sp_json_get_text(&doc, doc.value, "op", "")) !=
            SPRY_OK)
        s = sp_fail(SPRY_INPUT, "%s: holds no model of operators", path);
    else if (sp_json_get_number(&doc, doc.value, "features", 0) !=
             SP_DENSE_FEATURES_VERSION)
        s = sp_fail(SPRY_INPUT,
                    "%s: was fitted to other features than this spry's; "
                    "train it again",
                    path);
    sp_json_free(&doc);
    return s;
}

spry_status sp_dense_model_load(sp_pretrained *out, sp_dense_class *c,
                                const char *path)
{
    sp_nn *nn = NULL;
    spry_status s = sp_nn_load(&nn, path);

    memset(out, 0, sizeof *out);
    return s == SPRY_OK ? sp_dense_model_open(out, c, nn, path) : s;
}

spry_status sp_dense_model_open(sp_pretrained *out, sp_dense_class *c,
                                sp_nn *nn, const char *path)
{
    spry_status s = read_head(c, sp_nn_card(nn), path);

    memset(out, 0, sizeof *out);
    if (s != SPRY_OK) {
        sp_nn_free(nn);
        return s;
    }
    s = sp_pretrained_open(out, nn);
    return s == SPRY_OK || s == SPRY_SYSTEM
               ? s
               : sp_fail(SPRY_INPUT, "%s: %s", path, spry_message());
}

/* ---- found ---- */

/* A model goes when its file was replaced and nobody asks it any more. */
typedef struct {
    sp_pretrained model;
    int users; /* `last` is one */
} shared_model;

/* What was read last of each, and the file as it was then: a process that
 * tunes fifty layers reads one file. */
typedef struct {
    char path[4096];
    struct stat seen;
    shared_model *model; /* NULL: that file is of no use */
} found;
static found last[SP_LEARN_NONE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_last(const found *f, const char *path, const struct stat *now)
{
    return strcmp(f->path, path) == 0 && f->seen.st_ino == now->st_ino &&
           f->seen.st_size == now->st_size &&
           f->seen.st_mtim.tv_sec == now->st_mtim.tv_sec &&
           f->seen.st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

static shared_model *load(const char *path, sp_dense_class wanted)
{
    shared_model *s = sp_alloc(1, sizeof *s);
    sp_dense_class c;

    if (s && sp_dense_model_load(&s->model, &c, path) == SPRY_OK &&
        c == wanted) {
        s->users = 1;
        return s;
    }
    if (s)
        sp_pretrained_free(&s->model);
    sp_free(s);
    sp_message_clear();
    return NULL;
}

/* With the lock held. */
static void leave(shared_model *s)
{
    if (!s || --s->users > 0)
        return;
    sp_pretrained_free(&s->model);
    sp_free(s);
}

static void give_back(shared_model *s)
{
    pthread_mutex_lock(&lock);
    leave(s);
    pthread_mutex_unlock(&lock);
}

/* To be given back; NULL: there is none. */
static shared_model *find(sp_dense_class c)
{
    char name[64], path[sizeof last->path];
    shared_model *out;
    struct stat now;

    snprintf(name, sizeof name, "cost-%s.spry", sp_dense_class_name(c));
    if (!sp_model_path(path, sizeof path, name) || stat(path, &now) != 0)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!is_last(&last[c], path, &now)) {
        memcpy(last[c].path, path, sizeof path);
        last[c].seen = now;
        leave(last[c].model);
        last[c].model = load(path, c);
    }
    out = last[c].model;
    if (out)
        out->users++;
    pthread_mutex_unlock(&lock);
    return out;
}

/* ---- asked ---- */

/* Scores of all ways, as logarithms of time over the plain loop's. */
static spry_status ask(float *score, const sp_pretrained *model,
                       const sp_dense_problem *p, const sp_dense_way *x,
                       int count, const spry_machine *m)
{
    sp_slice s;
    spry_status status = sp_slice_open(&s, 1, count);

    for (int i = 0; status == SPRY_OK && i < count; i++) {
        float *row = s.t.x + (int64_t)i * SP_FEATURES;

        sp_dense_row(row, p, &x[i], m);
        s.t.bound[i] = sp_row_bound(row);
    }
    s.t.rows = count;
    if (status == SPRY_OK)
        status = sp_pretrained_score(score, model, &s.t);
    sp_slice_free(&s);
    return status;
}

static int is_finite(const float *score, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(score[i]))
            return 0;
    return 1;
}

const char *sp_dense_expect(double *seconds, const sp_dense_problem *p,
                            const sp_dense_way *x, int count,
                            const spry_machine *m)
{
    sp_dense_class c = sp_dense_class_of(&p->op);
    shared_model *model = c == SP_LEARN_NONE ? NULL : find(c);
    float *score = model ? sp_alloc(count + 1, sizeof *score) : NULL;
    int best = 0, told;

    for (int i = 0; i < count; i++)
        seconds[i] = sp_dense_predict(p, &x[i], m);
    told = score && ask(score, &model->model, p, x, count, m) == SPRY_OK &&
           is_finite(score, count);
    give_back(model);
    for (int i = 1; i < count && told; i++)
        if (score[i] < score[best])
            best = i;
    if (told) {
        double least = seconds[best], first = (double)score[best];

        for (int i = 0; i < count; i++)
            seconds[i] = least * exp((double)score[i] - first);
    }
    sp_free(score);
    return told ? "trees and networks" : "analytic";
}

void sp_dense_forget(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SP_LEARN_NONE; i++) {
        leave(last[i].model);
        last[i] = (found){.path = ""};
    }
    pthread_mutex_unlock(&lock);
}
