/* export_tables.c - operators, moves and steps as C initialisers; fields that
 * are 0 are left out. */
#include <math.h>
#include <string.h>

#include "dense/export_inside.h"

static void add_whole(sp_buf *out, const char *name, int64_t x)
{
    if (x)
        sp_buf_printf(out, ".%s = %lld, ", name, (long long)x);
}

/* Exactly, in every locale. */
static void add_real(sp_buf *out, const char *name, float x)
{
    char text[SP_REAL];
    int bare;

    if (x == 0)
        return;
    if (!isfinite(x)) {
        sp_buf_printf(out, ".%s = %s, ", name,
                      isnan(x) ? "NAN"
                      : x > 0  ? "INFINITY"
                               : "-INFINITY");
        return;
    }
    sp_print_real(text, (double)x, SPRY_F32);
    bare = !strpbrk(text, ".e");
    sp_buf_printf(out, ".%s = %s%sf, ", name, text, bare ? ".0" : "");
}

static void add_steps(sp_buf *out, const spry_operator *op)
{
    if (!op->steps)
        return;
    sp_buf_printf(out, "\n     .op.steps = %d,\n     .op.step = {", op->steps);
    for (int i = 0; i < op->steps; i++) {
        const spry_step *s = &op->step[i];

        sp_buf_printf(out, "{.op = %d, ", (int)s->op);
        add_whole(out, "with", s->with);
        add_whole(out, "act", s->act);
        add_real(out, "value", s->value);
        add_real(out, "alpha", s->alpha);
        add_real(out, "beta", s->beta);
        sp_buf_add(out, "}, ");
    }
    sp_buf_add(out, "}, ");
}

static void add_operator(sp_buf *out, const spry_operator *op)
{
#define WHOLE(name) add_whole(out, "op." #name, (int64_t)op->name)
    sp_buf_add(out, "    {");
    WHOLE(kind);
    WHOLE(n), WHOLE(k), WHOLE(h), WHOLE(w), WHOLE(c), WHOLE(r), WHOLE(s);
    sp_buf_add(out, "\n     ");
    WHOLE(stride_h), WHOLE(stride_w), WHOLE(dilate_h), WHOLE(dilate_w);
    WHOLE(groups), WHOLE(pad_top), WHOLE(pad_left), WHOLE(pad_bottom);
    WHOLE(pad_right), WHOLE(batch), WHOLE(m);
    sp_buf_add(out, "\n     ");
    WHOLE(by), WHOLE(pitch_in), WHOLE(pitch_b), WHOLE(pitch_out),
        WHOLE(skip_in);
    WHOLE(skip_b), WHOLE(skip_out), WHOLE(transposed), WHOLE(counts_pad);
    WHOLE(with_bias), WHOLE(add), WHOLE(act), WHOLE(given), WHOLE(shared_b);
#undef WHOLE
    add_real(out, "op.scale", op->scale);
    add_real(out, "op.eps", op->eps);
    add_real(out, "op.alpha", op->alpha);
    add_real(out, "op.beta", op->beta);
    add_steps(out, op);
}

static void add_array(sp_buf *out, const char *name, const sp_export_weights *w,
                      int part)
{
    if (part >= 0)
        add_whole(out, name, w->at[part]);
}

void sp_export_entry(sp_buf *out, const sp_dense_plan *plan,
                     const sp_export_weights *w, const sp_export_arrays *a)
{
    const sp_dense_core *p = &plan->core;

    sp_buf_printf(out, "    /* %s */\n", plan->head.text);
    add_operator(out, &p->op);
    sp_buf_printf(out, "\n     .x.algorithm = %d, ", (int)p->x.algorithm);
    add_whole(out, "x.mr", p->x.mr);
    add_whole(out, "x.v", p->x.v);
    add_whole(out, "x.block", p->x.block);
    add_whole(out, "x.channels", p->x.channels);
    add_whole(out, "x.threads", p->x.threads);
    sp_buf_printf(out,
                  "\n     .height = %lld, .width = %lld, .rows = %lld, "
                  ".cols = %lld, ",
                  (long long)p->height, (long long)p->width, (long long)p->rows,
                  (long long)p->cols);
    add_whole(out, "near", p->near);
    add_whole(out, "second", p->second);
    add_array(out, "packed", w, a->packed);
    add_array(out, "bias", w, a->bias);
    add_array(out, "op_weights", w, a->op_weights);
    add_array(out, "op_bias", w, a->op_bias);
    sp_buf_add(out, "},\n");
}

static void add_list(sp_buf *out, const char *name, const int64_t *x, int count)
{
    sp_buf_printf(out, ".%s = {", name);
    for (int i = 0; i < count; i++)
        sp_buf_printf(out, "%s%lld", i ? ", " : "", (long long)x[i]);
    sp_buf_add(out, "}, ");
}

void sp_export_move(sp_buf *out, const sp_move *z)
{
    sp_buf_printf(out, "    {.dims = %d, .size = %d, ", z->dims, (int)z->size);
    if (z->dims) {
        add_list(out, "count", z->count, z->dims);
        add_list(out, "from", z->from, z->dims);
        add_list(out, "to", z->to, z->dims);
    }
    sp_buf_add(out, "},\n");
}

static void add_place(sp_buf *out, const char *name, const sp_export_place *p,
                      const sp_export_weights *w)
{
    int64_t at = p->at + (p->home == 'w' ? w->at[p->which] : 0);

    if (p->home)
        sp_buf_printf(out, "\n     .%s = {'%c', %d, %lld},", name,
                      (char)p->home, p->home == 'w' ? 0 : p->which,
                      (long long)at);
}

void sp_export_call(sp_buf *out, const sp_export_step *s, int which,
                    const sp_export_weights *w)
{
    char name[24];

    sp_buf_printf(out, "    {.kind = '%c', .which = %d, .shares = %d, ",
                  s->plan   ? 'o'
                  : s->move ? 'm'
                            : 'g',
                  which, s->shares);
    add_whole(out, "rows", s->rows);
    add_whole(out, "each", s->each);
    add_whole(out, "count", s->count);
    add_place(out, "in", &s->in, w);
    add_place(out, "b", &s->b, w);
    add_place(out, "add", &s->add, w);
    add_place(out, "out", &s->out, w);
    for (int i = 0; i < SPRY_STEPS; i++) {
        snprintf(name, sizeof name, "more[%d]", i);
        add_place(out, name, &s->more[i], w);
    }
    sp_buf_add(out, "},\n");
}
