/* tune_fixture.h - a problem, a store of its own, and options to tune with. */
#ifndef SPRY_TUNE_FIXTURE_H
#define SPRY_TUNE_FIXTURE_H

#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>

#include "spry.h"
#include "tune/internal.h"

typedef struct {
    char dir[TEST_FOLDER], store[TEST_FOLDER + 32];
    spry_matrix *A;
    spry_problem *p;
    spry_tune_options opt;
} fixture;

static inline int set_up(void **state)
{
    static const spry_tune_options defaults = SPRY_TUNE_DEFAULTS;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(make_folder(f->dir));
    snprintf(f->store, sizeof f->store, "%s/records.db", f->dir);
    check_ok(
        spry_matrix_generate(&f->A, "uniform rows=500 cols=400 nnz=9000", 1));
    check_ok(spry_problem_spmm(&f->p, f->A, 32, SPRY_F32));
    f->opt = defaults;
    f->opt.seconds = 0;
    f->opt.store = f->store;
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;

    spry_problem_free(f->p);
    spry_matrix_free(f->A);
    assert_true(remove_folder(f->dir));
    free(f);
    return 0;
}

static inline sp_proposal tiled(int32_t tile, int32_t prefetch)
{
    spry_schedule x = spry_schedule_baseline(1);
    sp_proposal out = {.threads = 1};

    x.tile = tile;
    x.prefetch = prefetch;
    spry_schedule_text(out.text, &x);
    return out;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
