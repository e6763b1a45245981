/* cost.c - models made, looked through, kept and found. */
#include "model/cost.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "model/local.h"

/* ---- made ---- */

static spry_status cost_new(sp_cost **out, const sp_cost_kind *kind, spry_op op)
{
    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->kind = kind;
    (*out)->op = op;
    return SPRY_OK;
}

void sp_cost_free(sp_cost *c)
{
    if (!c)
        return;
    if (c->kind->close)
        c->kind->close(c);
    sp_local_free(c->local);
    sp_nn_free(c->nn);
    sp_free(c);
}

static spry_status check_examples(const sp_examples *e, spry_op op)
{
    for (int64_t i = 0; e && i < e->subjects; i++)
        if (e->subject[i].task.op != op)
            return sp_fail(SPRY_USAGE, "a model of %s cannot learn from %s",
                           spry_op_name(op),
                           spry_op_name(e->subject[i].task.op));
    return SPRY_OK;
}

spry_status sp_cost_fit(sp_cost **out, const sp_cost_kind *kind, spry_op op,
                        const sp_fitting *l)
{
    spry_status s = check_examples(l->train, op);

    *out = NULL;
    if (s == SPRY_OK)
        s = check_examples(l->test, op);
    if (s == SPRY_OK)
        s = cost_new(out, kind, op);
    if (s != SPRY_OK)
        return s;
    s = sp_nn_new(&(*out)->nn, l->seed);
    if (s == SPRY_OK)
        s = kind->fit(*out, l);
    if (s == SPRY_OK)
        return SPRY_OK;
    sp_cost_free(*out);
    *out = NULL;
    return s;
}

/* ---- looked through ---- */

spry_status sp_cost_look(sp_view **out, const sp_cost *c, const sp_subject *s)
{
    spry_status status;

    *out = NULL;
    if (s->task.op != c->op)
        return sp_fail(SPRY_USAGE, "the model is of %s, the problem of %s",
                       spry_op_name(c->op), spry_op_name(s->task.op));
    if (c->kind->matrix && !(s->p && s->m))
        return sp_fail(SPRY_USAGE, "%s needs the matrix, which is not at hand",
                       c->kind->name);
    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->cost = c;
    (*out)->subject = s;
    status = c->kind->look(*out);
    if (status == SPRY_OK)
        return SPRY_OK;
    sp_view_free(*out);
    *out = NULL;
    return status;
}

void sp_view_free(sp_view *v)
{
    if (!v)
        return;
    if (v->cost->kind->leave)
        v->cost->kind->leave(v);
    sp_free(v);
}

spry_status sp_view_score(double *out, sp_view *v, const spry_schedule *x,
                          int64_t count)
{
    return v->cost->kind->score(out, v, x, count);
}

spry_status sp_view_opinions(double (*out)[SP_OPINIONS], sp_view *v,
                             const spry_schedule *x, int64_t count)
{
    double *flat = out[0]; /* scores first, then one row for each */
    spry_status s;

    if (v->cost->kind->opinions)
        return v->cost->kind->opinions(out, v, x, count);
    s = sp_view_score(flat, v, x, count);
    for (int64_t i = count - 1; s == SPRY_OK && i >= 0; i--) {
        double value = flat[i];

        for (int k = 0; k < SP_OPINIONS; k++)
            out[i][k] = value;
    }
    return s;
}

int sp_cost_width(const sp_cost *c)
{
    return c->kind->width ? c->kind->width(c) : 0;
}

spry_status sp_cost_halves(float *out, const sp_cost *c, const spry_schedule *x,
                           int64_t count)
{
    return c->kind->halves(out, c, x, count);
}

void sp_view_join(float *score, const sp_view *v, const float *half,
                  int64_t count)
{
    v->cost->kind->join(score, v, half, count);
}

/* ---- kept ----
 *
 * The card of the file:
 * {"kind":"spry","op":"spmm","features":2,"card":{...}}. */

spry_status sp_cost_save(const sp_cost *c, const char *card, const char *path)
{
    sp_buf b = {0};
    spry_status s;

    sp_buf_printf(&b,
                  "{\"kind\":\"%s\",\"op\":\"%s\",\"features\":%d,\"card\":%s}",
                  c->kind->name, spry_op_name(c->op), SP_FEATURES_VERSION,
                  card ? card : "{}");
    s = b.failed ? sp_fail_memory(b.len) : sp_nn_save(c->nn, b.data, path);
    sp_buf_free(&b);
    return s;
}

/* Which model the file says it is. */
static spry_status read_kind(const sp_cost_kind **kind, spry_op *op,
                             const char *card)
{
    sp_json_doc doc;
    spry_status s = sp_json_parse(&doc, card, strlen(card));
    const char *name;

    if (s != SPRY_OK)
        return s;
    name = sp_json_get_text(&doc, doc.value, "kind", "");
    *kind = sp_cost_kind_find(name);
    if (!*kind)
        s = sp_fail(SPRY_INPUT, "holds no cost model that this spry knows%s%s",
                    *name ? ": " : "", name);
    if (s == SPRY_OK &&
        spry_op_parse(op, sp_json_get_text(&doc, doc.value, "op", "")) !=
            SPRY_OK)
        s = sp_fail(SPRY_INPUT, "names no operation");
    if (s == SPRY_OK && sp_json_get_number(&doc, doc.value, "features", 0) !=
                            SP_FEATURES_VERSION)
        s = sp_fail(SPRY_INPUT, "was fitted to other features than this "
                                "spry's; train it again");
    sp_json_free(&doc);
    return s;
}

/* Takes nn over. */
static spry_status open_cost(sp_cost **out, sp_nn *nn)
{
    const sp_cost_kind *kind = NULL;
    spry_op op = (spry_op)0;
    spry_status s = read_kind(&kind, &op, sp_nn_card(nn));

    if (s == SPRY_OK)
        s = cost_new(out, kind, op);
    if (s != SPRY_OK) {
        sp_nn_free(nn);
        return s;
    }
    (*out)->nn = nn;
    s = kind->open(*out);
    if (s == SPRY_OK)
        s = sp_nn_status(nn);
    return s;
}

spry_status sp_cost_parse(sp_cost **out, const void *data, size_t len,
                          const char *path_for_errors)
{
    sp_nn *nn = NULL;
    spry_status s = sp_nn_parse(&nn, data, len, path_for_errors);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    s = open_cost(out, nn);
    if (s == SPRY_OK)
        return SPRY_OK;
    sp_cost_free(*out);
    *out = NULL;
    return s == SPRY_SYSTEM
               ? s
               : sp_fail(SPRY_INPUT, "%s: %s", path_for_errors, spry_message());
}

spry_status sp_cost_load(sp_cost **out, const char *path)
{
    sp_file f;
    spry_status s = sp_file_read(&f, path, (size_t)1 << 30);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_cost_parse(out, f.data, f.len, path);
    sp_file_free(&f);
    return s;
}

/* ---- found ---- */

spry_status sp_cost_find(sp_cost **out, spry_op op)
{
    char name[64], path[4096];

    *out = NULL;
    snprintf(name, sizeof name, "cost-%s.spry", spry_op_name(op));
    return sp_model_path(path, sizeof path, name) ? sp_cost_load(out, path)
                                                  : SPRY_OK;
}
