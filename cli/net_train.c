/* net_train.c - learn how to order edges, and keep what was learned. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 1024 };

static int form = SPRY_EON_MOVES, embedding = SPRY_LAPLACIAN;
static const char *memories = "128", *file = "order.nn", *from;
static double seconds = 60, episodes;
static const opt options[] = {
    {"form", OPT_WORD, &form, "moves|attention",
     "large moves for any network, or attention over all edges that may run, "
     "for small ones (moves)"},
    {"embedding", OPT_WORD, &embedding, "laplacian|sage",
     "what attention knows of neurons: eigenvectors, or what it learns by "
     "GraphSAGE (laplacian)"},
    {"memory", OPT_TEXT, &memories, "M,...",
     "neurons of fast memory to learn for (128)"},
    {"seconds", OPT_SECONDS, &seconds, "T", "time to learn (60)"},
    {"episodes", OPT_COUNT, &episodes, "N",
     "orders to learn from instead, however long they take"},
    {"from", OPT_TEXT, &from, "FILE", "go on from this model"},
    {"out", OPT_TEXT, &file, "FILE",
     "write the model here (order.nn), and how it went to FILE.tsv"},
    {0}};
static const opt_page page = {
    "net train-order",
    "NETWORK...",
    "Train a model that orders the edges of these networks (EON). Of generated\n"
    "ones the second is made with the seed plus 1, and so on. The reward of an\n"
    "order is minus its reads and writes under LRU; a share is its reads and\n"
    "writes over those of the best order that is not learned. Ctrl-C keeps the\n"
    "best so far. Then\n"
    "  spry net order NETWORK --order eon --model order.nn",
    {options, net_reading},
    1,
    NETWORKS};

/* ---- how it goes ---- */

typedef struct {
    spry_eon_progress *row;
    size_t count, room;
} curve;

/* Said once learning has begun: what is refused gets one sentence. */
static void note_eigen(void)
{
    if (form == SPRY_EON_ATTENTION && embedding == SPRY_LAPLACIAN &&
        strcmp(spry_eigen(), "ARPACK") != 0)
        say_note("ARPACK (libarpack2) is not there; eigenvectors are found by "
                 "spry's own iteration, more slowly");
}

static int note(const spry_eon_progress *now, void *payload)
{
    curve *c = payload;
    char text[128];

    if (c->count == 0)
        note_eigen();
    if (c->count == c->room) {
        size_t room = 2 * c->room + 64;
        spry_eon_progress *more = realloc(c->row, room * sizeof *more);

        if (!more)
            return 1;
        c->row = more;
        c->room = room;
    }
    c->row[c->count++] = *now;
    snprintf(text, sizeof text,
             "%lld orders in %.0f s, %.3f of the best plain order, best %.3f",
             (long long)now->episodes, now->seconds, now->share, now->best);
    progress_say(text);
    return stop_asked();
}

static spry_status write_curve(const curve *c)
{
    char path[4096];
    FILE *f;

    if (snprintf(path, sizeof path, "%s.tsv", file) >= (int)sizeof path)
        return say_fail(SPRY_USAGE, "--out is too long");
    f = fopen(path, "w");
    if (!f)
        return say_fail(SPRY_SYSTEM, "%s: cannot be written", path);
    fprintf(f, "episodes\tseconds\treward\tshare\tbest\n");
    for (size_t i = 0; i < c->count; i++) {
        const spry_eon_progress *l = &c->row[i];

        fprintf(f, "%lld\t%.3f\t%.3f\t%.5f\t%.5f\n", (long long)l->episodes,
                l->seconds, l->reward, l->share, l->best);
    }
    return fclose(f) == 0
               ? SPRY_OK
               : say_fail(SPRY_SYSTEM, "%s: cannot be written", path);
}

static void print_curve(const curve *c, int networks, int rooms)
{
    json j = json_begin("spry.net.train-order/1");

    json_text(&j, "model", file);
    json_text(&j, "form", spry_eon_name((spry_eon)form));
    if (form == SPRY_EON_ATTENTION) {
        json_text(&j, "embedding",
                  spry_embedding_name((spry_embedding)embedding));
        if (embedding == SPRY_LAPLACIAN)
            json_text(&j, "eigenvectors_by", spry_eigen());
    }
    json_integer(&j, "networks", networks);
    json_integer(&j, "memories", rooms);
    json_open(&j, "curve", '[');
    for (size_t i = 0; i < c->count; i++) {
        const spry_eon_progress *l = &c->row[i];

        json_open(&j, NULL, '{');
        json_integer(&j, "episodes", l->episodes);
        json_number(&j, "seconds", l->seconds);
        json_number(&j, "reward", l->reward);
        json_number(&j, "share", l->share);
        json_number(&j, "best", l->best);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_short(const curve *c)
{
    const spry_eon_progress *first = c->row, *last = first + c->count - 1;

    fprintf(stderr,
            "%s: %s orders in %s; %.3f of plain reads and writes, "
            "%.3f before\n",
            file, say_count((double)last->episodes), say_seconds(last->seconds),
            last->best, first->share);
}

/* ---- from words to a model ---- */

static spry_status learn(const spry_network *const *nets, int count)
{
    spry_eon_options o = SPRY_EON_DEFAULTS;
    int64_t memory[NET_LIST];
    curve c = {0};
    int rooms;
    spry_status s = net_memories(memory, &rooms, memories);

    if (s != SPRY_OK)
        return s;
    o.form = (spry_eon)form;
    o.embedding = (spry_embedding)embedding;
    o.memory = memory;
    o.memories = rooms;
    o.episodes = (int64_t)episodes;
    o.seconds = seconds;
    o.seed = cli.seed;
    o.model = from;
    o.progress = note;
    o.payload = &c;
    s = say_status(spry_eon_train(file, nets, count, &o));
    progress_clear();
    if (s == SPRY_OK)
        s = write_curve(&c);
    if (s == SPRY_OK && cli.json)
        print_curve(&c, count, rooms);
    else if (s == SPRY_OK)
        print_short(&c);
    free(c.row);
    return s;
}

spry_status net_train_order(int argc, char **argv)
{
    static spry_network *nets[NETWORKS];
    uint64_t seed;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    stop_watch();
    seed = cli.seed;
    for (int i = 0; s == SPRY_OK && i < argc; i++) {
        cli.seed = seed + (uint64_t)i;
        s = net_open(&nets[i], argv[i]);
    }
    cli.seed = seed;
    if (s == SPRY_OK)
        s = learn((const spry_network *const *)nets, argc);
    for (int i = 0; i < argc; i++)
        spry_network_free(nets[i]);
    return s;
}
