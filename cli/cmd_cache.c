/* cmd_cache.c - what is kept, compiled kernels and packed weights: listed,
 * checked, thrown away. */
#include "cli.h"

#include <string.h>

static double keep = 256e6;
static const opt options[] = {
    {"keep", OPT_COUNT, &keep, "BYTES", "gc: how much may stay (256M)"}, {0}};
static const opt_page page = {
    "cache",
    "list|verify|gc|clear",
    "list    compiled kernels, last used first, and the number of networks with\n"
    "        packed weights\n"
    "verify  authenticate every kernel; exit 1 when one is flawed\n"
    "gc      remove flawed ones, then the least recently used\n"
    "clear   remove all, packed weights too",
    {options},
    1,
    1};

static void print_json(const spry_jit_entries *e, const char *path,
                       const spry_graph_kept *weights)
{
    json j = json_begin("spry.cache/1");

    json_text(&j, "path", path);
    json_integer(&j, "count", e->count);
    json_integer(&j, "bytes", e->bytes);
    json_integer(&j, "flawed", e->flawed);
    json_integer(&j, "networks", weights->count);
    json_integer(&j, "weights_bytes", weights->bytes);
    json_open(&j, "kernels", '[');
    for (int64_t i = 0; i < e->count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "key", e->entry[i].key);
        json_integer(&j, "bytes", e->entry[i].bytes);
        json_integer(&j, "used", e->entry[i].used);
        json_text(&j, "flaw", e->entry[i].flaw);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_people(const spry_jit_entries *e, const char *path,
                         const spry_graph_kept *weights)
{
    table *t = e->count ? table_new("kernel<size>last used<state<") : NULL;

    for (int64_t i = 0; i < e->count; i++) {
        table_cell(t, "%.16s", e->entry[i].key);
        table_cell(t, "%s", say_bytes((double)e->entry[i].bytes));
        table_cell(t, "%s", say_date(e->entry[i].used));
        table_cell(t, "%s", e->entry[i].flaw ? e->entry[i].flaw : "good");
    }
    table_print(t, stdout);
    printf("%s kernels, %s, in %s\n", say_count((double)e->count),
           say_bytes((double)e->bytes), path);
    if (weights->count)
        printf("packed weights of %s networks, %s\n",
               say_count((double)weights->count),
               say_bytes((double)weights->bytes));
}

/* Show what `look` found; flaws are a failure of verify alone. */
static spry_status show(spry_status look(spry_jit_entries **out))
{
    char path[4096] = "nowhere";
    spry_jit_entries *e = NULL;
    spry_graph_kept weights = {.size = sizeof weights};
    spry_status s = say_status(look(&e));

    if (s != SPRY_OK)
        return s;
    (void)spry_jit_path(path, sizeof path);
    (void)spry_graph_kept_of(&weights);
    if (cli.json)
        print_json(e, path, &weights);
    else
        print_people(e, path, &weights);
    if (e->flawed)
        s = say_fail(SPRY_FAIL,
                     "%s kernels are flawed; spry cache gc removes "
                     "them",
                     say_count((double)e->flawed));
    spry_jit_entries_free(e);
    return s;
}

static spry_status list(void)
{
    return show(spry_jit_list);
}

static spry_status verify(void)
{
    return show(spry_jit_verify);
}

static spry_status removed(spry_status s, const spry_jit_removed *r,
                           const spry_graph_kept *weights)
{
    if (s != SPRY_OK)
        return say_status(s);
    if (cli.json) {
        json j = json_begin("spry.cache/1");

        json_integer(&j, "removed", r->count);
        json_integer(&j, "removed_bytes", r->bytes);
        json_integer(&j, "removed_networks", weights->count);
        json_integer(&j, "removed_weights_bytes", weights->bytes);
        json_end(&j);
    } else {
        printf("%s kernels removed, %s\n", say_count((double)r->count),
               say_bytes((double)r->bytes));
        if (weights->count)
            printf("packed weights of %s networks removed, %s\n",
                   say_count((double)weights->count),
                   say_bytes((double)weights->bytes));
    }
    return SPRY_OK;
}

static spry_status gc(void)
{
    spry_jit_removed r = {.size = sizeof r};
    spry_status s = spry_jit_gc(&r, keep < 9e18 ? (int64_t)keep : INT64_MAX);

    return removed(s, &r, &(spry_graph_kept){0});
}

static spry_status clear(void)
{
    spry_jit_removed r = {.size = sizeof r};
    spry_graph_kept weights = {.size = sizeof weights};
    spry_status s = spry_jit_clear(&r);

    if (s == SPRY_OK)
        s = spry_graph_kept_trim(&weights, 0);
    return removed(s, &r, &weights);
}

static const struct {
    const char *name;
    spry_status (*run)(void);
} actions[] = {{"list", list},
               {"verify", verify},
               {"gc", gc},
               {"clear", clear},
               {NULL, NULL}};

spry_status cmd_cache(int argc, char **argv)
{
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    for (int a = 0; actions[a].name; a++)
        if (strcmp(actions[a].name, argv[0]) == 0)
            return actions[a].run();
    return opt_unknown_action("cache", argv[0], actions, sizeof *actions);
}
