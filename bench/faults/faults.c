/* faults.c - a kernel's text to the same text with one mistake in it.
 *
 * The table knows how C is written, not which kernel it looks at: loops and
 * their bounds, accumulators, stores, indices. A place that has no such
 * thing has no such fault. The last ones are mistakes of the run-time: they
 * tamper with what the kernel is handed, thread by thread. */
#include "faults.h"

#include <regex.h>
#include <string.h>

#define BOUND "(end|stop|n|last|a->rows|a->cols|a->diagonals)"
#define SUM   "(([^a-z>.]|^)[stcCr][0-9_]*(\\[[^]]*\\])?) \\+= ([^;]*);"
#define ZEROED \
    "^( +)(float|double|T|f[0-9]+x[0-9]+) ((s|t)[0-9_]*) = (\\{0\\}|0);"
#define OPENING "\\(const sp_args \\*a\\)\n\\{"
#define HANDED(statement)                                 \
    "(const sp_args *given)\n{\n    sp_args b = *given; " \
    "const sp_args *a = &b; " statement

const bench_fault bench_faults[] = {
    {"bound one too far", "< " BOUND ";", "<= \\1;", 0},
    {"bound one short", "< " BOUND ";", "< \\1 - 1;", 0},
    {"inner bound one too far", "< (start\\[[ui] \\+ 1\\]);", "<= \\1;", 0},
    {"inner bound one short", "< (start\\[[ui] \\+ 1\\]);", "< \\1 - 1;", 0},
    {"unrolled loop too far", "<= " BOUND ";", "<= \\1 + 1;", 0},
    {"unrolled loop too short", "<= " BOUND ";", "< \\1;", 0},
    {"loop never entered", "for \\(; [^;]*;[^)]*\\)", "for (; 0;)", 0},
    {"step too long", "([kj]) \\+= ([0-9]+)\\)", "\\1 += \\2 + 1)", 0},
    {"first unit skipped", "= a->first;", "= a->first + 1;", 0},
    {"row guard too far", "< a->(rows|cols)\\)", "<= a->\\1)", 0},
    {"row guard too near", "<= a->(rows|cols)", "< a->\\1", 0},
    {"row guard left out", "if \\([^()]*a->rows\\)", "if (1)", 0},
    {"lower guard too near", ">= 0", "> 0", 0},
    {"starts one late", "(start\\[[ui]\\])([;,])", "\\1 + 1\\2", 0},
    {"starts at the next", "= start\\[([ui])\\]", "= start[\\1 + 1]", 0},
    {"ends where it starts", "start\\[([ui]) \\+ 1\\]", "start[\\1]", 0},
    {"ends one late", "(start\\[[ui] \\+ 1\\]);", "\\1 + 1;", 0},
    {"not zeroed", ZEROED, "\\1static _Thread_local \\2 \\3;", 0},
    {"shared by threads", ZEROED, "\\1static volatile \\2 \\3; \\3 = (\\2)\\5;",
     1},
    {"wrong branch for beta", "beta != 0", "beta == 0", 0},
    {"beta ignored", "beta != 0", "0", 0},
    {"beta twice", "beta \\* ", "beta * beta * ", 0},
    {"beta left out", "beta \\* ", "", 0},
    {"alpha left out", "alpha \\* ", "", 0},
    {"alpha left out", "\\*= alpha", "*= 1", 0},
    {"alpha twice", "alpha \\* ", "alpha * alpha * ", 0},
    {"alpha twice", "\\*= alpha", "*= alpha * alpha", 0},
    {"column type too narrow", "const int32_t (\\*restrict col)",
     "const uint8_t \\1", 0},
    {"column type signed", "const uint16_t (\\*restrict col)",
     "const int16_t \\1", 0},
    {"column type too wide", "const uint16_t (\\*restrict col)",
     "const int32_t \\1", 0},
    {"column type half", "const int64_t (\\*restrict col)", "const int32_t \\1",
     0},
    {"start type half", "const int64_t (\\*restrict start)",
     "const int32_t \\1", 0},
    {"start type too narrow", "const int32_t (\\*restrict start)",
     "const int16_t \\1", 0},
    {"product too narrow", "\\(int64_t\\)((col|row|base)\\[)", "(int8_t)\\1",
     0},
    {"column base ignored", "\\(base \\? [^:]*: 0\\)", "0", 0},
    {"column base of unit 0", "base\\[u\\]", "base[0]", 0},
    {"row map ignored", "row \\? \\(int64_t\\)row\\[[ui]\\] : ([ui])", "\\1",
     0},
    {"row of the neighbour", "row\\[([ui])\\]", "row[\\1 ? \\1 - 1 : 1]", 0},
    {"result map ignored", "out \\? C \\+ out\\[u\\] - k : C", "C", 0},
    {"lane before", "(\\[|\\+ )([1-9][0-9]*)(\\]|\\))", "\\1\\2 - 1\\3", 0},
    {"lane after", "(\\[|\\+ )([0-9]+)(\\]|\\))", "\\1\\2 + 1\\3", 0},
    {"value of the neighbour", "val\\[k", "val[1 + k", 0},
    {"column of the neighbour", "col\\[k", "col[1 + k", 0},
    {"sign of a term", SUM, "\\1 -= \\4;", 0},
    {"sum overwritten", SUM, "\\1 = \\4;", 0},
    {"term left out", SUM, ";", 0},
    {"term twice", SUM, "\\1 += \\4; \\1 += \\4;", 0},
    {"store left out", "^( +)(\\*|C\\[|c\\[|SP_STREAM)[^;]*;", "\\1;", 0},
    {"stored beside", "(\\*\\([a-z0-9]+ \\*\\)\\(c \\+ [0-9]+)(\\) = )",
     "\\1 + 1\\2", 0},
    {"stored beside", "([^a-z>]C\\[[a-z])(\\] =)", "\\1 + 1\\2", 0},
    {"dense stride", "\\* n([ );+])", "* (n - 1)\\1", 0},
    {"pass not clipped", "from \\+ pass < columns \\? from \\+ pass : columns",
     "from + pass", 0},
    {"pass too long", "from \\+= pass", "from += pass + 1", 0},
    {"pass begins anew", "j = from;", "j = 0;", 0},
    {"diagonal beside", "a->diagonal\\[d\\]", "(a->diagonal[d] + 1)", 0},
    {"diagonals one short", "d < a->diagonals", "d + 1 < a->diagonals", 0},
    {"not finite, not seen", "bad[0-9]+ \\+= [^;]*;", ";", 0},
    {"not finite, not said", "return bad1 != 0;", "return 0;", 0},
    {"share begins early", OPENING, HANDED("b.first -= b.first > 0;"), 1},
    {"share ends late", OPENING, HANDED("b.last += b.last < UNITS;"), 1},
    {"shares are the whole", OPENING, HANDED("b.first = 0; b.last = UNITS;"),
     1},
    {"share begins late", OPENING, HANDED("b.first += b.first > 0;"), 0},
    {"share ends early", OPENING, HANDED("b.last -= b.last < UNITS;"), 0},
    {"last unit left out", OPENING, HANDED("b.last -= b.last == UNITS;"), 0},
    {"first unit left out", OPENING, HANDED("b.first += b.first == 0;"), 0},
    {"wrong cuts", OPENING, HANDED("if (b.first) b.first += 2, b.last += 2;"),
     0},
    {"row map lost", OPENING, HANDED("b.row = 0;"), 0},
    {"column base lost", OPENING, HANDED("b.base = 0;"), 0},
    {"result map lost", OPENING, HANDED("b.out = 0;"), 0},
    {"beta lost", OPENING, HANDED("b.beta = 0;"), 0},
    {"alpha lost", OPENING, HANDED("b.alpha = 1;"), 0},
    {"panels overwrite", OPENING, HANDED("if (b.beta == 1) b.beta = 0;"), 0},
    {"scratch shared", OPENING,
     "(const sp_args *given)\n{\n    static sp_args b; b = *given; "
     "const sp_args *a = (const volatile void *)&b;",
     1},
};
const int bench_fault_count = sizeof bench_faults / sizeof bench_faults[0];

enum { GROUPS = 10 };

/* The next match from `at` on; 0 when there is none. */
static int next_match(const regex_t *re, const char *text, size_t at,
                      regmatch_t match[GROUPS])
{
    int inside = at > 0 && text[at - 1] != '\n';

    if (regexec(re, text + at, GROUPS, match, inside ? REG_NOTBOL : 0) != 0)
        return 0;
    for (int g = 0; g < GROUPS; g++)
        if (match[g].rm_so >= 0) {
            match[g].rm_so += (regoff_t)at;
            match[g].rm_eo += (regoff_t)at;
        }
    return 1;
}

/* The matches up to the place-th, which stays in `match`; returns how many
 * there were. */
static int walk(const char *text, const bench_fault *f, int place,
                regmatch_t match[GROUPS])
{
    regex_t re;
    size_t at = 0;
    int count = 0;

    if (regcomp(&re, f->find, REG_EXTENDED | REG_NEWLINE) != 0)
        return 0;
    while (count <= place && next_match(&re, text, at, match)) {
        at = (size_t)match[0].rm_eo + (match[0].rm_eo == match[0].rm_so);
        count++;
    }
    regfree(&re);
    return count;
}

int bench_fault_places(const char *text, const bench_fault *f)
{
    regmatch_t match[GROUPS];

    return walk(text, f, 1 << 20, match);
}

long bench_fault_apply(sp_buf *out, const char *text, const bench_fault *f,
                       int place)
{
    regmatch_t match[GROUPS];

    if (walk(text, f, place, match) != place + 1)
        return -1;
    sp_buf_bytes(out, text, (size_t)match[0].rm_so);
    for (const char *p = f->put; *p; p++)
        if (*p == '\\' && p[1] >= '1' && p[1] <= '9') {
            const regmatch_t *m = &match[*++p - '0'];

            if (m->rm_so >= 0)
                sp_buf_bytes(out, text + m->rm_so,
                             (size_t)(m->rm_eo - m->rm_so));
        } else {
            sp_buf_bytes(out, p, 1);
        }
    sp_buf_add(out, text + match[0].rm_eo);
    return (long)match[0].rm_so;
}
