/* say.c - sentences for a person, numbers as people read them. */
#include "cli.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* One line, whatever strange bytes a file name brought along. */
static void sentence(const char *prefix, const char *text)
{
    progress_clear();
    fflush(stdout);
    fputs(prefix, stderr);
    for (; *text; text++)
        putc(((unsigned char)*text < 32 || *text == 127) ? '?' : *text, stderr);
    putc('\n', stderr);
}

CLI_PRINTF_LIKE(2, 0)
static void sentence_va(const char *prefix, const char *fmt, va_list args)
{
    char text[2048];

    vsnprintf(text, sizeof text, fmt, args);
    sentence(prefix, text);
}

spry_status say_fail(spry_status s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sentence_va("spry: ", fmt, args);
    va_end(args);
    return s;
}

void say_note(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sentence_va("spry: note: ", fmt, args);
    va_end(args);
}

spry_status say_status(spry_status s)
{
    const char *text = spry_message();

    if (s != SPRY_OK)
        sentence("spry: ", *text ? text : spry_status_name(s));
    return s;
}

/* Asked of the descriptor: stdio may have met the error long ago. */
static int reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

spry_status say_written(spry_status s, const char *path)
{
    if (s == SPRY_SYSTEM && strcmp(path, "-") == 0 && reader_left())
        return SPRY_OK;
    return say_status(s);
}

spry_status say_finish(spry_status s)
{
    progress_clear();
    if ((fflush(stdout) == 0 && !ferror(stdout)) || reader_left())
        return s;
    return say_fail(s == SPRY_OK ? SPRY_SYSTEM : s,
                    "the output could not be written; is the disk full?");
}

/* ---- numbers ---- */

enum { BUFFERS = 16, BUFFER = 48 };

static char *buffer(void)
{
    static char ring[BUFFERS][BUFFER];
    static int at;

    return ring[at++ % BUFFERS];
}

/* Three digits, "1.23", "12.3", "123". */
static const char *three(double x, const char *unit)
{
    char *b = buffer();
    int digits = fabs(x) < 9.995 ? 2 : fabs(x) < 99.95 ? 1 : 0;

    snprintf(b, BUFFER, "%.*f%s", digits, x, unit);
    return b;
}

const char *say_seconds(double seconds)
{
    static const struct {
        double below, factor;
        const char *unit;
    } scale[] = {{0.9995e-6, 1e9, " ns"},
                 {0.9995e-3, 1e6, " us"},
                 {0.9995, 1e3, " ms"},
                 {HUGE_VAL, 1, " s"}};
    int i = 0;

    if (!isfinite(seconds))
        return "-";
    if (fabs(seconds) < 1e-15)
        return "0";
    while (fabs(seconds) >= scale[i].below)
        i++;
    return three(seconds * scale[i].factor, scale[i].unit);
}

/* Thousands apart: "1 240". */
const char *say_count(double count)
{
    char *b = buffer(), digits[32];
    int n, at = 0;

    if (!isfinite(count) || fabs(count) >= 1e15)
        return three(count, "");
    n = snprintf(digits, sizeof digits, "%.0f", count);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
            b[at++] = ' ';
        b[at++] = digits[i];
    }
    b[at] = 0;
    return b;
}

const char *say_rate(double per_second, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    char words[24];
    int i = 0;

    for (; per_second >= 999.5 && i < 5; i++)
        per_second /= 1000;
    snprintf(words, sizeof words, " %s%s", prefix[i], unit);
    return three(per_second, words);
}

const char *say_bytes(double bytes)
{
    return say_rate(bytes, "B");
}

const char *say_times(double ratio)
{
    char *b = buffer();

    snprintf(b, BUFFER, "%.2fx", ratio);
    return b;
}

const char *say_runs(double runs)
{
    return three(runs, "");
}

const char *say_interval(double low, double high)
{
    char *b = buffer();

    if (low > 0 && high < 100 * low)
        snprintf(b, BUFFER, "%.2f..%.2f", low, high);
    else /* one sample bounds nothing, two that differ little more */
        snprintf(b, BUFFER, "-");
    return b;
}

const char *say_date(int64_t seconds_since_1970)
{
    char *b = buffer();
    time_t t = (time_t)seconds_since_1970;
    struct tm when;

    if (!gmtime_r(&t, &when) || !strftime(b, BUFFER, "%Y-%m-%d %H:%M", &when))
        snprintf(b, BUFFER, "?");
    return b;
}

/* ---- the terminal ---- */

int say_width(FILE *out)
{
    struct winsize size;
    const char *said = getenv("COLUMNS");
    long columns;

    if (!isatty(fileno(out)))
        return 0;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    columns = said ? strtol(said, NULL, 10) : 0;
    return columns > 0 && columns < 10000 ? (int)columns : 80;
}

static int colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fileno(out)) && !(no && *no) && term &&
           strcmp(term, "dumb") != 0;
}

const char *say_bold(FILE *out)
{
    return colour(out) ? "\033[1m" : "";
}

const char *say_plain(FILE *out)
{
    return colour(out) ? "\033[0m" : "";
}
