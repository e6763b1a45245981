/* What a site says for all: paths from the root, and servers. */
#define SPRY_SITE_FILE "site.conf"
#include "../../src/base/site.c"

#include "check.h"
#include "in_folder.h"

static int says(const char *text, const char *want)
{
    char out[64] = "";
    int found;

    check_ok(sp_file_write("site.conf", text, strlen(text)));
    found = sp_site_path(out, sizeof out, "store", "SPRY_TEST_UNSET");
    return want ? found && strcmp(out, want) == 0 : !found;
}

static void stores_are_paths_or_servers(void **state)
{
    (void)state;
    assert_true(says("store /srv/spry.db\n", "/srv/spry.db"));
    assert_true(says("# a\n  store\t/a b \r\nlock /c\n", "/a b"));
    assert_true(says("store postgresql://reader@db.site/spry\n",
                     "postgresql://reader@db.site/spry"));
    assert_true(says("store postgres://db/x", "postgres://db/x"));
    assert_true(says("store spry.db\n", NULL));
    assert_true(says("store\n", NULL));
    assert_true(says("lock /a\n", NULL));
    assert_true(says("", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_are_paths_or_servers),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
