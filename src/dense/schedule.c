/* schedule.c - ways to compute an operator, as text:
 * "direct tile=6x2 block=4 split=pixels threads=2". */
#include <string.h>

#include "base/base.h"
#include "base/recipe.h"
#include "dense/internal.h"

static const char *const names[SP_ALGORITHMS] = {"plain", "direct", "wino2",
                                                 "dw",    "rows",   "sparse"};

/* Of each the parameters it has, with their defaults. */
static const char *const params[SP_ALGORITHMS] = {
    "threads=1",
    "tile=1x1 block=0 split=pixels threads=1",
    "tile=1x1 block=16 split=pixels threads=1",
    "tile=1x1 block=0 split=pixels threads=1",
    "threads=1",
    "tile=1x1 block=0 split=pixels threads=1"};

const char *sp_algorithm_name(sp_algorithm a)
{
    return names[a];
}

static int has(sp_algorithm a, const char *name)
{
    return strstr(params[a], name) != NULL;
}

void sp_dense_way_text(char out[SPRY_SCHEDULE_TEXT], const sp_dense_way *x)
{
    size_t size = SPRY_SCHEDULE_TEXT, at;

    at = (size_t)snprintf(out, size, "%s", names[x->algorithm]);
    if (has(x->algorithm, "tile="))
        at += (size_t)snprintf(out + at, size - at, " tile=%dx%d", x->mr, x->v);
    if (has(x->algorithm, "block=") && x->block)
        at += (size_t)snprintf(out + at, size - at, " block=%lld",
                               (long long)x->block);
    if (has(x->algorithm, "split=") && x->channels)
        at += (size_t)snprintf(out + at, size - at, " split=channels");
    if (x->threads != 1)
        snprintf(out + at, size - at, " threads=%d", x->threads);
}

static spry_status read_tile(sp_dense_way *out, const sp_recipe *r)
{
    int64_t tile[2] = {1, 1};
    int count = 2;
    spry_status s = SPRY_OK;

    if (sp_recipe_find(r, "tile") >= 0)
        s = sp_recipe_list(tile, &count, 2, r, "tile");
    if (s == SPRY_OK && (count != 2 || tile[0] > 64 || tile[1] > 16))
        s = sp_recipe_refuse(r, "tile");
    out->mr = (int)tile[0];
    out->v = (int)tile[1];
    return s;
}

static spry_status read_split(sp_dense_way *out, const sp_recipe *r)
{
    const char *text;

    if (sp_recipe_find(r, "split") < 0)
        return SPRY_OK;
    text = sp_recipe_text(r, "split");
    out->channels = strcmp(text, "channels") == 0;
    return out->channels || strcmp(text, "pixels") == 0
               ? SPRY_OK
               : sp_recipe_refuse(r, "split");
}

spry_status sp_dense_way_parse(sp_dense_way *out, const char *text)
{
    const char *rest;
    int64_t threads = 1;
    sp_recipe r;
    int which;
    spry_status s =
        sp_recipe_kind(&which, &rest, text, "algorithm", names, SP_ALGORITHMS);

    *out = (sp_dense_way){.threads = 1, .mr = 1, .v = 1};
    if (s == SPRY_OK)
        s = sp_recipe_parse(&r, names[which], params[which], rest);
    if (s != SPRY_OK)
        return s;
    out->algorithm = (sp_algorithm)which;
    s = read_tile(out, &r);
    if (s == SPRY_OK)
        s = read_split(out, &r);
    if (s == SPRY_OK && sp_recipe_find(&r, "block") >= 0)
        s = sp_recipe_count(&out->block, &r, "block", 0, 1 << 24);
    if (s == SPRY_OK)
        s = sp_recipe_count(&threads, &r, "threads", 1, 4096);
    out->threads = (int)threads;
    return s;
}
