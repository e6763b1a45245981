/* network_folder.h - files of networks in a folder of their own. */
#ifndef SPRY_NETWORK_FOLDER_H
#define SPRY_NETWORK_FOLDER_H

#include "check.h"
#include "in_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "network/spnet.h"

/* Without the care for the disk that sp_file_write takes. */
static inline void write_bytes(const char *path, const char *data, size_t len)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static inline void check_same(const spry_network *a, const spry_network *b)
{
    char ka[33], kb[33];

    spry_network_key(ka, a);
    spry_network_key(kb, b);
    assert_string_equal(ka, kb);
}

static inline void check_same_bytes(const char *a, const char *b)
{
    sp_file fa, fb;

    check_ok(sp_file_read(&fa, a, SIZE_MAX));
    check_ok(sp_file_read(&fb, b, SIZE_MAX));
    assert_int_equal(fa.len, fb.len);
    assert_memory_equal(fa.data, fb.data, fa.len);
    sp_file_free(&fa);
    sp_file_free(&fb);
}

/* Reading fails with SPRY_INPUT and a sentence that holds `words`. */
static inline void check_bad(const char *path, const char *words)
{
    spry_network *n;

    assert_int_equal(spry_network_read(&n, path, NULL), SPRY_INPUT);
    assert_null(n);
    if (!strstr(spry_message(), words))
        fail_msg("'%s' does not hold '%s'", spry_message(), words);
}

/* small.spnet, and its bytes. */
static inline sp_file small_file(void)
{
    spry_network *n;
    sp_file f;

    check_ok(spry_network_read(&n, "gen:mixed,radices=2x2,copies=1", NULL));
    check_ok(spry_network_write(n, "small.spnet"));
    check_ok(sp_file_read(&f, "small.spnet", SIZE_MAX));
    spry_network_free(n);
    return f;
}

#endif
