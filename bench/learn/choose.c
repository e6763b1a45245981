/* choose.c - the model's choices for problems of groups it never saw,
 * measured: its top 20, and its first alone. */
#include "learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"

/* ---- measuring ---- */

/* Rows whose 95 % interval is wider than this either way say nothing about
 * which is best. */
static const double UNSURE = 0.3;

static double speedup(const sp_example *e)
{
    return isnan(e->log_speedup) || e->noise > UNSURE ? 0 : exp(e->log_speedup);
}

static const sp_example *row_of(const task *t, const spry_schedule *x)
{
    static const sp_example none = {.log_speedup = (double)NAN};

    for (int i = 0; i < t->rows; i++)
        if (sp_schedule_equal(&t->row[i].x, x))
            return &t->row[i];
    return &none;
}

/* The faster of two rows, or the one that there is. */
static const sp_example *faster(const sp_example *a, const sp_example *b)
{
    return !a || (b && speedup(b) > speedup(a)) ? b : a;
}

/* Who seemed best: of the top, of 20 drawn by chance, and the five of all. */
enum { FIRST = 5 };
typedef struct {
    const sp_example *top, *chance, *all[FIRST];
} leaders;

/* Into its place among the five. */
static void insert(leaders *l, const sp_example *e)
{
    for (int i = 0; i < FIRST; i++)
        if (!l->all[i] || speedup(e) > speedup(l->all[i])) {
            memmove(&l->all[i + 1], &l->all[i],
                    (size_t)(FIRST - 1 - i) * sizeof(sp_example *));
            l->all[i] = e;
            return;
        }
}

/* The best of 20 samples, drawn without putting back. */
static void draw(leaders *l, const task *t)
{
    sp_rng r = sp_rng_seed((uint64_t)t->sampled + (uint64_t)t->p->key[9]);
    int left = TOP;

    for (int i = 0; i < t->sampled && left > 0; i++)
        if ((int)sp_rng_below(&r, (uint64_t)(t->sampled - i)) < left) {
            left--;
            if (speedup(&t->row[i]) > 0)
                l->chance = faster(l->chance, &t->row[i]);
        }
}

static leaders look_up(task *t, const spry_schedule *list, int count)
{
    leaders l = {0};

    for (int i = 0; i < count; i++) {
        const sp_example *e = row_of(t, &list[i]);

        t->chosen += speedup(e) > 0;
        if (speedup(e) > 0)
            l.top = faster(l.top, e);
    }
    for (int i = 0; i < t->rows; i++)
        if (speedup(&t->row[i]) > 0)
            insert(&l, &t->row[i]);
    draw(&l, t);
    return l;
}

/* What the choice and the leaders are worth, measured side by side: the
 * model's, the one by chance, and the five that seemed best of all, of which
 * the fastest now is what both are held against. Where it is one of the five
 * that the model found, too, regret may be 0, never much less. */
static spry_status weigh(bench *b, task *t, const leaders *l,
                         const spry_schedule *choice)
{
    enum { CHOICE, BEST_OF_TOP, CHANCE, BEST, ASKED = BEST + FIRST };
    spry_schedule x[ASKED] = {*choice};
    double confirmed[ASKED] = {0};
    spry_status s;

    if (!l->top || !l->chance || !l->all[0])
        return SPRY_OK;
    x[BEST_OF_TOP] = l->top->x;
    x[CHANCE] = l->chance->x;
    for (int i = 0; i < FIRST; i++)
        x[BEST + i] = l->all[i] ? l->all[i]->x : l->all[0]->x;
    s = confirm(b, t, confirmed, x, ASKED);
    t->predicted = confirmed[CHOICE];
    t->best_of_top = confirmed[BEST_OF_TOP];
    t->best_of_chance = confirmed[CHANCE];
    for (int i = 0; i < FIRST; i++)
        t->best_known = fmax(t->best_known, confirmed[BEST + i]);
    return s;
}

static int by_prediction(const void *a, const void *b)
{
    const sp_candidate *x = a, *y = b;

    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

/* Of formats and nests together, searched as the tuner does. */
static spry_status find_top(spry_schedule *list, int *count, asker *a)
{
    sp_space families = ask_space(a, SP_FAMILIES, NULL);
    sp_space nests = ask_space(a, SP_NESTS, NULL);
    sp_candidate top[2 * TOP];
    int n = 0, more = 0;
    spry_status s =
        sp_strategy_find("exhaustive")->find(top, &n, TOP, &families);

    if (s == SPRY_OK)
        s = sp_strategy_find("evolve")->find(top + n, &more, TOP, &nests);
    qsort(top, (size_t)(n + more), sizeof *top, by_prediction);
    *count = n + more < TOP ? n + more : TOP;
    for (int i = 0; i < *count; i++)
        list[i] = top[i].x;
    return s;
}

static spry_status choose(bench *b, task *t, const sp_cost *c)
{
    spry_schedule list[TOP + 1];
    leaders l;
    asker a;
    int count = 0;
    spry_status s = ask_open(&a, t->p, &b->m, c);

    if (s != SPRY_OK)
        return s;
    s = find_top(list, &count, &a);
    if (s == SPRY_OK)
        s = ask_choice(&list[count], &a);
    ask_close(&a);
    if (s == SPRY_OK)
        s = collect_list(b, t, list, count + 1);
    if (s != SPRY_OK)
        return s;
    l = look_up(t, list, count);
    return weigh(b, t, &l, &list[count]);
}

/* Every problem of an operation, deep ones first. */
static void choose_all(bench *b, field *f, double until)
{
    for (int deep = 1; deep >= 0; deep--)
        for (int i = 0; i < f->count; i++) {
            task *t = f->at[i];

            if (t->deep != deep || !t->sampled || !f->model[t->fold] ||
                elapsed(b) > until)
                continue;
            if (choose(b, t, f->model[t->fold]) != SPRY_OK)
                printf("%s: %s\n", t->name, spry_message());
        }
}

void measure_choices(bench *b, double until)
{
    double begun = elapsed(b);

    for (int o = 0; o < OPS; o++)
        choose_all(b, &b->f[o], begun + (o + 1) * (until - begun) / OPS);
    printf("choices measured, %.0f s\n", elapsed(b) - begun);
}

/* ---- what they are worth ---- */

void print_choices(bench *b)
{
    printf(
        "\nchoices for held-out groups; regret is how much slower the best "
        "of 20 is than the fastest of the five best known, raced again\n"
        "op      problems  regret  of random 20 | 400 samples: problems  "
        "regret  of random 20 | predict  best known  kept  slower by 5 %%\n");
    for (int o = 0; o < OPS; o++) {
        const field *f = &b->f[o];
        double regret[2] = {0}, chance[2] = {0}, predict = 0, known = 0;
        int n[2] = {0}, slower = 0;
        outcome *out = &b->outcome[o];

        for (int i = 0; i < f->count; i++) {
            const task *t = f->at[i];

            if (!(t->best_of_top > 0) || !(t->predicted > 0) ||
                !(t->best_known > 0) || !(t->best_of_chance > 0))
                continue;
            for (int deep = 0; deep <= t->deep; deep++) {
                regret[deep] += log(t->best_known / t->best_of_top);
                chance[deep] += log(t->best_known / t->best_of_chance);
                n[deep]++;
            }
            predict += log(t->predicted);
            known += log(fmax(1, t->best_known));
            slower += t->predicted < 0.95;
        }
        for (int deep = 0; deep < 2; deep++) {
            regret[deep] = n[deep] ? exp(regret[deep] / n[deep]) - 1 : 0;
            chance[deep] = n[deep] ? exp(chance[deep] / n[deep]) - 1 : 0;
        }
        out->problems = n[0];
        out->deep = n[1];
        out->regret = regret[n[1] > 0];
        out->kept = known > 0 ? predict / known : 1;
        out->slower = n[0] ? (double)slower / n[0] : 0;
        printf("%-7s %8d  %5.1f%%        %5.1f%% | %22d  %5.1f%%        "
               "%5.1f%% | %6.2fx  %9.2fx  %3.0f%%  %d of %d\n",
               spry_op_name(f->op), n[0], 100 * regret[0], 100 * chance[0],
               n[1], 100 * regret[1], 100 * chance[1],
               exp(predict / fmax(1, n[0])), exp(known / fmax(1, n[0])),
               100 * out->kept, slower, n[0]);
    }
    fflush(stdout);
}
