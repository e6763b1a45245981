/* test_isa.c - the table of instruction sets, and that its users follow it. */
#include "check.h"

#include <string.h>

#include "codegen/codegen.h"
#include "machine/isa.h"

static void rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < sp_isa_count; i++) {
        const sp_isa *s = &sp_isas[i];
        spry_isa found;

        assert_true(s->bytes >= 16 && (s->bytes & (s->bytes - 1)) == 0);
        assert_true(s->registers >= 8);
        assert_null(s->flags[SP_ISA_FLAGS - 1]);
        check_ok(spry_isa_parse(&found, s->name));
        assert_int_equal(found, i);
    }
    assert_string_equal(spry_isa_name((spry_isa)sp_isa_count), "unknown");
}

/* Wider sets of an architecture include the narrower ones, and nobody has
 * those of another. */
static void sets_include_what_is_narrower(void **state)
{
    spry_isa none = (spry_isa)sp_isa_count;

    (void)state;
    for (int a = 0; a < sp_isa_count; a++)
        for (int b = 0; b < sp_isa_count; b++) {
            int same = strcmp(sp_isas[a].arch, sp_isas[b].arch) == 0;
            int any = strcmp(sp_isas[b].arch, "any") == 0;

            assert_int_equal(sp_isa_includes((spry_isa)a, (spry_isa)b),
                             any || (same && b <= a));
            if (same && b < a && sp_isas[a].runs_here())
                assert_true(sp_isas[b].runs_here());
        }
    assert_false(sp_isa_includes(SPRY_AVX512, none));
    assert_false(sp_isa_runs_here(none));
    assert_true(sp_isa_runs_here(SPRY_PORTABLE));
    assert_true(sp_isa_runs_here(sp_isa_here()));
}

/* The generator has the words for what a row promises, and no others. */
static void words_follow_the_row(void **state)
{
    (void)state;
    for (int i = 0; i < sp_isa_count; i++) {
        const sp_isa *s = &sp_isas[i];
        sp_buf words = {0}, top = {0};
        const char *text;

        sp_codegen_intrinsics(&words, (spry_isa)i);
        sp_codegen_prelude(&top, (spry_isa)i);
        text = words.data ? words.data : "";
        assert_int_equal(strstr(text, "SP_GATHER_f32_32") != NULL, s->gathers);
        assert_int_equal(strstr(text, "SP_GATHER_f64_8") != NULL, s->gathers);
        assert_int_equal(strstr(text, "SP_PICK_f64") != NULL, s->permutes);
        assert_int_equal(strstr(top.data, "nontemporal") != NULL, s->streams);
        sp_buf_free(&words);
        sp_buf_free(&top);
    }
}

static void flags_come_from_the_row(void **state)
{
    (void)state;
    for (int i = 0; i < sp_isa_count; i++) {
        const char *room[SP_FLAGS], *const *flag;
        sp_spec k;

        assert_true(sp_codegen_builtin(&k, (spry_isa)i, 0));
        flag = sp_codegen_flags(room, &k) + 1; /* behind its -O */
        for (int f = 0; sp_isas[i].flags[f]; f++)
            assert_string_equal(flag[f], sp_isas[i].flags[f]);
        assert_int_equal(sp_codegen_lanes((spry_isa)i, SPRY_F64),
                         sp_isas[i].bytes / 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(sets_include_what_is_narrower),
        cmocka_unit_test(words_follow_the_row),
        cmocka_unit_test(flags_come_from_the_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
