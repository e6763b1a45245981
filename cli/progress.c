/* progress.c - where a long command is, on stderr.
 *
 * On a terminal one line that is rewritten in place; with --progress=plain,
 * for logs, a line every ten seconds; else nothing. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLAIN_EVERY = 10 };

static int drawn; /* the terminal's line has something on it */

double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int on_terminal(void)
{
    const char *term = getenv("TERM");

    return cli.progress == PROGRESS_AUTO && isatty(STDERR_FILENO) && term &&
           strcmp(term, "dumb") != 0;
}

static void show(const char *text)
{
    static double last;
    double now = now_seconds();

    if (on_terminal()) {
        int width = say_width(stderr);

        fprintf(stderr, "\r\033[K%.*s", width > 1 ? width - 1 : 1, text);
        fflush(stderr);
        drawn = 1;
    } else if (cli.progress == PROGRESS_PLAIN && now - last >= PLAIN_EVERY) {
        fprintf(stderr, "spry: %s\n", text);
        last = now;
    }
}

void progress_clear(void)
{
    if (drawn)
        fputs("\r\033[K", stderr);
    drawn = 0;
}

int progress_tune(const spry_progress *now, void *unused)
{
    char text[512];
    double left = now->budget - now->elapsed;
    int best = now->best && now->best_speedup > 0;

    (void)unused;
    snprintf(text, sizeof text, "%d of %d trials, %.0f s left, best %.2fx%s%s",
             now->trials, now->planned, left > 0 ? left : 0,
             best ? now->best_speedup : 1, best ? " " : "",
             best ? now->best : "");
    show(text);
    return stop_asked();
}

int progress_share(int64_t done, int64_t of, void *what)
{
    char text[512];

    snprintf(text, sizeof text, "%s: %.0f %%", (const char *)what,
             of > 0 ? 100.0 * (double)done / (double)of : 100);
    show(text);
    return stop_asked();
}

void progress_say(const char *text)
{
    show(text);
}

void progress_text(const char *text)
{
    show(text);
}

void progress_step(int done, int of, const char *what)
{
    char text[512];

    snprintf(text, sizeof text, "%d of %d: %s", done + 1, of, what);
    show(text);
}
