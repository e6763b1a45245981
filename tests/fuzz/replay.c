/* replay.c - run every file of a corpus through a fuzz target: what the
 * fuzzer once found stays fixed, with any compiler. */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"

static int replay(const char *path)
{
    FILE *in = fopen(path, "rb");
    char data[1 << 16];
    size_t n;

    if (!in)
        return 0;
    n = fread(data, 1, sizeof data, in);
    fclose(in);
    LLVMFuzzerTestOneInput((const uint8_t *)data, n);
    return 1;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *e;
    char path[4096];
    int files = 0;

    if (!dir)
        return 2;
    while ((e = readdir(dir)))
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
            files += replay(path);
        }
    closedir(dir);
    printf("%d files\n", files);
    return files ? 0 : 1;
}
