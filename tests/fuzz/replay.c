/* replay.c - run every file of a corpus through a fuzz target: what the
 * fuzzer once found stays fixed, with any compiler.
 *
 *   replay_FORMAT CORPUS [RUNS]   and RUNS times one of them, changed at random
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

enum { LONGEST = 1 << 16, FILES = 512 };

typedef struct {
    uint8_t *data;
    size_t n;
} seed;

static seed seeds[FILES];
static int files;

static void take(const char *path)
{
    FILE *in = fopen(path, "rb");
    seed s = {.data = malloc(LONGEST)};

    if (in && s.data && files < FILES) {
        s.n = fread(s.data, 1, LONGEST, in);
        seeds[files++] = s;
    } else {
        free(s.data);
    }
    if (in)
        fclose(in);
}

static uint8_t *at_random(uint8_t *data, size_t n, sp_rng *r)
{
    return data + sp_rng_below(r, n);
}

/* A number that readers stumble over, in place of what is there. */
static void put_number(uint8_t *data, size_t n, sp_rng *r)
{
    static const char *const text[] = {"0",
                                       "-1",
                                       "1",
                                       "2147483648",
                                       "4294967296",
                                       "9223372036854775807",
                                       "18446744073709551616",
                                       "1e999",
                                       "nan",
                                       "%"};
    const char *word = text[sp_rng_below(r, sizeof text / sizeof text[0])];
    size_t k = strlen(word), at = sp_rng_below(r, n);

    memcpy(data + at, word, k < n - at ? k : n - at);
}

/* Change data[n]; returns its new length. */
static size_t change(uint8_t *data, size_t n, sp_rng *r)
{
    const seed *other = &seeds[sp_rng_below(r, (uint64_t)files)];
    size_t k;

    if (n == 0)
        return 0;
    switch (sp_rng_below(r, 7)) {
    case 0: *at_random(data, n, r) ^= (uint8_t)(1 << sp_rng_below(r, 8)); break;
    case 1: *at_random(data, n, r) = (uint8_t)sp_rng_next(r); break;
    case 2: return sp_rng_below(r, n + 1);
    case 3: put_number(data, n, r); break;
    case 4: /* a piece of another */
        if (other->n) {
            size_t from = sp_rng_below(r, other->n), at = sp_rng_below(r, n);

            k = sp_rng_below(r, other->n - from + 1);
            memcpy(data + at, other->data + from, k < n - at ? k : n - at);
        }
        break;
    case 5: /* a piece twice */
        k = sp_rng_below(r, n < LONGEST - n ? n : LONGEST - n + 1);
        memmove(data + n, data + n - k, k);
        return n + k;
    default: memset(at_random(data, n, r), sp_rng_below(r, 2) ? 255 : 0, 1);
    }
    return n;
}

static void run_changed(long runs)
{
    static uint8_t data[LONGEST + 1];
    sp_rng r = sp_rng_seed(1);

    for (long i = 0; i < runs; i++) {
        const seed *s = &seeds[sp_rng_below(&r, (uint64_t)files)];
        size_t n = s->n;

        memcpy(data, s->data, n);
        for (uint64_t k = sp_rng_below(&r, 5) + 1; k > 0; k--)
            n = change(data, n, &r);
        LLVMFuzzerTestOneInput(data, n);
    }
}

int main(int argc, char **argv)
{
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    long runs = argc > 2 ? atol(argv[2]) : 0;
    struct dirent *e;
    char path[4096];

    if (!dir)
        return 2;
    while ((e = readdir(dir)))
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
            take(path);
        }
    closedir(dir);
    for (int i = 0; i < files; i++)
        LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].n);
    if (files)
        run_changed(runs);
    printf("%ld executions, %d files\n", files + runs, files);
    for (int i = 0; i < files; i++)
        free(seeds[i].data);
    return files ? 0 : 1;
}
