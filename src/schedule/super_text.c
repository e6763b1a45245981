/* super_text.c - a nest as words, and back.
 *
 *   i=4 k=8 j=32 loops=i1k1j1i0k0j0 dense=i1i0k0 parallel=i1
 *
 * "i=4" cuts i into blocks of 4, with a loop i1 over blocks and a loop i0
 * inside; an index that is not split has the one loop "i". "dense" lists the
 * uncompressed levels of the sparse operand. */
#include <string.h>

#include "schedule/super.h"

static const char letters[] = "ijkl";

/* The chosen loops of the nest, outermost first: " word=i1k". */
static size_t add_loops(char *out, size_t size, const spry_super *s,
                        const char *word, unsigned chosen)
{
    size_t at = (size_t)snprintf(out, size, " %s=", word);
    char name[3];

    for (int q = 0; q < s->loops; q++)
        if (chosen >> s->order[q] & 1)
            at += (size_t)snprintf(out + at, size - at, "%s",
                                   sp_loop_name(name, s, s->order[q]));
    return at;
}

size_t sp_super_text(char *out, size_t size, const spry_super *s)
{
    size_t at = 0;

    for (int q = 0; q < s->loops; q++) {
        int index = sp_loop_index(s->order[q]);

        if (s->split[index] && !sp_loop_inner(s->order[q]))
            at += (size_t)snprintf(out + at, size - at, " %c=%ld",
                                   letters[index], 1L << s->split[index]);
    }
    at += add_loops(out + at, size - at, s, "loops", ~0u);
    if (s->dense)
        at += add_loops(out + at, size - at, s, "dense", s->dense);
    if (s->parallel)
        at += add_loops(out + at, size - at, s, "parallel",
                        1u << (s->parallel - 1));
    return at;
}

/* "i1", "i0" or "i" at *at, which moves behind it; -1 when there is none. */
static int read_loop(const char **at, const char *end)
{
    const char *letter = *at < end ? memchr(letters, **at, SPRY_INDICES) : NULL;
    int loop;

    if (!letter)
        return -1;
    loop = 2 * (int)(letter - letters);
    ++*at;
    if (*at < end && (**at == '0' || **at == '1'))
        loop += *(*at)++ == '0';
    return loop;
}

static int read_order(spry_super *s, const char *at, const char *end)
{
    s->loops = 0;
    while (at < end) {
        int loop = read_loop(&at, end);

        if (loop < 0 || s->loops == SPRY_LOOPS)
            return 0;
        s->order[s->loops++] = (uint8_t)loop;
    }
    return s->loops > 0;
}

static int read_dense(spry_super *s, const char *at, const char *end)
{
    s->dense = 0;
    while (at < end) {
        int loop = read_loop(&at, end);

        if (loop < 0)
            return 0;
        s->dense |= (uint16_t)(1u << loop);
    }
    return 1;
}

static int read_parallel(spry_super *s, const char *at, const char *end)
{
    int loop = read_loop(&at, end);

    s->parallel = (uint8_t)(loop + 1);
    return loop >= 0 && at == end;
}

/* A power of two. */
static int read_split(uint8_t *out, const char *at, const char *end)
{
    int64_t value;

    if (!sp_scan_int(&at, end, &value) || at != end || value < 1 ||
        value > INT64_C(1) << SP_SPLIT_MOST || (value & (value - 1)))
        return 0;
    *out = (uint8_t)__builtin_ctzll((uint64_t)value);
    return 1;
}

int sp_super_word(spry_super *s, const char *word, size_t n)
{
    static const struct {
        const char *name;
        int (*read)(spry_super *, const char *, const char *);
    } words[] = {{"loops=", read_order},
                 {"dense=", read_dense},
                 {"parallel=", read_parallel}};
    const char *end = word + n, *letter;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].name);

        if (n > length && memcmp(word, words[i].name, length) == 0)
            return words[i].read(s, word + length, end);
    }
    letter =
        n > 2 && word[1] == '=' ? memchr(letters, *word, SPRY_INDICES) : NULL;
    return letter && read_split(&s->split[letter - letters], word + 2, end);
}
