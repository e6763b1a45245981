/* kept_source.c - weights as they are given: their name and their digest. */
#include <stdatomic.h>
#include <string.h>

#include "graph/kept.h"

enum { PIECE = 256 << 10, SPOTS = 16 };

/* ---- pieces ---- */

void sp_kept_parts_add(sp_kept_parts *all, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    while (bytes && !all->failed) {
        size_t n = bytes < PIECE ? bytes : PIECE;

        if (all->count == all->room) {
            int room = all->room ? 2 * all->room : 256;
            sp_kept_part *more =
                sp_grow(all->piece, all->count, room, sizeof *more);

            all->failed = !more;
            if (!more)
                return;
            all->piece = more;
            all->room = room;
        }
        all->piece[all->count++] = (sp_kept_part){at, n};
        at += n;
        bytes -= n;
    }
}

typedef struct {
    const sp_kept_parts *all;
    const sp_digest_key *key;
    uint8_t (*out)[SP_DIGEST];
    atomic_int next;
} digest_job;

static void take_pieces(void *arg, int share)
{
    digest_job *j = arg;
    int i;

    (void)share;
    while ((i = atomic_fetch_add(&j->next, 1)) < j->all->count)
        sp_digest(j->out[i], j->key, j->all->piece[i].data,
                  j->all->piece[i].bytes);
}

spry_status sp_kept_parts_digest(uint8_t (*out)[SP_DIGEST],
                                 const sp_kept_parts *all,
                                 const sp_digest_key *key, sp_team *team,
                                 int threads)
{
    digest_job j = {.all = all, .key = key, .out = out};

    if (all->failed)
        return sp_fail_memory(sizeof *all->piece);
    sp_team_run(team, take_pieces, &j, threads);
    return SPRY_OK;
}

void sp_kept_parts_join(uint8_t out[SP_DIGEST], uint8_t (*each)[SP_DIGEST],
                        const sp_digest_key *key, int from, int to)
{
    sp_digest(out, key, each[from], (size_t)(to - from) * SP_DIGEST);
}

/* ---- weights ---- */

int sp_stage_packs(const sp_stage *s)
{
    return s->kind == SP_STAGE_DENSE && !s->op.given &&
           (s->op.kind == SPRY_CONV2D || s->op.kind == SPRY_MATMUL);
}

static const float *given_weights(const sp_stage *s)
{
    return s->fold.from ? s->fold.from : s->op.weights;
}

/* Floats of a stage's weights, and its operator with all its steps. */
static int64_t floats_of(const sp_stage *s, spry_operator *op)
{
    *op = s->op;
    return sp_operator_settle(op) == SPRY_OK ? sp_dense_weights(op) : 0;
}

void sp_kept_parts_of_weights(sp_kept_parts *all, const sp_program *p)
{
    for (int i = 0; i < p->stages; i++) {
        const sp_stage *s = &p->stage[i];
        spry_operator op;

        if (!sp_stage_packs(s))
            continue;
        sp_kept_parts_add(all, given_weights(s),
                          (size_t)floats_of(s, &op) * sizeof(float));
        if (s->fold.by)
            sp_kept_parts_add(all, s->fold.by,
                              (size_t)s->fold.filters * sizeof *s->fold.by);
    }
}

/* A few of the weights tell networks apart that were trained further. */
static void hash_stage(sp_hash *h, const sp_stage *s)
{
    char text[512];
    spry_operator op;
    int64_t count = floats_of(s, &op), skips[3];
    const float *w = given_weights(s);

    spry_operator_text(text, sizeof text, &op);
    sp_hash_add(h, text, strlen(text));
    skips[0] = op.pitch_b;
    skips[1] = op.skip_b;
    skips[2] = s->fold.by != NULL;
    sp_hash_add(h, skips, sizeof skips);
    for (int64_t i = 0; i < SPOTS && count > 0; i++)
        sp_hash_add(h, &w[(count - 1) * i / (SPOTS - 1)], sizeof *w);
}

void sp_kept_name(char out[SP_KEPT_NAME], const spry_executor *e)
{
    sp_hash h = sp_hash_begin();
    int stages = e->p->stages;

    sp_hash_add(&h, sp_build_identity(), strlen(sp_build_identity()));
    sp_hash_add(&h, &e->m.isa, sizeof e->m.isa);
    sp_hash_add(&h, &e->threads, sizeof e->threads);
    sp_hash_add(&h, &stages, sizeof stages);
    for (int i = 0; i < stages; i++)
        if (sp_stage_packs(&e->p->stage[i]))
            hash_stage(&h, &e->p->stage[i]);
    sp_hash_hex(out, h);
}
