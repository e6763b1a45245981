/* meta.c - spry train --meta: networks that begin where few records suffice,
 * those of the kind spry or WACO's.
 *
 * Every machine among what teaches is a task; when there is only one, machines
 * are simulated from it. The trees stay as they are. */
#include <string.h>

#include "adapt/meta.h"
#include "train/internal.h"

enum { MOST = 8, IMAGINED = 2 };

static const sp_imagined imagined[IMAGINED] = {{1, 0.5, 1.5, 0.5, 0.5},
                                               {1, 2, 0.7, 2, 1}};

typedef struct {
    sp_dataset all;
    sp_slice slice[MOST];
    spry_machine machine[MOST];
    int64_t *group[MOST];
    sp_meta_task task[MOST];
    int tasks;
} work;

static void work_free(work *w)
{
    for (int i = 0; i < w->tasks; i++) {
        sp_free(w->group[i]);
        sp_slice_free(&w->slice[i]);
    }
    sp_dataset_free(&w->all);
    sp_free(w);
}

/* Subjects with one pattern are one matrix. */
static spry_status add_task(work *w)
{
    int i = w->tasks++;
    const sp_examples *e = &w->slice[i].e;
    int64_t *group = sp_alloc(e->subjects + 1, sizeof *group);

    w->group[i] = group;
    w->task[i] = (sp_meta_task){&w->slice[i].t, group};
    if (!group)
        return sp_fail_memory((size_t)e->subjects * sizeof *group);
    for (int64_t s = 0, groups = 0; s < e->subjects; s++) {
        int64_t k = 0;

        while (k < s && memcmp(e->subject[k].pattern, e->subject[s].pattern,
                               sizeof e->subject[k].pattern) != 0)
            k++;
        group[s] = k < s ? group[k] : groups++;
    }
    return SPRY_OK;
}

static const char *machine_of(const sp_subject *s)
{
    return s->m ? s->m->fingerprint : "";
}

/* The rows of subject `first`'s machine, unless they are there already. */
static spry_status add_machine(work *w, int64_t first)
{
    const sp_examples *e = w->all.e;
    const char *name = machine_of(&e->subject[first]);
    uint8_t *keep;
    spry_status s;

    for (int64_t k = 0; k < first; k++)
        if (!strcmp(machine_of(&e->subject[k]), name))
            return SPRY_OK;
    keep = sp_alloc(w->all.rows + 1, 1);
    if (!keep)
        return sp_fail_memory((size_t)w->all.rows);
    for (int64_t k = 0; k < e->subjects; k++)
        if (!strcmp(machine_of(&e->subject[k]), name))
            memset(keep + w->all.start[k], 1,
                   (size_t)(w->all.start[k + 1] - w->all.start[k]));
    s = sp_slice_new(&w->slice[w->tasks], &w->all, keep);
    sp_free(keep);
    return s == SPRY_OK ? add_task(w) : s;
}

static spry_status find_tasks(work *w, const sp_examples *teach, int threads)
{
    spry_status s = sp_dataset_new(&w->all, teach, threads);
    int real;

    for (int64_t k = 0; s == SPRY_OK && k < teach->subjects; k++)
        if (w->tasks < MOST)
            s = add_machine(w, k);
    real = w->tasks;
    for (int i = 0; s == SPRY_OK && real == 1 && i < IMAGINED; i++) {
        s = sp_simulate(&w->slice[w->tasks], &w->machine[w->tasks],
                        &w->slice[0].t, &imagined[i]);
        if (s == SPRY_OK)
            s = add_task(w);
    }
    return s;
}

/* The networks' weights, back into the model. */
static void give_back(const sp_cost *c, const sp_pretrained *from)
{
    const char *name, *other;
    sp_tensor *a, *b;

    for (int i = 0; (a = sp_nn_at(c->nn, i, &name)); i++)
        for (int k = 0; (b = sp_nn_at(from->nn, k, &other)); k++)
            if (!strcmp(name, other) && a->size == b->size)
                memcpy(a->value, b->value, (size_t)a->size * sizeof *a->value);
}

static spry_status learn_nets(const sp_cost *c, const work *w,
                              const sp_meta *how)
{
    sp_pretrained source;
    double gain;
    spry_status s = sp_pretrained_of(&source, c);

    if (s != SPRY_OK)
        return s;
    s = sp_meta_learn(&source, w->task, w->tasks, how, &gain);
    if (s == SPRY_OK)
        give_back(c, &source);
    sp_pretrained_free(&source);
    return s;
}

spry_status sp_train_meta(const sp_cost *c, const sp_examples *teach,
                          const spry_train_options *opt, int threads)
{
    sp_meta how = SP_META_DEFAULTS;
    work *w = sp_alloc(1, sizeof *w);
    int waco = !strcmp(c->kind->name, "waconet");
    double gain;
    spry_status s =
        w ? sp_meta_named(&how.kind, opt->meta) : sp_fail_memory(sizeof *w);

    if (s == SPRY_OK && !waco && strcmp(c->kind->name, "spry") != 0)
        s = sp_fail(SPRY_USAGE,
                    "models of the kinds spry and waconet can learn over "
                    "machines, not those of the kind %s",
                    c->kind->name);
    if (s == SPRY_OK)
        s = find_tasks(w, teach, threads);
    how.seed = opt->seed;
    how.seconds = opt->seconds;
    if (opt->rounds)
        how.rounds = opt->rounds;
    if (s == SPRY_OK)
        s = waco ? sp_meta_learn_waco(c, w->task, w->tasks, &how, &gain)
                 : learn_nets(c, w, &how);
    if (w)
        work_free(w);
    return s;
}
