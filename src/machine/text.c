/* text.c - a machine -> "key value" lines or JSON, by one table.
 *
 *   # spry machine
 *   name AMD EPYC
 *   threads 2
 *   cache_bytes 32768 524288 33554432
 *
 * read.c is the way back. */
#include "spry/machine.h"

#include <string.h>

#include "base/base.h"
#include "machine/fields.h"

#define ONE(f)   offsetof(spry_machine, f), 0, 1
#define MANY(f)  offsetof(spry_machine, f), sizeof(double)
#define WIDES(f) offsetof(spry_machine, f), sizeof(int64_t)
#define CACHE(f) offsetof(spry_machine, cache[0].f), sizeof(spry_cache)
#define THREADS  offsetof(spry_machine, at), sizeof(int)

const field sp_machine_fields[FIELDS] = {
    {"name", NAME, OPTIONAL, ONE(name), 0, 0},
    {"fingerprint", PRINT, OPTIONAL, ONE(fingerprint), 0, 0},
    {"sockets", INT, OPTIONAL, ONE(sockets), 1, 1e6},
    {"cores", INT, NEEDED, ONE(cores), 1, 1e6},
    {"threads", INT, NEEDED, ONE(threads), 1, 1e6},
    {"line", INT, OPTIONAL, ONE(line), 16, 4096},
    {"isa", ISA, NEEDED, ONE(isa), 0, 0},
    {"cache_bytes", WIDE, NEEDED, CACHE(bytes), SPRY_CACHES, 0, 1e12},
    {"cache_shared_by", INT, OPTIONAL, CACHE(shared_by), SPRY_CACHES, 0, 1e6},
    {"cache_measured", WIDE, OPTIONAL, WIDES(measured), SPRY_CACHES, 0, 1e12},
    {"memory", WIDE, OPTIONAL, ONE(memory), 0, 1e18},
    {"probed", INT, OPTIONAL, ONE(probed), 0, 1},
    {"at", INT, PER_POINT, THREADS, SPRY_POINTS, 1, 1e6},
    {"read", REAL, PER_POINT, MANY(read), SPRY_POINTS, 0, 1e30},
    {"triad", REAL, PER_POINT, MANY(triad), SPRY_POINTS, 0, 1e30},
    {"cache_read", REAL, OPTIONAL, MANY(cache_read), SPRY_CACHES, 0, 1e30},
    {"latency", REAL, OPTIONAL, MANY(latency), SPRY_CACHES + 1, 0, 1e30},
    {"latency_small", REAL, OPTIONAL, ONE(latency_small), 0, 1e30},
    {"lines", REAL, IF_ANY, MANY(lines), SPRY_POINTS, 0, 1e30},
    {"lines_small", REAL, IF_ANY, MANY(lines_small), SPRY_POINTS, 0, 1e30},
    {"gather", REAL, OPTIONAL, ONE(gather), 0, 1e30},
    {"fma_f32", REAL, OPTIONAL, ONE(fma_f32), 0, 1e30},
    {"fma_f64", REAL, OPTIONAL, ONE(fma_f64), 0, 1e30},
    {"fork", REAL, OPTIONAL, ONE(fork), 0, 1e30},
    {"noise", REAL, OPTIONAL, ONE(noise), 0, 1e30},
};

static int count_of(const field *f, const spry_machine *m)
{
    return f->rule >= PER_POINT ? m->points : f->count;
}

/* Value i of f as JSON, which for numbers is also how the text has them. */
static void put(sp_json *j, const char *key, const field *f,
                const spry_machine *m, int i)
{
    const char *at = (const char *)m + f->at + (size_t)i * f->stride;
    int64_t wide;
    double real;
    int whole;

    switch (f->kind) {
    case NAME:
    case PRINT: sp_json_text(j, key, at); break;
    case ISA: sp_json_text(j, key, spry_isa_name(m->isa)); break;
    case INT:
        memcpy(&whole, at, sizeof whole);
        sp_json_integer(j, key, whole);
        break;
    case WIDE:
        memcpy(&wide, at, sizeof wide);
        sp_json_integer(j, key, wide);
        break;
    case REAL:
        memcpy(&real, at, sizeof real);
        sp_json_number(j, key, real);
        break;
    }
}

static void put_line(sp_buf *b, const field *f, const spry_machine *m)
{
    sp_json j = {.out = b}; /* outside any bracket it writes no commas */

    if ((f->kind == NAME || f->kind == PRINT) && !((const char *)m)[f->at])
        return; /* a card may have no name */
    sp_buf_add(b, f->key);
    if (f->kind == NAME || f->kind == PRINT)
        sp_buf_printf(b, " %s", (const char *)m + f->at);
    else if (f->kind == ISA)
        sp_buf_printf(b, " %s", spry_isa_name(m->isa));
    else
        for (int i = 0; i < count_of(f, m); i++) {
            sp_buf_add(b, " ");
            put(&j, NULL, f, m, i);
        }
    sp_buf_add(b, "\n");
}

static spry_status hand_over(char **out, sp_buf *b)
{
    size_t bytes = b->len;

    *out = sp_buf_steal(b);
    return *out ? SPRY_OK : sp_fail_memory(bytes);
}

spry_status spry_machine_text(char **out, const spry_machine *m)
{
    SP_NEED_NEW(out, m);

    sp_buf b = {0};

    sp_buf_add(&b, "# spry machine\n");
    for (int i = 0; i < FIELDS; i++)
        if (count_of(&sp_machine_fields[i], m) > 0)
            put_line(&b, &sp_machine_fields[i], m);
    return hand_over(out, &b);
}

spry_status spry_machine_json(char **out, const spry_machine *m)
{
    SP_NEED_NEW(out, m);

    sp_buf b = {0};
    sp_json j = {.out = &b};
    char grade[2] = {spry_machine_grade(m), 0};

    sp_json_open(&j, NULL, '{');
    for (int i = 0; i < FIELDS; i++) {
        const field *f = &sp_machine_fields[i];

        if (f->count == 1) {
            put(&j, f->key, f, m, 0);
            continue;
        }
        sp_json_open(&j, f->key, '[');
        for (int k = 0; k < count_of(f, m); k++)
            put(&j, NULL, f, m, k);
        sp_json_close(&j, ']');
    }
    sp_json_text(&j, "grade", grade);
    sp_json_close(&j, '}');
    return hand_over(out, &b);
}
