/* heat.c - machine x machine: who teaches, who is tested. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

enum { EACH = 40, HELD = 4 };

typedef struct {
    int teach; /* 1: other groups than those held out */
} side;

static int wanted(const machine_task *m, int op, int64_t k, void *payload)
{
    const side *s = payload;
    int held = part_of_group(m->d[op].group[k], HELD) == 1;

    return s->teach ? !held : held;
}

/* Real matrices teach nobody here. */
static int teaches(int task)
{
    return task == XEON || task == XEON_FMA || task == ZEN;
}

static double test(const bench *b, const sp_pretrained *source, int task,
                   int op)
{
    side s = {0};
    sp_slice held;
    float *score;
    double sum = 0, n = 0;

    if (teaches(task))
        take_rows(&held, &b->task[task], op, wanted, &s, 1000, HUGE_VAL);
    else {
        const sp_dataset *all[] = {&b->task[task].t[op]};

        if (sp_slice_join(&held, all, 1) != SPRY_OK)
            return (double)NAN;
    }
    score = sp_alloc(held.t.rows + 1, sizeof *score);
    if (score && sp_pretrained_score(score, source, &held.t) == SPRY_OK)
        for (int64_t k = 0; k < held.e.subjects; k++) {
            value v = value_of(&held.t, score, k);

            if (isfinite(v.pairs)) {
                sum += v.pairs;
                n++;
            }
        }
    sp_free(score);
    sp_slice_free(&held);
    return sum / n;
}

/* One teacher and operation against all. */
static void teach(double out[TASKS], const bench *b, int task, int op)
{
    static int64_t nowhere[2];
    const sp_examples nobody = {.start = nowhere};
    const sp_dataset none = {.e = &nobody};
    sp_fitting l = {.seed = 1, .threads = 1, .rounds = b->quick ? 40 : 100};
    side s = {1};
    sp_slice own;
    sp_pretrained source;

    take_rows(&own, &b->task[task], op, wanted, &s, EACH, LOUD);
    for (int i = 0; i < TASKS; i++)
        out[i] = (double)NAN;
    if (sp_pretrained_fit(&source, &own.t, &none, &l) == SPRY_OK) {
        for (int i = 0; i < TASKS; i++)
            if (b->task[i].present)
                out[i] = test(b, &source, i, op);
        sp_pretrained_free(&source);
    } else
        printf("%s\n", spry_message());
    sp_slice_free(&own);
}

/* ---- shown ---- */

static void write_svg(const bench *b, double v[TASKS][TASKS])
{
    const char *path = getenv("TRANSFER_SVG");
    FILE *f = path && *path ? fopen(path, "w") : NULL;
    int row = 0;

    if (!f)
        return;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" "
               "height=\"260\" font-family=\"sans-serif\" font-size=\"13\">\n");
    for (int i = 0; i < TASKS; i++) {
        int y = 50 + 50 * row, x = 110;

        if (!b->task[i].present || !teaches(i))
            continue;
        fprintf(f, "<text x=\"100\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                y + 30, b->task[i].name);
        for (int j = 0; j < TASKS; j++) {
            double share = fmax(0, fmin(1, (v[i][j] - 0.75) / 0.2));

            if (!b->task[j].present)
                continue;
            fprintf(f,
                    "<rect x=\"%d\" y=\"%d\" width=\"88\" height=\"46\" "
                    "fill=\"rgb(%d,%d,%d)\"/><text x=\"%d\" y=\"%d\" "
                    "text-anchor=\"middle\">%.3f</text>\n",
                    x, y, (int)(255 - 190 * share), (int)(255 - 90 * share),
                    (int)(255 - 150 * share), x + 44, y + 28, v[i][j]);
            if (row == 0)
                fprintf(f,
                        "<text x=\"%d\" y=\"40\" text-anchor=\"middle\">%s"
                        "</text>\n",
                        x + 44, b->task[j].name);
            x += 92;
        }
        row++;
    }
    fprintf(f, "</svg>\n");
    fclose(f);
    printf("the same as a picture: %s\n", path);
}

static void print_map(const bench *b, double v[TASKS][TASKS])
{
    printf("\n== pairs right: rows teach, columns are tested, matrices held "
           "out ==\n%-12s",
           "");
    for (int j = 0; j < TASKS; j++)
        if (b->task[j].present)
            printf("%11s", b->task[j].name);
    printf("\n");
    for (int i = 0; i < TASKS; i++) {
        if (!b->task[i].present || !teaches(i))
            continue;
        printf("%-12s", b->task[i].name);
        for (int j = 0; j < TASKS; j++)
            if (b->task[j].present)
                printf("%11.3f", v[i][j]);
        printf("\n");
    }
    write_svg(b, v);
}

/* Do they agree on shared schedules? Above 0.98 they are one task. */
static void print_likeness(const bench *b)
{
    static spry_task task[16];
    static spry_likeness like[256];
    const spry_imagined imagined = {1, 0.5, 1.5, 0.5, 0.5};
    spry_records *db[TASKS];
    int stores = 0, tasks;

    for (int i = 0; i < TASKS; i++)
        if (b->task[i].present && teaches(i))
            db[stores++] = b->task[i].db;
    if (!stores || spry_machines_compare(task, &tasks, like, 16, db, stores,
                                         SPRY_SPMM, &imagined) != SPRY_OK) {
        printf("not compared: %s\n", spry_message());
        return;
    }
    printf("\nrank correlation on shared schedules of spmm (problems shared); "
           "above 0.98 they would be one task\n");
    for (int i = 0; i < tasks; i++) {
        printf("%-9s %-34.34s", task[i].kind, task[i].name);
        for (int j = 0; j < tasks; j++)
            printf("  %.3f (%lld)", like[i * tasks + j].rank,
                   (long long)like[i * tasks + j].problems);
        printf("\n");
    }
    printf("the formula of meta-learned WACO re-ranks %lld pairs of the "
           "records that the simulated machine was made from\n",
           (long long)task[tasks - 1].reranked_by_formula);
}

void heat_map(bench *b)
{
    double v[TASKS][TASKS] = {{0}}, one[TASKS][OPS][TASKS];

    print_likeness(b);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int i = 0; i < TASKS * b->ops; i++)
        if (b->task[i / b->ops].present && teaches(i / b->ops))
            teach(one[i / b->ops][i % b->ops], b, i / b->ops, i % b->ops);
    for (int i = 0; i < TASKS; i++)
        for (int o = 0; o < b->ops; o++)
            for (int j = 0; j < TASKS; j++)
                if (b->task[i].present && teaches(i))
                    v[i][j] += one[i][o][j] / b->ops;
    print_map(b, v);
}
