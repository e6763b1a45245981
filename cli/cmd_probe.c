/* cmd_probe.c - measure this machine; the store keeps the card. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *file;
static const opt options[] = {
    {"write", OPT_TEXT, &file, "FILE",
     "write the description there as well; - for it alone"},
    {0}};
static const opt_page page = {
    "probe",
    "",
    "Measure bandwidth, latency, arithmetic and noise in under two seconds\n"
    "and describe the machine; a noisy one is measured three times, and the\n"
    "better numbers are kept. The store keeps it under its fingerprint.",
    {options},
    0,
    0};

/* Before anything is measured: a store that was named must be one. */
static spry_status open_to_keep(spry_records **db)
{
    spry_status s = spry_records_open(db, cli.store);

    if (s != SPRY_OK && cli.store)
        return say_status(s);
    if (s != SPRY_OK)
        say_note("the card will not be kept: %s", spry_message());
    return SPRY_OK;
}

static void keep(spry_records *db, const spry_machine *m)
{
    if (db && spry_records_put_machine(db, m) != SPRY_OK)
        say_note("the card is not kept: %s", spry_message());
}

/* Caches are counted in powers of two. */
static const char *cache_size(char text[32], int64_t bytes)
{
    int big = bytes >= 1 << 20;

    snprintf(text, 32, "%.4g %s", (double)bytes / (big ? 1 << 20 : 1 << 10),
             big ? "MiB" : "KiB");
    return text;
}

/* What the system says beside what a chain of loads found. */
static void print_level(const spry_machine *m, int level)
{
    const spry_cache *c = &m->cache[level];
    int64_t found = spry_machine_cache(m, level);
    char size[32], ours[32];

    if (!c->bytes)
        return;
    printf("L%-7d %8s  %8s", level + 1, cache_size(size, c->bytes),
           found ? cache_size(ours, found) : "none");
    if (m->cache_read[level] > 0)
        printf("   %10s/s", say_bytes(m->cache_read[level]));
    else
        printf("   %12s", "");
    printf("  %9s   shared by %d\n", say_seconds(m->latency[level]),
           c->shared_by);
}

/* Random lines that all threads together can fetch. */
static void print_lines(const spry_machine *m)
{
    int all = m->points - 1;

    if (all >= 0 && m->lines[all] > 0)
        printf("random lines  %s of memory, %s on usual pages\n",
               say_rate(m->lines[all], "/s"),
               say_rate(m->lines_small[all], "/s"));
}

static void print_card(const spry_machine *m)
{
    printf("%s\n", m->name);
    printf("%d of %d cores usable, %s, fingerprint %s\n", m->threads, m->cores,
           spry_isa_name(m->isa), m->fingerprint);
    if (!m->probed)
        return;
    printf("\n%-8s %8s  %8s   %12s  %9s\n", "", "reported", "measured", "read",
           "latency");
    for (int i = 0; i < SPRY_CACHES; i++)
        print_level(m, i);
    printf("%-8s %8s  %8s   %12s  %9s", "memory", say_bytes((double)m->memory),
           "", "", say_seconds(m->latency[SPRY_CACHES]));
    if (m->latency_small > 0)
        printf("   %s on usual pages", say_seconds(m->latency_small));
    printf("\n");
    for (int i = 0; i < m->points; i++)
        printf("         %d thread%s: read %s/s, triad %s/s\n", m->at[i],
               m->at[i] > 1 ? "s" : "", say_bytes(m->read[i]),
               say_bytes(m->triad[i]));
    printf("\nmultiply-add  f32 %s, f64 %s on one thread\n",
           say_rate(m->fma_f32, "FLOP/s"), say_rate(m->fma_f64, "FLOP/s"));
    printf("gather        %s per element\n", say_seconds(m->gather));
    print_lines(m);
    printf("thread start  %s\n", say_seconds(m->fork));
    printf("noise         %.1f %% (grade %c)\n", 100 * m->noise,
           spry_machine_grade(m));
}

static spry_status print_json(const spry_machine *m)
{
    char *text;
    spry_status s = say_status(spry_machine_json(&text, m));
    char grade[2] = {spry_machine_grade(m), 0};

    if (s == SPRY_OK) {
        json j = json_begin("spry.probe/1");

        json_text(&j, "grade", grade);
        json_raw(&j, "machine", text);
        json_end(&j);
        free(text);
    }
    return s;
}

spry_status cmd_probe(int argc, char **argv)
{
    spry_machine m;
    spry_records *db = NULL;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = open_machine(&m, 0);
    if (s == SPRY_OK && !cli.machine)
        s = open_to_keep(&db);
    if (s == SPRY_OK && !cli.machine) {
        s = say_status(probe_well(&m));
        if (s == SPRY_OK)
            keep(db, &m);
    }
    spry_records_close(db);
    if (s == SPRY_OK && file)
        s = say_written(spry_machine_write(&m, file), file);
    if (s != SPRY_OK || (file && strcmp(file, "-") == 0))
        return s;
    if (cli.json)
        return print_json(&m);
    print_card(&m);
    return SPRY_OK;
}
