/* test_growth.c - structs that later versions may add members to: programs
 * that were compiled with the shorter ones are served as before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "spry.h"

enum { UNTOUCHED = 0xA5 };

typedef struct {
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;
    spry_network *net;
    int32_t *edge; /* [edges] of the network, in order */
} fixture;

/* ---- doors that fill a struct ---- */

static spry_status stats(void *out, const fixture *f)
{
    return spry_matrix_stats(out, f->A);
}

static spry_status predict(void *out, const fixture *f)
{
    spry_schedule x = spry_schedule_baseline(1);

    return spry_predict(out, f->p, &x, &f->m);
}

static spry_status explain(void *out, const fixture *f)
{
    return spry_explain(out, f->p, "csr", &f->m);
}

static spry_status storage(void *out, const fixture *f)
{
    spry_schedule x;

    check_ok(spry_schedule_parse_for(&x, "fixed-csr", SPRY_SPMV));
    return spry_space_storage(out, &x, f->p);
}

static spry_status counters(void *out, const fixture *f)
{
    spry_layers *s;
    spry_status status;

    check_ok(spry_layers_of(&s, f->net));
    status = spry_layers_counters(out, s);
    spry_layers_close(s);
    return status;
}

static spry_status simulate(void *out, const fixture *f)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;

    o.memory = 40;
    return spry_simulate(out, f->net, f->edge, &o);
}

static spry_status compile(void *out, const fixture *f)
{
    spry_network *n = NULL;
    spry_status s = spry_network_compile(&n, f->net, 0, out);

    spry_network_free(n);
    return s;
}

static spry_status rest(void *out, const fixture *f)
{
    return spry_network_rest(out, f->net);
}

/* Nothing was learned on a machine of this name. */
static spry_status adapted(void *out, const fixture *f)
{
    int found = 1;
    spry_status s = spry_adapted_info(out, &found, SPRY_SPMV, "nowhere");

    (void)f;
    if (s == SPRY_OK)
        assert_int_equal(found, 0);
    return s;
}

static const struct {
    const char *name;
    size_t size;
    spry_status (*fill)(void *out, const fixture *f);
    size_t known; /* bytes that are the same in every call */
} doors[] = {
    {"spry_matrix_stats", sizeof(spry_stats), stats, sizeof(spry_stats)},
    {"spry_predict", sizeof(spry_prediction), predict, sizeof(spry_prediction)},
    {"spry_explain", sizeof(spry_prediction), explain, sizeof(spry_prediction)},
    {"spry_space_storage", sizeof(spry_storage), storage, sizeof(spry_storage)},
    {"spry_layers_counters", sizeof(spry_counters), counters,
     sizeof(spry_counters)},
    {"spry_simulate", sizeof(spry_io), simulate, sizeof(spry_io)},
    {"spry_network_compile", sizeof(spry_graph_report), compile,
     offsetof(spry_graph_report, pass)}, /* seconds are in these */
    {"spry_network_rest", sizeof(spry_rest), rest, offsetof(spry_rest, limit)},
    {"spry_adapted_info", sizeof(spry_adapted), adapted, sizeof(spry_adapted)},
};
enum { DOORS = sizeof doors / sizeof *doors };

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    check_ok(spry_machine_detect(&f->m));
    check_ok(spry_matrix_read(&f->A, "gen:stencil5,nx=9"));
    check_ok(spry_problem_spmv(&f->p, f->A, SPRY_F64));
    check_ok(spry_network_read(&f->net, "gen:radix,width=1024,depth=2", NULL));
    f->edge = calloc((size_t)f->net->edges, sizeof *f->edge);
    assert_non_null(f->edge);
    for (int64_t i = 0; i < f->net->edges; i++)
        f->edge[i] = (int32_t)i;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    free(f->edge);
    spry_network_free(f->net);
    spry_problem_free(f->p);
    spry_matrix_free(f->A);
    free(f);
    return 0;
}

/* A struct of this many bytes, between marks. */
static spry_status filled(unsigned char *memory, size_t room, int i,
                          size_t size, const fixture *f)
{
    memset(memory, UNTOUCHED, room);
    memcpy(memory, &size, sizeof size);
    return doors[i].fill(memory, f);
}

static void check_sizes(int i, const fixture *f)
{
    const size_t first = sizeof(size_t), whole = doors[i].size;
    const size_t room = whole + 64;
    const size_t sizes[] = {first + 4, first + 8, whole / 16 * 8, whole - 8,
                            whole};
    unsigned char *right = malloc(room), *got = malloc(room);

    assert_non_null(right);
    assert_non_null(got);
    check_ok(filled(right, room, i, whole, f));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k] <= first ? whole : sizes[k], said;

        check_ok(filled(got, room, i, n, f));
        memcpy(&said, got, sizeof said);
        assert_int_equal(said, n);
        assert_memory_equal(got + first, right + first,
                            (n < doors[i].known ? n : doors[i].known) - first);
        for (size_t b = n; b < room; b++)
            if (got[b] != UNTOUCHED)
                fail_msg("%s wrote byte %zu of %zu", doors[i].name, b, n);
    }
    free(right);
    free(got);
}

static void shorter_structs_are_filled_so_far(void **state)
{
    for (int i = 0; i < DOORS; i++)
        check_sizes(i, *state);
}

/* One that was forgotten, one of a newer header, no size at all. */
static void sizes_make_sense(void **state)
{
    for (int i = 0; i < DOORS; i++) {
        const size_t room = doors[i].size + 64;
        const size_t bad[] = {0, sizeof(size_t), 21, doors[i].size + 8,
                              (size_t)-8};
        unsigned char *memory = malloc(room);

        assert_non_null(memory);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            assert_int_equal(filled(memory, room, i, bad[k], *state),
                             SPRY_USAGE);
            assert_non_null(strstr(spry_message(), "its size"));
            for (size_t b = sizeof(size_t); b < room; b++)
                assert_int_equal(memory[b], UNTOUCHED);
        }
        free(memory);
    }
}

/* ---- structs with room for members to come ---- */

#define SIZE(type) #type, sizeof(type)

/* What lies in arrays and in other structs stays as large as it is: members
 * that are added take from `reserved`. */
static void sizes_stay(void **state)
{
    static const struct {
        const char *name;
        size_t now, before; /* bytes, where pointers have 8 */
    } kept[] = {
        {SIZE(spry_machine), 888},     {SIZE(spry_schedule), 132},
        {SIZE(spry_candidate), 296},   {SIZE(spry_trial), 520},
        {SIZE(spry_score), 72},        {SIZE(spry_record), 200},
        {SIZE(spry_answer), 152},      {SIZE(spry_origin), 104},
        {SIZE(spry_round), 104},       {SIZE(spry_jit_entry), 128},
        {SIZE(spry_network), 136},     {SIZE(spry_grades), 272},
        {SIZE(spry_certificate), 344}, {SIZE(spry_feature_weight), 56},
        {SIZE(spry_task), 200},        {SIZE(spry_likeness), 40},
        {SIZE(spry_job), 368},
    };

    (void)state;
    if (sizeof(void *) != 8)
        skip_because("sizes were noted where pointers have 8 bytes");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i].now != kept[i].before)
            fail_msg("%s has %zu bytes and had %zu", kept[i].name, kept[i].now,
                     kept[i].before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_structs_are_filled_so_far),
        cmocka_unit_test(sizes_make_sense),
        cmocka_unit_test(sizes_stay),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
