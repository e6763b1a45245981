/* nests.c - WACO's nests as a table, for the searches that want one.
 *
 * A graph over the nests takes seconds to make and depends on nothing but the
 * model, so it is kept among the user's caches. */
#include "base/base.h"
#include "sparse/internal.h"

/* Of WACO and HNSW: neighbours of a point, width of the walk that finds
 * them. */
enum { DEGREE = 12, BUILD_EF = 40 };

/* Seconds for one nest on one core, and the share of a budget that a table
 * may take. */
static const double HALVES = 7e-6, LINKING = 4e-5, SHARE = 0.25;

static double seconds_to_make(const sp_sparse_adviser *a)
{
    double each = HALVES + (a->search->table == SP_TABLE_GRAPH ? LINKING : 0);

    return each * (double)sp_nests_count(a->nests) / a->q.m->threads;
}

/* The graph's file, named by all that its points depend on; 0: nowhere. */
static int find_place(char *path, size_t size, const spry_space *s)
{
    char folder[3000];

    if (!sp_user_dir(folder, sizeof folder, "cache") ||
        sp_make_dirs(folder, 0700) != SPRY_OK)
        return 0;
    snprintf(path, size, "%s/nests-%s-%d-%d-%d.knn", folder,
             spry_op_name(s->op), s->splits[0], s->splits[1], s->threads);
    return 1;
}

static void give_up(sp_sparse_adviser *a, double seconds)
{
    char why[160];

    sp_nests_free(a->nests);
    a->nests = NULL;
    snprintf(why, sizeof why,
             "the %s of nests would take %.1f s to make, once: a budget of "
             "%.0f s allows it",
             a->search->table == SP_TABLE_GRAPH ? "graph" : "table", seconds,
             seconds / SHARE + 1);
    sp_sparse_note(a, why);
}

static spry_status make_table(sp_sparse_adviser *a, const char *path)
{
    spry_status s = sp_nests_embed(a->nests, a->guess.cost);

    if (s != SPRY_OK || a->search->table != SP_TABLE_GRAPH)
        return s;
    s = sp_nests_link(a->nests, DEGREE, BUILD_EF, 1);
    if (s == SPRY_OK && *path)
        (void)sp_nests_save(a->nests, path);
    return s;
}

spry_status sp_sparse_table(sp_sparse_adviser *a, const sp_space *space)
{
    spry_space of = sp_space_nests(space);
    char path[4096] = "";
    spry_status s;

    if (a->nests || a->search->table == SP_TABLE_NONE || !a->guess.cost ||
        !sp_cost_width(a->guess.cost))
        return SPRY_OK;
    s = sp_nests_make(&a->nests, &of);
    if (s != SPRY_OK)
        return s;
    if (a->search->table == SP_TABLE_GRAPH &&
        find_place(path, sizeof path, &of) &&
        sp_nests_load(a->nests, a->guess.cost, path) == SPRY_OK)
        return SPRY_OK;
    if (seconds_to_make(a) > SHARE * a->q.seconds) {
        give_up(a, seconds_to_make(a));
        return SPRY_OK;
    }
    return make_table(a, path);
}
