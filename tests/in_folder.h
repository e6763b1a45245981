/* in_folder.h - all tests of a file run in a folder of their own, which goes
 * with them: set-up and tear-down of their group. */
#ifndef SPRY_TEST_IN_FOLDER_H
#define SPRY_TEST_IN_FOLDER_H

#include <unistd.h>

#include "folder.h"

static char folder[TEST_FOLDER];

static inline int enter_folder(void **state)
{
    (void)state;
    return make_folder(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && remove_folder(folder) ? 0 : -1;
}

#endif
