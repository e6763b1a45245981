/* Packed weights that are kept: found again, never believed when something is
 * wrong, bounded. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unconst.h"
#include "folder.h"
#include "graph/build.h"
#include "graph/kept.h"
#include "graph_operands.h"

static char home[TEST_FOLDER], store[TEST_FOLDER + 16];

static int open_home(void **state)
{
    (void)state;
    assert_non_null(make_folder(home));
    snprintf(store, sizeof store, "%s/records.db", home);
    return setenv("SPRY_HOME", home, 1) | unsetenv("SPRY_WEIGHTS");
}

static int close_home(void **state)
{
    char command[TEST_FOLDER + 32];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command);
}

/* A stage for every way to pack: plain and grouped filters, those that are
 * mostly zeros, products; batch norms before and behind an activation. */
static spry_graph *small_net(uint64_t seed)
{
    spry_graph *g = NULL;
    sp_builder b = {.rng = sp_rng_seed(seed), .batch = 1};
    sp_build_conv_shape stem = {
        .in = 3, .out = 20, .r = 3, .s = 3, .eps = 1e-3};
    sp_build_conv_shape each = {.in = 20,
                                .out = 20,
                                .r = 3,
                                .s = 3,
                                .groups = 20,
                                .pad_h = 1,
                                .pad_w = 1,
                                .eps = 1e-3};
    sp_build_conv_shape wide = {.in = 20,
                                .out = 32,
                                .r = 3,
                                .s = 3,
                                .pad_h = 1,
                                .pad_w = 1,
                                .eps = 0.1};
    sp_build_conv_shape flat = {.in = 32, .out = 48, .r = 1, .s = 1};
    int x;

    check_ok(sp_graph_new(&g, "small"));
    g->opset = 13;
    b.g = g;
    x = sp_build_input(&b, "input", 0, &(sp_extent){4, {1, 3, 16, 16}});
    x = sp_build_unary(&b, "Relu", sp_build_conv(&b, x, &stem));
    x = sp_build_unary(&b, "Relu", sp_build_conv(&b, x, &each));
    x = sp_build_conv(&b, x, &wide);
    b.sparsity = 0.95;
    x = sp_build_unary(&b, "Relu", sp_build_conv(&b, x, &flat));
    b.sparsity = 0;
    x = sp_build_dense(&b, sp_build_mean(&b, x), 48, 33);
    sp_build_output(&b, x);
    check_ok(b.status);
    check_ok(sp_graph_count(g));
    check_ok(sp_graph_infer(g));
    return g;
}

static spry_executor *open_net(const spry_graph *g, const char *where)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_executor *e = NULL;

    o.threads = 2;
    o.store = where;
    check_ok(spry_executor_make(&e, g, &o));
    return e;
}

/* Stages whose weights were found, and those that pack. */
static int found(const spry_executor *e, int *of)
{
    int count = 0;

    *of = 0;
    for (int i = 0; i < e->p->stages; i++) {
        *of += sp_stage_packs(&e->p->stage[i]);
        count += e->stage[i].kept;
    }
    return count;
}

/* The same results, bit for bit, as an executor that packs. */
static void check_results(spry_executor *e, const spry_graph *g)
{
    graph_operands a = make_operands(g, 3), b = make_operands(g, 3);
    spry_executor *plain = open_net(g, ":memory:");

    assert_null(plain->kept);
    check_ok(spry_executor_run(plain, (const void *const *)a.in, a.out));
    check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
    for (int i = 0; i < e->tasks; i++) /* else it may differ in last bits */
        assert_string_equal(e->task[i].text, plain->task[i].text);
    assert_memory_equal(a.out[0], b.out[0], (size_t)a.to[0].count * 4);
    spry_executor_free(plain);
    free_operands(&a);
    free_operands(&b);
}

/* 1: all of it was found; results are right in any case. */
static int opens_kept(const spry_graph *g)
{
    spry_executor *e = open_net(g, store);
    int of, count = found(e, &of);
    int all = e->kept != NULL;

    assert_int_equal(of, 5);
    assert_int_equal(count, all ? of : 0);
    check_results(e, g);
    spry_executor_free(e);
    return all;
}

/* The path of the only file; 0: there is none. */
static int kept_path(char out[TEST_FOLDER + 64])
{
    char folder[TEST_FOLDER + 16];
    const struct dirent *d;
    int count = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "%s/cache/w", home);
    dir = opendir(folder);
    while (dir && (d = readdir(dir)))
        if (d->d_name[0] != '.') {
            snprintf(out, TEST_FOLDER + 64, "%s/%.40s", folder, d->d_name);
            count++;
        }
    if (dir)
        closedir(dir);
    return count;
}

static void weights_are_found_again(void **state)
{
    spry_graph *g = small_net(1), *other = small_net(2);
    char path[TEST_FOLDER + 64];
    spry_graph_kept kept = {.size = sizeof kept};
    struct stat st;

    (void)state;
    check_ok(spry_graph_kept_of(&kept));
    assert_int_equal(kept.count, 0);
    assert_false(opens_kept(g));
    assert_int_equal(kept_path(path), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    *strrchr(path, '/') = 0;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_true(opens_kept(g));
    assert_false(opens_kept(other));
    assert_true(opens_kept(other));
    assert_true(opens_kept(g));
    check_ok(spry_graph_kept_of(&kept));
    assert_int_equal(kept.count, 2);
    assert_true(kept.bytes > 2 * 4 * 9 * 20 * 32);
    check_ok(spry_graph_kept_trim(&kept, 0));
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept_path(path), 0);
    assert_int_equal(spry_graph_kept_trim(NULL, -1), SPRY_USAGE);
    spry_graph_free(g);
    spry_graph_free(other);
}

/* Weights that the file's name does not know of. */
static void other_weights_are_noticed(void **state)
{
    char path[TEST_FOLDER + 64];
    spry_graph *g = small_net(1);

    (void)state;
    assert_false(opens_kept(g));
    assert_true(opens_kept(g));
    for (int i = 0; i < g->values; i++) {
        sp_opvalue *v = &g->value[i];
        int64_t at = v->count / 2 + 1; /* between two spots */
        float *x;

        if (!v->data || v->whole || v->shape.dims < 2 || v->count < 100)
            continue;
        x = (float *)sp_unconst(v->data) + at;
        *x = *x == 0 ? 0.5f : -*x;
        assert_false(opens_kept(g));
        assert_int_equal(kept_path(path), 1); /* in place of the other */
        assert_true(opens_kept(g));
    }
    spry_graph_free(g);
}

static void change_byte(const char *path, int64_t at)
{
    int fd = open(path, O_RDWR);
    unsigned char x;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &x, 1, at), 1);
    x ^= 1;
    assert_int_equal(pwrite(fd, &x, 1, at), 1);
    close(fd);
}

static int is_believed(const spry_executor *e)
{
    sp_kept *k = sp_kept_open(e);

    sp_kept_close(k);
    return k != NULL;
}

static void damage_is_noticed(void **state)
{
    char path[TEST_FOLDER + 64], aside[TEST_FOLDER + 80];
    spry_graph *g = small_net(1);
    spry_executor *e;
    struct stat st;

    (void)state;
    assert_false(opens_kept(g));
    assert_int_equal(kept_path(path), 1);
    assert_int_equal(stat(path, &st), 0);
    e = open_net(g, ":memory:");
    for (int64_t at = 0; at < st.st_size; at += at < 5000 ? 1 : 97) {
        change_byte(path, at);
        assert_false(is_believed(e));
        change_byte(path, at);
    }
    assert_true(is_believed(e));
    assert_int_equal(truncate(path, st.st_size + 64), 0);
    assert_false(is_believed(e));
    for (int64_t cut = st.st_size - 1; cut > 0; cut /= 2) {
        assert_int_equal(truncate(path, cut), 0);
        assert_false(is_believed(e));
    }
    assert_int_equal(truncate(path, 0), 0);
    assert_false(is_believed(e));
    spry_executor_free(e);
    assert_false(opens_kept(g));
    assert_true(opens_kept(g)); /* it was written anew */
    snprintf(aside, sizeof aside, "%s/aside", home);
    assert_int_equal(link(path, aside), 0); /* somebody holds a name of it */
    assert_false(opens_kept(g));
    assert_true(opens_kept(g));
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(opens_kept(g));
    assert_int_equal(unlink(path) | symlink(aside, path), 0);
    assert_false(opens_kept(g));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(unlink(path) | mkdir(path, 0700), 0);
    assert_false(opens_kept(g));
    assert_false(opens_kept(g)); /* a folder cannot be replaced */
    spry_graph_free(g);
}

static void the_folder_is_bounded(void **state)
{
    char path[TEST_FOLDER + 64];
    spry_graph *g[3] = {small_net(1), small_net(2), small_net(3)};
    spry_graph_kept kept = {.size = sizeof kept};
    char limit[32];

    (void)state;
    assert_int_equal(setenv("SPRY_WEIGHTS", "0", 1), 0);
    assert_false(opens_kept(g[0]));
    assert_int_equal(kept_path(path), 0);
    assert_int_equal(setenv("SPRY_WEIGHTS", "1k", 1), 0); /* too little */
    assert_false(opens_kept(g[0]));
    assert_int_equal(kept_path(path), 0);
    assert_int_equal(unsetenv("SPRY_WEIGHTS"), 0);
    assert_false(opens_kept(g[0]));
    check_ok(spry_graph_kept_of(&kept));
    snprintf(limit, sizeof limit, "%lld", (long long)(kept.bytes * 5 / 2));
    assert_int_equal(setenv("SPRY_WEIGHTS", limit, 1), 0);
    assert_false(opens_kept(g[1]));
    assert_true(opens_kept(g[0])); /* and g[1] was unused for longest */
    assert_false(opens_kept(g[2]));
    check_ok(spry_graph_kept_of(&kept));
    assert_int_equal(kept.count, 2);
    assert_true(opens_kept(g[0]));
    assert_true(opens_kept(g[2]));
    assert_false(opens_kept(g[1]));
    for (int i = 0; i < 3; i++)
        spry_graph_free(g[i]);
}

/* Weights come back when a plan needs them in another order. */
static void another_plan_packs_again(void **state)
{
    spry_graph *g = small_net(1);
    spry_executor *e;
    graph_operands a = make_operands(g, 3), b = make_operands(g, 3);

    (void)state;
    assert_false(opens_kept(g));
    e = open_net(g, store);
    assert_non_null(e->kept);
    for (int i = 0; i < e->p->stages; i++)
        if (sp_stage_packs(&e->p->stage[i]))
            check_ok(sp_executor_bind(e, i, "plain"));
    check_ok(sp_executor_room(e));
    check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
    run_reference(g, &a);
    for (int64_t k = 0; k < a.to[0].count; k++) {
        float x = ((float *)a.out[0])[k] - ((float *)b.out[0])[k];

        assert_true(x < 1e-4f && x > -1e-4f);
    }
    spry_executor_free(e);
    spry_graph_free(g);
    free_operands(&a);
    free_operands(&b);
}

/* Every way to pack is taken up again as it was left. */
static void every_way_is_kept(void **state)
{
    static const char *const ways[] = {"plain", "direct tile=4x1",
                                       "wino2 tile=4x1 block=16", "dw tile=4x1",
                                       "sparse tile=1x1"};
    spry_graph *g = small_net(1);
    spry_executor *e;
    int64_t live;

    (void)state;
    e = open_net(g, ":memory:");
    live = sp_alloc_live();
    for (int i = 0; i < e->p->stages; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            sp_ready_stage *x = &e->stage[i];
            spry_plan *plan = NULL, *again = NULL;
            sp_dense_home at = {0};
            spry_problem *bare = NULL;

            if (!sp_stage_packs(x->stage) ||
                sp_dense_plan_in(&plan, x->problem, ways[w], &e->m, NULL) !=
                    SPRY_OK)
                continue;
            at.packed = sp_dense_packed(sp_dense_plan_of(plan), &at.bytes);
            check_ok(sp_dense_problem_bare(&bare,
                                           spry_problem_operator(x->problem),
                                           sp_dense_of(x->problem)->zeros));
            assert_string_equal(spry_problem_key(bare),
                                spry_problem_key(x->problem));
            sp_dense_give_weights(bare, NULL);
            check_ok(sp_dense_plan_in(&again, bare, plan->text, &e->m, &at));
            assert_ptr_equal(
                sp_dense_packed(sp_dense_plan_of(again), &at.bytes), at.packed);
            spry_plan_free(again);
            at.bytes -= 64;
            assert_int_equal(
                sp_dense_plan_in(&again, bare, plan->text, &e->m, &at),
                strncmp(ways[w], "sparse", 6) == 0 ? SPRY_OK : SPRY_FAIL);
            spry_plan_free(again);
            spry_problem_free(bare);
            spry_plan_free(plan);
        }
    assert_int_equal(sp_alloc_live(), live);
    spry_executor_free(e);
    spry_graph_free(g);
}

/* Work goes on, and a sentence says without what. */
static void what_is_not_there_is_said(void **state)
{
    spry_graph *g = small_net(1);
    spry_executor *e = open_net(g, store);

    (void)state;
    assert_string_equal(spry_executor_note(e), "");
    spry_executor_free(e);
    assert_int_equal(setenv("SPRY_WEIGHTS", "abc", 1), 0);
    assert_int_equal(setenv("SPRY_SITE_STORE", "/none/site.db", 1), 0);
    e = open_net(g, store);
    assert_non_null(strstr(spry_executor_note(e), "not 'abc': 2G"));
    assert_non_null(strstr(spry_executor_note(e), "/none/site.db"));
    assert_non_null(strstr(spry_executor_note(e), "; "));
    check_results(e, g);
    spry_executor_free(e);
    e = open_net(g, ":memory:"); /* keeps nothing */
    assert_null(strstr(spry_executor_note(e), "abc"));
    spry_executor_free(e);
    assert_int_equal(unsetenv("SPRY_WEIGHTS"), 0);
    assert_int_equal(unsetenv("SPRY_SITE_STORE"), 0);
    spry_graph_free(g);
}

int main(void)
{
#define IN_HOME(test) \
    cmocka_unit_test_setup_teardown(test, open_home, close_home)
    const struct CMUnitTest tests[] = {
        IN_HOME(weights_are_found_again),   IN_HOME(other_weights_are_noticed),
        IN_HOME(damage_is_noticed),         IN_HOME(the_folder_is_bounded),
        IN_HOME(another_plan_packs_again),  IN_HOME(every_way_is_kept),
        IN_HOME(what_is_not_there_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
