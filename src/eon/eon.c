/* eon.c - models of EON: made, kept in files, found, used. */
#include "eon/internal.h"

#include <string.h>

#define FORMAT "spry.eon/1"
enum { MOST_EDGES = 1 << 16, TELL_EVERY = 4096 };

static const char *const form_name[] = {"moves", "attention"};
static const char *const embedding_name[] = {"laplacian", "sage"};

const char *spry_eon_name(spry_eon f)
{
    return (int)f >= 0 && (int)f < 2 ? form_name[f] : NULL;
}

const char *spry_embedding_name(spry_embedding e)
{
    return (int)e >= 0 && (int)e < 2 ? embedding_name[e] : NULL;
}

/* Which of two words it is, or -1. */
static int which_of(const char *const word[2], const char *text)
{
    return strcmp(text, word[0]) == 0 ? 0 : strcmp(text, word[1]) == 0 ? 1 : -1;
}

/* ---- made and kept ---- */

static spry_status build(sp_eon *m, sp_nn *weights, spry_eon form,
                         spry_embedding embedding)
{
    *m = (sp_eon){.form = form};
    return form == SPRY_EON_MOVES
               ? sp_scorer_make(&m->scorer, weights)
               : sp_policy_make(&m->policy, weights, embedding);
}

spry_status sp_eon_new(sp_eon *m, spry_eon form, spry_embedding embedding,
                       uint64_t seed)
{
    sp_nn *weights;
    spry_status s = sp_nn_new(&weights, seed);

    *m = (sp_eon){0};
    return s == SPRY_OK ? build(m, weights, form, embedding) : s;
}

void sp_eon_free(sp_eon *m)
{
    sp_scorer_free(&m->scorer);
    sp_policy_free(&m->policy);
    *m = (sp_eon){0};
}

/* What the card says this is: form and embedding. */
static spry_status read_card(int out[2], const char *card)
{
    sp_json_doc doc;
    spry_status s = sp_json_parse(&doc, card, strlen(card));
    const sp_json_value *root = doc.value;

    if (s != SPRY_OK)
        return s;
    out[0] = which_of(form_name, sp_json_get_text(&doc, root, "form", ""));
    out[1] = which_of(embedding_name,
                      sp_json_get_text(&doc, root, "embedding", "laplacian"));
    if (strcmp(sp_json_get_text(&doc, root, "format", ""), FORMAT) != 0 ||
        out[0] < 0 || out[1] < 0)
        s = sp_fail(SPRY_INPUT, "is no model that orders edges (%s)", FORMAT);
    sp_json_free(&doc);
    return s;
}

spry_status sp_eon_load(sp_eon *m, const char *path)
{
    sp_nn *weights;
    spry_status s = sp_nn_load(&weights, path);

    *m = (sp_eon){0};
    return s == SPRY_OK ? sp_eon_open(m, weights, path) : s;
}

spry_status sp_eon_open(sp_eon *m, sp_nn *weights, const char *path)
{
    int chosen[2];
    spry_status s = read_card(chosen, sp_nn_card(weights));

    *m = (sp_eon){0};
    if (s == SPRY_OK)
        s = build(m, weights, (spry_eon)chosen[0], (spry_embedding)chosen[1]);
    else
        sp_nn_free(weights);
    return s == SPRY_OK || s == SPRY_SYSTEM
               ? s
               : sp_fail(SPRY_INPUT, "%s: %s", path, spry_message());
}

spry_status sp_eon_save(const sp_eon *m, const char *path, int64_t networks,
                        double share)
{
    int moves = m->form == SPRY_EON_MOVES;
    sp_buf b = {0};
    sp_json j = {.out = &b, .first = 1};
    spry_status s;

    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "format", FORMAT);
    sp_json_text(&j, "form", form_name[m->form]);
    if (!moves)
        sp_json_text(&j, "embedding", embedding_name[m->policy.embedding]);
    sp_json_integer(&j, "networks", networks);
    sp_json_number(&j, "share_of_plain", share);
    sp_json_close(&j, '}');
    s = b.failed ? sp_fail_memory(b.len)
                 : sp_nn_save(moves ? m->scorer.weights : m->policy.weights,
                              b.data, path);
    sp_buf_free(&b);
    return s;
}

/* ---- used ---- */

spry_status sp_eon_check_size(const sp_eon *m, const spry_network *n)
{
    if (m->form == SPRY_EON_ATTENTION && n->edges > MOST_EDGES)
        return sp_fail(SPRY_USAGE,
                       "attention orders at most %d edges, not %lld; moves "
                       "orders any number",
                       MOST_EDGES, (long long)n->edges);
    return SPRY_OK;
}

static spry_status by_moves(int32_t *edge, const spry_network *n,
                            const spry_order_options *o, const sp_scorer *c)
{
    sp_moves m;
    int64_t told = 0;
    spry_status s = sp_moves_open(&m, n, o->memory);

    if (s != SPRY_OK)
        return s;
    sp_moves_begin(&m, edge);
    while (s == SPRY_OK && !sp_moves_done(&m)) {
        sp_scorer_move(c, &m);
        if (m.made - told >= TELL_EVERY) {
            told = m.made;
            s = sp_order_progress(o, told, n->edges);
        }
    }
    sp_moves_close(&m);
    return s;
}

static spry_status by_attention(int32_t *edge, const spry_network *n,
                                const spry_order_options *o, const sp_policy *p)
{
    sp_environment g;
    spry_status s = sp_environment_open(&g, n, o->memory, p->embedding);

    if (s == SPRY_OK)
        s = sp_environment_order(&g, p, NULL, edge, o);
    sp_environment_close(&g);
    return s;
}

spry_status sp_eon_order(int32_t *edge, const spry_network *n,
                         const spry_order_options *o, const sp_eon *m)
{
    spry_status s = sp_eon_check_size(m, n);

    if (s != SPRY_OK || n->edges == 0)
        return s;
    return m->form == SPRY_EON_MOVES ? by_moves(edge, n, o, &m->scorer)
                                     : by_attention(edge, n, o, &m->policy);
}
