/* folder.h - a folder of a benchmark's own, below TMPDIR. */
#ifndef BENCH_FOLDER_H
#define BENCH_FOLDER_H

enum { BENCH_FOLDER = 256 };

/* Make it and put its name into `out`; NULL, and a sentence on stderr, when
 * it cannot be made. */
char *bench_folder(char out[BENCH_FOLDER]);
/* With all that is in it. */
void bench_folder_remove(const char *folder);

#endif
