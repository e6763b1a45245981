/* code_tiles.c - codes of rows that lie side by side, a place for each in turn.
 *
 * A slice of such rows is the transpose of the rows themselves. Eight codes of
 * a row are read at once, and eight such words are turned by swaps in
 * registers, where a list of places would ask for every code alone. What a row
 * has more than others of its slice is listed. */
#include <string.h>

#include "pack/internal.h"

enum {
    WORD = 8,      /* codes */
    FEW = 4,       /* of fewer steps a list is as good */
    PIECE = 256,   /* tiles that a thread takes at a time, */
    SINGLES = 8192 /* or places of the list */
};

/* Rows whose next `steps` entries go to places `apart` from one another. */
typedef struct {
    int64_t place, steps;
    int64_t entry[WORD]; /* the first of each row */
} tile;

typedef struct {
    int64_t place, entry;
} single;

struct sp_code_tiles {
    int64_t apart, width; /* rows of a slice, of a tile: 4 or 8 */
    tile *tile;
    single *single;
    int64_t tiles, singles;
};

/* ---- finding them ---- */

/* How many steps the rows at place k go on together. */
static int64_t steps_at(const sp_code_tiles *w, const sp_part *numbers,
                        int64_t k)
{
    const double *number = numbers->val;
    int64_t steps = 0;

    for (int64_t at = k; at < numbers->values; at += w->apart, steps++)
        for (int64_t l = 0; l < w->width; l++)
            if (number[k + l] == 0 ||
                number[at + l] != number[k + l] + (double)steps)
                return steps;
    return steps;
}

static void note_tile(sp_code_tiles *w, const sp_part *numbers, int64_t k,
                      int64_t steps)
{
    const double *number = numbers->val;
    tile t = {k, steps, {0}};

    for (int64_t l = 0; l < w->width; l++)
        t.entry[l] = (int64_t)number[k + l] - 1;
    if (w->tile)
        w->tile[w->tiles] = t;
    w->tiles++;
}

static void note_singles(sp_code_tiles *w, const sp_part *numbers, int64_t k)
{
    const double *number = numbers->val;

    for (int64_t at = k; at < k + w->width; at++) {
        if (number[at] == 0)
            continue; /* its code is 0 and stays so */
        if (w->single)
            w->single[w->singles] = (single){at, (int64_t)number[at] - 1};
        w->singles++;
    }
}

/* Counts them, and notes them where there is room. */
static void find(sp_code_tiles *w, const sp_part *numbers)
{
    w->tiles = w->singles = 0;
    for (int64_t first = 0; first < w->apart; first += w->width)
        for (int64_t k = first, steps; k < numbers->values;
             k += steps * w->apart) {
            steps = steps_at(w, numbers, k);
            if (steps >= FEW) {
                note_tile(w, numbers, k, steps);
                continue;
            }
            note_singles(w, numbers, k);
            steps = 1;
        }
}

int sp_code_tiles_fit(int apart)
{
    const uint16_t one = 1;
    uint8_t first;

    memcpy(&first, &one, 1);
    return first == 1 && apart % (WORD / 2) == 0; /* words begin at their end */
}

spry_status sp_code_tiles_make(sp_code_tiles **out, int apart,
                               const sp_part *numbers)
{
    sp_code_tiles *w = sp_alloc(1, sizeof *w);

    *out = w;
    if (!w)
        return sp_fail_memory(sizeof *w);
    w->apart = apart;
    w->width = apart % WORD ? WORD / 2 : WORD;
    find(w, numbers);
    if (w->singles > numbers->values / 2) { /* a list of places is shorter */
        sp_free(w);
        *out = NULL;
        return SPRY_OK;
    }
    w->tile = sp_alloc_raw(w->tiles + 1, sizeof *w->tile);
    w->single = sp_alloc_raw(w->singles + 1, sizeof *w->single);
    if (!w->tile || !w->single)
        return sp_fail_memory((size_t)(w->tiles * 80 + w->singles * 16));
    find(w, numbers);
    return SPRY_OK;
}

void sp_code_tiles_free(sp_code_tiles *w)
{
    if (!w)
        return;
    sp_free(w->tile);
    sp_free(w->single);
    sp_free(w);
}

/* ---- codes ---- */

/* The high bytes of a, by `mask`, for the low ones of b. */
#define SWAP(a, b, shift, mask)                                      \
    do {                                                             \
        uint64_t differ = ((word[a] >> (shift)) ^ word[b]) & (mask); \
                                                                     \
        word[b] ^= differ;                                           \
        word[a] ^= differ << (shift);                                \
    } while (0)

/* Byte i of word j for byte j of word i. Written out, so that the words stay
 * in registers. */
static inline void transpose(uint64_t word[WORD])
{
    const uint64_t half = 0x00000000ffffffffu, quarter = 0x0000ffff0000ffffu,
                   eighth = 0x00ff00ff00ff00ffu;

    SWAP(0, 4, 32, half);
    SWAP(1, 5, 32, half);
    SWAP(2, 6, 32, half);
    SWAP(3, 7, 32, half);
    SWAP(0, 2, 16, quarter);
    SWAP(1, 3, 16, quarter);
    SWAP(4, 6, 16, quarter);
    SWAP(5, 7, 16, quarter);
    SWAP(0, 1, 8, eighth);
    SWAP(2, 3, 8, eighth);
    SWAP(4, 5, 8, eighth);
    SWAP(6, 7, 8, eighth);
}

/* Eight codes of each row from step i on; reads up to a word behind the last
 * code. */
#define LOAD(l) memcpy(&word[l], of + t->entry[l] + i, WORD)
/* The lengths are constants: the compiler then makes a move of it. */
#define STORE(s)                                        \
    do {                                                \
        if ((s) < steps && wide)                        \
            memcpy(to + (s)*apart, &word[s], WORD);     \
        else if ((s) < steps)                           \
            memcpy(to + (s)*apart, &word[s], WORD / 2); \
    } while (0)

static void put_tile(uint8_t *restrict code, const uint8_t *restrict of,
                     const tile *t, int wide, int64_t apart)
{
    for (int64_t i = 0; i < t->steps; i += WORD) {
        uint8_t *to = code + t->place + i * apart;
        int64_t steps = t->steps - i;
        uint64_t word[WORD] = {0};

        LOAD(0);
        LOAD(1);
        LOAD(2);
        LOAD(3);
        if (wide) {
            LOAD(4);
            LOAD(5);
            LOAD(6);
            LOAD(7);
        }
        transpose(word);
        STORE(0);
        STORE(1);
        STORE(2);
        STORE(3);
        STORE(4);
        STORE(5);
        STORE(6);
        STORE(7);
    }
}

void sp_code_tiles_put(uint8_t *code, const sp_code_tiles *w, const uint8_t *of,
                       int threads)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static, PIECE) nowait
        for (int64_t i = 0; i < w->tiles; i++)
            put_tile(code, of, &w->tile[i], w->width == WORD, w->apart);
#pragma omp for schedule(static, SINGLES)
        for (int64_t i = 0; i < w->singles; i++)
            code[w->single[i].place] = of[w->single[i].entry];
    }
}

void sp_code_tiles_values(void *out, const sp_code_tiles *w, const sp_sparse *p,
                          const sp_part *q)
{
    for (int64_t i = 0; i < w->tiles; i++) {
        const tile *t = &w->tile[i];

        for (int64_t s = 0; s < t->steps; s++)
            for (int64_t l = 0; l < w->width; l++)
                sp_dense_put(
                    p, out, t->entry[l] + s,
                    sp_dense_get(p, q->val,
                                 q->code[t->place + s * w->apart + l]));
    }
    for (int64_t i = 0; i < w->singles; i++)
        sp_dense_put(p, out, w->single[i].entry,
                     sp_dense_get(p, q->val, q->code[w->single[i].place]));
}
