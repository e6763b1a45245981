/* folder.h - a folder of a test's own, below TMPDIR. */
#ifndef SPRY_TEST_FOLDER_H
#define SPRY_TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

enum { TEST_FOLDER = 256 };

/* Make it and put its name into `out`; NULL when it cannot be made. */
static inline char *make_folder(char out[TEST_FOLDER])
{
    const char *tmp = getenv("TMPDIR");

    snprintf(out, TEST_FOLDER, "%.200s/spry-test-XXXXXX",
             tmp && tmp[0] ? tmp : "/tmp");
    return mkdtemp(out);
}

/* With all that is in it; 0: it could not be. */
static inline int remove_folder(const char *folder)
{
    char command[TEST_FOLDER + 16];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0;
}

#endif
