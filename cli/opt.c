/* opt.c - the words behind a command, into its options and operands.
 *
 * Long options only, "--x=v" or "--x v", anywhere among the operands; "--"
 * ends them. Every mistake is answered with the nearest thing that exists. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

cli_settings cli = {.seed = 1, .op = -1, .type = -1, .cols = -1};

const opt cli_common[] = {
    {"json", OPT_FLAG, &cli.json, NULL, "print one JSON document"},
    {"store", OPT_TEXT, &cli.store, "FILE",
     "the store of records; :memory: keeps none, postgresql:// is shared"},
    {"threads", OPT_INTEGER, &cli.threads, "N", "use at most N threads"},
    {"isa", OPT_TEXT, &cli.isa, "NAME",
     "use at most this instruction set, such as avx2"},
    {"machine", OPT_TEXT, &cli.machine, "FILE",
     "tune for the machine described there"},
    {"seed", OPT_SEED, &cli.seed, "N", "seed of random numbers (1)"},
    {"progress", OPT_WORD, &cli.progress, "auto|plain|none",
     "progress on stderr"},
    {0}};

const opt cli_compute[] = {
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm|mttkrp",
     "what to compute (spmv; with --cols spmm)"},
    {"cols", OPT_COUNT, &cli.cols, "N", "dense columns (128; for mttkrp 32)"},
    {"mode", OPT_WORD, &cli.mode, "0|1|2",
     "the mode of a tensor that the result keeps (0)"},
    {"type", OPT_WORD, &cli.type, "f32|f64", "element type (the matrix's own)"},
    {0}};

const opt cli_locking[] = {
    {"lock", OPT_TEXT, &cli.lock, "FILE",
     "use the schedule and kernel of this lock file, or fail (spry freeze)"},
    {0}};

/* ---- names that are nearly right ---- */

static int smallest(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Edits that turn a into b; long words count as far apart. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    int row[LONGEST + 1];
    int lb = (int)strlen(b);

    if (strlen(a) > LONGEST || lb > LONGEST)
        return LONGEST;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];

        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int change = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            row[j] = smallest(row[j] + 1, row[j - 1] + 1, change);
        }
    }
    return row[lb];
}

const char *opt_nearest(const char *word, const void *names, size_t stride)
{
    const char *best = NULL, *at = names, *name;
    int least = (int)strlen(word) / 3 + 2;

    for (; (memcpy(&name, at, sizeof name), name); at += stride) {
        int d = distance(word, name);

        if (strncmp(word, name, strlen(word)) == 0)
            d = 1;
        if (d < least) {
            least = d;
            best = name;
        }
    }
    return best;
}

spry_status opt_unknown_action(const char *who, const char *word,
                               const void *names, size_t stride)
{
    const char *near = opt_nearest(word, names, stride);

    if (near)
        return say_fail(SPRY_USAGE, "%s cannot '%s'; is it '%s'?", who, word,
                        near);
    return say_fail(SPRY_USAGE, "%s cannot '%s'; see spry %s --help", who, word,
                    who);
}

/* ---- help ---- */

static void print_table(const opt *o)
{
    for (; o->name; o++) {
        char left[64];

        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-26s%s%s\n", left,
               strlen(left) > 26 ? "\n                             " : " ",
               o->help);
    }
}

static void print_help(const opt_page *page)
{
    printf("usage: spry %s%s%s [option...]\n\n%s\n", page->command,
           *page->operands ? " " : "", page->operands, page->about);
    printf("\noptions:\n");
    for (int i = 0; i < OPT_TABLES && page->table[i]; i++) {
        print_table(page->table[i]);
        if (page->table[i]->name)
            printf("\n");
    }
    print_table(cli_common);
}

/* ---- values ---- */

typedef struct {
    const char *name;
    double factor;
} unit;

/* A number >= 0 and perhaps a unit; 0 when it is neither. */
static int number(double *out, const char *text, const unit *units)
{
    char *end;
    double x;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return 0;
    x = strtod(text, &end);
    if (end == text || strpbrk(text, "xX") || !isfinite(x))
        return 0;
    while (*end == ' ')
        end++;
    for (; units->name; units++)
        if (strcmp(end, units->name) == 0) {
            *out = x * units->factor;
            return 1;
        }
    return 0;
}

static int seed(uint64_t *out, const char *text)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return 0;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !*end && !errno;
}

/* Which of "a|b|c" is word; -1: none. */
static int which(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (int i = 0; *words; i++) {
        size_t len = strcspn(words, "|");

        if (n == len && strncasecmp(word, words, n) == 0)
            return i;
        words += len + (words[len] == '|');
    }
    return -1;
}

int opt_has_words(const opt *o)
{
    return o->kind == OPT_WORD || o->kind == OPT_NAME;
}

/* Store the value; 0 when it makes no sense. */
static int set(const opt *o, const char *value)
{
    static const unit counts[] = {{"", 1},    {"k", 1e3}, {"K", 1e3},
                                  {"M", 1e6}, {"G", 1e9}, {0}};
    static const unit times[] = {{"", 1},      {"s", 1},    {"ms", 1e-3},
                                 {"m", 60},    {"min", 60}, {"h", 3600},
                                 {"us", 1e-6}, {0}};
    double x;

    switch (o->kind) {
    case OPT_FLAG: *(int *)o->out = 1; return 1;
    case OPT_TEXT: *(const char **)o->out = value; return *value != 0;
    case OPT_COUNT: return number(o->out, value, counts);
    case OPT_SECONDS:
        return number(o->out, value, times) && *(double *)o->out > 0;
    case OPT_SEED: return seed(o->out, value);
    case OPT_WORD: return (*(int *)o->out = which(o->value, value)) >= 0;
    case OPT_NAME:
        *(const char **)o->out = value;
        return which(o->value, value) >= 0;
    case OPT_INTEGER:
        if (!number(&x, value, counts) || x > 1e9 || floor(x) < x)
            return 0;
        *(int *)o->out = (int)x;
        return 1;
    }
    return 0;
}

/* What an option wants, for the sentence that refuses something else. */
static const char *wants(const opt *o)
{
    static const char *const words[] = {
        [OPT_FLAG] = "nothing",
        [OPT_TEXT] = "some text",
        [OPT_INTEGER] = "a whole number",
        [OPT_COUNT] = "a count such as 1000, 1k or 1e4",
        [OPT_SECONDS] = "a time above 0 such as 10, 500ms, 60s or 2m",
        [OPT_SEED] = "a whole number"};

    return opt_has_words(o) ? o->value : words[o->kind];
}

/* ---- parsing ---- */

static const opt *find_in(const opt *o, const char *name)
{
    for (; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static const opt *find(const opt_page *page, const char *name)
{
    for (int i = 0; i < OPT_TABLES && page->table[i]; i++) {
        const opt *o = find_in(page->table[i], name);

        if (o)
            return o;
    }
    return find_in(cli_common, name);
}

static spry_status unknown(const opt_page *page, const char *name)
{
    const char *near = NULL;

    for (int i = 0; i < OPT_TABLES && page->table[i] && !near; i++)
        near = opt_nearest(name, page->table[i], sizeof(opt));
    if (!near)
        near = opt_nearest(name, cli_common, sizeof(opt));
    if (near)
        return say_fail(SPRY_USAGE, "%s has no option --%s; is it --%s?",
                        page->command, name, near);
    return say_fail(SPRY_USAGE, "%s has no option --%s; see spry %s --help",
                    page->command, name, page->command);
}

/* One option at argv[*at]; *at moves over a value of its own. */
static spry_status take(const opt_page *page, char **argv, int argc, int *at)
{
    char name[64];
    const char *word = argv[*at] + 2, *value = strchr(word, '=');
    size_t len = value ? (size_t)(value - word) : strlen(word);
    const opt *o;

    snprintf(name, sizeof name, "%.*s", len < 60 ? (int)len : 60, word);
    o = find(page, name);
    if (!o)
        return unknown(page, name);
    if (o->kind == OPT_FLAG && value)
        return say_fail(SPRY_USAGE, "--%s takes no value", name);
    if (value)
        value++;
    else if (o->kind != OPT_FLAG && *at + 1 < argc)
        value = argv[++*at];
    if (!value && o->kind != OPT_FLAG)
        return say_fail(SPRY_USAGE, "--%s needs %s", name, wants(o));
    if (!set(o, value))
        return say_fail(SPRY_USAGE, "--%s takes %s, not '%s'", name, wants(o),
                        value);
    return SPRY_OK;
}

static int asks_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static spry_status take_all(const opt_page *page, int *argc, char **argv)
{
    int operands = 0, open = 1;
    spry_status s = SPRY_OK;

    for (int i = 0; i < *argc && s == SPRY_OK; i++) {
        if (open && strcmp(argv[i], "--") == 0)
            open = 0;
        else if (open && strncmp(argv[i], "--", 2) == 0)
            s = take(page, argv, *argc, &i);
        else if (open && argv[i][0] == '-' && argv[i][1])
            s = say_fail(SPRY_USAGE,
                         "options have long names, unlike %s; see "
                         "spry %s --help",
                         argv[i], page->command);
        else
            argv[operands++] = argv[i];
    }
    *argc = operands;
    return s;
}

void (*opt_reader)(const opt_page *page);

int opt_parse(spry_status *s, const opt_page *page, int *argc, char **argv)
{
    *s = SPRY_OK;
    if (opt_reader) {
        opt_reader(page);
        return 0;
    }
    for (int i = 0; i < *argc && strcmp(argv[i], "--") != 0; i++)
        if (asks_help(argv[i])) {
            print_help(page);
            return 0;
        }
    *s = take_all(page, argc, argv);
    if (*s == SPRY_OK && *argc < page->min)
        *s = say_fail(SPRY_USAGE, "%s needs %s; see spry %s --help",
                      page->command, page->operands, page->command);
    if (*s == SPRY_OK && *argc > page->max)
        *s = say_fail(SPRY_USAGE, "%s: one word too many: '%s'", page->command,
                      argv[page->max]);
    return *s == SPRY_OK;
}
