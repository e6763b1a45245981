/* csv.c - how long the others take, for `spry report --peers` to draw.
 *
 * A line for every operation and everyone who took part: the geometric mean
 * of their time over spry's, its 95 % interval (empty when there is none) and
 * the number of problems. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

/* In quotes, which are doubled inside. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void put_line(FILE *out, const bench_report *r, int operation, int who)
{
    bench_filter f = BENCH_EVERY;
    sp_interval v;
    int n;

    f.operation = operation;
    v = bench_mean(r, &f, bench_who_ratio, who, &n);
    if (!n)
        return;
    fprintf(out, "%s,%s,%.4g,", bench_operations[operation].name, r->who[who],
            v.mid);
    if (isfinite(v.low) && isfinite(v.high))
        fprintf(out, "%.4g,%.4g,", v.low, v.high);
    else
        fprintf(out, ",,");
    fprintf(out, "%d,", n);
    put_quoted(out, r->machine.name);
    fputc('\n', out);
}

void bench_write_csv(const bench_report *r)
{
    const char *path = getenv("PEERS_CSV");
    FILE *out = path && *path ? fopen(path, "w") : NULL;

    if (!path || !*path)
        return;
    if (!out) {
        perror(path);
        return;
    }
    fprintf(out, "operation,library,times,low,high,problems,machine\n");
    for (int o = 0; o < OPERATIONS; o++)
        for (int who = WHO_PLAIN; who < r->whos; who++)
            put_line(out, r, o, who);
    if (fclose(out) == 0)
        printf("for spry report --peers: %s\n", path);
    else
        perror(path);
}
