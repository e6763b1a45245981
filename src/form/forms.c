/* forms.c - the table of forms, their text, and networks ready to run. */
#include <omp.h>
#include <string.h>

#include "form/internal.h"

static const sp_form *const forms[] = {&sp_form_plain, &sp_form_edges,
                                       &sp_form_gather, &sp_form_rows};
enum { FORMS = sizeof forms / sizeof forms[0] };

struct sp_runner {
    const sp_form *form;
    sp_form_options how;
    int64_t inputs, outputs;
    void *state;
};

/* ---- names ---- */

static const sp_form *form_at(int i)
{
    return i >= 0 && i < FORMS ? forms[i] : NULL;
}

const char *spry_form_name(int i)
{
    return form_at(i) ? form_at(i)->name : NULL;
}

const char *spry_form_help(int i)
{
    return form_at(i) ? form_at(i)->help : NULL;
}

static spry_status find_form(const sp_form **out, const char *name)
{
    char list[128] = "";
    size_t used = 0;

    for (int i = 0; i < FORMS; i++)
        if (strcmp(forms[i]->name, name) == 0) {
            *out = forms[i];
            return SPRY_OK;
        }
    for (int i = 0; i < FORMS && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i ? ", " : "", forms[i]->name);
    return sp_fail(SPRY_USAGE, "no form '%.40s'; there are %s", name, list);
}

/* ---- text ---- */

static spry_status known_order(const char *name)
{
    for (int i = 0; spry_order_name(i); i++)
        if (strcmp(spry_order_name(i), name) == 0)
            return SPRY_OK;
    return sp_fail(SPRY_USAGE, "no edge order '%.40s'", name);
}

static spry_status check_form(const sp_form_options *f, const sp_form *form)
{
    int tile = f->tile;

    if ((*f->order && !(form->takes & SP_FORM_ORDER)) ||
        (tile && !(form->takes & SP_FORM_TILE)) ||
        (f->threads && !(form->takes & SP_FORM_THREADS)) ||
        (f->rest && !(form->takes & SP_FORM_REST)))
        return sp_fail(SPRY_USAGE,
                       "form %s takes none of order, tile, threads or rest "
                       "that was given",
                       form->name);
    if (tile != 0 && tile != 8 && tile != 16 && tile != 32 && tile != 64)
        return sp_fail(SPRY_USAGE, "a tile is 8, 16, 32 or 64 inputs, not %d",
                       tile);
    if (f->threads < 0 || f->threads > 4096)
        return sp_fail(SPRY_USAGE, "threads are 1 to 4096, not %d", f->threads);
    return *f->order ? known_order(f->order) : SPRY_OK;
}

static spry_status set_word(sp_form_options *f, const char *word, size_t len)
{
    static const struct {
        const char *key;
        size_t at;
    } numbers[] = {{"tile=", offsetof(sp_form_options, tile)},
                   {"threads=", offsetof(sp_form_options, threads)},
                   {"rest=", offsetof(sp_form_options, rest)}};
    const char *end = word + len;
    int64_t value;

    if (len > 6 && strncmp(word, "order=", 6) == 0 &&
        len - 6 < sizeof f->order) {
        memcpy(f->order, word + 6, len - 6);
        return SPRY_OK;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t n = strlen(numbers[i].key);
        const char *at = word + n;

        if (len > n && strncmp(word, numbers[i].key, n) == 0 &&
            sp_scan_int(&at, end, &value) && at == end && value > 0 &&
            value <= 4096) {
            *(int *)((char *)f + numbers[i].at) = (int)value;
            return SPRY_OK;
        }
    }
    return sp_fail(SPRY_USAGE,
                   "a form has order=NAME, tile=N, threads=N and rest=1, not "
                   "'%.*s'",
                   len < 40 ? (int)len : 40, word);
}

spry_status sp_form_parse(sp_form_options *out, const char *text)
{
    sp_form_options f = {.tile = 0};
    const sp_form *form = NULL;
    size_t len = strcspn(text, " ");
    spry_status s;

    *out = f;
    memcpy(f.name, text, len < sizeof f.name ? len : sizeof f.name - 1);
    s = find_form(&form, f.name);
    while (s == SPRY_OK && text[len]) {
        text += len + strspn(text + len, " ");
        len = strcspn(text, " ");
        if (len)
            s = set_word(&f, text, len);
    }
    if (s == SPRY_OK)
        s = check_form(&f, form);
    if (s == SPRY_OK)
        *out = f;
    return s;
}

void sp_form_text(char out[SP_FORM_TEXT], const sp_form_options *f)
{
    int at = snprintf(out, SP_FORM_TEXT, "%s", f->name);

    if (*f->order)
        at += snprintf(out + at, (size_t)(SP_FORM_TEXT - at), " order=%s",
                       f->order);
    if (f->tile)
        at += snprintf(out + at, (size_t)(SP_FORM_TEXT - at), " tile=%d",
                       f->tile);
    if (f->threads)
        at += snprintf(out + at, (size_t)(SP_FORM_TEXT - at), " threads=%d",
                       f->threads);
    if (f->rest)
        snprintf(out + at, (size_t)(SP_FORM_TEXT - at), " rest=1");
}

/* Below three inputs most of a vector would be empty. */
sp_form_options sp_form_for(const spry_network *n, int64_t batch)
{
    sp_form_options f = {.tile = 0};

    (void)n;
    strcpy(f.name, batch < 3 ? sp_form_gather.name : sp_form_rows.name);
    return f;
}

/* ---- running ---- */

spry_status sp_runner_make(sp_runner **out, const spry_network *n,
                           const sp_form_options *how)
{
    SP_NEED_NEW(out, n, how);

    const sp_form *form = NULL;
    sp_runner *r;
    spry_status s = find_form(&form, how->name);

    if (s == SPRY_OK)
        s = check_form(how, form);
    if (s != SPRY_OK)
        return s;
    r = sp_alloc(1, sizeof *r);
    if (!r)
        return sp_fail_memory(sizeof *r);
    *r = (sp_runner){form, *how, n->inputs, n->outputs, NULL};
    if (form->takes & SP_FORM_THREADS && r->how.threads == 0)
        r->how.threads = omp_get_max_threads();
    s = form->make(&r->state, n, &r->how);
    if (s == SPRY_OK)
        *out = r;
    else
        sp_free(r);
    return s;
}

spry_status sp_runner_ordered(sp_runner **out, const spry_network *n,
                              const int32_t *edge)
{
    sp_form_options how = {.threads = omp_get_max_threads()};
    sp_stream *stream;
    sp_runner *r = sp_alloc(1, sizeof *r);
    spry_status s = r ? sp_stream_make(&stream, n, edge, how.threads)
                      : sp_no_memory(sizeof *r);

    *out = NULL;
    strcpy(how.name, sp_form_edges.name);
    strcpy(how.order, "given");
    if (s == SPRY_OK) {
        how.bytes = sp_stream_bytes(stream);
        *r = (sp_runner){&sp_form_edges, how, n->inputs, n->outputs, stream};
        *out = r;
    } else {
        sp_free(r);
    }
    return s;
}

spry_status sp_runner_run(const sp_runner *r, float *y, const float *x,
                          int64_t batch)
{
    SP_NEED(r, y, x);
    SP_REFUSE(batch < 0, "a batch cannot have %lld inputs", (long long)batch);
    SP_REFUSE(sp_overlap(x, (size_t)(batch * r->inputs) * sizeof *x, y,
                         (size_t)(batch * r->outputs) * sizeof *y),
              "the outputs y lie over the inputs x");
    return batch > 0 ? r->form->run(r->state, y, x, batch) : SPRY_OK;
}

static int any_of(const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(y[i] == 0))
            return 1;
    return 0;
}

/* For forms that only know outputs: some inputs at a time. */
static spry_status by_outputs(const sp_runner *r, uint8_t *any,
                              const spry_matrix *m, int64_t first,
                              int64_t count)
{
    enum { SLICE = 256 };
    int64_t most = count < SLICE ? count : SLICE;
    float *x = sp_alloc_raw(most * r->inputs, sizeof *x);
    float *y = sp_alloc_raw(most * r->outputs, sizeof *y);
    spry_status s =
        x && y ? SPRY_OK
               : sp_fail_memory((size_t)(most * r->inputs) * sizeof *x);

    for (int64_t at = 0; s == SPRY_OK && at < count; at += most) {
        int64_t rows = count - at < most ? count - at : most;

        s = spry_inputs_dense(x, m, first + at, rows, r->inputs);
        if (s == SPRY_OK)
            s = r->form->run(r->state, y, x, rows);
        for (int64_t i = 0; s == SPRY_OK && i < rows; i++)
            any[at + i] = (uint8_t)any_of(y + i * r->outputs, r->outputs);
    }
    sp_free(x);
    sp_free(y);
    return s;
}

spry_status sp_runner_categories(const sp_runner *r, uint8_t *any,
                                 const spry_matrix *m, int64_t first,
                                 int64_t count)
{
    SP_NEED(r, any, m);
    if (m->cols > r->inputs || first < 0 || count < 0 ||
        first > m->rows - count)
        return sp_fail(SPRY_USAGE,
                       "%lld rows from %lld of a matrix of %lld x %lld are no "
                       "inputs of a network that takes %lld",
                       (long long)count, (long long)first, (long long)m->rows,
                       (long long)m->cols, (long long)r->inputs);
    if (count == 0)
        return SPRY_OK;
    if (!r->form->categories)
        return by_outputs(r, any, m, first, count);
    return r->form->categories(r->state, any, m, first, count);
}

const sp_form_options *sp_runner_form(const sp_runner *r)
{
    SP_NEED_OR(NULL, r);
    return &r->how;
}

void sp_runner_free(sp_runner *r)
{
    if (!r)
        return;
    r->form->free(r->state);
    sp_free(r);
}
