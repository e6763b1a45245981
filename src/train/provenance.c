/* provenance.c - what a model learned from, for its card: the groups, the
 * machines with their counts, and a hash that tells any two sets of records
 * apart. The same records in another order have the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/internal.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each text once, sorted: calls back with the subjects that have it. */
static spry_status each_text(sp_json *j, char *const *text, const sp_data *d,
                             void (*write)(sp_json *, const char *,
                                           const sp_data *))
{
    int64_t n = d->e.subjects;
    char **sorted = sp_alloc(n + 1, sizeof(char *));

    if (!sorted)
        return sp_fail_memory((size_t)n * sizeof *sorted);
    if (n > 0)
        memcpy(sorted, text, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0)
            write(j, sorted[i], d);
    sp_free(sorted);
    return SPRY_OK;
}

static void write_group(sp_json *j, const char *name, const sp_data *d)
{
    (void)d;
    sp_json_text(j, NULL, name);
}

static void write_machine(sp_json *j, const char *fingerprint, const sp_data *d)
{
    const char *name = "";
    int64_t problems = 0, records = 0;

    for (int64_t s = 0; s < d->e.subjects; s++)
        if (strcmp(d->machine[s], fingerprint) == 0) {
            problems++;
            records += d->e.start[s + 1] - d->e.start[s];
            name = d->m[s] ? d->m[s]->name : name;
        }
    sp_json_open(j, NULL, '{');
    sp_json_text(j, "name", name);
    sp_json_text(j, "fingerprint", fingerprint);
    sp_json_integer(j, "problems", problems);
    sp_json_integer(j, "records", records);
    sp_json_close(j, '}');
}

/* Sums of hashes have no order. */
static void hash_rows(char hex[33], const sp_data *d)
{
    sp_hash sum = {0};

    for (int64_t s = 0; s < d->e.subjects; s++)
        for (int64_t i = d->e.start[s]; i < d->e.start[s + 1]; i++) {
            const sp_example *row = &d->e.row[i];
            char text[SPRY_SCHEDULE_TEXT], time[48];
            sp_hash h = sp_hash_begin();

            spry_schedule_text(text, &row->x);
            snprintf(time, sizeof time, "%.9g %d", row->log_seconds,
                     row->verdict);
            sp_hash_add(&h, d->problem[s], strlen(d->problem[s]) + 1);
            sp_hash_add(&h, d->machine[s], strlen(d->machine[s]) + 1);
            sp_hash_add(&h, text, strlen(text) + 1);
            sp_hash_add(&h, time, strlen(time));
            sum.a += h.a;
            sum.b += h.b;
        }
    sp_hash_hex(hex, sum);
}

spry_status sp_card_data(sp_json *j, const sp_data *d)
{
    char hex[33];
    spry_status s;

    hash_rows(hex, d);
    sp_json_open(j, "data", '{');
    sp_json_text(j, "hash", hex);
    sp_json_open(j, "machines", '[');
    s = each_text(j, d->machine, d, write_machine);
    sp_json_close(j, ']');
    sp_json_open(j, "groups", '[');
    if (s == SPRY_OK)
        s = each_text(j, d->group, d, write_group);
    sp_json_close(j, ']');
    sp_json_close(j, '}');
    return s;
}
